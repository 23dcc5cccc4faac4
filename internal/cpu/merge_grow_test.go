package cpu

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/merge"
)

// Where a group has many rows the merger's directory is smaller than one with slots for all of
// them. With any estimate to begin with, each group comes once, in order of hash. Where memory for
// more slots is refused the partition is divided.
func TestMergerGrows(t *testing.T) {
	const groups = 30_000
	in, want := data(rand.New(rand.NewPCG(9, 1)), 200, 1000, groups, "flat", false)
	for _, c := range []struct {
		estimate float64
		memory   int64
		most     int // slots; 0: the partition is divided
	}{
		{groups, 64 << 20, 1 << 18},
		{100, 64 << 20, 1 << 17},
		{1e6, 64 << 20, 1 << 19}, // slots for all rows
		{100, 400_000, 0},
		{groups, 400_000, 0},
	} {
		t.Run(fmt.Sprintf("estimate=%g/memory=%d", c.estimate, c.memory), func(t *testing.T) {
			cfg := config(1, feedback.NoTables, nil)
			_, space := tight(t, cfg, 1<<30, 2)
			merger := func() (*Groups, *Merger) {
				g, err := run(t.Context(), cfg, in, false, 2)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { closed(t, &g) })
				r := cfg.run()
				r.groups, r.cfg.Memory.Merge = c.estimate, c.memory
				return &g, r.NewMerger(g.Buckets)
			}
			if c.most > 0 {
				_, m := merger()
				m.begin(m.sources, merge.Range{N: 1}, 0)
				if err := m.load(t.Context()); err != nil || m.n != len(want) || len(m.dir.slots) > c.most {
					t.Errorf("%d groups in %d slots, error %v", m.n, len(m.dir.slots), err)
				}
				if err := m.Close(); err != nil {
					t.Error(err)
				}
			}
			g, m := merger()
			if got := mergedSums(t, cfg, g, m); !maps.Equal(got, want) {
				t.Errorf("sums differ, of %d groups, want %d", len(got), len(want))
			}
			if divided := space.Written() > 0; divided != (c.most == 0) {
				t.Errorf("%d bytes were written", space.Written())
			}
		})
	}
}
