package cpu

import (
	"github.com/gagg-dev/gagg/partition"
)

// This file is how a merger loads the blocks of a partition.

// loadBlock loads the first block of the source and takes it off.
func (m *Merger) loadBlock() error {
	b := m.in.blocks[0]
	if err := m.widen(int(b.Rows)); err != nil {
		return err
	}
	if int64(b.Rows) > m.room.NextLoad(int64(m.n)) {
		return errDirectoryFull
	}
	load := m.loadShort
	if b.Long {
		load = m.loadLong
	}
	m.dir.allow(int(b.Rows))
	if err := load(b); err != nil {
		return err
	}
	b.disk.Free(b.Block)
	m.loaded += int(b.Rows)
	m.in.blocks = m.in.blocks[1:]
	return nil
}

// loadShort enters the rows of a block, copies of their values in the merger's arena.
func (m *Merger) loadShort(b sourceBlock) error {
	if err := m.reserve(b.Block); err != nil {
		return err
	}
	base, err := m.open(b)
	if err != nil {
		return err
	}
	defer m.shut(base)
	for rows := m.block.Rows; len(rows) > 0; {
		some := rows[:min(len(rows), touchRows*m.cfg.Stride)]
		if err := m.enterCopies(some); err != nil {
			return err
		}
		rows = rows[len(some):]
	}
	return nil
}

// enterCopies is enterRows for rows of a block.
func (m *Merger) enterCopies(rows []uint64) error {
	stride := m.cfg.Stride
	for i, g := range m.candidates(rows) {
		row := rows[i*stride : (i+1)*stride : (i+1)*stride]
		if g != noGroup {
			if dst := m.row(g); m.equal(dst, row) {
				m.combine(dst, row)
				continue
			}
		}
		if err := m.enter(row); err != nil {
			return err
		}
	}
	return nil
}

// reserve makes sure of memory for the rows of a block and their values, so
// that loading it does not stop halfway.
func (m *Merger) reserve(b partition.Block) error {
	rows := int(b.Rows)
	if err := m.store.pool.Reserve(rows); err != nil {
		return err
	}
	if !m.cfg.hasRefs() {
		return nil
	}
	section := int(b.Bytes()) - rows*m.cfg.Stride*8
	return m.makeRoom(section + m.cfg.States.CombineNeed(section, rows))
}

// makeRoom makes sure of memory for values of that size.
func (m *Merger) makeRoom(bytes int) error {
	if m.store.arena.Bytes() > 0 { // a block alone must be loaded, however large it is
		if err := m.share(m.store.arena.Growth(bytes), loadShare); err != nil {
			return err
		}
	}
	return m.store.room(bytes)
}

// open reads a block, so that its rows refer to values in memory. The block
// is in use until shut.
func (m *Merger) open(b sourceBlock) (base uint64, err error) {
	if err := b.disk.Read(b.Block, &m.block); err != nil || !m.cfg.hasRefs() {
		return 0, err
	}
	base = m.cfg.Arenas.Adopt(m.block.Section)
	for rows := m.block.Rows; len(rows) > 0; rows = rows[m.cfg.Stride:] {
		rowRefs{m.cfg}.Rebase(rows[:m.cfg.Stride], base)
	}
	return base, nil
}

func (m *Merger) shut(base uint64) {
	if m.cfg.hasRefs() && !m.adopted {
		m.cfg.Arenas.Drop(base)
	}
	m.adopted = false
	m.block.Free()
}

// enter combines a row of a block into its group, or appends it.
func (m *Merger) enter(row []uint64) error {
	slot, hash, dst := m.find(row)
	if dst != nil {
		m.combine(dst, row)
		return nil
	}
	group, err := m.append(row)
	if err == nil {
		m.claim(slot, hash, group)
	}
	return err
}

// append copies a row and its values to the merger's own memory.
func (m *Merger) append(row []uint64) (group uint32, err error) {
	if len(m.tail) == 0 {
		page, err := m.store.pool.Get()
		if err != nil {
			return 0, err
		}
		m.pages, m.tail = append(m.pages, page), page
	}
	dst := m.tail[:m.cfg.Stride]
	m.tail = m.tail[m.cfg.Stride:]
	copy(dst, row)
	if m.cfg.hasRefs() && !m.adopted {
		if err := (rowRefs{m.cfg}).Move(dst, m.store.arena); err != nil {
			return 0, err
		}
	}
	last := len(m.pages) - 1
	used := (len(m.pages[last]) - len(m.tail)) / m.cfg.Stride
	return uint32(last<<m.store.pool.PageBits + used - 1), nil
}
