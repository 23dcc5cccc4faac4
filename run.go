package gagg

import (
	"context"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/gagg-dev/gagg/internal/exec"
)

// Run runs the query until its groups are complete; the rows come from the
// returned reader. The caller releases it, also when not all rows were read.
// Cancelling the context stops the run and the reader.
func Run(ctx context.Context, q Query, o Options) (*Rows, error) {
	rows, err := exec.Run(ctx, request(q, o))
	if err != nil {
		return nil, err
	}
	r := &Rows{rows: rows}
	if q.Pivot != "" {
		if err := r.pivot(q); err != nil {
			r.Release()
			return nil, err
		}
	}
	return r, nil
}

// request is what the package of runs is asked for.
func request(q Query, o Options) exec.Request {
	r := exec.Request{Query: q.texts(), Options: o.exec()}
	if q.From != nil {
		r.From = q.From.source()
	}
	return r
}

var _ array.RecordReader = (*Rows)(nil)

// Rows is the result of a query, an Arrow array.RecordReader: the record of
// Record is valid until the next call of Next unless it is retained. It is
// for one goroutine.
//
// Partitions are merged and turned into records by several goroutines ahead
// of the reader and come in order. How far ahead is bounded: in partitions,
// and in the bytes of the records that wait. The partition that the reader
// waits for is never held up.
type Rows struct {
	rows   *exec.Rows
	shaped *shaped // nil: the rows are as they come
}

// Schema is the schema of the records.
func (r *Rows) Schema() *arrow.Schema {
	if r.shaped != nil {
		return r.shaped.record.Schema()
	}
	return r.rows.Schema()
}

// SortColumn is a column that rows are sorted by.
type SortColumn struct {
	Name       string
	Descending bool
	NullsFirst bool
}

// Sorted is the columns that the records are sorted by: the first of Query.OrderBy that are
// columns of them. There are none without OrderBy, nor with Query.Totals, whose row is the last.
func (r *Rows) Sorted() (columns []SortColumn) {
	for _, t := range r.rows.Sorted() {
		columns = append(columns, SortColumn{r.Schema().Field(t.Output).Name, t.Desc, t.NullsFirst})
	}
	return columns
}

// Next makes the next record current; false at the end or on an error.
func (r *Rows) Next() bool {
	if r.shaped != nil {
		return r.shaped.next()
	}
	return r.rows.Next()
}

// Record is the current record.
func (r *Rows) Record() arrow.Record {
	if r.shaped != nil {
		return r.shaped.record
	}
	return r.rows.Record()
}

// Err is the error that ended the rows, if one did.
func (r *Rows) Err() error { return r.rows.Err() }

// Retain adds a reference.
func (r *Rows) Retain() { r.rows.Retain() }

// Release drops a reference; the last one stops what still runs, closes the
// input and removes what was spilled.
func (r *Rows) Release() { r.rows.Release() }
