package exec

import (
	"context"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/input"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// Head returns the description of a source, and its first n rows, or fewer if there are fewer: the
// columns that can be read. The caller releases the record. Only the parts of the input that hold
// these rows are read.
func Head(ctx context.Context, from input.Source, n int, o Options) (d input.Description, rec arrow.Record, err error) {
	err = o.withInput(ctx, from, n, func(in input.Input) (err error) {
		d = input.Describe(in)
		rec, err = head(ctx, in, n)
		return err
	})
	return d, rec, err
}

// headRows is the columns of the first rows, part by part.
type headRows struct {
	columns []int // of the input
	fields  []arrow.Field
	parts   [][]arrow.Array // by column
	rows    int
	most    int
}

func head(ctx context.Context, in input.Input, n int) (arrow.Record, error) {
	h := &headRows{most: n}
	for i, f := range in.Schema().Fields {
		if f.Type.Kind != column.Invalid {
			h.columns, h.fields = append(h.columns, i), append(h.fields, column.ArrowField(f.Name, f.Type, true))
		}
	}
	h.parts = make([][]arrow.Array, len(h.columns))
	defer h.release()
	if len(h.columns) > 0 {
		if err := h.read(ctx, in); err != nil {
			return nil, err
		}
	}
	return h.record()
}

func (h *headRows) read(ctx context.Context, in input.Input) error {
	scan, err := in.Scan(parquetio.ScanOptions{Columns: h.columns, BatchRows: h.most})
	if err != nil {
		return err
	}
	r := scan.Reader()
	defer r.Close()
	var b column.Batch
	for unit := 0; unit < scan.Units() && h.rows < h.most; unit++ {
		if err := r.Open(unit); err != nil {
			return err
		}
		for more := true; more && h.rows < h.most; {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if more, err = r.Next(&b); more && err == nil {
				err = h.add(&b)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// add copies the rows of a batch, as many as are wanted, less those that are deleted, which it does
// not select.
func (h *headRows) add(b *column.Batch) error {
	var some *column.Batch
	if want := h.most - h.rows; b.Sel == nil {
		some = rowsOf(b, 0, min(b.Rows, want))
	} else {
		some = gather(b, b.Sel[:min(len(b.Sel), want)])
	}
	for i := range h.parts {
		a, err := column.ToArrow(&some.Cols[i], memory.DefaultAllocator)
		if err != nil {
			return err
		}
		h.parts[i] = append(h.parts[i], a)
	}
	h.rows += some.Rows
	return nil
}

// record is the rows; the caller releases it.
func (h *headRows) record() (arrow.Record, error) {
	cols := make([]arrow.Array, 0, len(h.parts))
	defer func() {
		for _, c := range cols {
			c.Release()
		}
	}()
	for i, arrays := range h.parts {
		col := array.MakeArrayOfNull(memory.DefaultAllocator, h.fields[i].Type, 0)
		if len(arrays) > 0 {
			col.Release()
			var err error
			if col, err = array.Concatenate(arrays, memory.DefaultAllocator); err != nil {
				return nil, err
			}
		}
		cols = append(cols, col)
	}
	return array.NewRecord(arrow.NewSchema(h.fields, nil), cols, int64(h.rows)), nil
}

func (h *headRows) release() {
	for _, arrays := range h.parts {
		for _, a := range arrays {
			a.Release()
		}
	}
}
