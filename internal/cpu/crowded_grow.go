package cpu

import "github.com/gagg-dev/gagg/feedback"

// This file is the directory of a merger whose rows in memory crowd, and that was refused a slot for each of them: one that
// begins small, is seeded from its first group on, and grows with its groups (CROWDED). Rows that crowd are in one partition, however many
// there are, and may be of few groups.

// beginSmall makes such a directory. If it is refused memory, there is none.
func (m *Merger) beginSmall() error {
	m.grows, m.dir.seeded = true, true
	return m.enlarge(1 << minDirBits)
}

// widen has a directory that grows do so, until so many rows may be loaded. If it is refused memory, the directory is as it was.
func (m *Merger) widen(rows int) error {
	for m.grows && int64(rows) > m.room.NextLoad(int64(m.n)) {
		if err := m.enlarge(2 * len(m.dir.slots)); err != nil {
			return err
		}
	}
	return nil
}

// enlarge places all groups in a directory of so many slots.
func (m *Merger) enlarge(slots int) error {
	bytes := int64(slots) * 4
	if err := m.groupMemory().Draw(bytes); err != nil {
		return err
	}
	numbers := len(m.pages) << m.store.pool.PageBits
	dir := newDirectory(slots/2, numbers+2<<m.store.pool.PageBits+slots, 0) // as in reset
	dir.seeded = true
	for g := range m.dir.groups(numbers) {
		dir.place(m.cfg.Keys.Secret(m.row(g), m.decoder.Base, m.cfg.Arenas), g)
	}
	m.freeDirectory()
	m.dir, m.held, m.room = dir, bytes, feedback.DefaultLoadConfig.Of(int64(slots))
	return nil
}
