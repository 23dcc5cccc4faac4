package cpu

import (
	"errors"

	"github.com/gagg-dev/gagg/merge"
)

// This file is how a merger takes rows that devices have left in pinned memory (evict.Rows), in
// place of a PartitionWriter's buckets.

// UseEvicted has the merger take rows that an accelerator has left in pinned memory with those in
// buckets. take gives those of some partitions, of which there are 2^bits, each once; mergers call
// it at once.
func (m *Merger) UseEvicted(take func(p merge.Range, bits uint) []EvictedSpan) { m.evicted = take }

// takeEvicted takes the evicted rows of the partition that has begun, if it is one of the run's.
func (m *Merger) takeEvicted(p merge.Range, bits uint) {
	if m.evicted != nil {
		m.in.evicted = m.evicted(p, bits)
	}
}

// evictedRows is how many evicted rows the partition has that are neither with a device nor among
// the pages.
func (m *Merger) evictedRows() (n int) {
	for _, k := range m.in.evicted[m.in.loaded:] {
		n += len(k.Rows()) / m.cfg.Stride
	}
	return n
}

// loadEvicted gives the device the evicted rows. Those it did not take are pages from then on.
func (m *Merger) loadEvicted(all bool) (bool, error) {
	for all && m.in.loaded < len(m.in.evicted) {
		k := m.in.evicted[m.in.loaded]
		taken, err := k.Load()
		if err != nil {
			return false, err
		}
		m.in.loaded++
		if taken < len(k.Rows())/m.cfg.Stride {
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

// releaseEvicted releases the partition's evicted rows. An error is that of a device; Close returns
// it.
func (m *Merger) releaseEvicted() {
	for _, k := range m.in.evicted {
		m.evictedErr = errors.Join(m.evictedErr, k.Release())
	}
	m.in.evicted, m.in.loaded = nil, 0
}
