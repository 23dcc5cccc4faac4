package parquetio

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// A Reader reads units of a scan, one at a time. It owns the memory of its
// batches and uses it again. It is not safe for concurrent use.
type Reader struct {
	scan     *Scan
	work     *workspace
	vecs     []column.Vector
	cols     []*columnReader // of the open file; nil: constant
	file     int             // what cols read; -1: none
	unit     int             // -1: none is open
	dense    bool            // the row group before had most of its late columns read
	out      bool            // the unit is left out (extremes.go)
	done     int64           // rows of the unit that were read
	held     int             // the row group, in Scan.groups, that is kept near; -1: none
	open     int             // the row group that cols stand in, in Scan.groups; -1: none
	at       int64           // its rows before the place where they stand
	zeros    []int32         // codes of constants
	chunks   []EncodedChunk  // of the unit that ReadEncoded read last
	coded    []int           // see CodeTexts
	where    *selection      // nil: there is no filter
	lookouts []lookout       // by column, where extremes are looked for
	left     []int32         // rows of a batch that are not deleted
	skipped  unreadCounts    // of the open file

	constants []column.Vector // by column: that of a full batch, where it is constant in file
	drawn     int64           // for them
}

var errNoUnit = errors.New("no unit is open")

// NewReader returns a reader without an open unit. The caller closes it.
func (s *Scan) NewReader() *Reader {
	s.readers.Add(1)
	return &Reader{
		scan: s,
		vecs: make([]column.Vector, len(s.cols)),
		cols: make([]*columnReader, len(s.cols)), constants: make([]column.Vector, len(s.cols)),
		file: -1,
		unit: -1, open: -1, held: -1,
	}
}

// Open starts a unit, an index in the scan's Units. It may be called before
// the last one was read to its end. It also asks the system to read the next
// unit ahead.
//
// The first call reserves the scan's WorkerBytes in the budget, so that what
// others draw later does not keep the reader from its work. Where they are
// refused it goes on with what it gets: they are an upper bound.
func (r *Reader) Open(unit int) (err error) {
	u := &r.scan.units[unit]
	defer invariant.Fence(&err, damagedIn(u.File))
	if r.out = r.scan.settled(u); r.out {
		r.unit = unit
		r.scan.skippedAt.rows.Add(u.Rows)
		return nil
	}
	open, at := r.open, r.at
	r.unit, r.done, r.open = -1, 0, -1
	if open != u.of || at > u.Start {
		if err := r.openGroup(unit); err != nil {
			return err
		}
		at = 0
	}
	if err := r.skipInGroup(u.Start - at); err != nil {
		return err
	}
	r.unit = unit
	return nil
}

// openGroup opens the row group of a unit at its first row.
func (r *Reader) openGroup(unit int) error {
	u := &r.scan.units[unit]
	r.begin()
	if r.file >= 0 {
		r.dense = r.readsLate()
	}
	if err := r.openFile(r.scan.fileOf[u.of]); err != nil {
		return err
	}
	r.hold(u.of)
	r.goAhead(unit)
	for i, c := range r.cols {
		if c != nil {
			c.common = r.scan.sharedDict(u.of, i)
		}
	}
	if err := r.openColumns(u.Group, r.early); err != nil {
		return err
	}
	if r.where != nil {
		r.where.begin()
		if err := r.openJudge(u); err != nil {
			return err
		}
	}
	if !r.reads() {
		if err := r.scan.d.files[r.file].verify(u.Group, r.work); err != nil {
			return err
		}
	}
	return nil
}

// openColumns opens the chunks of the wanted columns in a row group.
func (r *Reader) openColumns(group int, wanted func(c int) bool) error {
	return r.each(wanted, func(_ int, c *columnReader) error {
		if c == nil {
			return nil
		}
		return c.open(group)
	})
}

// each calls do for the wanted columns until one fails. It goes on if the digits of a decimal are
// all that is wrong, so that they are known of all columns and the run can begin again.
func (r *Reader) each(wanted func(c int) bool, do func(i int, c *columnReader) error) (err error) {
	var all *PrecisionError // in err
	for i, c := range r.cols {
		if !wanted(i) {
			continue
		}
		one, bad := do(i, c), (*PrecisionError)(nil)
		switch {
		case one != nil && !errors.As(one, &bad):
			return one
		case bad != nil && all == nil:
			all, err = bad, one
		case bad != nil:
			maps.Copy(all.Digits, bad.Digits)
		}
	}
	return err
}

