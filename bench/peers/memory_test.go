package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// underLimits is a report with all that can go wrong.
func underLimits() *memoryReport {
	cells := func(gagg, duckdb cell) map[string]*cell { return map[string]*cell{"gagg": &gagg, "duckdb": &duckdb} }
	return &memoryReport{
		setting: setting{Machine: machine{CPU: "A & B"}, Rows: 1000, Threads: 2}, Question: "q10", SQL: "select 1",
		Limits: []limited{
			{"default", 0, cells(cell{Seconds: []float64{2, 4}, Peak: 900 * mebibyte}, cell{Seconds: []float64{6}, Peak: 1000 * mebibyte})},
			{"1GiB", 1 << 30, cells(
				cell{Seconds: []float64{6}, Peak: 1 << 30, Written: 3 * mebibyte},
				cell{Seconds: []float64{50}, Peak: 1<<30 + mebibyte, Failed: "duckdb: Out of Memory Error: failed to allocate"})},
			{"512MiB", 1 << 29, cells(cell{Failed: "killed: not done after 1m0s"}, cell{Seconds: []float64{9}, Differs: "other keys"})},
		},
	}
}

func TestMemoryTable(t *testing.T) {
	var out strings.Builder
	underLimits().print(&out)
	for _, want := range []string{
		"| limit | gagg s | duckdb s | gagg peak MiB | duckdb peak MiB | gagg written MiB | duckdb written MiB | duckdb/gagg |\n|---|---:|---:|---:|---:|---:|---:|---:|\n",
		"| default | 3.00 | 6.00 | 900 | 1000 | 0 | 0 | 2.00 |\n",
		"| 1GiB | 6.00 | out of memory | 1024 | **1025** | 3 | 0 | - |\n",
		"| 512MiB | killed | 9.00 | 0 | 0 | 0 | 0 | - |\n",
		"gagg: the slowest limit takes 2.00 times as long as the fastest\n",
		"duckdb: the slowest limit takes 1.50 times as long as the fastest\n", // the failure does not count
		"- 1GiB: duckdb is 1 MiB over its limit\n",
		"- 512MiB: gagg has no answer: killed: not done after 1m0s\n",
		"- 512MiB: duckdb DIFFERS: other keys\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("there is no %q in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "all answers agree") {
		t.Error("all is said to be well")
	}
}

func TestReason(t *testing.T) {
	for failed, want := range map[string]string{
		"duckdb: Out of Memory Error: could not allocate block (1 GiB/1 GiB used)": "out of memory",
		"gagg: exit status 5: gagg: out of memory: 528 MiB wanted":                 "exit status 5",
		"gagg: signal: killed: ":       "killed",
		"killed: not done after 20m0s": "killed",
		"duckdb gave up (is it installed? npm install --prefix bench/peers): EOF": "duckdb gave up",
	} {
		if got := reason(failed); got != want {
			t.Errorf("%q: %q, want %q", failed, got, want)
		}
	}
}

func TestLimitBytes(t *testing.T) {
	for limit, want := range map[string]int64{"default": 0, "512MiB": 512 << 20, "2GiB": 2 << 30, "2GB": 2e9} {
		if got, err := limitBytes(limit); err != nil || got != want {
			t.Errorf("%s: %d, %v", limit, got, err)
		}
	}
	for _, limit := range []string{"", "0", "lots"} {
		if _, err := limitBytes(limit); err == nil {
			t.Errorf("%q: no error", limit)
		}
	}
}

// The plot is well-formed and has a mark for every limit and engine; a line
// stops where there is no answer.
func TestPlot(t *testing.T) {
	plot := string(underLimits().plot())
	decoder := xml.NewDecoder(strings.NewReader(plot))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, plot)
		}
	}
	for mark, want := range map[string]int{"<circle ": 4, ">×</text>": 2, ">512MiB</text>": 1, "A &amp; B": 1, ">gagg</text>": 1, ">duckdb</text>": 1} {
		if got := strings.Count(plot, mark); got != want {
			t.Errorf("%d times %q, want %d, in\n%s", got, mark, want, plot)
		}
	}
	if !strings.Contains(plot, `<path d="M155.0 170.0M535.0 80.0" fill="none" stroke="#d55e00"`) {
		t.Errorf("duckdb's line does not stop at 1GiB in\n%s", plot)
	}
}

func TestPlotTop(t *testing.T) {
	for highest, want := range map[float64]float64{0: 5, 0.9: 1, 9: 10, 10: 12.5, 130: 250, 400: 500} {
		r := memoryReport{Limits: []limited{{"1GiB", 1 << 30, map[string]*cell{"gagg": {Seconds: []float64{highest}}}}}}
		if got := r.top(); got != want {
			t.Errorf("highest %v: the axis ends at %v, want %v", highest, got, want)
		}
	}
}
