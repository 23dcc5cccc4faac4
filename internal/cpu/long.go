package cpu

import "github.com/gagg-dev/gagg/partition"

// This file is how a merger takes the rows of a long block (partition.Block.Long), the values of
// which may be a large part of the memory: the memory that the block is read into becomes a chunk
// of an arena as it is, so that values are there once.

// longMemory lends the memory into which a long block is read. A block alone must be loaded,
// however large it is.
type longMemory struct{ m *Merger }

func (l longMemory) Draw(bytes int64) error {
	m := l.m
	if m.store.arena.Bytes() > 0 || m.sub != nil && m.sub.arena.Bytes() > 0 {
		if err := m.share(bytes, 1); err != nil {
			return err
		}
	}
	if err := m.cfg.Budget.Draw(bytes); err != nil {
		return err
	}
	m.paged += bytes
	return nil
}

func (l longMemory) Release(bytes int64) {
	l.m.cfg.Budget.Release(bytes)
	l.m.paged -= bytes
}

// keepLong makes the memory of the long block that is open part of the arena of a store. base is
// that of its values.
func (m *Merger) keepLong(s *store, base uint64) {
	memory := m.block.Detach()
	m.paged -= int64(len(memory))
	s.arena.Own(memory, int64(len(memory)), base)
	m.adopted = true
}

// loadLong enters the rows of a long block. It is refused before any of them is entered, if at all.
func (m *Merger) loadLong(b sourceBlock) error {
	if err := m.store.pool.Reserve(int(b.Rows)); err != nil {
		return err
	}
	base, err := m.open(b)
	if err != nil {
		return err
	}
	defer m.shut(base)
	stride := m.cfg.Stride
	known := 0 // rows whose group is in the directory
	for rows := m.block.Rows; len(rows) > 0; rows = rows[stride:] {
		if _, _, dst := m.find(rows[:stride:stride]); dst != nil {
			known++
		}
	}
	if known > 0 || b.Rows > 1 {
		if err := m.makeRoom(m.cfg.States.CombineNeed(len(m.block.Section), int(b.Rows))); err != nil {
			return err
		}
	}
	rows := m.block.Rows
	if known < int(b.Rows) {
		m.keepLong(m.store, base)
	}
	for ; len(rows) > 0; rows = rows[stride:] {
		if err := m.enter(rows[:stride:stride]); err != nil {
			return err
		}
	}
	return nil
}

// reserveOf is reserve for a block that is long or not: the values of a long one are drawn as it is
// opened.
func (m *Merger) reserveOf(b partition.Block) error {
	if !b.Long {
		return m.reserve(b)
	}
	if err := m.store.pool.Reserve(int(b.Rows)); err != nil {
		return err
	}
	if m.store.arena.Bytes() == 0 {
		return nil
	}
	return m.share(b.Bytes()+int64(m.cfg.States.CombineNeed(int(b.Bytes()), int(b.Rows))), loadShare)
}
