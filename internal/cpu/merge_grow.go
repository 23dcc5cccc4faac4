package cpu

import (
	"math"

	"github.com/gagg-dev/gagg/feedback"
)

// This file is the directory of a merger that grows with its groups. There are two reasons for one:
// rows in memory are many times the groups that are expected, so that a slot for each row would
// make the directory leave the cache; or rows crowd, and a slot for each was refused. Rows that
// crowd are in one partition, however many there are, and may be of few groups (CROWDED).

const (
	// growsSpare is for how many times the likely groups a directory that grows has room at first:
	// most of them are found at their home slots then. With room for them alone user time was 4 %
	// longer (docs/experiments/0017).
	growsSpare = 2
	// growsFrom is how many rows there must be for each group that it has room for: fewer save
	// little.
	growsFrom = 2
	// leastPages is for how many pages of new groups it has room at least.
	leastPages = 2
)

// atFirst is for how many groups a directory that grows has room at first; 0: rows are to have a
// slot each. That is better where blocks follow, whose groups are not known.
func (m *Merger) atFirst(rows int) int {
	if m.run.groups == 0 || m.in.seeded || len(m.in.blocks) > 0 {
		return 0
	}
	likely := math.Ldexp(sketchSpare*m.run.groups, -int(m.in.shared)) // the share of their hashes
	room := max(growsSpare*int(likely), leastPages<<m.store.pool.PageBits)
	if rows < growsFrom*room {
		return 0
	}
	return room
}

// beginSmall makes a directory that is seeded from its first group on. If it is refused memory,
// there is none.
func (m *Merger) beginSmall() error {
	m.grows, m.dir.seeded = true, true
	return m.enlarge(1 << minDirBits)
}

// widen grows a directory, if it is one that grows, until that many rows may be loaded. If memory
// is refused, the directory stays as it was.
func (m *Merger) widen(rows int) error {
	for m.grows && int64(rows) > m.room.NextLoad(int64(m.n)) {
		if err := m.enlarge(2 * len(m.dir.slots)); err != nil {
			return err
		}
	}
	return nil
}

// enlarge places all groups in a directory of that many slots.
func (m *Merger) enlarge(slots int) error {
	bytes := int64(slots) * 4
	if err := m.groupMemory().Draw(bytes); err != nil {
		return err
	}
	dir := newDirectory(slots/2, m.numbers(slots), m.dir.skip)
	dir.seeded = m.dir.seeded
	for g := range m.dir.groups(len(m.pages) << m.store.pool.PageBits) {
		dir.place(m.hashOf(m.row(g)), g)
	}
	m.freeDirectory()
	m.setDirectory(dir)
	return nil
}

// setDirectory makes a directory the merger's, whose memory was drawn.
func (m *Merger) setDirectory(dir directory) {
	slots := int64(len(dir.slots))
	m.dir, m.held, m.room = dir, 4*slots, feedback.DefaultLoadConfig.Of(slots)
}
