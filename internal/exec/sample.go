package exec

import (
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/query"
)

// This file is samples of the rows (Query.Sample). Whether a row is in one depends on the seed and
// on the number that the row has in the input, in file order and then row order. So a sample does
// not depend on threads, units, the columns that are read or the filter. The filter is applied to
// the rows of the sample only.

// sampleReader leaves the rows of a sample. The reader below does so itself where it filters rows,
// and then reads nothing of pages without any.
type sampleReader struct {
	cpu.Reader
	sample query.Sample
	asked  bool // the reader below was asked to filter
	below  bool // it does

	rows []int32
	cols []column.Vector
	bufs []column.Buffer
	left []int32
}

// sampled has readers leave the rows of the query's sample.
func (r *run) sampled(open func() cpu.Reader) func() cpu.Reader {
	sample := r.plan.Query.Texts.Sample
	if !sample.OfRows() {
		return open
	}
	return func() cpu.Reader { return &sampleReader{Reader: open(), sample: sample, rows: []int32{}} }
}

// Where has the reader filter the rows of the sample.
func (s *sampleReader) Where(filter func(*column.Batch, []int32) ([]int32, error), cols []int) bool {
	s.asked = true
	s.below = s.Reader.Where(func(b *column.Batch, sel []int32) ([]int32, error) {
		return s.choose(b, sel, filter, cols)
	}, cols)
	return s.below
}

// choose appends the rows of the sample that pass a filter, which uses the columns cols; nil: all
// of the sample.
func (s *sampleReader) choose(b *column.Batch, sel []int32, filter func(*column.Batch, []int32) ([]int32, error), cols []int) ([]int32, error) {
	s.rows = s.of(b, s.rows[:0])
	if filter == nil || len(s.rows) == 0 {
		return append(sel, s.rows...), nil
	}
	if len(s.bufs) < len(b.Cols) {
		s.bufs, s.cols = make([]column.Buffer, len(b.Cols)), make([]column.Vector, len(b.Cols))
	}
	for _, c := range cols {
		s.cols[c] = column.Gather(&b.Cols[c], s.rows, &s.bufs[c])
	}
	var err error
	s.left, err = filter(&column.Batch{Rows: len(s.rows), Cols: s.cols, First: b.First}, s.left[:0])
	for _, row := range s.left {
		sel = append(sel, s.rows[row])
	}
	return sel, err
}

// of appends the rows of the sample that a batch has left.
func (s *sampleReader) of(b *column.Batch, rows []int32) []int32 {
	rows = s.sample.Rows(b.First, b.Rows, rows)
	if b.Sel == nil {
		return rows
	}
	left, n := b.Sel, 0
	for _, row := range rows {
		for len(left) > 0 && left[0] < row {
			left = left[1:]
		}
		if len(left) > 0 && left[0] == row {
			rows[n], n = row, n+1
		}
	}
	return rows[:n]
}

func (s *sampleReader) Open(unit int) error {
	if !s.asked {
		s.Where(nil, nil)
	}
	return s.Reader.Open(unit)
}

func (s *sampleReader) Next(b *column.Batch) (bool, error) {
	ok, err := s.Reader.Next(b)
	if ok && err == nil && !s.below {
		s.rows = s.of(b, s.rows[:0])
		b.Sel = s.rows
	}
	return ok, err
}
