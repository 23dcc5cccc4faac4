package input

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// until calls do, and returns what it does, or, when ctx ends before that, an error. What do waits
// for cannot be interrupted: its goroutine is left behind then.
func until[T any](ctx context.Context, do func() (T, error)) (result T, err error) {
	type answer struct {
		result T
		err    error
	}
	if ctx.Err() != nil {
		return result, context.Cause(ctx)
	}
	done := make(chan answer, 1)
	go func() {
		var a answer
		defer func() { done <- a }()
		defer invariant.Fence(&a.err, invariant.Foreign)
		a.result, a.err = do()
	}()
	select {
	case a := <-done:
		return a.result, a.err
	case <-ctx.Done():
		return result, context.Cause(ctx)
	}
}

// watched is a reader of the caller's, whose ReadAt may never return. It reads into memory of its
// own, since what it was called for may be gone when it does.
type watched struct {
	ctx     context.Context
	from    budget.Lender
	name    string
	r       io.ReaderAt
	buffers sync.Pool // of *[]byte
}

// watch returns a reader that returns when ctx ends. Files of the system and memory are read as
// they are.
func watch(ctx context.Context, from budget.Lender, name string, r io.ReaderAt) io.ReaderAt {
	switch r.(type) {
	case *os.File, *bytes.Reader, *strings.Reader:
		return r
	}
	return &watched{ctx: ctx, from: budget.Or(from), name: name, r: r}
}

// ReadAt implements io.ReaderAt. Where there is no memory for a copy it reads as the reader does.
func (w *watched) ReadAt(p []byte, off int64) (n int, err error) {
	if w.from.Draw(int64(len(p))) != nil {
		n, err = w.r.ReadAt(p, off)
		return n, w.failure(err)
	}
	defer w.from.Release(int64(len(p)))
	b, _ := w.buffers.Get().(*[]byte)
	if b == nil || cap(*b) < len(p) {
		fresh := make([]byte, len(p))
		b = &fresh
	}
	n, err = until(w.ctx, func() (int, error) { return w.r.ReadAt((*b)[:len(p)], off) })
	if w.ctx.Err() != nil { // it may still read
		return 0, context.Cause(w.ctx)
	}
	copy(p, (*b)[:n])
	w.buffers.Put(b)
	return n, w.failure(err)
}

func (w *watched) failure(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	return &SourceError{w.name, err}
}

// Stat is what the reader tells of itself, if it does.
func (w *watched) Stat() (fs.FileInfo, error) {
	if f, ok := w.r.(interface{ Stat() (fs.FileInfo, error) }); ok {
		return until(w.ctx, f.Stat)
	}
	return nil, nil
}
