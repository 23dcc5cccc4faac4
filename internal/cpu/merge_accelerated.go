package cpu

import (
	"context"

	"github.com/gagg-dev/gagg/merge"
)

// This file is how a merger uses what an accelerator does for it.

// Accelerate has the merger use what an accelerator does for it; either may be nil. They are the
// merger's to close.
func (m *Merger) Accelerate(r Resident, p Pass) { m.resident, m.pass = r, p }

// DefaultPassLeast is Config.PassLeast where a device is to pay: below it, two copies and some
// launches take longer than merging: some 0.1 to 0.4 ms for any number of rows, in which a core
// merges 2,000 to 8,000 rows at 50 ns.
const DefaultPassLeast = 16 << 10

// readResident emits the groups of partitions that the device holds.
func (m *Merger) readResident(p merge.Range) error {
	m.out.begin()
	m.store.arena.Reset()
	for n := range p.N {
		if err := m.resident.Read(p.First+n, m.store.arena, m.emitNearly); err != nil {
			return err
		}
	}
	return m.emitRest()
}

// accelerated reports whether the device takes the partition that has begun: it has rows
// enough, the refs of their keys are comparable (DEVICE-REFS), there is memory for the
// rows that come back, and hashes do not crowd.
func (m *Merger) accelerated() bool {
	if m.pass == nil || m.run.long.Load() || m.in.shared > passMostShared {
		return false
	}
	rows, block := m.rowsLeftToLoad(), 0
	for _, b := range m.in.blocks {
		if b.Bytes() > 8*int64(m.cfg.Stride)*int64(b.Rows) {
			return false // it has copies of long strings
		}
		block = max(block, int(b.Rows))
	}
	if rows < m.cfg.PassLeast {
		return false
	}
	return m.store.pool.Reserve(int(min(m.pass.Capacity(), int64(rows)))+block) == nil && !m.crowds()
}

// passMostShared is how many bits the hashes of a partition may share: a device looks at those
// behind them, and at no more than 64.
const passMostShared = 31

// rowsLeftToLoad is how many rows the partition has, in memory, kept ones too, and on disk.
func (m *Merger) rowsLeftToLoad() int {
	rows := m.rowsInMemory() + m.evictedRows()
	for _, b := range m.in.blocks {
		rows += int(b.Rows)
	}
	return rows
}

// runPass has the device aggregate the partition, as far as it has room: its groups
// take the place of the rows that made them. all: there are no other rows left.
func (m *Merger) runPass(ctx context.Context) (all bool, err error) {
	if err := m.pass.Begin(m.in.shared, int64(m.rowsLeftToLoad())); err != nil {
		return false, err
	}
	if all, err = m.passPages(); err != nil {
		return false, err
	}
	if all, err = m.loadEvicted(all); err != nil {
		return false, err
	}
	m.own = len(m.pages)
	for all && len(m.in.blocks) > 0 {
		if err := ctx.Err(); err != nil {
			return false, context.Cause(ctx)
		}
		if all, err = m.passBlock(); err != nil {
			return false, err
		}
	}
	err = m.pass.End(m.keep)
	m.in.pages = len(m.pages)
	return all, err
}

// passPages gives the device the rows in memory. Those it did not take are the pages
// from then on.
func (m *Merger) passPages() (all bool, err error) {
	left := m.pages[:0]
	all = true
	for _, page := range m.pages {
		taken := 0
		if all {
			if taken, err = m.pass.Add(page); err != nil {
				return false, err
			}
		}
		if page = page[taken*m.cfg.Stride:]; len(page) > 0 {
			all, left = false, append(left, page)
		}
	}
	m.pages = left
	return all, nil
}

// passBlock gives the device the rows of the first block, and keeps those it did not take: all if
// their hashes crowd.
func (m *Merger) passBlock() (all bool, err error) {
	b := m.in.blocks[0]
	base, err := m.open(b)
	if err != nil {
		return false, err
	}
	defer m.shut(base)
	taken := 0
	if !m.blockCrowds() {
		if taken, err = m.pass.Add(m.block.Rows); err != nil {
			return false, err
		}
	}
	rows := m.block.Rows[taken*m.cfg.Stride:]
	if err := m.keep(rows); err != nil {
		return false, err
	}
	b.disk.Free(b.Block)
	m.in.blocks = m.in.blocks[1:]
	return len(rows) == 0, nil
}

// keep copies rows to pages of the merger, for which memory was reserved.
func (m *Merger) keep(rows []uint64) error {
	for len(rows) > 0 {
		last := len(m.pages) - 1
		if last < m.own || len(m.pages[last]) == cap(m.pages[last]) {
			page, err := m.store.pool.Get()
			if err != nil {
				return err
			}
			m.pages = append(m.pages, page[:0])
			continue
		}
		page := m.pages[last]
		n := min(cap(page)-len(page), len(rows))
		m.pages[last], rows = append(page, rows[:n]...), rows[n:]
	}
	return nil
}

// emitPass emits the groups that runPass has kept, which are all of the partition. Those that
// wrapped around in the device's table come first.
func (m *Merger) emitPass() error {
	m.out.begin()
	var last uint64
	if n := len(m.pages); n > 0 {
		page := m.pages[n-1]
		last = page[len(page)-m.cfg.Stride]
	}
	turned := false
	for n, page := range m.pages {
		for i := range len(page) / m.cfg.Stride {
			g := uint32(n<<m.store.pool.PageBits + i)
			if turned = turned || m.row(g)[0] <= last; turned {
				m.insert(m.row(g))
			} else {
				m.out.wrapped = append(m.out.wrapped, g)
			}
		}
	}
	return m.emitRest()
}
