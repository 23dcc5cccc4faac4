package input

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/gagg-dev/gagg/internal/arrowio"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// The bytes that files begin with.
const (
	parquetMagic   = "PAR1"
	encryptedMagic = "PARE"
	arrowMagic     = arrowio.Magic
)

// Stream reads Parquet, an Arrow IPC file or an Arrow IPC stream from r, once, told by its first
// bytes. An Arrow stream is read as it comes; files go to the temp folder first, as they are read
// from their ends, unless r is a file itself. Errors call it name.
func Stream(name string, r io.Reader) Source { return &streamSource{name, r} }

type streamSource struct {
	name string
	r    io.Reader
}

func (s *streamSource) Open(ctx context.Context, o Options, from budget.Lender) (Input, error) {
	if f, ok := s.r.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Size() >= int64(len(arrowMagic)) {
			magic := make([]byte, len(arrowMagic))
			if _, err := f.ReadAt(magic, 0); err == nil && isFile(magic) {
				return openWhole(ctx, parquetio.Input{Name: s.name, Reader: f, Size: info.Size()}, o, from)
			}
		}
	}
	return openPipe(ctx, s.name, s, s.r, o, from)
}

// isFile reports whether what begins with magic is a file, which is read from its end.
func isFile(magic []byte) bool {
	switch {
	case len(magic) < len(arrowMagic):
		return false
	case string(magic[:len(arrowMagic)]) == arrowMagic:
		return true
	}
	start := string(magic[:len(parquetMagic)])
	return start == parquetMagic || start == encryptedMagic
}

// openPipe opens what comes from a pipe: it is read through r once in a run.
func openPipe(ctx context.Context, name string, pipe any, r io.Reader, o Options, from budget.Lender) (Input, error) {
	if f := o.Temp.Spooled(pipe); f != nil {
		return openWhole(ctx, parquetio.Input{Name: name, Reader: f, Size: f.Size()}, o, from)
	}
	b := bufio.NewReader(interruptible(ctx, r))
	start, err := b.Peek(len(arrowMagic))
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil && !errors.Is(err, io.EOF):
		return nil, &Error{fmt.Errorf("%s: %w", name, &SourceError{name, err})}
	case len(start) == 0:
		return nil, &Error{fmt.Errorf("%s: it is empty; send a Parquet file, or an Arrow IPC stream or file", name)}
	case !isFile(start):
		return openArrowStream(name, b, start, from)
	}
	f, err := o.Temp.Spool(ctx, pipe, name, b, from)
	if err != nil {
		return nil, err
	}
	return openWhole(ctx, parquetio.Input{Name: name, Reader: f, Size: f.Size()}, o, from)
}

// openWhole opens a file, Parquet or Arrow IPC.
func openWhole(ctx context.Context, in parquetio.Input, o Options, from budget.Lender) (Input, error) {
	return openFiles(ctx, []parquetio.Input{in}, o, from, nil)
}

// openArrowStream opens an Arrow IPC stream, which begins with start.
func openArrowStream(name string, r io.Reader, start []byte, from budget.Lender) (Input, error) {
	begins := string(start[:min(len(start), len(parquetMagic))])
	checked, err := arrowio.CheckedStream(r)
	if errors.Is(err, arrowio.ErrDepth) {
		return nil, &Error{fmt.Errorf("%s: %w", name, err)}
	}
	rest := &struct{ io.Reader }{checked}
	var stream *ipc.Reader
	if err == nil {
		stream, err = ipc.NewReader(rest) // takes the schema, and no more
	}
	if err != nil {
		return nil, &Error{fmt.Errorf("%s: neither Parquet nor Arrow IPC: begins with %q", name, begins)}
	}
	records := fromReader(stream)
	if isState(stream.Schema()) {
		whole := arrowio.NewWhole(checked, stream.Schema())
		rest.Reader, records = whole, fromWhole(stream, whole)
	}
	return newRecordInput(name, stream.Schema(), records, from)
}

// fromWhole is the records of a reader that reads whole: all of them, or an error.
func fromWhole(r array.RecordReader, whole *arrowio.Whole) feed {
	f := fromReader(r)
	next := f.next
	f.next = func() (arrow.Record, error) {
		rec, err := next()
		if rec == nil && whole.Err() != nil {
			err = whole.Err()
		}
		return rec, err
	}
	return f
}

// interruptible reads from r until ctx ends: a read from a pipe that nobody writes to would
// otherwise wait for ever.
func interruptible(ctx context.Context, r io.Reader) io.Reader {
	out, in := io.Pipe()
	context.AfterFunc(ctx, func() { out.CloseWithError(context.Cause(ctx)) })
	go func() {
		_, err := io.CopyBuffer(in, r, make([]byte, pipeBuffer))
		in.CloseWithError(err)
	}()
	return out
}

// pipeBuffer is what a pipe of Linux holds.
const pipeBuffer = 64 << 10
