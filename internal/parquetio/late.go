package parquetio

import (
	"slices"

	"github.com/gagg-dev/gagg/internal/column"
)

// This file is late materialisation: the columns of a filter are read first, and the others only
// where a row is left. In a row group without such a row no byte of the others is read, and a
// page of them without one is not decompressed.
//
// The columns of the filter set the pace. They are read ahead by a batch: as many rows as one
// page of each of them has left. The other columns follow, in batches that end where one of their
// pages does:
//
//	filter's columns   |........|........|....   batches that were filtered
//	rows handed out    |........|...             all of those without a row that is left, at once
//	other columns      |..........               behind by the rows that are not needed
//
// Rows for which the statistics of pages rule the filter out are passed over before that:
// judge.go.
//
// LATE: other columns are moved on over the rows they are behind before they are read, and only
// then.

// selection is the filter of a reader and the batch that it has been asked about last.
type selection struct {
	filter func(b *column.Batch, sel []int32) ([]int32, error)
	first  []bool          // by column: the filter uses it
	vecs   []column.Vector // of the batch; those of other columns are empty
	rows   int             // of the batch
	at     int             // of them were handed out
	sel    []int32         // rows of the batch that are left
	done   int             // of sel lie before at
	// those of the rows that were handed out last, counted from the first of these
	part   []int32
	open   bool    // the other columns' chunks are open
	behind []int64 // by column: rows that it is behind, of the others
	judge  judge
}

// Where has Next call filter with the rows that it reads, in which only the columns cols are set
// (numbers in ScanOptions.Columns), and read the other columns where filter has left a
// row: see Batch.Sel. Where rows are deleted the batch has a Sel, and filter leaves none but these.
// It is called before the first Open.
func (r *Reader) Where(filter func(b *column.Batch, sel []int32) ([]int32, error), cols []int) bool {
	s := &selection{filter: filter, first: make([]bool, len(r.cols)), vecs: make([]column.Vector, len(r.cols)), behind: make([]int64, len(r.cols))}
	s.judge.cols, s.judge.groups = make([]bool, len(r.cols)), make([]func() column.Bounds, len(r.cols))
	for _, c := range cols {
		s.first[c] = true
	}
	r.where = s
	return true
}

// begin forgets the last unit.
func (s *selection) begin() {
	s.rows, s.at, s.sel, s.done, s.open = 0, 0, s.sel[:0], 0, false
	s.judge.clear = 0
	clear(s.behind)
}

// leave has the other columns be behind by n more rows.
func (s *selection) leave(n int64) {
	for c := range s.behind {
		s.behind[c] += n
	}
}

// follow moves a column to the place of the filter's columns, less the rows that were read ahead.
func (s *selection) follow(i int, c *columnReader) error {
	err := c.skip(s.behind[i])
	s.behind[i] = 0
	return err
}

// early reports whether a column is read for all rows, also for those that the filter drops.
func (r *Reader) early(c int) bool { return r.where == nil || r.where.first[c] }

// late reports whether a column is read only where a row is left.
func (r *Reader) late(c int) bool { return !r.early(c) }

// nextFiltered is Next with a filter.
func (r *Reader) nextFiltered(b *column.Batch, u *Unit) (bool, error) {
	s := r.where
	if s.at == s.rows {
		if n, err := r.filterNext(u); n == 0 || err != nil {
			return false, err
		}
	}
	n := s.rows - s.at
	if s.done < len(s.sel) {
		var err error
		if n, err = r.readLate(u, n); err != nil {
			return false, err
		}
	} else {
		s.leave(int64(n))
	}
	for i := range r.vecs {
		if s.first[i] {
			r.vecs[i] = s.vecs[i].Slice(s.at, s.at+n)
		}
	}
	b.Sel = s.nextRows(n)
	r.fill(b, u, n)
	return true, nil
}

// filterNext reads the next rows of the filter's columns, and finds out which of them are left.
func (r *Reader) filterNext(u *Unit) (n int, err error) {
	s := r.where
	if n, err = r.mayMatch(u); n == 0 || err != nil {
		return n, err
	}
	if err := r.readColumns(s.vecs, r.early, n); err != nil {
		return 0, err
	}
	s.rows, s.at, s.done = n, 0, 0
	b := column.Batch{Rows: n, Cols: s.vecs, First: u.First + r.done}
	if r.deletes() {
		r.left = r.leftOf(u, n)
		b.Sel = r.left
	}
	s.sel, err = s.filter(&b, s.sel[:0])
	return n, err
}

// readLate reads as many of the next n rows of the other columns as it can, and returns how many
// these are.
func (r *Reader) readLate(u *Unit, n int) (int, error) {
	s := r.where
	if !s.open {
		if err := r.openLate(u.Group); err != nil {
			return 0, err
		}
		s.open = true
	}
	for c, col := range r.cols {
		if col == nil || s.first[c] {
			continue
		}
		if err := s.follow(c, col); err != nil {
			return 0, err
		}
	}
	have, err := r.batchSize(u, r.late)
	if err != nil {
		return 0, err
	}
	n = min(n, have)
	return n, r.readColumns(r.vecs, r.late, n)
}

// openLate opens the chunks of the columns that are not open yet.
func (r *Reader) openLate(group int) error {
	return r.each(r.late, func(i int, c *columnReader) error {
		if c == nil || r.where.judge.cols[i] {
			return nil
		}
		return c.openLate(group)
	})
}

// nextRows returns the rows that are left among the next n, counted from the first of these.
func (s *selection) nextRows(n int) []int32 {
	end, _ := slices.BinarySearch(s.sel[s.done:], int32(s.at+n))
	end += s.done
	s.part = slices.Grow(s.part[:0], n)
	for _, row := range s.sel[s.done:end] {
		s.part = append(s.part, row-int32(s.at))
	}
	s.at, s.done = s.at+n, end
	return s.part
}
