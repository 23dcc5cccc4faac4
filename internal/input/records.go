package input

import (
	"context"
	"fmt"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// Records reads Arrow records, once. The caller keeps the reader and releases it after the run.
func Records(r array.RecordReader) Source { return recordSource{r} }

type recordSource struct{ r array.RecordReader }

func (s recordSource) Open(_ context.Context, _ Options, from budget.Lender) (Input, error) {
	return newRecordInput("arrow records", s.r, from)
}

// recordInput is a stream of Arrow records as an input. Its columns are the
// leaves of the records. Its units stand for nothing: whoever has one takes the
// next record until none is left.
type recordInput struct {
	name string // in messages
	r    array.RecordReader
	from budget.Lender // nil: there is no limit
	leafTable
}

func newRecordInput(name string, r array.RecordReader, from budget.Lender) (*recordInput, error) {
	return &recordInput{name: name, r: r, leafTable: leafTable{"the records", column.Leaves(r.Schema())}, from: from}, nil
}

// records are read once: what has too many digits is an error
func (in *recordInput) Widen(map[int]int)  {}
func (in *recordInput) sizes() Description { return Description{Rows: -1} }
func (in *recordInput) Close() error       { return nil }

func (in *recordInput) Scan(o parquetio.ScanOptions) (Scan, error) {
	s := &recordScan{in: in, cols: o.Columns, batchRows: o.BatchRows}
	if s.batchRows == 0 {
		s.batchRows = defaultBatchRows
	}
	return s, nil
}

// recordScan hands out the records of a stream, in order, to its readers.
type recordScan struct {
	unknown
	in        *recordInput
	cols      []int
	batchRows int

	mu    sync.Mutex
	first int64 // row number of the next record
	ended bool
}

// defaultBatchRows is the rows of a batch where nothing else is asked for.
const defaultBatchRows = 4096

// recordUnits is more than there are ever workers to take records.
const recordUnits = 1 << 10

func (s *recordScan) RowGroups() int      { return recordUnits }
func (s *recordScan) Units() int          { return recordUnits }
func (s *recordScan) UnitBytes(int) int64 { return 0 }
func (s *recordScan) Facts() Facts        { return Facts{Rows: -1} }
func (s *recordScan) Unchanged() error    { return nil }
func (s *recordScan) Rereadable() bool    { return false }
func (s *recordScan) Reader() cpu.Reader {
	return &recordReader{newCutter(s.in.name, s.in.from, s.in.cols, s.cols, s.batchRows), s}
}

// WorkerBytes takes values to have 16 bytes.
func (s *recordScan) WorkerBytes() int64 { return 16 * int64(s.batchRows) * int64(len(s.cols)) }

func (s *recordScan) next() (arrow.Record, int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || !s.in.r.Next() {
		s.ended = true
		if err := s.in.r.Err(); err != nil {
			return nil, 0, &Error{fmt.Errorf("%s: %w", s.in.name, err)}
		}
		return nil, 0, nil
	}
	rec := s.in.r.Record()
	rec.Retain()
	first := s.first
	s.first += rec.NumRows()
	return rec, first, nil
}

// recordReader takes records from a scan.
type recordReader struct {
	cutter
	scan *recordScan
}

func (r *recordReader) Open(int) error { return nil }

func (r *recordReader) Next(b *column.Batch) (bool, error) {
	for r.done() {
		rec, first, err := r.scan.next()
		if err != nil || rec == nil {
			r.drop()
			return false, err
		}
		r.take(rec, first)
	}
	err := r.cut(b)
	return err == nil, err
}
