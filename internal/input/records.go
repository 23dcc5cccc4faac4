package input

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// Records reads Arrow records, once. The caller keeps the reader, and may release it after the run.
func Records(r array.RecordReader) Source {
	return recordSource{r.Schema(), func(ctx context.Context) feed { return pumped(ctx, recordsOf(r)) }}
}

// RecordSeq reads the records of an iterator, once. They stay the iterator's.
func RecordSeq(schema *arrow.Schema, records iter.Seq2[arrow.Record, error]) Source {
	return recordSource{schema, func(ctx context.Context) feed { return pumped(ctx, records) }}
}

// RecordChan reads the records that come out of a channel, until it is closed. They are the run's.
func RecordChan(schema *arrow.Schema, records <-chan arrow.Record) Source {
	return recordSource{schema, func(ctx context.Context) feed { return fromChannel(ctx, records) }}
}

type recordSource struct {
	schema *arrow.Schema
	feed   func(ctx context.Context) feed
}

func (s recordSource) Open(ctx context.Context, _ Options, from budget.Lender) (Input, error) {
	if s.schema == nil {
		return nil, usagef("the records have no schema: name their columns and types")
	}
	return newRecordInput("arrow records", s.schema, s.feed(ctx), from)
}

// recordInput is a stream of Arrow records as an input. Its columns are the
// leaves of the records. Its units stand for nothing: whoever has one takes the
// next record until none is left.
type recordInput struct {
	name   string // in messages
	schema *arrow.Schema
	feed   feed
	from   budget.Lender // nil: there is no limit
	leafTable
}

func newRecordInput(name string, schema *arrow.Schema, records feed, from budget.Lender) (*recordInput, error) {
	return &recordInput{name: name, schema: schema, feed: records, leafTable: leafTable{"the records", column.Leaves(schema), statesOfSchema(schema)}, from: from}, nil
}

// records are read once: what has too many digits is an error
func (in *recordInput) Widen(map[int]int)  {}
func (in *recordInput) sizes() Description { return Description{Rows: -1} }

func (in *recordInput) Close() error {
	in.feed.close()
	return nil
}

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

	mu      sync.Mutex
	first   int64                   // row number of the next record
	ended   bool                    // or err
	err     error                   // that ended the records
	observe func(bytes, rows int64) // of each record; nil: nobody
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

// Observe has observe called for each record as it comes.
func (s *recordScan) Observe(observe func(bytes, rows int64)) bool {
	s.observe = observe
	return true
}

func (s *recordScan) next() (arrow.Record, int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil, 0, s.err
	}
	rec, err := s.in.feed.next()
	if err == nil && rec != nil && rec.Schema() != s.in.schema && !rec.Schema().Equal(s.in.schema) {
		err = fmt.Errorf("the record from row %d on has other columns than the first ones: %s", s.first, fieldsOf(rec.Schema()))
		rec.Release()
	}
	if err != nil || rec == nil {
		s.ended = true
		if err != nil {
			s.err = s.in.failure(err)
		}
		return nil, 0, s.err
	}
	first := s.first
	s.first += rec.NumRows()
	if s.observe != nil {
		s.observe(column.RecordBytes(rec), rec.NumRows())
	}
	return rec, first, nil
}

func (in *recordInput) failure(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &Error{fmt.Errorf("%s: %w", in.name, &SourceError{in.name, err})}
}

// fieldsOf is the columns of a schema, in short.
func fieldsOf(s *arrow.Schema) string {
	var all []string
	for _, f := range s.Fields() {
		all = append(all, f.Name+" "+f.Type.String())
	}
	return strings.Join(all, ", ")
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
		r.setRecord(rec, first)
	}
	err := r.cut(b)
	return err == nil, err
}
