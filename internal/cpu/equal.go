package cpu

import (
	"container/heap"
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
	return int(max(2, m.cfg.Memory.Merge/4/(2*partition.BlockBytes)))
}

// sortRuns makes sorted runs of all rows of the source.
func (m *Merger) sortRuns(ctx context.Context) (runs []sortedRun, err error) {
	var rows [][]uint64
	for _, page := range m.pages {
		for at := 0; at < len(page); at += m.cfg.Stride {
			rows = append(rows, page[at:at+m.cfg.Stride:at+m.cfg.Stride])
		}
	}
	flush := func() error {
		if len(rows) == 0 {
			return nil
		}
		r, err := m.writeRun(rows)
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

// writeRun sorts rows in memory by key, combines equal keys and writes them.
func (m *Merger) writeRun(rows [][]uint64) (r sortedRun, err error) {
	slices.SortStableFunc(rows, m.decoder.Compare)
	for len(rows) > 0 {
		first := rows[0]
		n := 1
		for ; n < len(rows) && m.decoder.Compare(first, rows[n]) == 0; n++ {
			m.cfg.States.Combine(first, rows[n], m.cfg.Arenas, nil)
		}
		if r, err = m.store.disk.Write(r, first); err != nil {
			return r, err
		}
		rows = rows[n:]
	}
	return m.store.disk.Flush(r)
}

// runReader reads the rows of a run, one after the other.
type runReader struct {
	m      *Merger
	blocks sortedRun
	page   partition.Page
	base   uint64
	open   bool
	row    []uint64 // the current row
	rest   []uint64
}

// next makes the next row current; false at the end.
func (r *runReader) next() (bool, error) {
	if len(r.rest) == 0 {
		r.close()
		if len(r.blocks) == 0 {
			return false, nil
		}
		if err := r.read(r.blocks[0]); err != nil {
			return false, err
		}
		r.m.store.disk.Free(r.blocks[0])
		r.blocks = r.blocks[1:]
	}
	stride := r.m.cfg.Stride
	r.row, r.rest = r.rest[:stride:stride], r.rest[stride:]
	return true, nil
}

func (r *runReader) read(b partition.Block) error {
	if err := r.m.store.disk.Read(b, &r.page); err != nil {
		return err
	}
	r.rest = r.page.Rows
	if !r.m.cfg.hasRefs() {
		return nil
	}
	r.base, r.open = r.m.cfg.Arenas.Adopt(r.page.Section), true
	for rows := r.page.Rows; len(rows) > 0; rows = rows[r.m.cfg.Stride:] {
		rowRefs{r.m.cfg}.Rebase(rows[:r.m.cfg.Stride], r.base)
	}
	return nil
}

func (r *runReader) close() {
	if r.open {
		r.m.cfg.Arenas.Drop(r.base)
		r.open = false
	}
}

// runHeap is readers, the one with the least key first.
type runHeap struct {
	m       *Merger
	readers []*runReader
}

func (h *runHeap) Len() int      { return len(h.readers) }
func (h *runHeap) Swap(i, j int) { h.readers[i], h.readers[j] = h.readers[j], h.readers[i] }
func (h *runHeap) Push(x any)    { h.readers = append(h.readers, x.(*runReader)) }
func (h *runHeap) Less(i, j int) bool {
	return h.m.decoder.Compare(h.readers[i].row, h.readers[j].row) < 0
}

func (h *runHeap) Pop() any {
	last := h.readers[len(h.readers)-1]
	h.readers = h.readers[:len(h.readers)-1]
	return last
}

// mergeRuns calls sink with the groups of all runs in order of their keys.
func (m *Merger) mergeRuns(ctx context.Context, runs []sortedRun, sink func(row []uint64) error) error {
	h := &runHeap{m: m}
	defer func() {
		for _, r := range h.readers {
			r.close()
		}
	}()
	for _, blocks := range runs {
		r := &runReader{m: m, blocks: blocks}
		h.readers = append(h.readers, r)
		if ok, err := r.next(); err != nil || !ok {
			return err
		}
	}
	heap.Init(h)
	group := make([]uint64, m.cfg.Stride)
	for n := 0; h.Len() > 0; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := m.takeGroup(h, group); err != nil {
			return err
		}
		if err := sink(group); err != nil {
			return err
		}
		m.store.arena.Reset()
	}
	return nil
}

// takeGroup takes the least key off the heap, all its rows combined.
func (m *Merger) takeGroup(h *runHeap, group []uint64) error {
	copy(group, h.readers[0].row)
	if m.cfg.hasRefs() {
		if err := (rowRefs{m.cfg}).Move(group, m.store.arena); err != nil {
			return err
		}
	}
	if err := h.advance(); err != nil {
		return err
	}
	for h.Len() > 0 && m.decoder.Compare(group, h.readers[0].row) == 0 {
		r := h.readers[0]
		if m.cfg.hasRefs() {
			section := len(r.page.Section)
			if err := m.store.makeRoom(group, section+m.cfg.States.CombineNeed(section, 1), m.store.room); err != nil {
				return err
			}
		}
		m.cfg.States.Combine(group, r.row, m.cfg.Arenas, m.store.arena)
		if err := h.advance(); err != nil {
			return err
		}
	}
	return nil
}

// advance moves the first reader on.
func (h *runHeap) advance() error {
	ok, err := h.readers[0].next()
	switch {
	case err != nil:
		return err
	case ok:
		heap.Fix(h, 0)
	default:
		heap.Pop(h)
	}
	return nil
}
