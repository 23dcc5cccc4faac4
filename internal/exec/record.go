package exec

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg/internal/column"
)

// records are the output columns of a result batch.
func (p *producer) records(schema *arrow.Schema, b *column.Batch, l *column.LargeRow) ([]arrow.Record, error) {
	if l != nil {
		return p.largeRecord(schema, b, l)
	}
	return inPieces(b, func(b *column.Batch) (arrow.Record, error) { return p.record(schema, b) })
}

// inPieces makes one record of b, or several if values are long, since one
// Arrow array holds 2 GiB: a batch that is too large is halved, down to single rows.
func inPieces(b *column.Batch, record func(*column.Batch) (arrow.Record, error)) ([]arrow.Record, error) {
	rec, err := record(b)
	if err == nil {
		return []arrow.Record{rec}, nil
	}
	if b.Rows < 2 || !errors.Is(err, column.ErrTooLarge) {
		return nil, err
	}
	first, err := inPieces(rowsOf(b, 0, b.Rows/2), record)
	if err != nil {
		return nil, err
	}
	second, err := inPieces(rowsOf(b, b.Rows/2, b.Rows), record)
	if err != nil {
		for _, rec := range first {
			rec.Release()
		}
		return nil, err
	}
	return append(first, second...), nil
}

// rowsOf is the rows from..to of b.
func rowsOf(b *column.Batch, from, to int) *column.Batch {
	rows := make([]int32, 0, to-from)
	for i := from; i < to; i++ {
		rows = append(rows, int32(i))
	}
	return gather(b, rows)
}

// gather copies rows of a batch.
func gather(b *column.Batch, rows []int32) *column.Batch {
	out := &column.Batch{Rows: len(rows)}
	for i := range b.Cols {
		out.Cols = append(out.Cols, column.Gather(&b.Cols[i], rows, &column.Buffer{}))
	}
	return out
}

// record computes the output columns of a result batch.
func (p *producer) record(schema *arrow.Schema, b *column.Batch) (arrow.Record, error) {
	return p.r.record(schema, b.Rows, p.r.alloc, func(i int, v *column.Vector) error { return p.out[i].Eval(b, v) })
}

// record makes a record of some rows in memory of alloc; col sets v to column i of them.
func (r *run) record(schema *arrow.Schema, rows int, alloc memory.Allocator, col func(i int, v *column.Vector) error) (arrow.Record, error) {
	cols := make([]arrow.Array, 0, len(schema.Fields()))
	defer func() {
		for _, c := range cols {
			c.Release()
		}
	}()
	for i := range schema.Fields() {
		var v column.Vector
		if err := col(i, &v); err != nil {
			return nil, err
		}
		arr, err := column.ToArrow(&v, alloc)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", schema.Field(i).Name, err)
		}
		cols = append(cols, arr)
	}
	return array.NewRecord(schema, cols, int64(rows)), nil
}

// resultSchema is the Arrow schema of the result.
func (r *run) resultSchema() *arrow.Schema {
	if r.written != nil {
		return r.written
	}
	return r.schema()
}

// schema is the Arrow schema of a result.
func (r *run) schema() *arrow.Schema {
	fields := make([]arrow.Field, len(r.plan.Query.Out))
	for i, c := range r.plan.Query.Out {
		fields[i] = column.ArrowField(c.Name, c.Type, true)
	}
	return arrow.NewSchema(fields, nil)
}
