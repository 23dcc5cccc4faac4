package cpu

import (
	"errors"

	"github.com/gagg-dev/gagg/merge"
)

// This file is how a merger takes rows that devices have left in pinned memory (evict.Rows), in place of a placer's buckets.

// Kept is rows that lie in pinned memory, by their hashes. All mergers use it at once.
type Kept interface {
	// Take is the rows of partitions, of which there are 2^bits. They are handed out once.
	Take(p merge.Range, bits uint) []KeptRows
}

// KeptRows is some rows of a Kept.
type KeptRows interface {
	Len() int
	// Rows is the rows, to be looked at before any is loaded.
	Rows() []uint64
	// Load has a pass load them, and says how many it took: fewer than all if it has room for no more groups. They must stay as they
	// are until its End.
	Load(p Pass) (taken int, err error)
	// Rest is the rows from number `from` on, which the CPU combines: they may be changed.
	Rest(from int) ([]uint64, error)
	// Release is called once, when nobody needs them any more. It may free memory.
	Release() error
}

// Keep has the merger take rows that devices have kept with those in buckets.
func (m *Merger) Keep(k Kept) { m.keeps = k }

// takeKept takes the kept rows of the partition that has begun, if it is one of the run's.
func (m *Merger) takeKept(p merge.Range, bits uint) {
	if m.keeps != nil {
		m.in.kept = m.keeps.Take(p, bits)
	}
}

// keptRows is how many kept rows the partition has that are neither with a device nor among the pages.
func (m *Merger) keptRows() (n int) {
	for _, k := range m.in.kept[m.in.loaded:] {
		n += k.Len()
	}
	return n
}

// passKept gives the device the kept rows. Those it did not take are pages from then on.
func (m *Merger) passKept(all bool) (bool, error) {
	for all && m.in.loaded < len(m.in.kept) {
		k := m.in.kept[m.in.loaded]
		taken, err := k.Load(m.pass)
		if err != nil {
			return false, err
		}
		m.in.loaded++
		if taken < k.Len() {
			all = false
			if err := m.addKept(k, taken); err != nil {
				return false, err
			}
		}
	}
	return all, m.pageKept()
}

// pageKept makes the kept rows that no device has pages of the partition, where they are.
func (m *Merger) pageKept() error {
	for ; m.in.loaded < len(m.in.kept); m.in.loaded++ {
		if err := m.addKept(m.in.kept[m.in.loaded], 0); err != nil {
			return err
		}
	}
	m.in.pages = len(m.pages)
	return nil
}

// addKept adds kept rows to the pages, from number `from` on, in pieces of a page: rows are numbered by page.
func (m *Merger) addKept(k KeptRows, from int) error {
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

// releaseKept lets go of the partition's kept rows. An error is that of a device, and is told by Close.
func (m *Merger) releaseKept() {
	for _, k := range m.in.kept {
		m.keptErr = errors.Join(m.keptErr, k.Release())
	}
	m.in.kept, m.in.loaded = nil, 0
}
