package extsort

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/column"
)

// There is a bound as soon as as many rows have come as are wanted: the last of them in order. It
// falls as better ones come.
func TestBoundOfFirstRows(t *testing.T) {
	const keep, batch = 100, 80
	typ := column.Type{Kind: column.Int64}
	s := New(Config{Keep: keep, Budget: budget.Or(nil), Terms: []Term{{Type: typ}}, Cols: []column.Type{typ}})
	rng := rand.New(rand.NewPCG(4, 2))
	var all []int64
	for b := range 20 {
		v := column.Vector{Type: typ, Len: batch}
		for range batch {
			v.Int = append(v.Int, rng.Int64N(1000)-int64(10*b))
		}
		all = append(all, v.Int...)
		if err := s.Add(t.Context(), uint64(b*batch), []column.Vector{v}, []column.Vector{v}, v.Len); err != nil {
			t.Fatal(err)
		}
		word, flip, _, ok := s.Bound()
		if want := len(all) >= keep; ok != want {
			t.Fatalf("after %d rows: a bound is known: %t", len(all), ok)
		}
		if !ok {
			continue
		}
		best := slices.Sorted(slices.Values(all))
		bound := int64(word ^ flip)
		if bound < best[keep-1] {
			t.Fatalf("after %d rows the bound is %d; the last one wanted is %d", len(all), bound, best[keep-1])
		}
		if far := best[min(3*keep, len(best)-1)]; bound > far {
			t.Errorf("after %d rows the bound is %d; the last one wanted is %d", len(all), bound, best[keep-1])
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// The k least of entries come first, whatever k is.
func TestLeast(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 8))
	for n := range 40 {
		for k := 1; k <= n; k++ {
			m := &memRun{index: make([]entry, n), pages: [][]byte{make([]byte, rowHeader)}}
			for i := range m.index {
				m.index[i].prefix = uint64(i) // no two keys are equal
			}
			rng.Shuffle(n, func(i, j int) { m.index[i], m.index[j] = m.index[j], m.index[i] })
			if got := m.least(k); got.prefix != uint64(k-1) {
				t.Fatalf("least %d of %d is %d", k, n, got.prefix)
			}
			for i, e := range m.index {
				if (i < k) != (e.prefix < uint64(k)) {
					t.Fatalf("least %d of %d: %v", k, n, m.index)
				}
			}
		}
	}
}

// Rows that are skipped are passed over, in memory and on disk, and those behind them come.
func TestSkip(t *testing.T) {
	tb := randomTable(rand.New(rand.NewPCG(5, 5)), []column.Type{{Kind: column.Int16}, {Kind: column.String}}, 30)
	want := tb.sorted(t)
	for _, limit := range []int64{0, 64 << 10} {
		for _, n := range []int64{0, 1, 700, int64(len(want)) - 1, int64(len(want)), int64(len(want)) + 5} {
			h := newHarness(t, tb, -1, limit, 1, nil)
			h.skip = n
			got, runs, err := h.run(t.Context(), t, tb, 2)
			if err != nil || !slices.Equal(got, want[min(int(n), len(want)):]) {
				t.Errorf("limit %d, skip %d: %d rows, %v%s", limit, n, len(got), err, difference(got, want[min(int(n), len(want)):]))
			}
			if limit > 0 && runs == 0 {
				t.Error("nothing was on disk")
			}
		}
	}
}

// No more rows are made than are wanted, those that are skipped among them.
func TestMakesWhatIsWanted(t *testing.T) {
	const keep = 40
	tb := randomTable(rand.New(rand.NewPCG(6, 6)), []column.Type{{Kind: column.Int16}, {Kind: column.String}}, 10)
	want := tb.sorted(t)[:keep]
	for _, limit := range []int64{0, 64 << 10} {
		for _, n := range []int64{0, 30, keep, keep + 1} {
			h := newHarness(t, tb, keep, limit, 3, nil)
			h.skip = n
			if got, _, err := h.run(t.Context(), t, tb, 3); err != nil || !slices.Equal(got, want[min(n, keep):]) {
				t.Errorf("limit %d, skip %d: %d rows, %v", limit, n, len(got), err)
			}
		}
	}
}
