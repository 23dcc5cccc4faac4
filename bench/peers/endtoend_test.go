package main

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
)

// turns is a contender that notes its runs in a log.
type turns struct {
	contender
	label string
	warm  bool
	fails bool
	log   *[]string
}

func (t turns) name() string { return t.label }
func (t turns) stays() bool  { return t.warm }

func (t turns) run(context.Context, question) (spent, error) {
	*t.log = append(*t.log, t.label)
	if t.fails {
		return spent{}, errors.New("no")
	}
	return spent{seconds: float64(len(*t.log))}, nil
}

// All take turns; the first run of one that stays does not count, and one
// that fails has no second run.
func TestInterleaved(t *testing.T) {
	var log []string
	all := []contender{
		turns{label: "warm", warm: true, log: &log},
		turns{label: "process", log: &log},
		turns{label: "broken", fails: true, log: &log},
	}
	cells := interleaved(t.Context(), all, question{}, 2, false)
	if want := []string{"warm", "warm", "process", "broken", "warm", "process"}; !slices.Equal(log, want) {
		t.Errorf("turns %v, want %v", log, want)
	}
	if got := cells["warm"].Seconds; !slices.Equal(got, []float64{2, 5}) {
		t.Errorf("the warm one's seconds are %v", got)
	}
	log = nil
	if interleaved(t.Context(), all[:2], question{}, 1, true); !slices.Equal(log, []string{"warm", "process"}) {
		t.Errorf("cold, the turns are %v", log)
	}
	if c := cells["broken"]; c.Failed != "no" || c.median() != 0 {
		t.Errorf("the broken one: %+v", c)
	}
}

// Commas part devices, so that one of several GPUs is written with plus signs.
func TestDeviceList(t *testing.T) {
	want := []string{"cpu", "0,1", "0,1 --gpu-memory 4GiB"}
	if got := deviceList("cpu,0+1,0+1 --gpu-memory 4GiB"); !slices.Equal(got, want) {
		t.Errorf("devices %q, want %q", got, want)
	}
}

// A mean of some of the heavy questions would flatter.
func TestEndReport(t *testing.T) {
	r := endReport{Names: []string{"duckdb", "gagg cpu", "gagg gpu", "gagg auto"}, Rounds: 3}
	for i, q := range append([]string{"q1"}, heavy...) {
		at := func(seconds float64) *cell { return &cell{Seconds: []float64{seconds}} }
		r.Results = append(r.Results, endResult{result: result{Question: q, Cells: map[string]*cell{
			"duckdb": at(8), "gagg cpu": at(4), "gagg gpu": at(2), "gagg auto": at(2 + float64(i)/10),
		}}})
	}
	if got := r.mean(r.pools()[0], "gagg gpu"); got < 3.99 || got > 4.01 {
		t.Errorf("the mean is %v, want 4", got)
	}
	r.Results[4].Cells["gagg gpu"].Differs = "other keys"
	var out strings.Builder
	r.markdown(&out)
	for _, want := range []string{
		"| q1 | 8.000 | 4.000 | 2.000 | 2.000 | 2.00 | 4.00 | 4.00 |\n",
		"| q3 q5 q7 q10, geometric mean | | | | | 2.00 | 4.00 |",
		"q10: auto takes 1.20 times as long as the better of cpu and gpu\n",
		"q10: gagg gpu DIFFERS from DuckDB: other keys\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("there is no %q in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "q5: auto") {
		t.Error("auto is told of within its margin")
	}
	r.Results[1].Cells["gagg gpu"].Failed = "no device"
	if got := r.mean(r.pools()[0], "gagg gpu"); got != 0 {
		t.Errorf("the mean without q3 is %v", got)
	}
}

