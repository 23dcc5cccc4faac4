package cpu

import (
	"context"
	"iter"
	"slices"

	"github.com/gagg-dev/gagg/partition"
)

// This file is the strategy for rows that do not fit in memory and that hash bits may not part:
// their hashes are all equal, as of one group whose values fill the memory, or they have crowded
// (CROWDED). They are sorted by hash and key: runs as large as memory allows are sorted and written
// to disk, and the runs merged. It always ends: a run holds at least one block, and each merge of
// runs makes one of several. Where groups are expected to have several rows each, rows are divided
// by the seeded hash first, so that runs are of groups (seeded.go), unless most of the groups are
// in memory (crowded_rest.go).

// sortedRun is rows on disk in order of their hashes and keys, each key once.
type sortedRun []partition.Block

func (m *Merger) mergeSorted(ctx context.Context) error {
	defer m.dropIndex()
	runs, err := m.makeRuns(ctx)
	if err != nil {
		return err
	}
	m.store.pool.Reset()
	for fanIn := m.fanIn(runs); len(runs) > fanIn; {
		to, n := runWriter{m: m}, min(fanIn, len(runs)-fanIn+1) // no more than leaves fanIn
		err := m.mergeRuns(ctx, runs[:n], &to)
		if err == nil {
			to.run, err = m.store.disk.Flush(to.run)
		}
		if err != nil {
			return err
		}
		runs = append(runs[n:], to.run)
	}
	m.out.begin()
	err = m.mergeRuns(ctx, runs, runEmitter{m})
	m.end()
	return err
}

// fanIn is how many runs are merged at a time: each has a block in memory,
// with room for its codec.
func (m *Merger) fanIn(runs []sortedRun) int {
	for _, blocks := range runs {
		if slices.ContainsFunc(blocks, func(b partition.Block) bool { return b.Long }) {
			return 2
		}
	}
	memory := m.cfg.Memory.Merge
	return int(max(2, memory/2/int64(2*partition.BlockBytesFor(memory))))
}

// sortRuns makes sorted runs of all rows of the source.
func (m *Merger) sortRuns(ctx context.Context) (runs []sortedRun, err error) {
	groups := m.dir.groups(len(m.pages) << m.store.pool.PageBits)
	m.freeDirectory() // which makes room for the index
	var rows []ranked
	if m.growIndex(m.n*indexBytes) == nil {
		rows = rankedOf(groups, m.n)
	} else if runs, err = m.sortGroups(ctx, groups); err != nil {
		return runs, err
	}
	flush := func() error {
		if len(rows) == 0 {
			return nil
		}
		r, err := m.writeRun(ctx, rows)
		runs, rows = append(runs, r), rows[:0]
		m.dropIndex()
		m.dropRows()
		return err
	}
	for ; m.merged < m.in.pages; m.merged++ {
		n := len(m.pages[m.merged]) / m.cfg.Stride
		if m.growIndex(n*indexBytes) != nil {
			if err := flush(); err != nil {
				return runs, err
			}
			if err := m.growIndex(n * indexBytes); err != nil {
				return runs, err
			}
		}
		for i := range n {
			rows = append(rows, ranked{row: uint32(m.merged<<m.store.pool.PageBits + i)})
		}
	}
	for _, b := range m.in.blocks {
		if ctx.Err() != nil {
			return runs, context.Cause(ctx)
		}
		if m.reserveIndexed(b.Block) != nil {
			if err := flush(); err != nil {
				return runs, err
			}
			if err := m.reserveIndexed(b.Block); err != nil {
				return runs, err
			}
		}
		if rows, err = m.appendBlock(rows, b); err != nil {
			return runs, err
		}
	}
	return runs, flush()
}

// sortGroups makes sorted runs of the merged groups, of as many at a time as their index has room
// for, and lets go of these.
func (m *Merger) sortGroups(ctx context.Context, groups iter.Seq[uint32]) (runs []sortedRun, err error) {
	n := m.n
	for err = m.growIndex(n * rankedBytes); err != nil; err = m.growIndex(n * rankedBytes) {
		if n /= 2; n == 0 {
			return nil, err
		}
	}
	rows := make([]ranked, 0, n)
	write := func() error {
		r, err := m.writeRun(ctx, rows)
		runs, rows = append(runs, r), rows[:0]
		return err
	}
	for g := range groups {
		if rows = append(rows, ranked{row: g}); len(rows) < n {
			continue
		}
		if err := write(); err != nil {
			return runs, err
		}
	}
	if len(rows) > 0 {
		err = write()
	}
	m.dropIndex()
	m.dropRows()
	return runs, err
}

// dropRows lets go of the rows in memory but for those that wait to be sorted, in pages of others.
func (m *Merger) dropRows() {
	if m.merged == m.in.pages {
		m.end()
		return
	}
	m.pages, m.tail = m.pages[:m.in.pages], nil
	m.store.arena.Reset()
	m.store.pool.Reset()
}

// appendBlock copies the rows of a block to the merger's memory and appends
// their numbers.
func (m *Merger) appendBlock(rows []ranked, b sourceBlock) ([]ranked, error) {
	base, err := m.open(b)
	if err != nil {
		return rows, err
	}
	defer m.shut(base)
	if b.Long {
		m.keepLong(m.store, base)
	}
	for block := m.block.Rows; len(block) > 0; block = block[m.cfg.Stride:] {
		number, err := m.append(block[:m.cfg.Stride])
		if err != nil {
			return rows, err
		}
		rows = append(rows, ranked{row: number})
	}
	b.disk.Free(b.Block)
	return rows, nil
}

// writeRun sorts rows in memory, combines those of a key and writes them.
func (m *Merger) writeRun(ctx context.Context, rows []ranked) (r sortedRun, err error) {
	if rows, err = m.fuse(ctx, rows); err != nil {
		return nil, err
	}
	for _, row := range rows {
		if r, err = m.store.disk.Write(r, m.row(row.row)); err != nil {
			return r, err
		}
	}
	return m.store.disk.Flush(r)
}
