package cpu

import (
	"context"
	"slices"

	"github.com/gagg-dev/gagg/partition"
)

// This file is the road of rows whose hashes are all equal, for which no hash
// bits are left to divide by: a crafted input, or one group whose values fill
// the memory. They are sorted by key: runs as large as memory allows are
// sorted and written to disk, and the runs merged. It always ends: a run holds
// at least one block, and each merge of runs makes one of several.

// sortedRun is rows on disk in order of their keys, each key once.
type sortedRun []partition.Block

func (m *Merger) mergeEqual(ctx context.Context) error {
	runs, err := m.sortRuns(ctx)
	if err != nil {
		return err
	}
	m.freeDirectory()
	m.store.pool.Reset()
	for fanIn := m.fanIn(); len(runs) > fanIn; {
		var merged sortedRun
		err := m.mergeRuns(ctx, runs[:fanIn], func(row []uint64) (err error) {
			merged, err = m.store.disk.Write(merged, row)
			return err
		})
		if err == nil {
			merged, err = m.store.disk.Flush(merged)
		}
		if err != nil {
			return err
		}
		runs = append(runs[fanIn:], merged)
	}
	err = m.mergeRuns(ctx, runs, func(row []uint64) error {
		return m.out.emit([][]uint64{row})
	})
	m.end()
	return err
}

// fanIn is how many runs are merged at a time: each has a block in memory,
// with room for its codec.
func (m *Merger) fanIn() int {
	memory := m.cfg.Memory.Merge
	return int(max(2, memory/4/int64(2*partition.BlockBytesFor(memory))))
}

// sortRuns makes sorted runs of all rows of the source.
func (m *Merger) sortRuns(ctx context.Context) (runs []sortedRun, err error) {
	var rows [][]uint64
	for _, page := range m.pages {
		rows = m.rowsOf(rows, page)
	}
	flush := func() error {
		if len(rows) == 0 {
			return nil
		}
		r, err := m.writeRun(ctx, rows)
		runs, rows = append(runs, r), rows[:0]
		m.end()
		return err
	}
	for _, b := range m.in.blocks {
		if ctx.Err() != nil {
			return runs, context.Cause(ctx)
		}
		if m.reserve(b.Block) != nil {
			if err := flush(); err != nil {
				return runs, err
			}
			if err := m.reserve(b.Block); err != nil {
				return runs, err
			}
		}
		if rows, err = m.appendBlock(rows, b); err != nil {
			return runs, err
		}
	}
	return runs, flush()
}

// rowsOf appends the rows of a page.
func (m *Merger) rowsOf(rows [][]uint64, page []uint64) [][]uint64 {
	stride := m.cfg.Stride
	for ; len(page) > 0; page = page[stride:] {
		rows = append(rows, page[:stride:stride])
	}
	return rows
}

// appendBlock appends the rows of a block, copied to the merger's memory.
func (m *Merger) appendBlock(rows [][]uint64, b sourceBlock) ([][]uint64, error) {
	base, err := m.open(b)
	if err != nil {
		return rows, err
	}
	defer m.shut(base)
	for block := m.block.Rows; len(block) > 0; block = block[m.cfg.Stride:] {
		group, err := m.append(block[:m.cfg.Stride])
		if err != nil {
			return rows, err
		}
		rows = append(rows, m.row(group))
	}
	b.disk.Free(b.Block)
	return rows, nil
}

// writeRun sorts rows in memory, combines those of a key and writes them.
func (m *Merger) writeRun(ctx context.Context, rows [][]uint64) (r sortedRun, err error) {
	if rows, err = m.fuse(ctx, rows); err != nil {
		return nil, err
	}
	for _, row := range rows {
		if r, err = m.store.disk.Write(r, row); err != nil {
			return r, err
		}
	}
	return m.store.disk.Flush(r)
}

// fuse sorts rows and makes one of those of a key; it returns these.
func (m *Merger) fuse(ctx context.Context, rows [][]uint64) ([][]uint64, error) {
	compared, stopped := 0, false
	slices.SortStableFunc(rows, func(a, b []uint64) int {
		if compared++; compared%comparedBetween == 0 && ctx.Err() != nil {
			stopped = true
		}
		if stopped { // in any order, and soon
			return 0
		}
		return m.compare(a, b)
	})
	if stopped {
		return nil, context.Cause(ctx)
	}
	n := 0 // groups so far
	for _, row := range rows {
		if n > 0 && m.compare(rows[n-1], row) == 0 {
			m.cfg.States.Join(rows[n-1], row, m.cfg.Arenas, m.store.arena)
			continue
		}
		rows[n] = row
		n++
	}
	return rows[:n], nil
}

// comparedBetween is after how many comparisons a sort looks whether it is to
// stop: they take less than a millisecond.
const comparedBetween = 1 << 12
