// Package bounded gives every wait of a test an end. What a test waits for and
// never comes would hold the whole package up until go test kills it after ten
// minutes, with the stacks of everything and a word about nothing.
//
// A wait that is over its bound fails by what it waited for, which is the last
// thing that is printed. Waits that take as long as a machine is slow are no
// reason to fail: the bound is far from what any takes.
package bounded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// most is the bound, where go test gives the package no less.
const most = 4 * time.Minute

// Wait calls wait. Should it not return in time, the process ends: whatever
// hangs may hold what the end of the test needs.
func Wait(tb testing.TB, what string, wait func()) {
	tb.Helper()
	limit := limitOf(tb)
	timer := time.AfterFunc(limit, func() {
		stacks := make([]byte, 1<<20)
		_, _ = os.Stderr.Write(stacks[:runtime.Stack(stacks, true)])
		panic(fmt.Sprintf("%s: waited %v in vain for %s", tb.Name(), limit, what))
	})
	defer timer.Stop()
	wait()
}

// Receive is what comes out of c, or its zero value once it is closed.
func Receive[T any](tb testing.TB, what string, c <-chan T) (got T) {
	tb.Helper()
	Wait(tb, what, func() { got = <-c })
	return got
}

// Context ends after the bound, with what was waited for as its cause: for those who wait for a
// context, and know no test.
func Context(what string) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(context.Background(), most, inVain(most, what))
}

// Errors joins n errors that goroutines send, one each.
func Errors(what string, n int, c <-chan error) error { return errorsWithin(most, what, n, c) }

func errorsWithin(limit time.Duration, what string, n int, c <-chan error) (err error) {
	over := time.After(limit)
	for range n {
		select {
		case one := <-c:
			err = errors.Join(err, one)
		case <-over:
			return errors.Join(err, inVain(limit, what))
		}
	}
	return err
}

func inVain(limit time.Duration, what string) error {
	return fmt.Errorf("waited %v in vain for %s", limit, what)
}

// Command is a process that ends with the test at the latest. One that does
// not end in time fails the test; it is asked for its stacks, which a Go
// program prints on stderr, and is killed if that does not help.
func Command(tb testing.TB, name string, args ...string) *exec.Cmd {
	tb.Helper()
	limit := limitOf(tb)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	tb.Cleanup(cancel)
	c := exec.CommandContext(ctx, name, args...)
	c.WaitDelay = 5 * time.Second
	c.Cancel = func() error {
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return c.Process.Kill()
		}
		tb.Errorf("waited %v in vain for the end of %q", limit, c.Args)
		return c.Process.Signal(syscall.SIGQUIT)
	}
	return c
}

// limitOf is the bound of a wait that begins now: it ends before go test does.
func limitOf(tb testing.TB) time.Duration {
	t, ok := tb.(interface{ Deadline() (time.Time, bool) })
	if !ok {
		return most
	}
	if end, ok := t.Deadline(); ok {
		return max(min(most, time.Until(end)-20*time.Second), time.Second)
	}
	return most
}
