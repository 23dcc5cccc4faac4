package gagg_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// Devices group by what they can compute of keys, and the CPU computes the keys of these groups.
// The answers are the CPU's, and so are its errors.
func TestDeviceDivides(t *testing.T) {
	gputest.Need(t, 2)
	tuned := tune{gagg.LeastMemory(tightMemory), gagg.DevicePays(), gagg.PassLeast(1)}
	from := gagg.Files(regroupFile(t, 6_000))
	for i, x := range dividedKeys {
		q := x.query(from)
		want, _, wantErr := answerStats(t, q, tuned.of(gagg.Options{Device: "cpu"}))
		for k, o := range []gagg.Options{{Device: "gpu"}, {Device: "0,1"}, {Device: "gpu", MemoryLimit: 64 << 20}, {Device: "gpu", Deterministic: true}} {
			if k > 0 && (i+k)%2 == 0 {
				continue
			}
			plan, err := gagg.Plan(t.Context(), q, tuned.of(o))
			if err != nil {
				t.Fatal(err)
			}
			if divided := plan.GPU != nil && strings.Contains(plan.GPU.Regroups, "what it can compute"); divided == (x.workers || x.told) {
				t.Errorf("%+v: %s", x, plan)
			}
			want := want
			if o.Deterministic {
				c := o
				c.Device = "cpu"
				want, _, _ = answerStats(t, q, tuned.of(c))
			}
			o.Threads, o.Streams, o.GPUMemory = 2, 1, 48<<20
			got, s, err := answerStats(t, q, tuned.of(o))
			if (err == nil) != (wantErr == nil) || !slices.Equal(got, want) {
				t.Errorf("%+v, %+v: %q, want %q; %v, want %v", x, o, got, want, err, wantErr)
			}
			if len(s.Distinct) > 0 && !strings.Contains(x.aggs, "distinct") {
				t.Errorf("%+v: %+v", x, s.Distinct)
			}
		}
	}
}
