package cpu

import "github.com/gagg-dev/gagg/internal/column"

// This file is which rows of a batch a worker takes.

// filter returns the batch of the rows that pass, with only the used columns
// in it where some do not.
func (w *Worker) filter(b *column.Batch) (*column.Batch, error) {
	sel, err := w.choose(b)
	if err != nil {
		return b, err
	}
	if sel == nil || len(sel) == b.Rows {
		w.positions(b.First, w.all(b.Rows))
		return b, nil
	}
	w.positions(b.First, sel)
	return w.gather(b, sel), nil
}

// choose returns the rows that pass, of those that the reader has left; nil: all.
func (w *Worker) choose(b *column.Batch) ([]int32, error) {
	if w.pipe.Where.Filter == nil || b.Sel != nil && len(b.Sel) == 0 {
		return b.Sel, nil
	}
	var err error
	w.sel, err = w.applyFilter(w.pipe.Where, b, w.sel[:0])
	return w.sel, err
}

// applyFilter appends to sel the rows that pass a filter, of those that the batch has left.
func (w *Worker) applyFilter(where Condition, b *column.Batch, sel []int32) ([]int32, error) {
	if b.Sel == nil || len(b.Sel) == b.Rows {
		return where.Filter.Filter(b, sel)
	}
	if len(b.Sel) == 0 {
		return sel, nil
	}
	w.left.Rows, w.left.First = len(b.Sel), b.First
	w.left.Cols, w.leftBuf = gatherInto(w.left.Cols, w.leftBuf, b, where.Cols, b.Sel)
	from := len(sel)
	sel, err := where.Filter.Filter(&w.left, sel)
	if err != nil {
		return nil, err
	}
	for i, row := range sel[from:] {
		sel[from+i] = b.Sel[row]
	}
	return sel, nil
}

// gather returns the batch of the rows sel of b. If there are none, no column of it may be looked
// at.
func (w *Worker) gather(b *column.Batch, sel []int32) *column.Batch {
	w.compact.Rows, w.compact.First, w.compact.Times = len(sel), b.First, b.Times
	if len(sel) == 0 {
		return &w.compact
	}
	w.compact.Cols, w.compBuf = gatherInto(w.compact.Cols, w.compBuf, b, w.pipe.Used, sel)
	return &w.compact
}

// gatherInto sets the columns used of cols to the rows sel of b's.
func gatherInto(cols []column.Vector, bufs []column.Buffer, b *column.Batch, used []int, sel []int32) ([]column.Vector, []column.Buffer) {
	if len(bufs) < len(b.Cols) {
		bufs, cols = make([]column.Buffer, len(b.Cols)), make([]column.Vector, len(b.Cols))
	}
	for _, c := range used {
		cols[c] = column.Gather(&b.Cols[c], sel, &bufs[c])
	}
	return cols, bufs
}

// all returns the row numbers 0..n-1, where positions are wanted.
func (w *Worker) all(n int) []int32 {
	if !w.states.NeedsPos() {
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
	if !w.states.NeedsPos() {
		return
	}
	w.in.Pos = w.in.Pos[:0]
	for _, r := range sel {
		w.in.Pos = append(w.in.Pos, first+int64(r))
	}
}