// The table of real queries has what ran where, a mean of all, one of those that take DuckDB long,
// and the commands.
func TestDevicesReport(t *testing.T) {
	at := func(seconds float64) *cell { return &cell{Seconds: []float64{seconds}} }
	r := endReport{Names: []string{"duckdb", "gagg cpu", "gagg gpu", "library gpu"}, Rounds: 3, Results: []endResult{
		{
			result: result{Question: "c16", Cells: map[string]*cell{"duckdb": at(.4), "gagg cpu": at(.2), "gagg gpu": at(.1), "library gpu": at(.05)}},
			Typed:  "gagg -k UserID hits.parquet", Did: map[string]json.RawMessage{
				"gagg cpu": json.RawMessage(`{"device":"cpu","rows":9}`),
				"gagg gpu": json.RawMessage(`{"device":"gpu:0","rows":9,"devices":[{"rows":9,"in_core":true}],"encoded":{"rows":9}}`),
			},
		},
		{
			result: result{Question: "c5", Cells: map[string]*cell{"duckdb": at(.1), "gagg cpu": at(.1), "gagg gpu": at(.4), "library gpu": at(.1)}},
			Typed:  "gagg -a 'count(distinct UserID)' hits.parquet", Did: map[string]json.RawMessage{
				"gagg gpu": json.RawMessage(`{"device":"cpu","rows":9,"fallbacks":[{"what":"the whole query","why":"each value counts once"}]}`),
			},
		},
	}}
	var out strings.Builder
	r.markdown(&out)
	for _, want := range []string{
		"| duckdb ÷ library gpu | where gagg gpu ran |\n|---|---:|---:|---:|---:|---:|---:|---:|---|\n",
		"| c16 | 0.400 | 0.200 | 0.100 | 0.050 | 2.00 | 4.00 | 8.00 | GPU, decoded there |\n",
		"| 1.00 | 0.25 | 1.00 | CPU; the whole query: each value counts once |\n",
		"| all, geometric mean | | | | | 1.41 | 1.00 | 2.83 | |\n",
		"| of 0.2 s or more in DuckDB, geometric mean | | | | | 2.00 | 4.00 | 8.00 | |\n",
		"    c16: gagg -k UserID hits.parquet\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("there is no %q in\n%s", want, out.String())
		}
	}
	if r.kind() != "devices" {
		t.Errorf("the files are named %q", r.kind())
	}
}

func TestWhereRan(t *testing.T) {
	for stats, want := range map[string]string{
		``:                           "",
		`{"device":"cpu","rows":10}`: "CPU",
		`{"device":"gpu:0","rows":10,"devices":[{"rows":10,"in_core":true}]}`:                         "GPU, rows made by the CPU",
		`{"device":"gpu:0","rows":10,"devices":[{"rows":10}],"encoded":{"rows":5,"declined":1}}`:      "GPU, 50 % decoded there; groups by the CPU",
		`{"device":"gpu:0","rows":10,"devices":[{"rows":10,"evicted_rows":4}],"encoded":{"rows":10}}`: "GPU, decoded there; 4 rows left it",
		`{"device":"gpu:0","rows":10,"devices":[{"in_core":true}]}`:                                   "CPU, while the GPU started",
	} {
		if got := whereRan(json.RawMessage(stats)); got != want {
			t.Errorf("%s: %q, want %q", stats, got, want)
		}
	}
}

// A program of the library is asked a real query by its clauses, DuckDB by its SQL.
func TestRealRequest(t *testing.T) {
	c := &clauses{keys: []string{"a + 1 as k"}, aggs: []string{"count(*) as n", "sum(b) as s"}, where: "b > 0", having: "n > 1", order: "s desc", limit: 10, offset: 5}
	got := requestOf("gagg", question{real: c})
	if got.List != "count(*) as n, sum(b) as s" || !slices.Equal(got.By, c.keys) || got.more != (more{"b > 0", "n > 1", "s desc", 10, 5}) {
		t.Errorf("gagg is asked %+v", got)
	}
	if got := requestOf("duckdb", question{real: c}); got.more != (more{}) || !strings.Contains(got.Run, "where b > 0") {
		t.Errorf("duckdb is asked %+v", got)
	}
}

// The parts of a large table have all its rows and its one range of values.
func TestMakeSQL(t *testing.T) {
	all := makeSQL(250_000_000, "/d")
	if len(all) != 5 {
		t.Fatalf("%d statements", len(all))
	}
	for part, want := range []string{"i + 0 as i from numbers where i < 250000000", "i + 100000000 as", "i + 200000000 as i from numbers where i < 50000000"} {
		copied := all[2+part]
		if !strings.Contains(copied, want) || !strings.Contains(copied, "hash(i, 6) % 2500000)::int as id6") {
			t.Errorf("part %d is %s", part, copied)
		}
	}
	if !strings.Contains(all[1], "range(100000000)") {
		t.Errorf("the numbers come from %s", all[1])
	}
}

// Other flags may follow the device.
func TestFlags(t *testing.T) {
	got := strings.Join(whole{device: "gpu --streams 1", limit: "8GiB"}.flags("-f", "none"), " ")
	if want := "--device gpu --streams 1 --memory-limit 8GiB -f none"; got != want {
		t.Errorf("flags %q, want %q", got, want)
	}
}
