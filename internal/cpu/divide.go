package cpu

import (
	"context"
	"errors"
	"fmt"
	"math/bits"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/merge"
	"github.com/gagg-dev/gagg/partition"
)

var errDirectoryFull = &budget.Error{Why: "the groups of a partition do not fit in memory"}

// loadShare is the part of a merger's memory that the groups may take before
// their partition is divided; the rest is for the buckets they go to.
const loadShare = 0.75

// divide is the strategy for a partition whose groups do not fit in memory:
// the groups merged so far and the rows not loaded yet are placed in buckets
// by hash bits that all of them do not share, which go to disk and are merged
// one after the other.
//
// It ends: rows of a bucket share more bits than those of the partition, and
// where they share all 64, or have crowded, mergeSorted takes over.
func (m *Merger) divide(ctx context.Context) error {
	sub := newStore(m.cfg, m.bucketMemory())
	m.moved.all, m.moved.any = ^uint64(0), 0
	sub.open(m.in.shared, m.divideBits())
	if err := m.moveWhole(ctx, sub); err != nil {
		return errors.Join(err, sub.close())
	}
	shared := m.shared()
	for q := range sub.buckets.Partitions() {
		if len(sub.buckets.Blocks(q)) == 0 {
			continue
		}
		m.begin([]*partition.Buckets{sub.buckets}, merge.Range{First: q, N: 1}, max(shared, sub.buckets.SharedBits(q)))
		if err := m.merge(ctx); err != nil {
			return errors.Join(err, sub.close())
		}
	}
	return sub.close()
}

// moveWhole is moveAll, and checks that no row was lost.
func (m *Merger) moveWhole(ctx context.Context, sub *store) error {
	m.sub = sub
	defer func() { m.sub = nil }()
	rows := m.rowsLeft()
	if err := m.moveAll(ctx, sub); err != nil {
		return err
	}
	if sub.placed != rows {
		return fmt.Errorf("internal error: %d of %d rows were divided", sub.placed, rows)
	}
	return sub.whole()
}

// moveRows places rows, and notes which bits of their hashes differ: where few do, the
// buckets share more bits than their number says.
func (m *Merger) moveRows(rows []uint64, sub *store) error {
	for at := 0; at < len(rows); at += m.cfg.Stride {
		hash := m.cfg.Keys.RowHash(rows[at:])
		m.moved.all &= hash
		m.moved.any |= hash
	}
	return sub.place(rows)
}

// shared is how many top bits the hashes of all rows that were moved share.
func (m *Merger) shared() uint { return uint(bits.LeadingZeros64(m.moved.all ^ m.moved.any)) }

// rowsLeft is how many rows there are to divide: groups merged so far, and rows
// that have not been, in memory and on disk.
func (m *Merger) rowsLeft() int64 { return int64(m.n + m.rowsLeftToLoad()) }

// expected is how many rows the partition had, and about how many groups, by those loaded so far.
func (m *Merger) expected() (rows int64, groups float64) {
	rows = m.rowsLeft() - int64(m.n) + int64(m.loaded)
	return rows, max(feedback.ExpectedGroups(int64(m.loaded), int64(m.n), rows), float64(m.n))
}

// divideBits is the number of hash bits to divide by.
func (m *Merger) divideBits() uint {
	_, groups := m.expected()
	l := m.cfg.Level(groups)
	l.Workers, l.OpenBytes, l.Left = 1, m.cfg.Memory.Merge/8, 64-m.in.shared
	return l.Plan().Bits
}

// moveAll places the groups so far and all rows not loaded yet in buckets on
// disk. The partition is gone afterwards.
func (m *Merger) moveAll(ctx context.Context, sub *store) error {
	if err := m.moveGroups(sub); err != nil {
		return err
	}
	// What the groups refer to is let go with the groups.
	if err := sub.clear(); err != nil {
		return err
	}
	m.end()
	m.store.pool.Reset()
	m.freeDirectory()
	for _, b := range m.in.blocks {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := m.moveBlock(b, sub); err != nil {
			return err
		}
	}
	return sub.clear()
}

// moveGroups places the groups so far and the rows in memory that have not been
// merged.
func (m *Merger) moveGroups(sub *store) error {
	for _, e := range m.dir.slots {
		if e == 0 {
			continue
		}
		if err := m.moveRows(m.row(m.dir.group(e)), sub); err != nil {
			return err
		}
	}
	for _, page := range m.waiting() {
		if err := m.moveRows(page, sub); err != nil {
			return err
		}
	}
	return nil
}

// moveBlock places the rows of a block with their values.
func (m *Merger) moveBlock(b sourceBlock, sub *store) error {
	base, err := m.open(b)
	if b.Long && refused(err) {
		if err := sub.clear(); err != nil {
			return err
		}
		base, err = m.open(b)
	}
	if err != nil {
		return err
	}
	defer m.shut(base)
	switch {
	case b.Long:
		m.keepLong(sub, base)
	case m.cfg.hasRefs():
		section := len(m.block.Section)
		if m.share(sub.arena.Growth(section), 1) != nil {
			if err := sub.clear(); err != nil {
				return err
			}
		}
		if err := sub.reserve(section); err != nil {
			return err
		}
		for rows := m.block.Rows; len(rows) > 0; rows = rows[m.cfg.Stride:] {
			if err := (rowRefs{m.cfg}).Move(rows[:m.cfg.Stride], sub.arena); err != nil {
				return err
			}
		}
	}
	if err := m.moveRows(m.block.Rows, sub); err != nil {
		return err
	}
	b.disk.Free(b.Block)
	return nil
}

// used is the memory that the merger holds, in bytes.
func (m *Merger) used() int64 {
	n := m.held + m.indexed + m.paged + m.store.bytes()
	if m.sub != nil {
		n += m.sub.bytes()
	}
	return n
}

// share refuses what would make the merger take more than a part of its
// memory.
func (m *Merger) share(bytes int64, part float64) error {
	if most := m.cfg.Memory.Merge; most > 0 && m.used()+bytes > int64(part*float64(most)) {
		return errDirectoryFull
	}
	return nil
}

// groupMemory lends the memory of the groups of a partition.
func (m *Merger) groupMemory() budget.Lender {
	return budget.Checked(m.cfg.Budget, func(bytes int64) error { return m.share(bytes, loadShare) })
}

// bucketMemory lends the memory of the buckets that a partition is divided into.
// The first pages are never refused, however much the merger holds: with them it
// can write its rows to disk (EXIT-OPEN).
func (m *Merger) bucketMemory() budget.Lender {
	return budget.Checked(m.cfg.Budget, func(bytes int64) error {
		if m.sub == nil || m.sub.pool.Bytes() == 0 {
			return nil
		}
		return m.share(bytes, 1)
	})
}
