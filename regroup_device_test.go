package gagg_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/datagen"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// regroupings is queries with distinct values, of columns of regroupFile, and whether a device
// regroups its groups, and selects those that are wanted.
var regroupings = []struct {
	by, aggs, where string // lists
	order, having   string
	limit           int64
	cpu             bool // the CPU regroups
	selected        bool
}{
	{aggs: "count(distinct i)"},
	{aggs: "count(distinct s)|count(*)|sum(l)"},
	{aggs: "count(distinct t)", where: "t <> ''"},
	{aggs: "sum(distinct i)|count(distinct i)|mean(distinct i)|min(distinct i)|max(distinct i)|count(i)"},
	{by: "s", aggs: "count(distinct i)|count(*)|max(f)"},
	{by: "s,b,d", aggs: "count(distinct l)|min(l)"},
	{by: "i", aggs: "count(distinct s)", order: "count(distinct s) desc,i", limit: 7, selected: true},
	{by: "i", aggs: "count(distinct t) as n", order: "-n", limit: 5, selected: true},
	{by: "i,s", aggs: "count(distinct f) as n|sum(l)", having: "n > 3", selected: true},
	{by: "i", aggs: "count(distinct l) as n", having: "n between 2 and 3 and count(*) > 2", order: "-n,i desc", limit: 5, selected: true},
	{by: "i", aggs: "sum(distinct l) as n", order: "n nulls first,i", limit: 9, selected: true},
	{by: "i", aggs: "mean(distinct f) as n", order: "n desc nulls last,i", limit: 9, selected: true},
	{by: "i,s", aggs: "count(distinct l)", limit: 10, selected: true}, // in order of hash
	{by: "t", aggs: "count(distinct i) as n", order: "-n,t", limit: 10, selected: true},
	{by: "t,i", aggs: "count(distinct l)|count(*)"},
	{by: "t", aggs: "count(distinct s)|min(i)"},
	{by: "r", aggs: "sum(distinct r + 1)", where: "f > 0"},
	{by: "e,g,c", aggs: "count(distinct i)|sum(distinct i)"},
	{by: "w,i", aggs: "count(distinct c)|max(distinct c)"},
	{by: "i % 10", aggs: "sum(distinct c)|max(distinct e)"}, // the latter is max(e)
	{by: "s", aggs: "sum(distinct g)|mean(distinct g)|var_samp(distinct g)|skewness(distinct g)|kurtosis(distinct g)"},
	{by: "i % 7", aggs: "bit_xor(distinct l)|bit_and(distinct l)"},
	{by: "i % 7", aggs: "var_pop(distinct l)", cpu: true}, // sums of more than 64 bits
	{by: "d", aggs: "var_pop(distinct i)|count(distinct i)"},
	{by: "s", aggs: "min(distinct u)|max(distinct u)|sum(distinct u)"},
	{by: "b", aggs: "min(distinct t)|count(distinct t)"},
	{by: "s", aggs: "count(distinct w)|count(*)"},
	{by: "s", aggs: "sum(distinct w)", cpu: true},
}

// regroupFile has columns of many types, with NULLs.
func regroupFile(t testing.TB, rows int) string {
	t.Helper()
	of := func(k column.Kind) column.Type { return column.Type{Kind: k} }
	table := datagen.New(datagen.Spec{Rows: rows, Seed: 5, Columns: []datagen.Column{
		{Name: "t", Type: of(column.String), Distinct: rows / 4, Nulls: 0.05},
		{Name: "s", Type: of(column.String), Distinct: 20, Coded: true, Nulls: 0.05},
		{Name: "i", Type: of(column.Int32), Distinct: 400, Skew: 1.1, Nulls: 0.05},
		{Name: "l", Type: of(column.Int64), Distinct: rows / 2, Nulls: 0.1},
		{Name: "u", Type: of(column.Uint64), Distinct: 300},
		{Name: "r", Type: of(column.Int64)},
		{Name: "f", Type: of(column.Float64), Distinct: 200, Nulls: 0.05},
		{Name: "g", Type: of(column.Float32), Distinct: 100, Nulls: 0.05},
		{Name: "b", Type: of(column.Bool), Nulls: 0.1},
		{Name: "d", Type: of(column.Date), Distinct: 9, Nulls: 0.1},
		{Name: "e", Type: column.Type{Kind: column.Timestamp, Unit: column.Micro}, Distinct: 30, Nulls: 0.1},
		{Name: "c", Type: column.Type{Kind: column.Decimal, Precision: 12, Scale: 2}, Distinct: 40, Nulls: 0.1},
		{Name: "w", Type: column.Type{Kind: column.Decimal, Precision: 30, Scale: 3}, Distinct: 40, Nulls: 0.1},
	}})
	var b bytes.Buffer
	if err := table.WriteParquet(&b, datagen.Layout{RowGroup: max(1, rows/8), Codec: "snappy"}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "regroup.parquet")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Groups by the keys and a distinct value become groups by the keys on the device that has all of
// them; these are the CPU's, in its order, and few of them leave where few are wanted.
func TestDeviceRegroups(t *testing.T) {
	gputest.Need(t, 2)
	tuned := tune{gagg.LeastMemory(tightMemory), gagg.DevicePays(), gagg.PassLeast(1)}
	from := gagg.Files(regroupFile(t, 2_000))
	for i, x := range regroupings {
		q := gagg.Query{
			From: from, By: items(x.by, ","), Aggs: exprs(items(x.aggs, "|")...), Where: x.where, Having: x.having,
			OrderBy: items(x.order, ","), Limit: x.limit,
		}
		want := mustAnswer(t, q, tuned.of(gagg.Options{Device: "cpu"}))
		for _, way := range []struct {
			device        string
			few           bool // all groups leave at once
			every         int
			deterministic bool
		}{{"gpu", false, 1, false}, {"gpu", true, 3, false}, {"0,1", false, 4, false}, {"gpu", false, 7, true}} {
			if i%way.every > 0 {
				continue
			}
			tuned := tuned
			if way.few {
				tuned = append(slices.Clone(tuned), gagg.FewFrom(0))
			}
			o := gagg.Options{Device: "cpu", Deterministic: way.deterministic}
			if way.deterministic {
				want = mustAnswer(t, q, tuned.of(o))
			}
			o.Device, o.Threads, o.Streams, o.GPUMemory = way.device, 2, 1, 16<<20
			got, s, err := answerStats(t, q, tuned.of(o))
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%+v on %q: %q, want %q; %v", x, way.device, got, want, err)
				continue
			}
			var groups, regrouped, left int64
			for _, d := range s.Devices {
				groups, regrouped, left = max(groups, d.Groups), regrouped+d.Regrouped, left+d.Selected
			}
			// texts of two devices are those of none
			all := !x.cpu && (way.device == "gpu" || !strings.Contains(x.by, "t") && !strings.Contains(x.aggs, "distinct t"))
			switch {
			case all != (regrouped > 0), regrouped > groups:
				t.Errorf("%+v on %q: %d groups became %d", x, way.device, groups, regrouped)
			case !all:
			case way.few != (left == regrouped) && !x.selected, !way.few && x.selected != (left > 0), left > regrouped:
				t.Errorf("%+v on %q, few %t: %d of %d groups left", x, way.device, way.few, left, regrouped)
			}
			if len(s.Distinct) == 1 && s.Distinct[0].Groups == 0 {
				t.Errorf("%+v on %q: %+v", x, way.device, s.Distinct)
			}
		}
	}
}

