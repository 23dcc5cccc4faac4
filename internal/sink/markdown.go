package sink

import (
	"io"

	"github.com/apache/arrow/go/v15/arrow"
)

// markdownWriter writes a table of GitHub-flavoured Markdown. It does not
// align the source, and so holds no more than a buffer.
type markdownWriter struct {
	out   io.Writer
	rows  *rowReader
	full  int // bytes of buf that are handed down
	shown *shown
	buf   []byte
	cell  []byte
}

func newMarkdownWriter(out io.Writer, rows *rowReader, o Options) *markdownWriter {
	w := &markdownWriter{out: out, rows: rows, shown: newShown(rows.fields), full: o.flushBytes()}
	for _, f := range rows.fields {
		w.appendCell(AppendVisible(nil, []byte(f.Name), ""))
	}
	w.endRow()
	for c := range rows.fields {
		if w.shown.isRight(c) {
			w.appendCell([]byte("---:"))
		} else {
			w.appendCell([]byte("---"))
		}
	}
	w.endRow()
	return w
}

func (w *markdownWriter) appendCell(s []byte) {
	w.buf = append(w.buf, "| "...)
	for i, c := range s {
		w.appendEscaped(c, i == 0 || i == len(s)-1)
	}
	w.buf = append(w.buf, ' ')
}

// appendEscaped appends a byte of a cell; edge: the first or the last one. An underscore inside a
// word needs no escape.
func (w *markdownWriter) appendEscaped(c byte, edge bool) {
	if c == '|' || c == '\\' || c == '<' || c == '*' || c == '`' || c == '_' && edge {
		w.buf = append(w.buf, '\\')
	}
	w.buf = append(w.buf, c)
}

func (w *markdownWriter) endRow() { w.buf = append(w.buf, "|\n"...) }

func (w *markdownWriter) Write(rec arrow.Record) error {
	n, err := w.rows.read(rec)
	for i := 0; i < n && err == nil; i++ {
		for c := range w.rows.vectors {
			w.cell = w.shown.append(w.cell[:0], c, &w.rows.vectors[c], i)
			w.appendCell(w.cell)
		}
		w.endRow()
		if len(w.buf) >= w.full {
			err = w.flush()
		}
	}
	return err
}

func (w *markdownWriter) flush() error {
	_, err := w.out.Write(w.buf)
	w.buf = w.buf[:0]
	return err
}

func (w *markdownWriter) Close() error { return w.flush() }
