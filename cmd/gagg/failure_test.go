package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/invariant"
)

func TestExitStatus(t *testing.T) {
	interrupted, cancel := context.WithCancelCause(context.Background())
	cancel(&interruption{signal: syscall.SIGINT})
	terminated, cancel := context.WithCancelCause(context.Background())
	cancel(&interruption{signal: syscall.SIGTERM})
	running := context.Background()
	wrap := func(err error) error { return fmt.Errorf("while doing something: %w", err) }
	for _, c := range []struct {
		ctx    context.Context
		err    error
		status int
		stderr string
	}{
		{running, nil, 0, ""},
		{running, errors.New("disk on fire"), 1, "gagg: disk on fire\n"},
		{running, usagef("no"), 2, "gagg: no\n"},
		{running, wrap(gagg.ErrUsage), 2, "gagg: while doing something: " + gagg.ErrUsage.Error() + "\n"},
		{running, wrap(gagg.ErrInput), 3, "gagg: while doing something: " + gagg.ErrInput.Error() + "\n"},
		{running, wrap(gagg.ErrOverflow), 4, "gagg: while doing something: " + gagg.ErrOverflow.Error() + "\n"},
		{running, wrap(gagg.ErrBudget), 5, "gagg: while doing something: " + gagg.ErrBudget.Error() + "\n"},
		{running, wrap(gagg.ErrDevice), 6, "gagg: while doing something: " + gagg.ErrDevice.Error() + "\n"},
		{running, output(wrap(syscall.EPIPE)), 141, ""},
		{running, wrap(syscall.EPIPE), 1, "gagg: while doing something: broken pipe\n"},
		{running, output(&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}), 1, "gagg: write x: no space left on device\n"},
		{interrupted, wrap(context.Canceled), 130, "gagg: interrupted\n"},
		{terminated, wrap(context.Canceled), 143, "gagg: terminated\n"},
		{running, errors.New("gagg: two\nlines \x1b[31m\xff\u202e ü"), 1, `gagg: two\nlines \x1b[31m\xFF\u202e ü` + "\n"},
	} {
		var stderr bytes.Buffer
		if status := fail(c.ctx, &stderr, c.err); status != c.status || stderr.String() != c.stderr {
			t.Errorf("%v: status %d, want %d; %q, want %q", c.err, status, c.status, stderr.String(), c.stderr)
		}
	}
}

// A bug in gagg is one line too; GAGG_DEBUG adds the stack.
func TestPanicIsOneLine(t *testing.T) {
	for _, debug := range []bool{false, true} {
		var env []string
		if debug {
			env = []string{"GAGG_DEBUG=1"}
		}
		var stderr bytes.Buffer
		status := run(context.Background(), []string{"--help"}, env, nil, panickingWriter{}, &stderr)
		lines := bytes.Count(stderr.Bytes(), []byte("\n"))
		if status != statusFailed || (lines > 1) != debug {
			t.Errorf("debug %v: status %d, %s", debug, status, stderr.String())
		}
	}
}

// A bug that the library has made an error is one line too, in any goroutine.
func TestPanicOfTheLibrary(t *testing.T) {
	bug := invariant.Fenced(func() error { panic("a bug") })
	stack, err := asBug(fmt.Errorf("a worker: %w", bug))
	if want := "a worker: internal error: a bug; this is a bug in gagg, GAGG_DEBUG=1 shows where"; err.Error() != want || len(stack) == 0 {
		t.Errorf("%v, want %s; a stack of %d bytes", err, want, len(stack))
	}
	why := errors.New("a reason")
	if stack, err := asBug(why); !errors.Is(err, why) || err.Error() != "a reason" || stack != nil {
		t.Errorf("no bug: %v, %s", err, stack)
	}
}

type panickingWriter struct{}

func (panickingWriter) Write([]byte) (int, error) { panic("a\nbug") }