// begin makes the workspace of a new reader, or of one that was closed.
func (r *Reader) begin() {
	if r.work != nil {
		return
	}
	from := r.scan.d.opt.Budget
	r.work = newWorkspace(from, r.scan.batchRows)
	if from != nil {
		_ = r.work.account.reserve(r.scan.WorkerBytes())
	}
}

// openFile makes the column readers of a file, unless they are there.
func (r *Reader) openFile(i int) error {
	if i == r.file {
		return nil
	}
	r.closeColumns()
	f := r.scan.d.files[i]
	for c, leaf := range r.scan.leaves[f.layout] {
		var err error
		if leaf < 0 {
			r.constants[c], err = r.constant(c, i)
		} else {
			r.cols[c], err = newColumnReader(f.file, leaf, r.scan.types[c], r.work)
		}
		if err != nil {
			return err
		}
		if leaf >= 0 {
			r.cols[c].field = r.scan.cols[c]
		}
	}
	r.file = i
	return nil
}

// constant makes a vector of the most rows of a batch for a column that is
// the same in the whole file.
func (r *Reader) constant(c, file int) (column.Vector, error) {
	n := r.scan.batchRows
	size := r.scan.constantBytes(c)
	if err := r.work.account.draw(size, "vectors"); err != nil {
		return column.Vector{}, r.columnError(r.scan.d.files[file].name, -1, c, err)
	}
	r.drawn += size
	if dicts := r.scan.dicts[c]; dicts != nil && dicts[file] != nil {
		if r.zeros == nil {
			r.zeros = make([]int32, n)
		}
		return column.Constant(dicts[file], n, r.zeros), nil
	}
	return nullVector(r.scan.types[c], n), nil
}

// Next fills b with the next rows of the unit. They stay valid until the next
// call of Next, Open or Close. It returns false at the end of the unit. After
// an error, only Open and Close may be called.
func (r *Reader) Next(b *column.Batch) (ok bool, err error) {
	if r.unit < 0 {
		return false, errNoUnit
	}
	if r.out {
		return false, nil
	}
	u := &r.scan.units[r.unit]
	defer invariant.Fence(&err, damagedIn(u.File))
	next := r.nextAll
	if r.where != nil {
		next = r.nextFiltered
	}
	if ok, err = next(b, u); !ok && err == nil {
		r.open, r.at = u.of, u.Start+u.Rows
	}
	if err != nil {
		r.unit = -1
	}
	return ok, err
}

// nextAll is Next without a filter.
func (r *Reader) nextAll(b *column.Batch, u *Unit) (bool, error) {
	n, err := r.batchSize(u, r.early)
	if n == 0 || err != nil {
		return false, err
	}
	if err := r.readColumns(r.vecs, r.early, n); err != nil {
		return false, err
	}
	if b.Sel = nil; r.deletes() {
		r.left = r.leftOf(u, n)
		b.Sel = r.left
	}
	r.fill(b, u, n)
	r.see(n)
	return true, nil
}

// deletes reports whether rows of the open file are deleted.
func (r *Reader) deletes() bool { return r.scan.d.files[r.file].deleted != nil }

// leftOf is which of the next n rows of the unit are not deleted.
func (r *Reader) leftOf(u *Unit, n int) []int32 {
	f := r.scan.d.files[r.file]
	left := f.deleted.Left(u.First+r.done-f.first, n, r.left[:0])
	if left == nil {
		left = []int32{} // none; nil says all
	}
	return left
}

// fill makes b of the next n rows, whose columns are there.
func (r *Reader) fill(b *column.Batch, u *Unit, n int) {
	b.Rows, b.Cols, b.First, b.Times = n, r.vecs, u.First+r.done, 0
	if r.repeats() {
		b.Times = u.Rows
	}
	r.done += b.Stands()
}

// repeats reports whether the rows of the unit are all alike, and come as one.
func (r *Reader) repeats() bool { return r.scan.repeat && !r.reads() }

