package cpu

import (
	"context"
	"slices"

	"github.com/gagg-dev/gagg/partition"
)

// This file is how rows in the memory of a merger are sorted: an index of
// their numbers is.

// indexBytes is what the index takes for a row: it may have room for twice as
// many. Where rows leave it no memory there is what loadShare leaves.
const indexBytes = 2 * 4

// loadedRows is how many rows of the partition are in memory: groups so far, and
// those that have not been merged.
func (m *Merger) loadedRows() int { return m.n + m.rowsInMemory() }

// index returns their numbers. growIndex has taken the memory.
func (m *Merger) index() []uint32 {
	rows := make([]uint32, 0, m.loadedRows())
	for _, e := range m.dir.slots {
		if e != 0 {
			rows = append(rows, m.dir.group(e))
		}
	}
	for i, page := range m.waiting() {
		first := (m.merged + i) << m.store.pool.PageBits
		for k := range len(page) / m.cfg.Stride {
			rows = append(rows, uint32(first+k))
		}
	}
	return rows
}

// growIndex takes the memory for n more rows in the index.
func (m *Merger) growIndex(n int) error {
	bytes := int64(n) * indexBytes
	if err := m.share(bytes, 1); err != nil {
		return err
	}
	if err := asking(m.cfg.Grow)(bytes); err != nil {
		return err
	}
	m.indexed += bytes
	return nil
}

func (m *Merger) dropIndex() {
	_ = m.cfg.Grow(-m.indexed) // only asking for more can fail
	m.indexed = 0
}

// reserveIndexed makes sure of memory for the rows of a block and their values,
// and for their numbers.
func (m *Merger) reserveIndexed(b partition.Block) error {
	if err := m.reserve(b); err != nil {
		return err
	}
	return m.growIndex(b.Rows)
}

// fuse sorts rows and makes one of those of a key; it returns these.
func (m *Merger) fuse(ctx context.Context, rows []uint32) ([]uint32, error) {
	compared, stopped := 0, false
	slices.SortStableFunc(rows, func(a, b uint32) int {
		if compared++; compared%comparedBetween == 0 && ctx.Err() != nil {
			stopped = true
		}
		if stopped { // in any order, and soon
			return 0
		}
		return m.compare(m.row(a), m.row(b))
	})
	if stopped {
		return nil, context.Cause(ctx)
	}
	n := 0 // groups so far
	for _, r := range rows {
		if n > 0 && m.compare(m.row(rows[n-1]), m.row(r)) == 0 {
			m.cfg.States.Join(m.row(rows[n-1]), m.row(r), m.cfg.Arenas, m.store.arena)
			continue
		}
		rows[n] = r
		n++
	}
	return rows[:n], nil
}

// comparedBetween is after how many comparisons a sort looks whether it is to
// stop: they take less than a millisecond.
const comparedBetween = 1 << 12
