package sink

import (
	"io"

	"github.com/apache/arrow/go/v15/arrow"
)

// jsonWriter writes one object a row, members in column order: each on a
// line of its own (NDJSON), or all in one array. Integers and decimals are JSON
// numbers with all their digits, so that a reader that keeps digits loses
// none; NaN and infinities are strings. A list is an array and a map an
// object. Two columns of one name give two
// members of one name.
type jsonWriter struct {
	out   io.Writer
	rows  *rowReader
	full  int // bytes of buf that are handed down
	array bool
	buf   []byte
	count int64
	open  [][]byte // `{"name":` of the first column, `,"name":` of the others
	value []*jsonValue
}

func newJSONWriter(out io.Writer, rows *rowReader, array bool, o Options) *jsonWriter {
	w := &jsonWriter{out: out, rows: rows, array: array, full: o.flushBytes()}
	for i, f := range rows.fields {
		open := []byte{','}
		if i == 0 {
			open[0] = '{'
		}
		open = append(appendJSONString(open, appendUTF8(nil, []byte(f.Name))), ':')
		w.open = append(w.open, open)
		w.value = append(w.value, newJSONValue(f.Type))
	}
	if array {
		w.buf = append(w.buf, '[')
	}
	return w
}

func (w *jsonWriter) Write(rec arrow.Record) error {
	n, err := w.rows.read(rec)
	for i := 0; i < n && err == nil; i++ {
		w.beginRow()
		for c := range w.rows.vectors {
			w.buf = append(w.buf, w.open[c]...)
			w.buf = w.value[c].append(w.buf, &w.rows.vectors[c], i)
		}
		w.buf = append(w.buf, '}')
		if len(w.buf) >= w.full {
			err = w.flush()
		}
	}
	return err
}

// beginRow separates rows: a line end before each but the first, and for an
// array a comma.
func (w *jsonWriter) beginRow() {
	switch {
	case w.array && w.count > 0:
		w.buf = append(w.buf, ",\n"...)
	case w.array || w.count > 0:
		w.buf = append(w.buf, '\n')
	}
	if w.count++; len(w.open) == 0 {
		w.buf = append(w.buf, '{')
	}
}

// appendJSONString quotes valid UTF-8. Only what must be escaped is.
func appendJSONString(dst, s []byte) []byte {
	return append(appendJSONEscaped(append(dst, '"'), s), '"')
}

func appendJSONEscaped(dst, s []byte) []byte {
	start := 0
	for i, c := range s {
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(dst, s[start:]...)
}

func (w *jsonWriter) flush() error {
	_, err := w.out.Write(w.buf)
	w.buf = w.buf[:0]
	return err
}

func (w *jsonWriter) Close() error {
	if w.array && w.count > 0 {
		w.buf = append(w.buf, "\n]\n"...)
	} else if w.array {
		w.buf = append(w.buf, "]\n"...)
	} else if w.count > 0 {
		w.buf = append(w.buf, '\n')
	}
	return w.flush()
}
