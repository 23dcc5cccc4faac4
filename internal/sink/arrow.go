package sink

import (
	"bufio"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
)

// arrowWriter writes Arrow IPC: the stream format for pipes, else the file
// format, whose footer lets readers seek. Both come as v15 writes them,
// without compression.
type arrowWriter struct {
	ipc interface {
		Write(arrow.Record) error
		Close() error
	}
	buf *bufio.Writer // the library pads with many small writes
}

func newArrowWriter(out io.Writer, schema *arrow.Schema, o Options) (Writer, error) {
	w := &arrowWriter{buf: bufio.NewWriterSize(out, flushAt)}
	if o.Stream {
		w.ipc = ipc.NewWriter(w.buf, ipc.WithSchema(schema))
		return w, nil
	}
	var err error
	w.ipc, err = ipc.NewFileWriter(&position{out: w.buf}, ipc.WithSchema(schema))
	return w, err
}

func (w *arrowWriter) Write(rec arrow.Record) error { return w.ipc.Write(rec) }

func (w *arrowWriter) Close() error {
	if err := w.ipc.Close(); err != nil {
		return err
	}
	return w.buf.Flush()
}

// position remembers how much was written, because the IPC file writer asks
// a seeker for it; it never seeks anywhere else.
type position struct {
	out io.Writer
	at  int64
}

func (p *position) Write(b []byte) (int, error) {
	n, err := p.out.Write(b)
	p.at += int64(n)
	return n, err
}

func (p *position) Seek(int64, int) (int64, error) { return p.at, nil }
