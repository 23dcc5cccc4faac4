package input

import (
	"context"
	"fmt"
	"strconv"
	"strings"
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
	cols []column.Leaf
	from budget.Lender // nil: there is no limit
}

func newRecordInput(name string, r array.RecordReader, from budget.Lender) (*recordInput, error) {
	return &recordInput{name: name, r: r, cols: column.Leaves(r.Schema()), from: from}, nil
}

func (in *recordInput) Schema() (s column.Schema) {
	for i := range in.cols {
		s.Fields = append(s.Fields, in.cols[i].Field)
	}
	return s
}

// records are read once: what has too many digits is an error
func (in *recordInput) Widen(map[int]int)  {}
func (in *recordInput) sizes() Description { return Description{Rows: -1} }
func (in *recordInput) Close() error       { return nil }

// Find looks a column up as files do: a column by its exact name, a field of a
// struct by its exact dotted path, both without regard to case, or by position (#2).
func (in *recordInput) Find(name string) (int, error) {
	for _, fits := range []func(l *column.Leaf) bool{
		func(l *column.Leaf) bool { return len(l.Path) == 1 && l.Name == name },
		func(l *column.Leaf) bool { return l.Name == name },
		func(l *column.Leaf) bool { return len(l.Path) == 1 && strings.EqualFold(l.Name, name) },
		func(l *column.Leaf) bool { return strings.EqualFold(l.Name, name) },
	} {
		found := -1
		for i := range in.cols {
			if !fits(&in.cols[i]) {
				continue
			}
			if found >= 0 {
				return 0, usagef("column %q is ambiguous: it could be #%d or #%d", name, found+1, i+1)
			}
			found = i
		}
		if found >= 0 {
			return in.readable(name, found)
		}
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(name, "#")); err == nil && name[0] == '#' && n >= 1 && n <= len(in.cols) {
		return in.readable(name, n-1)
	}
	for i := range in.cols {
		l := &in.cols[i]
		for n := 1; n < len(l.Path); n++ {
			if strings.EqualFold(name, strings.Join(l.Path[:n], ".")) {
				return 0, usagef("column %q cannot be used: it is a struct; use a field of it, such as %q", name, l.Name)
			}
		}
	}
	return 0, usagef("column %q does not exist in the records", name)
}

func (in *recordInput) readable(name string, i int) (int, error) {
	if err := in.cols[i].Err; err != nil {
		return 0, &UsageError{fmt.Errorf("column %q cannot be used: %w", name, err)}
	}
	return i, nil
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

func (s *recordScan) Passed() (pages, rows int64) { return 0, 0 }
func (s *recordScan) RowGroups() int              { return recordUnits }
func (s *recordScan) Split(int, int64)            {}
func (s *recordScan) Units() int                  { return recordUnits }
func (s *recordScan) UnitBytes(int) int64         { return 0 }
func (s *recordScan) Facts() Facts                { return Facts{Rows: -1} }

func (s *recordScan) Ends(int) (least, most column.Value, ok bool) { return least, most, false }
func (s *recordScan) Filled(int) bool                              { return false }
func (s *recordScan) DictAll(int) bool                             { return false }
func (s *recordScan) DictEntries(int) int                          { return -1 }
func (s *recordScan) DictBytes(int) int64                          { return -1 }
func (s *recordScan) Int96(int) bool                               { return false }
func (s *recordScan) DictRepeats(int) (float64, bool)              { return 0, false }
func (s *recordScan) TextLength(int) (int, bool)                   { return 0, false }
func (s *recordScan) Unchanged() error                             { return nil }
func (s *recordScan) Rereadable() bool                             { return false }
func (s *recordScan) Reader() cpu.Reader                           { return &recordReader{scan: s} }

// encoded: records are decoded already.
func (s *recordScan) Encoded(int) (parquetio.EncodedType, bool) {
	return parquetio.EncodedType{}, false
}

func (s *recordScan) EncodedUnit(int) (u parquetio.EncodedUnit, ok bool) { return u, false }

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

// recordReader cuts records into batches.
type recordReader struct {
	scan  *recordScan
	rec   arrow.Record // nil: none at hand
	first int64        // row number of its first row
	at    int64        // rows of it already given out
	drawn int64        // from the budget, for the vectors of the largest batch
}

func (r *recordReader) Open(int) error { return nil }

// Where leaves the filter to the worker: records are in memory.
func (r *recordReader) Where(func(*column.Batch, []int32) ([]int32, error), []int) bool {
	return false
}

func (r *recordReader) Close() {
	r.drop()
	budget.Or(r.scan.in.from).Release(r.drawn)
	r.drawn = 0
}

func (r *recordReader) drop() {
	if r.rec != nil {
		r.rec.Release()
		r.rec = nil
	}
}

func (r *recordReader) Next(b *column.Batch) (bool, error) {
	for r.rec == nil || r.at == r.rec.NumRows() {
		r.drop()
		var err error
		if r.rec, r.first, err = r.scan.next(); err != nil || r.rec == nil {
			return false, err
		}
		r.at = 0
	}
	n := min(int64(r.scan.batchRows), r.rec.NumRows()-r.at)
	if err := r.convert(b, n); err != nil {
		return false, err
	}
	b.Rows, b.First = int(n), r.first+r.at
	r.at += n
	return true, nil
}

// convert makes b of the next n rows of the record.
func (r *recordReader) convert(b *column.Batch, n int64) error {
	if len(b.Cols) != len(r.scan.cols) {
		b.Cols = make([]column.Vector, len(r.scan.cols))
	}
	part := r.rec.NewSlice(r.at, r.at+n)
	defer part.Release()
	if err := r.draw(part); err != nil {
		return fmt.Errorf("%s: a batch of %d rows: %w", r.scan.in.name, n, err)
	}
	for i, c := range r.scan.cols {
		l := &r.scan.in.cols[c]
		if err := l.FromRecord(part, &b.Cols[i]); err != nil {
			return &Error{fmt.Errorf("%s: column %q: %w", r.scan.in.name, l.Name, err)}
		}
	}
	return nil
}

// draw takes the memory of the vectors of part from the budget. They are used
// again for later batches. The records are the caller's memory and do not count.
func (r *recordReader) draw(part arrow.Record) error {
	if r.scan.in.from == nil {
		return nil
	}
	need := int64(0)
	for _, c := range r.scan.cols {
		need += vectorBytes(r.scan.in.cols[c].Array(part))
	}
	more := need - r.drawn
	if more <= 0 {
		return nil
	}
	if err := r.scan.in.from.Draw(more); err != nil {
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
