package gagg_test

import (
	"slices"
	"testing"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// Devices group by the keys and the argument whose values are counted, and the CPU counts them of
// these groups.
func TestDeviceCounted(t *testing.T) {
	gputest.Need(t, 1)
	from := gagg.Files(regroupFile(t, 4_000))
	for i, x := range countedTrials {
		if x.not {
			continue
		}
		q := gagg.Query{
			From: from, By: items(x.by, ";"), Aggs: exprs(items(x.aggs, "|")...), Where: x.where, Having: x.having,
			OrderBy: items(x.order, ","), Limit: x.limit,
		}
		tuned := tune{gagg.LeastMemory(tightMemory), gagg.DevicePays(), gagg.PassLeast(1), gagg.CountsValues()}
		want, _, wantErr := answerStats(t, q, tune{gagg.CountsNone()}.of(gagg.Options{Device: "cpu"}))
		for k, o := range []gagg.Options{{}, {MemoryLimit: 64 << 20}, {NoGPUDecoding: true}} {
			if k > 0 && (i+k)%2 == 0 {
				continue
			}
			o.Device, o.Threads, o.Streams, o.GPUMemory = "gpu", 2, 1, 32<<20
			plan, err := gagg.Plan(t.Context(), q, tuned.of(o))
			if err != nil {
				t.Fatal(err)
			}
			got, s, err := answerStats(t, q, tuned.of(o))
			if (err == nil) != (wantErr == nil) || !slices.Equal(got, want) {
				t.Errorf("%+v: %v, want %v; %q, want %q", x, err, wantErr, got, want)
			}
			if k == 0 && (plan.GPU == nil || len(s.Fallbacks) > 0) != x.workers {
				t.Errorf("%+v: %s, %v", x, plan, s.Fallbacks)
			}
		}
	}
}
