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
	r.page.Free()
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
	return h.m.less(h.readers[i].row, h.readers[j].row)
}

func (h *runHeap) Pop() any {
	last := h.readers[len(h.readers)-1]
	h.readers = h.readers[:len(h.readers)-1]
	return last
}

// runSink is where merged groups go, whose values lie in the store's arena.
type runSink interface {
	add(row []uint64) error
	// free is called now and then, and at the end: no group that was taken needs its values after
	// it.
	free() error
}

// runWriter writes them to disk.
type runWriter struct {
	m   *Merger
	run sortedRun
}

func (w *runWriter) add(row []uint64) (err error) {
	w.run, err = w.m.store.disk.Write(w.run, row)
	return err
}

func (w *runWriter) free() error { return nil }

// runEmitter emits them, many at a time.
type runEmitter struct{ m *Merger }

func (e runEmitter) add(row []uint64) error {
	e.m.out.rows = append(e.m.out.rows, row...)
	if len(e.m.out.rows) < e.m.out.most*e.m.cfg.Stride {
		return nil
	}
	return e.free()
}

func (e runEmitter) free() error {
	rows := e.m.out.rows
	if e.m.out.rows = rows[:0]; len(rows) == 0 {
		return nil
	}
	return e.m.out.emit(rows)
}

// runValues is how many bytes of values groups may have before a sink is asked to free them.
const runValues = emitBytes

// mergeRuns gives sink the groups of all runs in order of their hashes and keys.
func (m *Merger) mergeRuns(ctx context.Context, runs []sortedRun, sink runSink) error {
	h := &runHeap{m: m}
	defer func() {
		for _, r := range h.readers {
			r.close()
		}
	}()
	for _, blocks := range runs {
		r := &runReader{m: m, blocks: blocks}
		r.page.From = m.cfg.Budget
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
		if err := m.takeGroup(h, group, sink); err != nil {
			return err
		}
		if err := sink.add(group); err != nil {
			return err
		}
		if m.store.arena.Bytes() > runValues {
			if err := m.freeValues(sink); err != nil {
				return err
			}
		}
	}
	return m.freeValues(sink)
}

func (m *Merger) freeValues(sink runSink) error {
	err := sink.free()
	m.store.arena.Reset()
	return err
}

// takeGroup takes the least key off the heap, all its rows combined.
func (m *Merger) takeGroup(h *runHeap, group []uint64, sink runSink) error {
	copy(group, h.readers[0].row)
	if m.cfg.hasRefs() {
		if err := m.roomFor(&h.readers[0].page, sink); err != nil {
			return err
		}
		if err := (rowRefs{m.cfg}).Move(group, m.store.arena); err != nil {
			return err
		}
	}
	if err := h.advance(); err != nil {
		return err
	}
	for h.Len() > 0 && m.compare(group, h.readers[0].row) == 0 {
		r := h.readers[0]
		if m.cfg.hasRefs() {
			section := len(r.page.Section)
			need := section + m.cfg.States.CombineNeed(section, 1)
			if m.store.room(need) != nil { // the arena is to hold this group alone
				if err := sink.free(); err != nil {
					return err
				}
			}
			if err := m.store.makeRoom(group, need, m.store.room); err != nil {
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

// roomFor makes sure of memory for the values of a long block.
func (m *Merger) roomFor(p *partition.Page, sink runSink) error {
	if !p.Long() || m.store.room(len(p.Section)) == nil {
		return nil
	}
	if err := m.freeValues(sink); err != nil {
		return err
	}
	return m.store.room(len(p.Section))
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
