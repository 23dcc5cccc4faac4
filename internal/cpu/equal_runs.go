package cpu

import (
	"container/heap"
	"context"

	"github.com/gagg-dev/gagg/partition"
)

// This file is how sorted runs of rows are merged.

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
