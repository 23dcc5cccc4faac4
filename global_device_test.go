package gagg_test

import (
	"slices"
	"testing"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// globals is queries without keys, and what devices decode of 12,000 rows: all, or none.
var globals = []struct {
	aggs          []string
	where, having string
	decoded       int64
	few           bool   // few rows pass
	why           string // why no device takes part; "": one does
}{
	{aggs: []string{"sum(i)", "count(*)", "count(i)", "min(x)", "max(x)", "mean(i)"}, decoded: 12_000},
	{aggs: []string{"bool_and(i > 3)", "bool_or(i > 3)", "bit_and(i)", "bit_or(i)", "bit_xor(i)", "count_if(x > 0.5)", "max(i, 3)", "var_samp(i)"}, decoded: 12_000},
	{aggs: []string{"sum(i * 2)", "sum(x) filter (where x is null)", "count(*)"}, where: "x > 0.5 and s <> 'a'", decoded: 12_000},
	{aggs: []string{"sum(i)", "count(*)"}, having: "count(*) < 0", decoded: 12_000},
	{aggs: []string{"first(i)", "last(x)", "any_value(s)", "arg_min(i, x)", "arg_max(s, i)"}, decoded: 12_000},
	// no row passes: workers read few columns of most rows, and the one row has NULLs
	{aggs: []string{"sum(strlen(text))", "count(*)", "min(n)"}, where: "n * n = 5", few: true},
	{aggs: []string{"median(i)"}, why: "there are no keys, and all values make one list"},
	{aggs: []string{"min(i)", "max(i)"}, why: "footers tell most of the least and greatest values"},
	{aggs: []string{"count(*)"}, why: "no column is read"},
}

// Queries without keys give on devices what they give on the CPU: one row, also of no rows.
func TestDeviceGlobal(t *testing.T) {
	gputest.Need(t, 2)
	tuned := tune{gagg.LeastMemory(tightMemory), gagg.DevicePays()}
	from, wide := gagg.Files(randomFile(t, 12_000)), longFile(t, longRows(12_000, 600, 600, 60), 600)
	for _, x := range globals {
		q := gagg.Query{From: from, Aggs: exprs(x.aggs...), Where: x.where, Having: x.having}
		if x.few {
			q.From = wide
		}
		want := mustAnswer(t, q, tuned.of(gagg.Options{Device: "cpu"}))
		for _, opt := range []gagg.Options{
			{Device: "gpu", Threads: 2, GPUMemory: 24 << 20},
			{Device: "0,1", Threads: 3, GPUMemory: 24 << 20},
			{Device: "gpu", Threads: 2, GPUMemory: 4 << 20, Streams: 1, MemoryLimit: 12 << 20},
			{Threads: 2, GPUMemory: 24 << 20},
		} {
			if x.few {
				opt.Threads = 1 // others would pack until it is known
			}
			got, s, err := answerStats(t, q, tuned.of(opt))
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%+v on %q: %q, want %q; %v", x, opt.Device, got, want, err)
			}
			if e := s.Encoded; opt.Device != "" && (s.Rows != 12_000 && x.where == "" && x.why == "" || e.Rows != x.decoded || e.Declined != 0) {
				t.Errorf("%+v on %q: %d rows, those of devices %+v, fallbacks %v", x, opt.Device, s.Rows, e, s.Fallbacks)
			}
			told := slices.ContainsFunc(s.Fallbacks, func(f gagg.Fallback) bool { return f.Why == x.why })
			if opt.Device != "" && told != (x.why != "") {
				t.Errorf("%+v on %q: fallbacks %v", x, opt.Device, s.Fallbacks)
			}
		}
	}
	rows := tuned.of(gagg.Options{Device: "gpu", Threads: 2, GPUMemory: 24 << 20, NoGPUDecoding: true})
	q := gagg.Query{From: from, Aggs: exprs("sum(i)")}
	if got, s, err := answerStats(t, q, rows); err != nil || !slices.Equal(got, mustAnswer(t, q, gagg.Options{Device: "cpu"})) || len(s.Fallbacks) != 1 {
		t.Errorf("rows of workers: %v, fallbacks %v; %v", got, s.Fallbacks, err)
	}
}
