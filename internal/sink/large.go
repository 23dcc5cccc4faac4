package sink

import (
	"bytes"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/gagg-dev/gagg/internal/column"
)

// This file writes rows that are too large to be made text, or pages, as a whole: a list of all
// values of a column, a text of hundreds of megabytes. Writers hold pieces of such a row, never a
// copy.

const (
	// A row of largeText bytes or more is large to a text format. Fewer do not matter beside its
	// buffers.
	largeText = 256 << 10
	// pieceBytes is about how much text is made at a time. An element of a list that is longer is
	// written in pieces.
	pieceBytes = 64 << 10
	// windowElems is how many elements of a list are looked at together.
	windowElems = 4 << 10
)

// largeWriter is a format that writes large rows otherwise than small ones.
type largeWriter interface {
	Writer
	// large is from how many bytes on a row is large.
	large() int64
	// writeLarge writes a record of one row.
	writeLarge(arrow.Record) error
}

// writeRows writes a record, small rows together and each large one by itself.
func writeRows(w largeWriter, rec arrow.Record) error {
	n, limit := int(rec.NumRows()), w.large()
	if rowBytes(rec, 0, n) < limit {
		return w.Write(rec)
	}
	from := 0
	for i := range n {
		if rowBytes(rec, i, i+1) < limit {
			continue
		}
		if err := writeSlice(w.Write, rec, from, i); err != nil {
			return err
		}
		if err := writeSlice(w.writeLarge, rec, i, i+1); err != nil {
			return err
		}
		from = i + 1
	}
	return writeSlice(w.Write, rec, from, n)
}

func writeSlice(write func(arrow.Record) error, rec arrow.Record, from, to int) error {
	if from == to {
		return nil
	}
	part := rec.NewSlice(int64(from), int64(to))
	defer part.Release()
	return write(part)
}

// rowBytes is how many bytes the values of some rows have, about.
func rowBytes(rec arrow.Record, from, to int) (n int64) {
	for _, c := range rec.Columns() {
		n += column.ArrowBytes(c, from, to)
	}
	return n
}

// A largeValue is a list or map of a record of one row, to be read window by window.
type largeValue struct {
	arr    arrow.Array
	typ    column.Type
	window column.Vector // one list of some of the elements
}

// each calls do with the elements, some at a time. first: they are the first ones.
func (l *largeValue) each(do func(v *column.Vector, first bool) error) error {
	l.window.Type = l.typ
	from, to := column.ListRange(l.arr, 0)
	for at := from; at < to; at += windowElems {
		if err := column.ViewElements(l.arr, at, min(at+windowElems, to), &l.window); err != nil {
			return err
		}
		l.window.Elem.Type = l.typ.Elem() // knows UUIDs
		if err := do(&l.window, at == from); err != nil {
			return err
		}
	}
	return nil
}

// cutText is where the first piece of a text ends: between two characters.
func cutText(b []byte) int {
	if len(b) <= pieceBytes {
		return len(b)
	}
	end := pieceBytes
	for end > pieceBytes-utf8.UTFMax && !utf8.RuneStart(b[end]) {
		end--
	}
	return end
}

// textPieces makes the text of values in pieces, which end between two characters. do gets each
// piece, which is valid until it returns.
type textPieces struct {
	do  func(piece []byte) error
	buf []byte
}

func (t *textPieces) flush() error {
	if len(t.buf) == 0 {
		return nil
	}
	err := t.do(t.buf)
	t.buf = t.buf[:0]
	return err
}

// room hands the buffer on once it is full.
func (t *textPieces) room() error {
	if len(t.buf) < pieceBytes {
		return nil
	}
	return t.flush()
}

// value makes the text of row i of v.
func (t *textPieces) value(text appender, v *column.Vector, i int) error {
	if v.Type.IsNested() || v.Type.Rep() != column.RepBytes || len(v.Bytes(i)) <= pieceBytes {
		t.buf = text(t.buf, v, i)
		return t.room()
	}
	part := column.Vector{Type: v.Type, Len: 1, Span: make([]column.Span, 1)}
	for b := v.Bytes(i); len(b) > 0; {
		n := cutText(b)
		part.Data, part.Span[0].Len = b[:n], uint32(n)
		t.buf = text(t.buf, &part, 0)
		if err := t.room(); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// nested makes the text of a list or map, as nestedAppender does.
func (t *textPieces) nested(l *largeValue) error {
	opening, closing := byte('['), byte(']')
	if l.typ.Nest == column.Map {
		opening, closing = '{', '}'
	}
	t.buf = append(t.buf, opening)
	small, value := elementAppender(l.typ.Elem()), valueOf(l.typ.Elem())
	err := l.each(func(v *column.Vector, first bool) error {
		for j := range v.Elem.Len {
			if j > 0 || !first {
				t.buf = append(t.buf, ", "...)
			}
			if err := t.element(small, value, v.Elem, j); err != nil {
				return err
			}
			if l.typ.Nest == column.Map {
				t.buf = appendInt(append(t.buf, '='), v.Counts[j])
			}
		}
		return nil
	})
	t.buf = append(t.buf, closing)
	return err
}

func valueOf(t column.Type) appender {
	_, value := formOf(t)
	return value
}

// element makes the text of an element: small appends it with the quotes that it needs, value
// without.
func (t *textPieces) element(small, value appender, v *column.Vector, j int) error {
	if v.Type.Rep() != column.RepBytes || len(v.Bytes(j)) <= pieceBytes {
		t.buf = small(t.buf, v, j)
		return t.room()
	}
	quotes, err := longNeedsQuotes(value, v, j)
	if err != nil || !quotes {
		return errorOr(err, func() error { return t.value(value, v, j) })
	}
	t.buf = append(t.buf, '\'')
	raw := textPieces{do: func(piece []byte) error {
		t.buf = appendElementEscaped(t.buf, piece)
		return t.room()
	}}
	if err := errorOr(raw.value(value, v, j), raw.flush); err != nil {
		return err
	}
	t.buf = append(t.buf, '\'')
	return nil
}

func errorOr(err error, next func() error) error {
	if err != nil {
		return err
	}
	return next()
}

// longNeedsQuotes is needsQuotes of a text that is made in pieces: it is not empty, nor the word
// null.
func longNeedsQuotes(value appender, v *column.Vector, j int) (quotes bool, err error) {
	var last byte
	some := false
	look := textPieces{do: func(piece []byte) error {
		quotes = quotes || !some && isSpace(piece[0]) || bytes.ContainsAny(piece, elementMarks)
		last, some = piece[len(piece)-1], true
		return nil
	}}
	err = errorOr(look.value(value, v, j), look.flush)
	return quotes || isSpace(last), err
}

// cell makes the text of column c of the row of a record, which is not NULL.
func (r *rowReader) cell(rec arrow.Record, c int, value appender, do func(piece []byte) error) error {
	t := textPieces{do: do}
	typ := r.fields[c].Type
	if typ.IsNested() {
		return errorOr(t.nested(&largeValue{arr: rec.Column(c), typ: typ}), t.flush)
	}
	return errorOr(t.value(value, &r.vectors[c], 0), t.flush)
}
