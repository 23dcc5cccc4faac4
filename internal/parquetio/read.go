package parquetio

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow/decimal256"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/invariant"
	"github.com/parquet-go/parquet-go/format"
)

// lane is the memory for the values of one representation: as decoded,
// without NULLs, and spread over the rows.
type lane[T any] struct {
	dense, placed []T
}

// minLane is the length of the shortest lane, so that it seldom grows.
const minLane = 1024

// room returns space for n dense values.
func (l *lane[T]) room(n int) []T {
	if cap(l.dense) < n+1 { // one more: see place
		l.dense = make([]T, n+1, max(n+1, minLane))
	}
	return l.dense[:n]
}

// place spreads the dense values over the rows that hold one, without
// branches. A NULL row gets the next value, or a zero behind the last:
// harmless values both.
func (l *lane[T]) place(rows rowSet) []T {
	if rows.valid == nil {
		return l.dense[:rows.count]
	}
	n := len(rows.valid)
	if cap(l.placed) < n {
		l.placed = make([]T, n, max(n, minLane))
	}
	var zero T
	src, dst := l.dense[:rows.count+1], l.placed[:n]
	src[rows.count] = zero
	next := 0
	for i, one := range rows.valid {
		dst[i] = src[next]
		next += int(one)
	}
	return dst
}

// output is the memory that a reader's vectors point into.
type output struct {
	codes  lane[int32]
	ints   lane[int64]
	floats lane[float64]
	wides  lane[decimal256.Num]
	spans  lane[column.Span]
	none   []byte // the Data of vectors whose spans are all empty
}

// read fills v with the next n rows, n being at most what available
// returned. v's memory belongs to the reader and is good until the next call
// of read, available (where it loads a page), open or close; its Dict is
// good until the next chunk is begun (RECYCLED). Errors are *Error.
func (c *columnReader) read(v *column.Vector, n int) (err error) {
	defer c.place(&err)
	defer invariant.Fence(&err, damaged)
	if n > c.left {
		return fmt.Errorf("read of %d rows where %d are available", n, c.left)
	}
	if c.found != 0 {
		if err := c.loadPage(); err != nil {
			return err
		}
	}
	if err := c.catchUp(); err != nil {
		return err
	}
	err = c.readRows(v, n)
	c.left -= n
	return err
}

// readRows fills v with the next n rows of the page, which count as left until then.
func (c *columnReader) readRows(v *column.Vector, n int) error {
	rows, err := c.levels.read(n)
	if err != nil {
		return err
	}
	*v = column.Vector{Type: c.want, Len: n, Null: rows.null}
	switch {
	case c.coded && c.dict != nil:
		err = c.readCodes(v, rows)
	case rows.count == 0:
		c.allNull(v)
	case c.leaf.typ.Kind == column.Null:
		err = errors.New("damaged: a column of the NULL type holds values")
	case c.coded && c.hasDict:
		err = errors.New("damaged: a row refers to an empty dictionary")
	case c.coded:
		err = errors.New("damaged: dictionary page missing")
	default:
		err = c.readFlat(v, rows)
	}
	if err != nil {
		err = c.rowError(err, rows.valid)
	}
	return err
}

// rowError names the row where err is about one value of the rows at hand.
func (c *columnReader) rowError(err error, valid []int32) error {
	var bad *valueError
	if errors.As(err, &bad) {
		return c.valueError(bad, fmt.Errorf("row %d %s", c.rowNumber(valid, bad.index), bad.reason))
	}
	return err
}

// valueError is an error about a value, with the digits that it needs if that is all.
func (c *columnReader) valueError(bad *valueError, err error) error {
	if bad.digits > 0 && c.field >= 0 {
		return &PrecisionError{Digits: map[int]int{c.field: bad.digits}, Err: err}
	}
	return err
}

// rowNumber is the row in the file of a dense value of the rows at hand.
func (c *columnReader) rowNumber(valid []int32, dense int) int64 {
	row := dense
	for i, one := range valid {
		if one == 1 {
			if dense == 0 {
				row = i
				break
			}
			dense--
		}
	}
	return c.f.groups[c.group].first + c.seen - int64(c.left+c.behind) + int64(row)
}

func (c *columnReader) readCodes(v *column.Vector, rows rowSet) error {
	codes := c.out.codes.room(rows.count)
	if err := c.codes.read(codes); err != nil {
		return fmt.Errorf("damaged dictionary codes: %w", err)
	}
	if !codesBelow(codes, c.dict.Len()) {
		if err := c.extendDictionary(codes); err != nil {
			return err
		}
	}
	v.Codes, v.Dict = c.out.codes.place(rows), c.dict
	return nil
}

func (c *columnReader) readFlat(v *column.Vector, rows rowSet) error {
	switch c.want.Rep() {
	case column.RepInt64:
		if err := c.decoder.ints(c.out.ints.room(rows.count)); err != nil {
			return err
		}
		v.Int = c.out.ints.place(rows)
	case column.RepFloat64:
		if rows.valid == nil && c.decoder.physical == format.Double {
			b, err := c.decoder.blockSrc.block(rows.count)
			v.Float = cast[float64](b) // as they lie in the page
			return err
		}
		if err := c.decoder.floats(c.out.floats.room(rows.count)); err != nil {
			return err
		}
		v.Float = c.out.floats.place(rows)
	case column.RepWide:
		if err := c.decoder.wides(c.out.wides.room(rows.count)); err != nil {
			return err
		}
		v.Wide = c.out.wides.place(rows)
	case column.RepBytes:
		data, err := c.decoder.bytes(c.out.spans.room(rows.count))
		if err != nil {
			return err
		}
		v.Span, v.Data = c.out.spans.place(rows), data
	}
	return nil
}

// allNull gives v values, harmless ones, for rows that are all NULL.
func (c *columnReader) allNull(v *column.Vector) {
	switch c.want.Rep() {
	case column.RepInt64:
		v.Int = c.out.ints.room(v.Len)
		clear(v.Int)
	case column.RepFloat64:
		v.Float = c.out.floats.room(v.Len)
		clear(v.Float)
	case column.RepWide:
		v.Wide = c.out.wides.room(v.Len)
		clear(v.Wide)
	case column.RepBytes:
		v.Span = c.out.spans.room(v.Len)
		clear(v.Span)
		if c.out.none == nil {
			c.out.none = make([]byte, 0, padding)
		}
		v.Data = c.out.none
	}
}
