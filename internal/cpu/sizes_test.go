package cpu

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/feedback"
)

// A table that reduces its rows too little to grow stays small, is flushed when it is full, and is given up when that saves too little.
func TestCachedTable(t *testing.T) {
	for _, test := range []struct {
		groups          int
		cached, scatter bool
	}{
		{100, false, false},
		{20_000, true, false},
		{10_000_000, false, true},
	} {
		in, _ := data(rand.New(rand.NewPCG(7, 7)), 100, 1000, test.groups, "flat", false)
		cfg := config(0, feedback.TileConfig{MinRows: 10_000, MinReduction: 30, CacheReduction: 1.01, CacheBytes: 128 << 10}, noLimit)
		cfg.Rows = 100_000
		w, err := NewWorker(cfg, pipeline(false))
		if err != nil {
			t.Fatal(err)
		}
		most := int64(0)
		for i := range in {
			if err := w.Add(&in[i]); err != nil {
				t.Fatal(err)
			}
			if w.table.inCache() {
				most = max(most, w.table.held)
			}
		}
		if (w.table.inCache() && w.phase == phaseTable) != test.cached || (w.phase == phaseScatter) != test.scatter || most > cfg.Tile.CacheBytes {
			t.Errorf("%d groups: cached %t, phase %d, a table of %d bytes", test.groups, w.table.inCache(), w.phase, most)
		}
		if err := w.close(); err != nil {
			t.Error(err)
		}
	}
}

// The rows of one in sampleGroups groups are counted, up to a few.
func TestSizes(t *testing.T) {
	var s sizes
	groups := []uint32{0, 1, 0, sampleGroups, 0, 2 * sampleGroups, 2 * sampleGroups, 0, 3}
	s.add(groups, 4*sampleGroups)
	got := s.seen(int64(len(groups)), 4*sampleGroups, 0)
	if got.Rows != 9 || got.Groups != 4*sampleGroups || math.Abs(got.Once-.25) > 1e-9 || math.Abs(got.Twice-.25) > 1e-9 {
		t.Errorf("%+v", got)
	}
}
