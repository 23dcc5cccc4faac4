package egatest

import (
	"errors"
	"testing"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/cuda/emu"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// These are the error codes of a failing call: out of memory, or a lost device.
const (
	OutOfMemory = 2
	DeviceLost  = 719
)

// OpenContext opens a context of its own.
func OpenContext() (*cuda.Context, error) {
	driver, err := cuda.Open()
	if err != nil {
		return nil, err
	}
	return driver.Context(0)
}

// WithFault runs something in a context of its own, one of whose calls fails; the zero Call: none.
// It returns the calls there were.
func WithFault(t *testing.T, e *emu.Emu, call gputest.Call, code int, run func(*cuda.Context) error) (calls []gputest.Call, err error) {
	t.Helper()
	e.Reset()
	defer e.Reset()
	c, err := OpenContext()
	if err != nil {
		return nil, err
	}
	before := e.Calls()
	if call.Nth > 0 {
		e.Fault(call.Name, call.Nth, code, false)
	}
	err = run(c)
	made := e.Calls()
	for name, n := range before {
		made[name] -= n
	}
	calls = gputest.Calls(made)
	// lost it may be by the last calls, whose errors nobody needs
	err = errors.Join(err, c.Lost(), c.Close())
	if n := cuda.LockedThreads(); n != 0 {
		t.Errorf("%d threads are locked", n)
	}
	// what a lost context holds stays
	if leaks := e.Leaks(); !errors.Is(err, cuda.ErrLost) && len(leaks) > 0 {
		t.Errorf("%v: left are %q", err, leaks)
	}
	return calls, err
}