// reads reports whether a column of the open file is read.
func (r *Reader) reads() bool {
	return slices.ContainsFunc(r.cols, func(c *columnReader) bool { return c != nil })
}

// readColumns sets vecs of the wanted columns to their next n rows.
func (r *Reader) readColumns(vecs []column.Vector, wanted func(c int) bool, n int) error {
	if err := r.takeDictionaries(wanted); err != nil {
		return err
	}
	return r.each(wanted, func(i int, c *columnReader) error {
		if c != nil {
			return c.read(&vecs[i], n)
		}
		vecs[i] = r.constants[i].Slice(0, n)
		return nil
	})
}

// batchSize is how many rows the wanted columns can give at once, without passing the
// end of a page. It makes sure that they end with the row group.
func (r *Reader) batchSize(u *Unit, wanted func(c int) bool) (int, error) {
	left := u.Rows - r.done
	n := int(min(int64(r.scan.batchRows), left))
	if r.repeats() {
		n = min(n, 1)
	}
	// the columns go on behind this part
	if left == 0 && u.Start+u.Rows < r.scan.groups[u.of].Rows {
		return 0, nil
	}
	for i, c := range r.cols {
		if c == nil || !wanted(i) {
			continue
		}
		have, err := c.available()
		switch {
		case err != nil:
			return 0, err
		case have == 0 && left > 0:
			return 0, r.columnError(u.File, u.Group, i, fmt.Errorf("the column ends after %d of the %d rows of the row group", r.done, u.Rows))
		case have > 0 && left == 0:
			return 0, r.columnError(u.File, u.Group, i, fmt.Errorf("the column goes on after the %d rows of the row group", u.Rows))
		}
		n = min(n, have)
	}
	return n, nil
}

func (r *Reader) columnError(file string, group, i int, err error) error {
	return &Error{File: file, RowGroup: group, Column: r.scan.d.table.cols[r.scan.cols[i]].name, Err: err}
}

// Close gives back what the reader holds. No batch of it is valid any more. It may be called again.
func (r *Reader) Close() {
	if r.work == nil {
		return
	}
	r.hold(-1)
	r.closeColumns()
	r.work.close()
	r.work, r.zeros, r.unit = nil, nil, -1
	clear(r.vecs)
}

func (r *Reader) closeColumns() {
	for i, c := range r.cols {
		if c != nil {
			r.skipped.pages += c.unread
			c.close()
			r.cols[i] = nil
		}
	}
	r.scan.skippedAt.pages.Add(r.skipped.pages)
	r.scan.skippedAt.rows.Add(r.skipped.rows)
	r.skipped = unreadCounts{}
	r.work.account.give(r.drawn)
	r.drawn = 0
	clear(r.constants)
	r.file, r.open = -1, -1
}

// nullVector returns n rows of NULL.
func nullVector(t column.Type, n int) column.Vector {
	v := flatVector(t, n)
	v.Null = make([]bool, n)
	for i := range v.Null {
		v.Null[i] = true
	}
	return v
}

// singleValue returns a flat vector of one row.
func singleValue(val column.Value) column.Vector {
	v := flatVector(val.Type, 1)
	switch val.Type.Rep() {
	case column.RepInt64:
		v.Int[0] = val.Int
	case column.RepFloat64:
		v.Float[0] = val.Float
	case column.RepWide:
		v.Wide[0] = val.Wide
	case column.RepBytes:
		v.Data = append(make([]byte, 0, len(val.Bytes)+column.SpanPadding), val.Bytes...)
		v.Span[0].Len = uint32(len(val.Bytes))
	}
	return v
}

// flatVector returns n rows of zeros or empty strings.
func flatVector(t column.Type, n int) column.Vector {
	v := column.Vector{Type: t, Len: n}
	switch t.Rep() {
	case column.RepInt64:
		v.Int = make([]int64, n)
	case column.RepFloat64:
		v.Float = make([]float64, n)
	case column.RepWide:
		v.Wide = make([]decimal256.Num, n)
	case column.RepBytes:
		v.Span = make([]column.Span, n)
		v.Data = make([]byte, 0, column.SpanPadding)
	}
	return v
}
