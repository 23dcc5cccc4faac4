package cuda_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/gagg-dev/gagg/internal/bounded"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// Locks nest; each is undone once, and what it was for is refused afterwards.
func TestLock(t *testing.T) {
	outer := gputest.Open(t)
	before := cuda.LockedThreads()
	inner, err := outer.Context().Lock()
	must(t, err)
	s, err := inner.NewStream()
	must(t, err)
	if n := cuda.LockedThreads(); n != before+1 {
		t.Errorf("%d threads are locked, want %d", n, before+1)
	}
	inner.Unlock()
	inner.Unlock()
	if n := cuda.LockedThreads(); n != before {
		t.Errorf("%d threads are locked, want %d", n, before)
	}
	_, _, err = inner.MemoryInfo()
	wantClasses(t, err, cuda.ErrClosed)
	wantClasses(t, s.Synchronize(), cuda.ErrClosed)
	must(t, s.Close(), outer.Synchronize())
}

// A context that holds something does not close, and says what.
func TestCloseOfContextInUse(t *testing.T) {
	gputest.Open(t)
	driver, err := cuda.Open()
	must(t, err)
	c, err := driver.Context(0)
	must(t, err)
	thread, err := c.Lock()
	must(t, err)
	m, err := thread.Alloc(1)
	must(t, err)
	err = c.Close()
	wantClasses(t, err, cuda.ErrOpen)
	if got, want := c.Held(), "1 locked threads, 1 device allocations"; got != want {
		t.Errorf("it holds %s, want %s", got, want)
	}
	thread.Unlock()
	must(t, m.Close(), m.Close()) // on no locked thread, twice
	must(t, c.Close(), c.Close())
	_, err = c.Lock()
	wantClasses(t, err, cuda.ErrClosed)
}

// Many goroutines use a context at once, each with a thread and a stream of its
// own, and find their own data; they close each other's memory.
func TestManyThreads(t *testing.T) {
	ctx := gputest.Open(t).Context()
	const goroutines, rounds = 8, 5
	made := make(chan *cuda.Memory, goroutines*rounds)
	errs := make([]error, goroutines)
	var all sync.WaitGroup
	for g := range goroutines {
		all.Go(func() { errs[g] = writeAndRead(ctx, byte(g), rounds, made) })
	}
	bounded.Wait(t, "the goroutines of the test", all.Wait)
	close(made)
	for m := range made {
		errs = append(errs, m.Close())
	}
	must(t, errs...)
}

func writeAndRead(ctx *cuda.Context, value byte, rounds int, made chan<- *cuda.Memory) error {
	thread, err := ctx.Lock()
	if err != nil {
		return err
	}
	defer thread.Unlock()
	s, err := thread.NewStream()
	if err != nil {
		return err
	}
	defer s.Close()
	for range rounds {
		m, err := thread.Alloc(1000)
		if err != nil {
			return err
		}
		made <- m
		got := make([]byte, 1000)
		if err := errors.Join(s.Fill(m.Span(), value), s.Synchronize(), thread.Read(got, m.Span())); err != nil {
			return err
		}
		for _, b := range got {
			if b != value {
				return fmt.Errorf("read %d, want %d", b, value)
			}
		}
	}
	return nil
}

// The invariant THREAD is checked.
func TestThreadInvariant(t *testing.T) {
	if !invariant.Enabled {
		t.Skip("checked under -tags invariant")
	}
	thread := gputest.Open(t)
	s := newStream(t, thread)
	done := make(chan bool)
	go func() { done <- panics(func() { _ = s.Synchronize() }) }()
	if !bounded.Receive(t, "the other goroutine", done) {
		t.Error("a stream is used on another goroutine")
	}
}

// A context is not closed under a thread that has it locked.
func TestCloseWhileLocked(t *testing.T) {
	gputest.Open(t)
	driver, err := cuda.Open()
	must(t, err)
	c, err := driver.Context(0)
	must(t, err)
	thread, err := c.Lock()
	must(t, err)
	wantClasses(t, c.Close(), cuda.ErrOpen)
	thread.Unlock()
	must(t, c.Close())
}
