package gagg

import (
	"errors"
	"fmt"
	"testing"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/partition"
)

// A memory plan has a share for each that needs one, and no more in all than
// the limit, at any time: while reading, and after.
func TestMemoryPlan(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		limit, read int64
		threads     int
		workers     int // 0: the limit is too small
	}{
		{0, 10 * mib, 8, 8},
		{1, 0, 1, 0},
		{4 * mib, 0, 1, 0},
		{16 * mib, 64 << 10, 1, 1},
		{16 * mib, 64 << 10, 8, 1},
		{64 * mib, 30 * mib, 8, 1},
		{64 * mib, 60 * mib, 8, 0},
		{512 * mib, 2 * mib, 2, 2},
		{1 << 40, 10 * mib, 64, 64},
	} {
		for _, ordered := range []bool{false, true} {
			name := fmt.Sprintf("limit %d, read %d, %d threads, ordered %t", c.limit, c.read, c.threads, ordered)
			m, workers, err := defaultNeeds.plan(c.limit, c.threads, c.read, 1, groupings{ordered: ordered})
			if workers != c.workers || errors.As(err, new(*NeedError)) != (c.workers == 0) {
				t.Errorf("%s: %d workers, %v", name, workers, err)
			}
			if c.limit == 0 || err != nil {
				continue
			}
			n := int64(workers)
			if (m.Sort > 0) != ordered || m.Merge <= 0 || m.Output <= 0 || m.Worker <= 0 || m.Table <= 0 || m.Pages <= 0 {
				t.Errorf("%s: a share is missing or too much: %+v", name, m)
			}
			if sum := n*(m.Read+m.Worker) + m.heldBack(workers); sum > m.Limit {
				t.Errorf("%s: %d bytes while reading: %+v", name, sum, m)
			}
			if m.Pages > n*partition.MostOpenBytes {
				t.Errorf("%s: %d bytes of pages that nobody fills", name, m.Pages)
			}
			if m.later(workers) > m.Limit || m.heldBack(workers) < 0 || m.Table > m.Worker {
				t.Errorf("%s: shares larger than what they are of: %+v", name, m)
			}
		}
	}
}

// What a sorter takes beyond its share is of nobody else's.
func TestSortMemory(t *testing.T) {
	r := &run{prepared: &prepared{budget: budget.New(budget.Memory, 1000), threads: 2, memory: MemoryPlan{Limit: 1000, Merge: 100, Output: 100, Sort: 150}}}
	sorter := &sorterMemory{run: r} // 600 are for merging, putting out and sorting
	for _, c := range []struct {
		others, bytes int64
		granted       bool
	}{
		{900, 100, true},  // the share
		{0, 60, false},    // beyond it, and others have all else
		{-550, 51, false}, // one byte beyond it
		{0, 50, true},     // the share again
		{-350, 250, true}, // beyond it, with nobody there
		{0, 1, false},
		{0, -400, true},
		{0, 150, true},
	} {
		if err := draw(r.budget, c.others); err != nil {
			t.Fatal(err)
		}
		if err := draw(sorter, c.bytes); (err == nil) != c.granted || err != nil && !errors.Is(classify(err), ErrBudget) {
			t.Errorf("others %+d, %+d: %v", c.others, c.bytes, err)
		}
	}
}

// draw draws bytes, or releases them if negative.
func draw(from budget.Lender, bytes int64) error {
	if bytes < 0 {
		from.Release(-bytes)
		return nil
	}
	return from.Draw(bytes)
}
