package cpu

import (
	"errors"
	"fmt"

	"github.com/gagg-dev/gagg/internal/hostmem"
	"github.com/gagg-dev/gagg/internal/invariant"
	"github.com/gagg-dev/gagg/partition"
)

// This file is how the groups of tables are merged without being copied to partitions first, which
// would take as much memory again, all of it touched for the first time. A table that has grown to
// the end of the input stays as it is. Its directory is in order of hash, so the groups of a
// partition are those of a range of slots. A merger copies these, of all tables, to memory that it
// uses again for the next partition.
//
// IN-PLACE: that memory is drawn for all mergers before tables are left in place, so that nothing
// can be refused later: room for the largest partition each. Where this is no small part of what
// the tables take, as when keys were made to be in one partition, or it is refused, tables are
// emptied into buckets.

// inPlaceShare is the divisor of the bytes of the tables' rows that gives the most memory for
// mergers. Emptying tables takes as much memory as all rows at most.
const inPlaceShare = 2

// inPlaceTable is the groups of a table, of 2^(64-shift) partitions.
type inPlaceTable struct {
	table *table
	shift uint
	rows  []uint32 // by partition
}

// mayStay reports whether the worker has a table that may be merged in place.
func (w *Worker) mayStay() bool {
	return w.phase == phaseTable && w.table.n > 0 && !w.table.inCache() && !w.table.dir.seeded
}

// newInPlaceTable counts the groups of a table by their partitions.
func newInPlaceTable(t *table, bits uint) *inPlaceTable {
	h := &inPlaceTable{table: t, shift: 64 - bits, rows: make([]uint32, 1<<bits)}
	var hashes [hashRows]uint64
	for g, rows := uint32(0), t.rows.Rows; len(rows) > 0; {
		n := min(len(rows)/t.rows.Stride, len(hashes))
		t.keys.RowHashes(rows, t.rows.Stride, hashes[:n])
		for _, hash := range hashes[:n] {
			if !t.hasLeft(g) {
				h.rows[hash>>h.shift]++
			}
			g++
		}
		rows = rows[n*t.rows.Stride:]
	}
	return h
}

// Rows is how many groups a partition has.
func (h *inPlaceTable) Rows(p int) int { return int(h.rows[p]) }

// Copy copies the groups of a partition. Those lie from the home slot of its least hash on, and
// others of the partitions before among them. The hashes of some groups are read before the groups
// are copied: so their cache misses overlap.
func (h *inPlaceTable) Copy(dst []uint64, p int) (n int) {
	d, rows, stride := &h.table.dir, h.table.rows.Rows, h.table.rows.Stride
	left := int(h.rows[p])
	slot := d.home(uint64(p) << h.shift)
	var groups [touchRows]uint32
	var hashes [touchRows]uint64
	for probed := 0; n < left && probed < len(d.slots); {
		k := 0
		for k < len(groups) && probed < len(d.slots) {
			e := d.slots[slot]
			groups[k] = d.group(e)
			if e != 0 { // an addition, not a jump
				k++
			}
			slot = d.next(slot)
			probed++
		}
		for i, g := range groups[:k] {
			hashes[i] = h.table.hashOf(g)
		}
		for i, g := range groups[:k] {
			if int(hashes[i]>>h.shift) == p && n < left && !h.table.hasLeft(g) {
				copyRow(dst[n*stride:(n+1)*stride], rows[int(g)*stride:int(g+1)*stride])
				n++
			}
		}
	}
	return n
}

// stayingTables decides which tables are merged in place, if any: by worker, nil where none is. It
// draws the memory that mergers need, which is the groups'.
func (g *Groups) stayingTables(r *Run, workers []*Worker, bits uint) ([]*inPlaceTable, error) {
	cfg, tables := r.cfg, make([]*inPlaceTable, len(workers))
	if bits == 0 || r.accelerator != nil || len(r.back) > 0 {
		return tables, nil
	}
	errs := make([]error, len(workers))
	each(len(workers), func(i int) {
		defer invariant.Recovered(&errs[i])
		if workers[i].mayStay() {
			tables[i] = newInPlaceTable(workers[i].table, bits)
		}
	})
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	all, most := 0, 0
	for p := range 1 << bits {
		n := 0
		for _, h := range tables {
			if h != nil {
				n += h.Rows(p)
			}
		}
		all, most = all+n, max(most, n)
	}
	bytes := int64(cfg.Threads) * int64(most) * 8 * int64(cfg.Stride)
	if inPlaceShare*int64(most)*int64(cfg.Threads) > int64(all) || cfg.Budget.Draw(bytes) != nil {
		clear(tables)
		return tables, nil
	}
	g.drawn, g.from = bytes, cfg.Budget
	return tables, nil
}

// giveBack gives back what stayingTables has drawn.
func (g *Groups) giveBack() {
	if g.drawn > 0 {
		g.from.Release(g.drawn)
	}
	g.drawn = 0
}

// addInPlace adds the groups of a table to the store, whose the table is from now on.
func (s *store) addInPlace(h *inPlaceTable) {
	s.inPlace = h.table
	s.placed += int64(h.table.live())
	s.buckets.AddInPlace(h)
}

// gatherInPlace copies the rows of the source that lie in tables to pages.
func (m *Merger) gatherInPlace() error {
	n, stride := m.inPlaceRows(), m.cfg.Stride
	if n == 0 {
		return nil
	}
	if n*stride > len(m.gathered) {
		hostmem.Free(m.gathered)
		m.gathered = hostmem.Make[uint64](n * stride)
	}
	at := 0
	for _, b := range m.in.buckets {
		for k := range m.in.numbers.N {
			at += b.CopyInPlace(m.gathered[at*stride:n*stride], m.in.numbers.First+k)
		}
	}
	if at != n { // ROWS-WHOLE
		return fmt.Errorf("internal error: %d of %d rows were found in tables", at, n)
	}
	page := stride << m.store.pool.PageBits
	for rows := m.gathered[:n*stride]; len(rows) > 0; {
		k := min(page, len(rows))
		m.pages, rows = append(m.pages, rows[:k:k]), rows[k:]
	}
	m.in.pages = len(m.pages)
	return nil
}

// inPlaceRows is how many rows of the source lie in tables.
func (m *Merger) inPlaceRows() (n int) {
	for _, b := range m.in.buckets {
		for k := range m.in.numbers.N {
			n += b.InPlaceRows(m.in.numbers.First + k)
		}
	}
	return n
}

var _ partition.InPlace = (*inPlaceTable)(nil)
