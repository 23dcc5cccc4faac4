package sink

import (
	"io"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/gagg-dev/gagg/internal/column"
)

// flushAt is the size at which text writers hand their buffer down: large
// enough to make the cost of a system call vanish, small enough to stay in
// the cache.
const flushAt = 256 << 10

// csvWriter writes RFC 4180 with LF line ends and a header. NULL is Options.Null
// (nothing, by default) without quotes; an empty string is "". A value is
// quoted if it holds the separator, a quote, a line end, or is the NULL text.
type csvWriter struct {
	out   io.Writer
	rows  *rowReader
	full  int // bytes of buf that are handed down
	sep   byte
	null  string
	buf   []byte
	field []byte // the text of a binary value before it is quoted
	forms []textForm
	value []appender
	mark  [256]byte // what a byte does to a field
}

// What a byte in a field means.
const (
	mustQuote = 1 << iota
	notASCII
)

func newCSVWriter(out io.Writer, rows *rowReader, sep byte, o Options) *csvWriter {
	w := &csvWriter{out: out, rows: rows, sep: sep, null: o.Null, full: o.flushBytes()}
	for c := utf8.RuneSelf; c < len(w.mark); c++ {
		w.mark[c] = notASCII
	}
	for _, c := range []byte{sep, '"', '\n', '\r'} {
		w.mark[c] = mustQuote
	}
	for i, f := range rows.fields {
		if i > 0 {
			w.buf = append(w.buf, sep)
		}
		w.appendField([]byte(f.Name), true)
		form, value := formOf(f.Type)
		w.forms, w.value = append(w.forms, form), append(w.value, value)
	}
	w.buf = append(w.buf, '\n')
	return w
}

func (w *csvWriter) Write(rec arrow.Record) error {
	n, err := w.rows.read(rec)
	for i := 0; i < n && err == nil; i++ {
		for c := range w.rows.vectors {
			if c > 0 {
				w.buf = append(w.buf, w.sep)
			}
			w.appendValue(c, &w.rows.vectors[c], i)
		}
		w.buf = append(w.buf, '\n')
		if len(w.buf) >= w.full {
			err = w.flush()
		}
	}
	return err
}

func (w *csvWriter) appendValue(c int, v *column.Vector, i int) {
	switch {
	case v.IsNull(i):
		w.buf = append(w.buf, w.null...)
	case w.forms[c] < freeText:
		start := len(w.buf)
		w.buf = w.value[c](w.buf, v, i)
		if w.null != "" && string(w.buf[start:]) == w.null {
			w.field = append(w.field[:0], w.buf[start:]...)
			w.buf = appendQuoted(w.buf[:start], w.field)
		}
	case v.Type.Plain() == column.Type{Kind: column.String}:
		w.appendField(v.Bytes(i), true)
	default:
		w.field = w.value[c](w.field[:0], v, i)
		w.appendField(w.field, false)
	}
}

// appendField writes s with the quotes it needs. With raw set, s may hold
// bytes that are no UTF-8.
func (w *csvWriter) appendField(s []byte, raw bool) {
	var marks byte
	for _, c := range s {
		marks |= w.mark[c]
	}
	if raw && marks&notASCII != 0 && !utf8.Valid(s) {
		w.field = appendUTF8(w.field[:0], s)
		s = w.field
	}
	if marks&mustQuote != 0 || len(s) == 0 || string(s) == w.null {
		w.buf = appendQuoted(w.buf, s)
	} else {
		w.buf = append(w.buf, s...)
	}
}

func appendQuoted(dst, s []byte) []byte {
	return append(appendDoubled(append(dst, '"'), s), '"')
}

// appendDoubled appends s with its quotes doubled.
func appendDoubled(dst, s []byte) []byte {
	for _, c := range s {
		if c == '"' {
			dst = append(dst, '"')
		}
		dst = append(dst, c)
	}
	return dst
}

func (w *csvWriter) flush() error {
	_, err := w.out.Write(w.buf)
	w.buf = w.buf[:0]
	return err
}

func (w *csvWriter) Close() error { return w.flush() }
