package cpu

import (
	"context"

	"github.com/gagg-dev/gagg/partition"
)

// This file is the road of rows whose hashes are all equal, for which no hash
// bits are left to divide by, when they cannot be merged as others are: a
// crafted input, or one group whose values fill the memory. They are sorted by
// key: runs as large as memory allows are
// sorted and written to disk, and the runs merged. It always ends: a run holds
// at least one block, and each merge of runs makes one of several.

// sortedRun is rows on disk in order of their keys, each key once.
type sortedRun []partition.Block

func (m *Merger) mergeEqual(ctx context.Context) error {
	defer m.dropIndex()
	runs, err := m.sortRuns(ctx)
	if err != nil {
		return err
	}
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
		return m.out.emit(row)
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
	if err := m.growIndex(m.loadedRows()); err != nil {
		return nil, err
	}
	rows := m.index()
	m.freeDirectory()
	flush := func() error {
		if len(rows) == 0 {
			return nil
		}
		r, err := m.writeRun(ctx, rows)
		runs, rows = append(runs, r), rows[:0]
		m.dropIndex()
		m.end()
		return err
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

// appendBlock copies the rows of a block to the merger's memory and appends
// their numbers.
func (m *Merger) appendBlock(rows []uint32, b sourceBlock) ([]uint32, error) {
	base, err := m.open(b)
	if err != nil {
		return rows, err
	}
	defer m.shut(base)
	for block := m.block.Rows; len(block) > 0; block = block[m.cfg.Stride:] {
		number, err := m.append(block[:m.cfg.Stride])
		if err != nil {
			return rows, err
		}
		rows = append(rows, number)
	}
	b.disk.Free(b.Block)
	return rows, nil
}

// writeRun sorts rows in memory, combines those of a key and writes them.
func (m *Merger) writeRun(ctx context.Context, rows []uint32) (r sortedRun, err error) {
	if rows, err = m.fuse(ctx, rows); err != nil {
		return nil, err
	}
	for _, n := range rows {
		if r, err = m.store.disk.Write(r, m.row(n)); err != nil {
			return r, err
		}
	}
	return m.store.disk.Flush(r)
}
