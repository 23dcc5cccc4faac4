package gagg_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/datagen"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// Different values that devices group by beside the keys are counted as the oracle does: numbers
// and short texts, with odd values and NULL, alone and beside other aggregates, with few groups,
// many and one.
func TestDeviceDistinct(t *testing.T) {
	gputest.Need(t, 2)
	decoded, seed := map[string]int64{}, 0
	for i, typ := range []column.Type{{Kind: column.Int32}, {Kind: column.Float64}, {Kind: column.String}} {
		if testing.Short() && i%2 == 1 {
			continue
		}
		for j, aggs := range [][]string{
			{"count_distinct of x"},
			{"count of y", "count_distinct of x", "max of k", "count of x"},
			{"distinct sum of x", "distinct min of x", "mean of k", "count_distinct of x"},
		} {
			if j == 2 && typ.Kind == column.String {
				continue
			}
			keys := []int{0, 5, 200}[(i+2*j)%3]
			tr := distinctTrial(typ, 1200, keys, aggs...)
			if keys > 0 && j < 2 { // without texts, of which long ones are declined
				tr.query.By, tr.want.Keys = tr.query.By[:1], tr.want.Keys[:1]
			}
			tr.seed, seed = uint64(seed), seed+1
			tr.tuned = tune{gagg.LeastMemory(tightMemory), gagg.PassLeast(1), gagg.DevicePays()}
			// a third of the configurations, in turns
			tr.onDevices(t, everyThird(encodedConfigurations, i+j), func(t *testing.T, c configuration, got outcome) {
				decoded[c.name] += got.stats.Encoded.Rows
				if d := got.stats.Distinct; len(d) != 1 || c.opt.Device != "" && d[0].Groups == 0 {
					t.Errorf("%s\n%+v of distinct values", tr, d)
				}
			})
		}
	}
	t.Logf("%v", decoded)
	for _, name := range []string{"plain", "snappy, pages", "snappy, v2, required", "two devices", "zstd"} {
		if n, ran := decoded[name]; ran && n == 0 {
			t.Errorf("%s: devices decoded no row", name)
		}
	}
}

// What devices do of distinct values, and what they leave to the CPU, is told; the answer is the
// CPU's.
func TestDeviceDistinctTold(t *testing.T) {
	gputest.Need(t, 1)
	from := gagg.Files(randomFile(t, 12_000))
	for _, c := range []struct {
		by   []string
		aggs []string
		why  string // why no device takes part; "": one does
	}{
		{[]string{"s"}, []string{"count(distinct i)"}, ""},
		{nil, []string{"count(distinct i)", "sum(i)"}, ""},
		{[]string{"i % 10"}, []string{"sum(distinct i)", "max(x)", "count(*)"}, ""},
		{[]string{"i"}, []string{"count(distinct s)"}, ""},
		{[]string{"s"}, []string{"count(distinct i)", "list(x)", "count(distinct x)"}, "each different i counts once, and each different x"},
		{[]string{"s"}, []string{"count(distinct i)", "first(x)"}, ""},
	} {
		q := gagg.Query{From: from, By: c.by, Aggs: exprs(c.aggs...), Where: "i <> 7", Having: "count(distinct i) >= 0 or count(*) >= 0"}
		if len(c.aggs) == 1 {
			q.Having = ""
		}
		want := mustAnswer(t, q, gagg.Options{Device: "cpu", Threads: 2})
		got, s, err := answerStats(t, q, gagg.Options{Device: "gpu", Threads: 2, GPUMemory: 24 << 20})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%v by %v: %d rows that differ from %d, or error %v", c.aggs, c.by, len(got), len(want), err)
		}
		told := slices.ContainsFunc(s.Fallbacks, func(f gagg.Fallback) bool { return f.Why == c.why })
		if told != (c.why != "") || (s.Encoded.Rows > 0) != (c.why == "") {
			t.Errorf("%v by %v: devices decoded %d rows, fallbacks %v", c.aggs, c.by, s.Encoded.Rows, s.Fallbacks)
		}
		p, err := gagg.Plan(t.Context(), q, gagg.Options{Device: "gpu", Threads: 2, GPUMemory: 24 << 20})
		if err != nil || strings.Contains(p.String(), "; if one has all groups, it groups these ") != (c.why == "") {
			t.Errorf("%v by %v: error %v\n%s", c.aggs, c.by, err, p)
		}
	}
}

// Groups of distinct values that a device has no room for leave it, and are regrouped all the same,
// within limits of memory.
func TestDeviceDistinctLeaves(t *testing.T) {
	gputest.Need(t, 1)
	tr := &trial{seed: 1, table: datagen.New(datagen.Spec{Rows: 60_000, Seed: 1, Columns: []datagen.Column{
		{Name: "k", Type: column.Type{Kind: column.Int32}, Distinct: 300, Nulls: 0.1},
		{Name: "x", Type: column.Type{Kind: column.Int64}, Nulls: 0.1},
	}})}
	tr.query.By, tr.want.Keys = []string{"k"}, []int{0}
	tr.addAgg("count_distinct", 1)
	tr.addAgg("count", 1)
	tr.tuned = tune{gagg.LeastMemory(tightMemory), gagg.PassLeast(1)}
	layout := parquetAs(datagen.Layout{RowGroup: 3000})
	// the input waits for the device: else the CPU may be done before
	tr.onDevices(t, []configuration{
		{name: "little memory", await: true, source: layout, opt: gagg.Options{Device: "gpu", Threads: 2, GPUMemory: 3 << 20, Streams: 1}},
		{name: "little memory for both", await: true, source: layout, opt: gagg.Options{Device: "gpu", Threads: 2, GPUMemory: 3 << 20, Streams: 1, MemoryLimit: 12 << 20}},
	}, func(t *testing.T, _ configuration, got outcome) {
		if d := got.stats.Devices; len(d) != 1 || d[0].InCore || d[0].Rows == 0 {
			t.Errorf("%+v", d)
		}
	})
}
