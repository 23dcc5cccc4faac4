package extsort

import (
	"context"

	"github.com/gagg-dev/gagg/internal/hostmem"
)

// tightenStep is the least number of rows between two searches for a lower bound; there are half as
// many as rows so far if that is more.
const tightenStep = 64

// tighten finds a bound among the rows that have come so far, once there are as many as are wanted,
// so that later rows beyond it need not be made. It leaves the rows as they are, and needs no
// memory but the index by which the unit is sorted.
func (s *Sorter) tighten() {
	s.next = s.rows + max(s.rows/2, tightenStep)
	if s.rows != int64(s.unit.rows) { // others were sorted, or pruned
		return
	}
	m := s.unit.run()
	last := m.least(int(s.cfg.Keep))
	s.bound = append(s.bound[:0], m.row(last).key()...)
	hostmem.Free(m.memory)
}

// least puts the k least rows first, and returns the greatest of them; 0 < k <= rows.
func (m *memRun) least(k int) entry {
	index := m.index
	for len(index) > 1 {
		pivot := index[len(index)/2]
		i, j := 0, len(index)-1
		for i <= j {
			for m.compare(index[i], pivot) < 0 {
				i++
			}
			for m.compare(index[j], pivot) > 0 {
				j--
			}
			if i <= j {
				index[i], index[j] = index[j], index[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k <= j+1:
			index = index[:j+1]
		case k > i:
			index, k = index[i:], k-i
		default:
			return pivot
		}
	}
	return index[0]
}

// prune keeps the best of the rows in memory, as many as are wanted, in pages
// of their own. If there is no memory for these, they go to disk.
func (s *Sorter) prune(ctx context.Context) error {
	s.sort()
	all := s.runs
	cursors := s.memCursors()
	s.runs = nil
	err := s.each(ctx, cursors, func(r row) error {
		if _, err := s.tryRoom([]int{r.len()}); err != nil {
			return err
		}
		s.copyRow(r)
		return nil
	})
	s.sort()
	if err == nil {
		s.forget(all)
		return nil
	}
	s.forget(s.runs)
	s.runs = all
	if ctx.Err() != nil {
		return err
	}
	return s.spillOr(ctx, err)
}
