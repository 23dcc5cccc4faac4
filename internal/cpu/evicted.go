package cpu

import (
	"errors"

	"github.com/gagg-dev/gagg/merge"
)

// This file is how a merger takes rows that devices have left in pinned memory (evict.Rows), in
// place of a PartitionWriter's buckets.

// EvictedRows is rows that lie in pinned memory, by their hashes. All mergers use it at once.
type EvictedRows interface {
	// Take is the rows of partitions, of which there are 2^bits. They are handed out once.
	Take(p merge.Range, bits uint) []EvictedSpan
}

// EvictedSpan is some of the EvictedRows.
type EvictedSpan interface {
	Len() int
	// Rows is the rows, to be looked at before any is loaded.
	Rows() []uint64
	// Load has a pass load them, and says how many it took: fewer than all if it has room for no
	// more groups. They must stay as they are until its End.
	Load(p Pass) (taken int, err error)
	// Rest is the rows from number `from` on, which the CPU combines: they may be changed.
	Rest(from int) ([]uint64, error)
	// Release is called once, when nobody needs them any more. It may free memory.
	Release() error
}

// UseEvicted has the merger take rows that devices have left in pinned memory with those in
// buckets.
func (m *Merger) UseEvicted(e EvictedRows) { m.evicted = e }

// takeEvicted takes the evicted rows of the partition that has begun, if it is one of the run's.
func (m *Merger) takeEvicted(p merge.Range, bits uint) {
	if m.evicted != nil {
		m.in.evicted = m.evicted.Take(p, bits)
	}
}

// evictedRows is how many evicted rows the partition has that are neither with a device nor among
// the pages.
func (m *Merger) evictedRows() (n int) {
	for _, k := range m.in.evicted[m.in.loaded:] {
		n += k.Len()
	}
	return n
}

// loadEvicted gives the device the evicted rows. Those it did not take are pages from then on.
func (m *Merger) loadEvicted(all bool) (bool, error) {
	for all && m.in.loaded < len(m.in.evicted) {
		k := m.in.evicted[m.in.loaded]
		taken, err := k.Load(m.pass)
		if err != nil {
			return false, err
		}
		m.in.loaded++
		if taken < k.Len() {
			all = false
			if err := m.addEvicted(k, taken); err != nil {
				return false, err
			}
		}
	}
	return all, m.pageEvicted()
}

// pageEvicted makes the evicted rows that no device has pages of the partition, where they are.
func (m *Merger) pageEvicted() error {
	for ; m.in.loaded < len(m.in.evicted); m.in.loaded++ {
		if err := m.addEvicted(m.in.evicted[m.in.loaded], 0); err != nil {
			return err
		}
	}
	m.in.pages = len(m.pages)
	return nil
}

// addEvicted adds evicted rows to the pages, from number `from` on, in pieces of a page: rows are
// numbered by page.
func (m *Merger) addEvicted(k EvictedSpan, from int) error {
	rows, err := k.Rest(from)
	if err != nil {
		return err
	}
	page := m.cfg.Stride << m.store.pool.PageBits
	for len(rows) > 0 {
		n := min(page, len(rows))
		m.pages = append(m.pages, rows[:n:n])
		rows = rows[n:]
	}
	return nil
}

// releaseEvicted lets go of the partition's evicted rows. An error is that of a device, and is told
// by Close.
func (m *Merger) releaseEvicted() {
	for _, k := range m.in.evicted {
		m.evictedErr = errors.Join(m.evictedErr, k.Release())
	}
	m.in.evicted, m.in.loaded = nil, 0
}
