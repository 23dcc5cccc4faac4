package sink

import (
	"github.com/apache/arrow/go/v15/arrow"

	"github.com/gagg-dev/gagg/internal/column"
)

// How the text formats write a row that is large: see large.go.

func (w *csvWriter) large() int64      { return largeText }
func (w *jsonWriter) large() int64     { return largeText }
func (w *markdownWriter) large() int64 { return largeText }

// flushed flushes a full buffer.
func flushed(buf []byte, flush func() error) error {
	if len(buf) < flushAt {
		return nil
	}
	return flush()
}

func (w *csvWriter) writeLarge(rec arrow.Record) error {
	if err := w.rows.readLarge(rec); err != nil {
		return err
	}
	for c := range w.rows.vectors {
		if c > 0 {
			w.buf = append(w.buf, w.sep)
		}
		v := &w.rows.vectors[c]
		if v.IsNull(0) || w.forms[c] < freeText {
			w.appendValue(c, v, 0)
		} else if err := w.writeCell(rec, c); err != nil {
			return err
		}
	}
	w.buf = append(w.buf, '\n')
	return flushed(w.buf, w.flush)
}

// writeCell makes the text of a column twice: to see whether it needs quotes, and to write it.
func (w *csvWriter) writeCell(rec arrow.Record, c int) error {
	var marks byte
	size, null := 0, true // so far, it is the NULL text
	err := w.rows.cell(rec, c, w.value[c], func(piece []byte) error {
		for _, b := range piece {
			marks |= w.mark[b]
		}
		end := size + len(piece)
		null = null && end <= len(w.null) && w.null[size:end] == string(piece)
		size = end
		return nil
	})
	if err != nil {
		return err
	}
	if marks&mustQuote == 0 && size > 0 && (!null || size < len(w.null)) {
		return w.rows.cell(rec, c, w.value[c], func(piece []byte) error {
			w.buf = append(w.buf, piece...)
			return flushed(w.buf, w.flush)
		})
	}
	w.buf = append(w.buf, '"')
	err = w.rows.cell(rec, c, w.value[c], func(piece []byte) error {
		w.buf = appendDoubled(w.buf, piece)
		return flushed(w.buf, w.flush)
	})
	w.buf = append(w.buf, '"')
	return err
}

func (w *jsonWriter) writeLarge(rec arrow.Record) error {
	if err := w.rows.readLarge(rec); err != nil {
		return err
	}
	w.beginRow()
	for c := range w.rows.vectors {
		w.buf = append(w.buf, w.open[c]...)
		if err := w.writeValue(rec, c); err != nil {
			return err
		}
	}
	w.buf = append(w.buf, '}')
	return flushed(w.buf, w.flush)
}

func (w *jsonWriter) writeValue(rec arrow.Record, c int) error {
	v := &w.rows.vectors[c]
	if typ := w.rows.fields[c].Type; typ.IsNested() && !v.IsNull(0) {
		return w.writeNested(w.value[c], &largeValue{arr: rec.Column(c), typ: typ})
	}
	return w.writeScalar(w.value[c], v, 0)
}

// writeScalar writes row i of v, the text of which may be long.
func (w *jsonWriter) writeScalar(value *jsonValue, v *column.Vector, i int) error {
	if value.form != freeText || v.IsNull(i) || len(v.Bytes(i)) <= pieceBytes {
		w.buf = value.append(w.buf, v, i)
		return flushed(w.buf, w.flush)
	}
	w.buf = append(w.buf, '"')
	t := textPieces{do: func(piece []byte) error {
		w.buf = appendJSONEscaped(w.buf, piece)
		return flushed(w.buf, w.flush)
	}}
	err := errorOr(t.value(value.text, v, i), t.flush)
	w.buf = append(w.buf, '"')
	return err
}

// writeNested writes an array, or an object as jsonValue.appendObject does.
func (w *jsonWriter) writeNested(value *jsonValue, l *largeValue) error {
	isMap := l.typ.Nest == column.Map
	brackets := "[]"
	if isMap {
		brackets = "{}"
	}
	w.buf = append(w.buf, brackets[0])
	err := l.each(func(v *column.Vector, first bool) error {
		for j := range v.Elem.Len {
			if j > 0 || !first {
				w.buf = append(w.buf, ',')
			}
			if err := w.writeElement(value.elem, v.Elem, j, isMap); err != nil {
				return err
			}
			if isMap {
				w.buf = appendInt(append(w.buf, ':'), v.Counts[j])
			}
		}
		return nil
	})
	w.buf = append(w.buf, brackets[1])
	return err
}

func (w *jsonWriter) writeElement(elem *jsonValue, v *column.Vector, j int, key bool) error {
	if key && elem.form != freeText {
		w.buf = elem.appendInQuotes(w.buf, v, j)
		return flushed(w.buf, w.flush)
	}
	return w.writeScalar(elem, v, j)
}

func (w *markdownWriter) writeLarge(rec arrow.Record) error {
	if err := w.rows.readLarge(rec); err != nil {
		return err
	}
	for c := range w.rows.vectors {
		v := &w.rows.vectors[c]
		if v.IsNull(0) || w.shown.forms[c] < freeText {
			w.cell = w.shown.append(w.cell[:0], c, v, 0)
			w.appendCell(w.cell)
		} else if err := w.writeCell(rec, c); err != nil {
			return err
		}
	}
	w.endRow()
	return flushed(w.buf, w.flush)
}

// writeCell is appendCell for a text in pieces. It holds the last byte back, which is escaped
// otherwise than those before.
func (w *markdownWriter) writeCell(rec arrow.Record, c int) error {
	w.buf = append(w.buf, "| "...)
	at, held := 0, []byte(nil)
	err := w.rows.cell(rec, c, w.shown.value[c], func(piece []byte) error {
		w.cell = AppendVisible(append(w.cell[:0], held...), piece, "")
		last := len(w.cell) - 1
		for _, b := range w.cell[:last] {
			w.appendEscaped(b, at == 0)
			at++
		}
		held = append(held[:0], w.cell[last])
		return flushed(w.buf, w.flush)
	})
	for _, b := range held {
		w.appendEscaped(b, true)
	}
	w.buf = append(w.buf, ' ')
	return err
}
