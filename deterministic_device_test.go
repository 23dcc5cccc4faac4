package gagg_test

import (
	"math"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// Exact sums of one or two devices have the bits of the CPU's, whoever makes the rows, also where
// tables are full, and of row groups that devices decline, since a window is too narrow for them.
func TestDeviceDeterministic(t *testing.T) {
	gputest.Need(t, 2)
	usual := usualRows(inShort(6000, 20_000), 3000)
	far := slices.Clone(usual)
	far[len(far)-1].X = math.MaxFloat64
	far[len(far)-2].X = -0x1p-200
	for name, rows := range map[string][]floatRow{"usual": usual, "far": far, "any": floatRows(3000, 2000)} {
		from := floatFiles(t, rows, 2, 1500)
		for i, aggs := range [][]gagg.Agg{
			exprs("sum(x)", "avg(y)", "count(*)"),
			exprs("var_samp(x)", "stddev_pop(y)", "corr(x, y)"),
			exprs("skewness(x)"), exprs("kurtosis(y)"),
			exprs("sum(x * 2)", "stddev_samp(y)"),
		} {
			q := gagg.Query{From: from, By: []string{"k"}, Aggs: aggs}
			want := mustAnswer(t, q, gagg.Options{Device: "cpu", Deterministic: true})
			for _, o := range []gagg.Options{
				{Device: "gpu", Threads: 2, GPUMemory: 24 << 20},
				{Device: "0,1", Threads: 3, GPUMemory: 24 << 20},
				{Device: "0,1", Threads: 2, GPUMemory: tinyDevice, Streams: 1, Partitions: 64},
				{Device: "gpu", Threads: 2, GPUMemory: 24 << 20, NoGPUDecoding: true},
			} {
				o.Deterministic = true
				got, stats, err := answerStats(t, q, tune{gagg.PassLeast(1)}.of(o))
				if name == "any" && err != nil { // more words than a device combines
					continue
				}
				if err != nil || !slices.Equal(got, want) {
					t.Fatalf("%s, %v: %v; %s", name, o.Device, err, differing(got, want))
				}
				if name == "usual" && stats.Device == "cpu" {
					t.Errorf("%+v: the CPU computed", o)
				}
				if name == "usual" && !o.NoGPUDecoding && i < 4 && o.GPUMemory > tinyDevice && stats.Encoded.RowGroups == 0 {
					t.Errorf("%+v: no row group was decoded by a device: %+v", o, stats.Encoded)
				}
			}
		}
	}
}
