package cpu

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/key"
)

// A table that reduces its rows too little to grow stays small, is flushed when it is full, and is
// given up when that saves too little.
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
		cfg := config(0, feedback.TableConfig{MinRows: 10_000, MinReduction: 30, CacheReduction: 1.01, CacheBytes: 128 << 10}, noLimit)
		cfg.Rows = 100_000
		w, err := cfg.run().NewWorker(pipeline(false))
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
		if (w.table.inCache() && w.phase == phaseTable) != test.cached || (w.phase == phaseScatter) != test.scatter || most > cfg.Table.CacheBytes {
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
	got := s.observe(int64(len(groups)), 4*sampleGroups, 0)
	if got.Rows != 9 || got.Groups != 4*sampleGroups || math.Abs(got.Once-.25) > 1e-9 || math.Abs(got.Twice-.25) > 1e-9 {
		t.Errorf("%+v", got)
	}
}

// Groups that are found by the codes of their keys from some row on are not counted by their rows:
// what was counted before says nothing of a table that has twice as many rows, which is kept.
func TestSizesBeforeCodes(t *testing.T) {
	const groups, batches, n = 300_000, 270, 1000
	cfg := configOf([]key.Column{{Type: int64Type}}, 0, feedback.DefaultTableConfig, noLimit)
	cfg.Rows = 5_000_000
	w, err := cfg.run().NewWorker(Pipeline{Used: []int{0}, Keys: []Evaluator{columnAt(0)}, Args: []Evaluator{columnAt(0)}})
	if err != nil {
		t.Fatal(err)
	}
	rng, counted := rand.New(rand.NewPCG(7, 7)), false
	for range batches {
		v := column.Vector{Type: int64Type, Len: n}
		for range n {
			v.Int = append(v.Int, rng.Int64N(groups))
		}
		if err := w.Add(&column.Batch{Rows: n, Cols: []column.Vector{v}}); err != nil {
			t.Fatal(err)
		}
		counted = counted || len(w.sizes.rows) > 0
	}
	if !counted || len(w.sizes.rows) > 0 || w.phase != phaseTable || w.table.inCache() {
		t.Errorf("counted %t, of %d groups now; phase %d, in the cache %t", counted, len(w.sizes.rows), w.phase, w.table.inCache())
	}
	if err := w.close(); err != nil {
		t.Error(err)
	}
}
