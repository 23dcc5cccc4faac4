// Package gputest opens the device for tests.
//
// A test of device code starts with
//
//	thread := gputest.Open(t)
//
// and runs wherever there is a device or the emulator ($GAGG_CUDA_LIBRARY, see
// internal/cuda/emu). Where there is neither it skips, or fails if
// GAGG_REQUIRE_GPU=1 says that there has to be one. When the test ends,
// everything it opened has to be closed again: what is left in the context, or
// in the emulator, fails the test.
//
// The thread belongs to the goroutine that called Open, so a subtest opens its
// own. Tests with a device do not run in parallel: the leaks of one would be
// the other's.
//
// A test that makes a kernel fail on purpose loses the device for its whole
// process, and runs in one of its own (Alone). compute-sanitizer would report
// that failure as a fault, so such a test first asks Sanitized.
package gputest

import (
	"errors"
	"os"
	"sync"
	"testing"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/cuda/emu"
)

// requireVariable is the environment variable that turns skips into failures
// if it is 1.
const requireVariable = "GAGG_REQUIRE_GPU"

// Open returns a thread that is locked to the calling goroutine, with a context
// of device 0 current. At the end of the test it is unlocked and the context
// closed.
func Open(tb testing.TB) *cuda.Thread {
	tb.Helper()
	ctx, err := retain()
	if err != nil {
		giveUp(tb, err)
		return nil
	}
	thread, err := ctx.Lock()
	if err != nil {
		tb.Errorf("close: %v", ctx.Close())
		tb.Fatalf("lock a thread: %v", err)
	}
	opened.enter()
	tb.Cleanup(func() {
		thread.Unlock()
		if err := ctx.Close(); err != nil {
			tb.Errorf("the test left something open: %v", err)
		}
		for _, leak := range opened.leave() {
			tb.Errorf("the test left in the emulator: %s", leak)
		}
	})
	return thread
}

// Emulated says whether the device is the emulator. Tests have smaller sizes there.
func Emulated() bool {
	if _, err := cuda.Open(); err != nil {
		return false
	}
	_, emulated := emu.Control()
	return emulated
}

// Sanitized says whether the process runs under compute-sanitizer, where a
// fault that a test makes on purpose would count as one.
func Sanitized() bool { return os.Getenv("GAGG_SANITIZER") != "" }

// giveUp skips the test where no device can be used, and fails it where one is
// required or where the error is about something else.
func giveUp(tb testing.TB, err error) {
	tb.Helper()
	for _, absent := range []error{cuda.ErrNoDriver, cuda.ErrOldDriver, cuda.ErrNotReady, cuda.ErrNoDevice, cuda.ErrBusy} {
		if errors.Is(err, absent) && os.Getenv(requireVariable) != "1" {
			tb.Skipf("no GPU: %v", err)
			return
		}
	}
	tb.Fatalf("open the device: %v", err)
}

// retain opens device 0's context for one test.
func retain() (*cuda.Context, error) {
	driver, err := cuda.Open()
	if err != nil {
		return nil, err
	}
	if !Emulated() {
		if err := keep(driver); err != nil {
			return nil, err
		}
	} else if err := fresh(); err != nil {
		return nil, err
	}
	return driver.Context(0)
}

// fresh is an error where the emulator was built from other kernels than there are.
var fresh = sync.OnceValue(func() error {
	e, _ := emu.Control()
	return e.Fresh()
})

// keep retains the device's context until the process ends, so that it is not
// made anew for every test: that takes a tenth of a second.
var keep = func() func(*cuda.Driver) error {
	var once sync.Once
	var err error
	return func(driver *cuda.Driver) error {
		once.Do(func() { _, err = driver.Context(0) })
		return err
	}
}()

// opened counts the threads that tests have open.
var opened counter

type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) enter() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
}

// leave reports what is left in the emulator once nothing is open any more: a
// test and its subtest may each have a thread, and what the test has open is
// no leak of the subtest. Injected faults end here too.
func (c *counter) leave() (leaks []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n--
	e, emulated := emu.Control()
	if c.n > 0 || !emulated {
		return nil
	}
	leaks = left(e)
	e.Reset()
	return leaks
}
