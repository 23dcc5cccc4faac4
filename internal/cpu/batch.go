package cpu

import "github.com/gagg-dev/gagg/internal/column"

// This file is which rows of a batch a worker takes.

// filter returns the batch of the rows that pass, with only the used columns
// in it where some do not.
func (w *Worker) filter(b *column.Batch) (*column.Batch, error) {
	sel := b.Sel
	if w.pipe.Where != nil {
		var err error
		if w.sel, err = w.pipe.Where.Filter(b, w.sel[:0]); err != nil {
			return b, err
		}
		sel = w.sel
	}
	if sel == nil || len(sel) == b.Rows {
		w.positions(b.First, w.all(b.Rows))
		return b, nil
	}
	w.positions(b.First, sel)
	return w.gather(b, sel), nil
}

// gather returns the batch of the rows sel of b. If there are none, no column of it may be looked at.
func (w *Worker) gather(b *column.Batch, sel []int32) *column.Batch {
	w.compact.Rows, w.compact.First, w.compact.Times = len(sel), b.First, b.Times
	if len(sel) == 0 {
		return &w.compact
	}
	if len(w.compBuf) < len(b.Cols) {
		w.compBuf = make([]column.Buffer, len(b.Cols))
		w.compact.Cols = make([]column.Vector, len(b.Cols))
	}
	for _, c := range w.pipe.Used {
		w.compact.Cols[c] = column.Gather(&b.Cols[c], sel, &w.compBuf[c])
	}
	return &w.compact
}

// all returns the row numbers 0..n-1, where positions are wanted.
func (w *Worker) all(n int) []int32 {
	if !w.cfg.States.NeedsPos() {
		return nil
	}
	w.sel = w.sel[:0]
	for i := range n {
		w.sel = append(w.sel, int32(i))
	}
	return w.sel
}

// positions sets the place in the input of each row taken.
func (w *Worker) positions(first int64, sel []int32) {
	if !w.cfg.States.NeedsPos() {
		return
	}
	w.in.Pos = w.in.Pos[:0]
	for _, r := range sel {
		w.in.Pos = append(w.in.Pos, first+int64(r))
	}
}
