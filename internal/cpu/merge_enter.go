package cpu

// This file is how the rows of a partition find the groups that they belong to, or become groups.

// enterPage enters or combines the rows of one page where they are, unless
// memory for what groups then need is refused.
func (m *Merger) enterPage(page int) error {
	rows, stride := m.pages[page], m.cfg.Stride
	if err := m.widen(len(rows) / stride); err != nil {
		return err
	}
	if m.cfg.hasRefs() {
		if err := m.makeRoom(m.cfg.States.CombineNeed(0, len(rows)/stride)); err != nil {
			return err
		}
	}
	m.loaded += len(rows) / stride
	m.dir.allow(len(rows) / stride)
	for group := uint32(page << m.store.pool.PageBits); len(rows) > 0; group += touchRows {
		some := rows[:min(len(rows), touchRows*stride)]
		m.enterRows(some, group)
		rows = rows[len(some):]
	}
	return nil
}

// enterRows enters or combines touchRows rows or fewer, which become the groups from number group
// on where they are new. As in a table, the cache misses of different rows overlap: the slots of
// all rows are looked at first, then the groups that these name; rows that have none so far, or
// another one's, are looked up one by one.
func (m *Merger) enterRows(rows []uint64, group uint32) {
	groups := m.candidates(rows)
	if m.onlyAdds && !m.dir.seeded && !m.cfg.Keys.HasRefs() {
		m.enterFixed(rows, group, groups)
		return
	}
	stride := m.cfg.Stride
	for i, g := range groups {
		row := rows[i*stride : (i+1)*stride : (i+1)*stride]
		if g != noGroup {
			if dst := m.row(g); m.equal(dst, row) {
				m.join(dst, row)
				continue
			}
		}
		slot, hash, dst := m.findAgain(row, i)
		if dst != nil {
			m.join(dst, row)
		} else {
			m.claim(slot, hash, group+uint32(i))
		}
	}
}

// enterFixed is enterRows where rows have no refs and combine by additions: all that there is to
// do for a row, in one loop.
func (m *Merger) enterFixed(rows []uint64, group uint32, groups []uint32) {
	d, adds, stride, base, in := &m.dir, m.adds, m.cfg.Stride, m.decoder.Base, m.rows()
	end, slots, last := base+m.cfg.Keys.Words, d.slots, uint64(len(d.slots)-1)
	same := func(g uint32, row []uint64) []uint64 {
		dst := in.row(g)
		for k := base; k < end; k++ {
			if dst[k] != row[k] {
				return nil
			}
		}
		return dst
	}
	for i, g := range groups {
		row := rows[i*stride : (i+1)*stride : (i+1)*stride]
		var dst []uint64
		if g != noGroup {
			dst = same(g, row)
		}
		if dst == nil {
			hash := m.hashes[i]
			home := d.home(hash)
			s := home
			for ; slots[s] != 0; s = (s + 1) & last {
				if e := slots[s]; d.tagged(e, hash) {
					if dst = same(d.group(e), row); dst != nil {
						break
					}
				}
			}
			d.left -= int((s - home) & last)
			if dst == nil {
				m.claim(s, hash, group+uint32(i))
				continue
			}
		}
		for _, w := range adds {
			dst[w] += row[w]
		}
	}
}

// candidates is the groups that touchRows rows or fewer are likely to belong to
// (directory.candidates).
func (m *Merger) candidates(rows []uint64) []uint32 {
	m.spread()
	groups := m.groups[:len(rows)/m.cfg.Stride]
	hashes := m.hashes[:len(groups)]
	if m.secret = m.dir.seeded; m.secret {
		for i := range hashes {
			hashes[i] = m.hashOf(rows[i*m.cfg.Stride:])
		}
	} else {
		m.cfg.Keys.RowHashes(rows, m.cfg.Stride, hashes)
	}
	m.dir.candidates(hashes, groups)
	if m.cfg.Keys.HasRefs() {
		m.touchLong(rows, groups)
	}
	return groups
}

// spread places the groups by a seeded hash if their look-ups have probed too many slots (CROWDED).
func (m *Merger) spread() {
	if m.dir.crowded() {
		m.dir.seed(func(group uint32) uint64 { return m.cfg.Keys.Secret(m.row(group), m.decoder.Base, m.cfg.Arenas) })
	}
}

// equal reports whether two rows have the same key.
func (m *Merger) equal(a, b []uint64) bool {
	if m.cfg.Keys.HasRefs() {
		return m.cfg.Keys.Equal(a, b, m.decoder.Base, m.cfg.Arenas)
	}
	for k := m.decoder.Base; k < m.decoder.Base+m.cfg.Keys.Words; k++ {
		if a[k] != b[k] {
			return false
		}
	}
	return true
}

// join combines a row into its group.
func (m *Merger) join(dst, row []uint64) {
	if m.onlyAdds {
		m.add(dst, row)
		return
	}
	m.cfg.States.Join(dst, row, m.cfg.Arenas, m.store.arena)
}

// combine is join for a row of a block, whose values are copied.
func (m *Merger) combine(dst, row []uint64) {
	if m.onlyAdds {
		m.add(dst, row)
		return
	}
	m.cfg.States.Combine(dst, row, m.cfg.Arenas, m.store.arena)
}

func (m *Merger) add(dst, row []uint64) {
	for _, w := range m.adds {
		dst[w] += row[w]
	}
}

// find returns the group of a row, or the free slot for it and by which hash it is there.
func (m *Merger) find(row []uint64) (slot, hash uint64, dst []uint64) {
	m.spread()
	return m.findBy(m.hashOf(row), row)
}

// findAgain is find for row i of those whose candidates were found last.
func (m *Merger) findAgain(row []uint64, i int) (slot, hash uint64, dst []uint64) {
	if m.spread(); m.dir.seeded != m.secret {
		return m.findBy(m.hashOf(row), row)
	}
	return m.findBy(m.hashes[i], row)
}

// findBy is find by the hash of the row.
func (m *Merger) findBy(hash uint64, row []uint64) (slot, _ uint64, dst []uint64) {
	s := m.dir.home(hash)
	for ; m.dir.slots[s] != 0; s = m.dir.next(s) {
		e := m.dir.slots[s]
		if !m.dir.tagged(e, hash) {
			continue
		}
		if dst = m.row(m.dir.group(e)); m.equal(dst, row) {
			break
		}
		dst = nil
	}
	m.dir.probed(hash, s)
	return s, hash, dst
}

// touchRows is how many rows are looked up together.
const touchRows = 64

// claim makes a free slot that of a group.
func (m *Merger) claim(slot, hash uint64, group uint32) {
	m.dir.put(slot, hash, group)
	m.n++
}
