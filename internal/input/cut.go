package input

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// cutColumn is a column of records.
type cutColumn struct {
	leaf    *column.Leaf // nil: the records lack it
	lacking column.Type  // which it has then, for NULLs
}

// cutter cuts records into batches.
type cutter struct {
	name      string
	from      budget.Lender
	cols      []cutColumn // wanted
	batchRows int

	rec   arrow.Record // nil: none at hand
	first int64        // row number of its first row
	at    int64        // rows of it already given out
	drawn int64        // from the budget, for the vectors of the largest batch
}

func newCutter(name string, from budget.Lender, all []column.Leaf, wanted []int, batchRows int) cutter {
	c := cutter{name: name, from: from, batchRows: batchRows}
	for _, i := range wanted {
		c.cols = append(c.cols, cutColumn{leaf: &all[i]})
	}
	return c
}

// done reports whether all of the record was given out.
func (r *cutter) done() bool { return r.rec == nil || r.at == r.rec.NumRows() }

// setRecord makes rec the record that is cut. The number of its first row is first.
func (r *cutter) setRecord(rec arrow.Record, first int64) {
	r.drop()
	r.rec, r.first, r.at = rec, first, 0
}

// cut makes b of the next rows.
func (r *cutter) cut(b *column.Batch) error {
	n := min(int64(r.batchRows), r.rec.NumRows()-r.at)
	if err := r.convert(b, n); err != nil {
		return err
	}
	b.Rows, b.First = int(n), r.first+r.at
	r.at += n
	return nil
}

// Where leaves the filter to the worker: records are in memory.
func (r *cutter) Where(func(*column.Batch, []int32) ([]int32, error), []int) bool { return false }

// Close gives back what was drawn.
func (r *cutter) Close() {
	r.drop()
	budget.Or(r.from).Release(r.drawn)
	r.drawn = 0
}

func (r *cutter) drop() {
	if r.rec != nil {
		r.rec.Release()
		r.rec = nil
	}
}

// convert makes b of the next n rows of the record. What the record's own lengths do not fit is
// damage: the library panics.
func (r *cutter) convert(b *column.Batch, n int64) (err error) {
	defer invariant.Fence(&err, func(p any) error { return &Error{fmt.Errorf("%s: damaged Arrow records (%v)", r.name, p)} })
	if len(b.Cols) != len(r.cols) {
		b.Cols = make([]column.Vector, len(r.cols))
	}
	part := r.rec.NewSlice(r.at, r.at+n)
	defer part.Release()
	if err := r.draw(part); err != nil {
		return fmt.Errorf("%s: a batch of %d rows: %w", r.name, n, err)
	}
	for i, c := range r.cols {
		if err := c.fill(&b.Cols[i], part); err != nil {
			return &Error{fmt.Errorf("%s: column %q: %w", r.name, c.leaf.Name, err)}
		}
	}
	return nil
}

// fill sets v to the values of the column in a record.
func (c *cutColumn) fill(v *column.Vector, rec arrow.Record) error {
	if c.leaf != nil {
		return c.leaf.FromRecord(rec, v)
	}
	null := array.MakeArrayOfNull(memory.DefaultAllocator, column.ArrowType(c.lacking), int(rec.NumRows()))
	defer null.Release()
	err := column.FromArrow(null, v)
	v.Type = c.lacking
	return err
}

// draw takes the memory of the vectors of part from the budget. They are used
// again for later batches. The records are the caller's memory and do not count.
func (r *cutter) draw(part arrow.Record) error {
	if r.from == nil {
		return nil
	}
	need := int64(0)
	for _, c := range r.cols {
		if c.leaf != nil {
			need += vectorBytes(c.leaf.Array(part))
		}
	}
	more := need - r.drawn
	if more <= 0 {
		return nil
	}
	if err := r.from.Draw(more); err != nil {
		return err
	}
	r.drawn += more
	return nil
}

// vectorBytes is about what a vector of the values of arr takes.
func vectorBytes(arr arrow.Array) int64 {
	// bytes a row: a value or its place, and its NULL; decimals beyond 64 bits
	const row, wide = 16, 40
	n := int64(arr.Len())
	switch a := arr.(type) {
	case array.ExtensionArray:
		return vectorBytes(a.Storage())
	case *array.Dictionary:
		return row*n + vectorBytes(a.Dictionary())
	case array.BinaryLike:
		return row*n + int64(len(a.ValueBytes()))
	case array.ListLike:
		if n == 0 {
			return 0
		}
		first, _ := a.ValueOffsets(0)
		_, end := a.ValueOffsets(int(n - 1))
		elems := array.NewSlice(a.ListValues(), first, end)
		defer elems.Release()
		return row*n + vectorBytes(elems)
	case *array.Decimal128, *array.Decimal256:
		return wide * n
	}
	return row * n
}
