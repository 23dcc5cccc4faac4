package cpu

import (
	"context"

	"github.com/gagg-dev/gagg/partition"
)

// This file is how rows in the memory of a merger are sorted: an index of
// their numbers is.

// indexBytes is the memory of a growing index for a row: it may have room for
// twice as many rows. Where rows leave no memory for it, loadShare does.
const indexBytes = 2 * rankedBytes

// growIndex draws more bytes for the index.
func (m *Merger) growIndex(bytes int) error {
	if err := m.share(int64(bytes), 1); err != nil {
		return err
	}
	if err := m.cfg.Budget.Draw(int64(bytes)); err != nil {
		return err
	}
	m.indexed += int64(bytes)
	return nil
}

// indexFor takes the memory for an index of all groups in place of the directory's, which is gone
// then. If it is refused, all is as it was.
func (m *Merger) indexFor(groups int) error {
	index := int64(groups * rankedBytes)
	if more := index - m.held; more > 0 {
		if err := m.growIndex(int(more)); err != nil {
			return err
		}
		m.indexed += m.held
	} else {
		m.cfg.Budget.Release(-more)
		m.indexed += index
	}
	m.held = 0
	m.dir.drop()
	return nil
}

func (m *Merger) dropIndex() {
	m.cfg.Budget.Release(m.indexed)
	m.indexed = 0
}

// reserveIndexed makes sure of memory for the rows of a block and their values,
// and for their numbers.
func (m *Merger) reserveIndexed(b partition.Block) error {
	if err := m.reserveOf(b); err != nil {
		return err
	}
	return m.growIndex(int(b.Rows) * indexBytes)
}

// fuse sorts rows and makes one of those of a key; it returns these. Rows of one key were ordered
// by the same digits.
func (m *Merger) fuse(ctx context.Context, rows []ranked) ([]ranked, error) {
	if err := m.rank(ctx, rows); err != nil {
		return nil, err
	}
	n := 0 // groups so far
	for _, r := range rows {
		row := m.row(r.row)
		if n > 0 && rows[n-1].digit() == r.digit() && m.cfg.Keys.Equal(m.row(rows[n-1].row), row, m.decoder.Base, m.cfg.Arenas) {
			m.cfg.States.Join(m.row(rows[n-1].row), row, m.cfg.Arenas, m.store.arena)
			continue
		}
		rows[n] = r
		n++
	}
	return rows[:n], nil
}