// Texts of any length are regrouped by, and are distinct values, where a device keeps them; only
// those of groups that leave are copied. Where memory is limited the texts are the host's, and a
// device that does not have them leaves groups by them to the CPU.
func TestDeviceRegroupsTexts(t *testing.T) {
	gputest.Need(t, 1)
	tuned := tune{gagg.LeastMemory(tightMemory), gagg.DevicePays(), gagg.PassLeast(1)}
	from := longFile(t, longRows(4_000, 1_000, 300, 500), 1_000)
	for _, x := range []struct {
		by, aggs, order string
		limit           int64
	}{
		{"text", "count(distinct n)|count(*)|sum(n)", "", 0},
		{"plain", "count(distinct n) as c", "-c,plain", 9},
		{"plain,n", "count(distinct text)", "", 0},
		{"n", "count(distinct plain) as c|count(plain)", "c", 3},
		{"", "count(distinct plain)", "", 0},
		{"text,plain", "sum(distinct n) as c|mean(distinct n)", "c desc,text", 20},
	} {
		q := gagg.Query{From: from, By: items(x.by, ","), Aggs: exprs(items(x.aggs, "|")...), OrderBy: items(x.order, ","), Limit: x.limit}
		want := mustAnswer(t, q, tuned.of(gagg.Options{Device: "cpu"}))
		for _, limit := range []int64{0, 64 << 20} {
			got, s, err := answerStats(t, q, tuned.of(gagg.Options{Device: "gpu", Threads: 2, Streams: 1, GPUMemory: 48 << 20, MemoryLimit: limit}))
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%+v, limit %d: %q, want %q; %v", x, limit, got, want, err)
				continue
			}
			if d := s.Devices[0]; limit == 0 && (d.Regrouped == 0 || x.limit == 0 && d.Regrouped != s.Groups) {
				t.Errorf("%+v: %+v", x, d)
			}
		}
	}
}

// A device that has no room for a second table leaves its groups to the CPU, with what follows from
// that: they cross, and are regrouped within the limit of memory.
func TestDeviceRegroupsShort(t *testing.T) {
	gputest.Need(t, 1)
	tuned := tune{gagg.LeastMemory(tightMemory), gagg.DevicePays(), gagg.PassLeast(1)}
	q := gagg.Query{From: gagg.Files(randomFile(t, 12_000)), By: []string{"i", "s"}, Aggs: exprs("count(distinct x) as n", "count(*)"), OrderBy: []string{"-n", "i", "s"}, Limit: 20}
	want := mustAnswer(t, q, tuned.of(gagg.Options{Device: "cpu"}))
	ways := map[string]int{}
	for _, memory := range []int64{1 << 20, 3 << 19, 6 << 20, 8 << 20, 10 << 20, 24 << 20} {
		for _, limit := range []int64{0, 24 << 20} {
			got, s, err := answerStats(t, q, tuned.of(gagg.Options{Device: "gpu", Threads: 2, Streams: 1, GPUMemory: memory, MemoryLimit: limit}))
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%d bytes, limit %d: %q, want %q; %v", memory, limit, got, want, err)
				continue
			}
			switch d := s.Devices[0]; {
			case d.PeakMemory > memory:
				t.Errorf("%d bytes of %d were taken", d.PeakMemory, memory)
			case d.Regrouped > 0:
				ways["regrouped"]++
			case d.InCore:
				ways["no room"]++
			default:
				ways["evicted"]++
			}
		}
	}
	if t.Logf("%v", ways); len(ways) < 3 {
		t.Errorf("%v", ways)
	}
}
