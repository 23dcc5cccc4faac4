package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/sink"
)

// Exit statuses. Scripts rely on them: they are part of the interface.
const (
	statusDone       = 0
	statusFailed     = 1   // failed while running
	statusUsage      = 2   // wrong flags, columns or expressions
	statusInput      = 3   // an input cannot be read or is not valid
	statusOverflow   = 4   // a value does not fit its type
	statusBudget     = 5   // out of memory or disk budget
	statusDevice     = 6   // no usable device though one was demanded
	statusPipeClosed = 141 // the reader of the output went away
)

// exitStatuses has the meanings of the statuses, those of signals included.
var exitStatuses = []struct {
	status  int
	meaning string
}{
	{statusDone, "done"},
	{statusFailed, "failed while running"},
	{statusUsage, "wrong usage"},
	{statusInput, "input cannot be read or is not valid"},
	{statusOverflow, "a value does not fit its type"},
	{statusBudget, "out of memory or disk budget"},
	{statusDevice, "no usable device"},
	{129, "hung up"},
	{130, "interrupted"},
	{131, "quit"},
	{statusPipeClosed, "the reader of the output went away"},
	{143, "terminated"},
}

// usageError is a mistake in flags or arguments that the command itself sees.
type usageError struct {
	text string
}

func (e *usageError) Error() string { return e.text }

// Is makes a usageError match gagg.ErrUsage, the mistakes that the library finds.
func (e *usageError) Is(target error) bool { return target == gagg.ErrUsage }

func usagef(format string, args ...any) error {
	return &usageError{text: fmt.Sprintf(format, args...)}
}

// outputError is a failure to create or write the result.
type outputError struct {
	err error
}

func (e *outputError) Error() string { return e.err.Error() }
func (e *outputError) Unwrap() error { return e.err }

// exitStatus maps the error that ended a run to the status of the process.
func exitStatus(ctx context.Context, err error) int {
	var output *outputError
	var signalled *interruption
	switch {
	case err == nil:
		return statusDone
	case errors.As(err, &output) && errors.Is(err, syscall.EPIPE):
		return statusPipeClosed
	case errors.As(context.Cause(ctx), &signalled):
		return signalled.status()
	case errors.Is(err, gagg.ErrUsage):
		return statusUsage
	case errors.Is(err, gagg.ErrOverflow):
		return statusOverflow
	case errors.Is(err, gagg.ErrBudget):
		return statusBudget
	case errors.Is(err, gagg.ErrDevice):
		return statusDevice
	case errors.Is(err, gagg.ErrInput):
		return statusInput
	}
	return statusFailed
}

// fail reports err, which ended the run, as one line on stderr, and returns the exit status. A
// closed pipe is not reported: `gagg … | head` is no failure for the user.
func fail(ctx context.Context, stderr io.Writer, err error) int {
	status := exitStatus(ctx, err)
	if status == statusPipeClosed || err == nil {
		return status
	}
	text := err.Error()
	var signalled *interruption
	if errors.As(context.Cause(ctx), &signalled) && status == signalled.status() {
		text = signalled.Error()
	}
	fmt.Fprintf(stderr, "gagg: %s\n", oneLine(strings.TrimPrefix(text, "gagg: ")))
	return status
}

// oneLine makes text safe for a terminal, in one line: names of columns and files are not trusted.
func oneLine(text string) string { return string(sink.AppendVisible(nil, []byte(text), "")) }
