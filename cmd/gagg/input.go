package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/gagg-dev/gagg"
)

// inputError is an input that the command itself cannot use.
type inputError struct {
	err error
}

func (e *inputError) Error() string        { return e.err.Error() }
func (e *inputError) Unwrap() error        { return e.err }
func (e *inputError) Is(target error) bool { return target == gagg.ErrInput }

// source is what the arguments name.
func (c *command) source(ctx context.Context) (gagg.Source, error) {
	if !slices.Contains(c.inputs, "-") {
		return gagg.Files(c.inputs...), nil
	}
	if len(c.inputs) > 1 {
		return nil, usagef("- (stdin) cannot be read together with other inputs: name it alone")
	}
	return stdinSource(ctx, c.stdin)
}

// stdinSource reads stdin as what it is: a Parquet or Arrow IPC file if it is
// a file (both are read from their ends, so it must be seekable), an Arrow
// IPC stream otherwise.
func stdinSource(ctx context.Context, stdin io.Reader) (gagg.Source, error) {
	if f, ok := stdin.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			magic := make([]byte, len(arrowMagic))
			n, _ := f.ReadAt(magic, 0)
			switch start := string(magic[:n]); {
			case strings.HasPrefix(start, parquetMagic):
				return gagg.Parquet("stdin", f, info.Size()), nil
			case start == arrowMagic:
				return records(openArrowFile(f))
			}
		}
	}
	buffered := bufio.NewReader(interruptible(ctx, stdin))
	start, err := buffered.Peek(len(parquetMagic))
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, &inputError{errors.New("stdin: it is empty; send a Parquet file with <, or an Arrow IPC stream")}
	}
	for magic, name := range map[string]string{parquetMagic: "a Parquet file", arrowMagic: "an Arrow IPC file"} {
		if head, _ := buffered.Peek(len(magic)); string(head) == magic {
			return nil, &inputError{fmt.Errorf("stdin: %s cannot be read from a pipe: use < FILE, or send an Arrow IPC stream", name)}
		}
	}
	checked, err := checkedStream(buffered)
	if errors.Is(err, errArrowDepth) {
		return nil, &inputError{fmt.Errorf("stdin: %w", err)}
	}
	var stream *ipc.Reader
	if err == nil {
		stream, err = ipc.NewReader(checked)
	}
	if err != nil {
		err = fmt.Errorf("stdin: neither a Parquet file nor an Arrow IPC stream: begins with %q", start)
	}
	return records(stream, err)
}

func records(r array.RecordReader, err error) (gagg.Source, error) {
	if err != nil {
		return nil, &inputError{err}
	}
	return gagg.Records(r), nil
}

const (
	parquetMagic = "PAR1"
	arrowMagic   = "ARROW1"
)

// interruptible reads from r until ctx ends: a read from a pipe that nobody
// writes to would otherwise wait for ever.
func interruptible(ctx context.Context, r io.Reader) io.Reader {
	out, in := io.Pipe()
	context.AfterFunc(ctx, func() { out.CloseWithError(context.Cause(ctx)) })
	go func() {
		_, err := io.Copy(in, r)
		in.CloseWithError(err)
	}()
	return out
}
