package extsort

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/gagg-dev/gagg/internal/budget/budgettest"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/hostmem"
	"github.com/gagg-dev/gagg/internal/spill"
)

// table is batches of rows, the order columns apart from the others.
type table struct {
	terms []Term
	cols  []column.Type
	order [][]column.Vector // by batch
	out   [][]column.Vector
}

func (tb *table) add(rng *rand.Rand, rows int) {
	var order, out []column.Vector
	for _, t := range tb.terms {
		order = append(order, coded(rng, randomVector(rng, t.Type, rows)))
	}
	for _, t := range tb.cols {
		out = append(out, coded(rng, randomVector(rng, t, rows)))
	}
	tb.order, tb.out = append(tb.order, order), append(tb.out, out)
}

func (tb *table) rows(batch int) int { return tb.out[batch][0].Len }

// whole is column c of all batches.
func whole(batches [][]column.Vector, c int) column.Vector {
	var parts []column.Vector
	for _, b := range batches {
		parts = append(parts, b[c])
	}
	return column.Concat(parts)
}

// sorted is the rows in order, as text, by a sort that is plainly right.
func (tb *table) sorted(t *testing.T) []string {
	t.Helper()
	var out []column.Vector
	for c := range tb.cols {
		out = append(out, whole(tb.out, c))
	}
	all := lines(t, out)
	rows := make([]int32, len(all))
	for i := range rows {
		rows[i] = int32(i)
	}
	var compare []func(a, b int32) int
	for c, term := range tb.terms {
		v := whole(tb.order, c)
		compare = append(compare, comparison(&v, term))
	}
	slices.SortStableFunc(rows, func(a, b int32) int {
		for _, c := range compare {
			if d := c(a, b); d != 0 {
				return d
			}
		}
		return 0
	})
	result := make([]string, len(rows))
	for i, r := range rows {
		result[i] = all[r]
	}
	return result
}

// ledger is a budget.
type ledger struct {
	limit, used, peak atomic.Int64
}

var errRefused = errors.New("refused")

func (l *ledger) grow(n int64) error {
	used := l.used.Add(n)
	if n > 0 && l.limit.Load() > 0 && used > l.limit.Load() {
		l.used.Add(-n)
		return errRefused
	}
	l.peak.Store(max(l.peak.Load(), used))
	return nil
}

// harness is sorters with a budget and a disk.
type harness struct {
	ledger ledger
	disk   *spill.Space
	cfg    Config
	skip   int64 // rows that a merger is to pass over
}

// newHarness has a budget of limit bytes for each of some sorters; 0: none.
func newHarness(t *testing.T, tb *table, keep, limit int64, sorters int, fs spill.FS) *harness {
	t.Helper()
	h := &harness{cfg: Config{Terms: tb.terms, Cols: tb.cols, Keep: keep, Memory: limit}}
	h.cfg.Budget = budgettest.Lender(h.ledger.grow)
	if limit > 0 {
		h.ledger.limit.Store(limit * int64(sorters))
		var err error
		if h.disk, err = spill.Open(spill.Config{Dir: t.TempDir(), FS: fs}); err != nil {
			t.Fatal(err)
		}
		h.cfg.Spill = h.disk.File
	}
	return h
}

// run sorts a table with several sorters, which take its batches in turn.
func (h *harness) run(ctx context.Context, t *testing.T, tb *table, sorters int) (result []string, runs int, err error) {
	t.Helper()
	live := hostmem.Live()
	all := make([]*Sorter, sorters)
	for i := range all {
		all[i] = New(h.cfg)
	}
	defer func() {
		for _, s := range all {
			err = errors.Join(err, s.Close())
		}
		if used := h.ledger.used.Load(); used != 0 {
			t.Errorf("%d bytes are not given back", used)
		}
		if h.disk != nil {
			err = errors.Join(err, h.disk.Close())
		}
		if n := hostmem.Live() - live; n != 0 {
			t.Errorf("%d bytes of buffers were not freed", n)
		}
	}()
	place := uint64(0)
	for b := range tb.out {
		if err := all[b%sorters].Add(ctx, place, tb.order[b], tb.out[b], tb.rows(b)); err != nil {
			return nil, 0, err
		}
		place += uint64(tb.rows(b))
	}
	for _, s := range all {
		if err := s.Finish(ctx); err != nil {
			return nil, 0, err
		}
		runs += len(s.disk)
	}
	const most = 64 << 10
	m := NewMerger(all, 100, most, nil)
	defer m.Close()
	if err := m.Skip(ctx, h.skip); err != nil {
		return nil, runs, err
	}
	for {
		b, err := m.Next(ctx)
		if err != nil || b == nil {
			return result, runs, err
		}
		if n := stringBytes(b); b.Rows > 100 || b.Rows > 1 && n > 2*most {
			t.Errorf("a batch of %d rows, %d bytes", b.Rows, n)
		}
		result = append(result, lines(t, b.Cols)...)
	}
}

func stringBytes(b *column.Batch) (n int) {
	for _, v := range b.Cols {
		n += len(v.Data)
		if v.Elem != nil {
			n += len(v.Elem.Data)
		}
	}
	return n
}

func randomTable(rng *rand.Rand, types []column.Type, batches int) *table {
	tb := &table{cols: []column.Type{{Kind: column.Int64}}}
	for _, t := range types {
		tb.terms = append(tb.terms, Term{t, rng.IntN(2) == 0, rng.IntN(2) == 0})
		tb.cols = append(tb.cols, t)
	}
	for range batches {
		tb.add(rng, rng.IntN(200))
	}
	return tb
}

// Each type is sorted as a comparison of values sorts it, in memory and on
// disk, ascending and descending, and nothing of a row is lost.
func TestSortsEachType(t *testing.T) {
	for i, typ := range allTypes() {
		t.Run(typ.String(), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(i), 1))
			for range 2 {
				tb := randomTable(rng, []column.Type{typ}, 6)
				want := tb.sorted(t)
				for _, limit := range []int64{0, 64 << 10} {
					h := newHarness(t, tb, -1, limit, 2, nil)
					got, _, err := h.run(t.Context(), t, tb, 2)
					if err != nil || !slices.Equal(got, want) {
						t.Fatalf("limit %d, %+v: %d rows of %d, %v%s", limit, tb.terms, len(got), len(want), err, difference(got, want))
					}
				}
			}
		})
	}
}

func difference(got, want []string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("; row %d is %s instead of %s", i, got[i], want[i])
		}
	}
	return ""
}
