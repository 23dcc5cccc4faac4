package streams_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/bounded"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/cuda/emu"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
	"github.com/gagg-dev/gagg/streams"
)

// outOfMemory is a code that leaves a context usable.
const outOfMemory = 2

// unlocks is the function with which Unlock leaves an OS thread as it was. Its errors cannot be
// reported.
const unlocks = "cuCtxSetCurrent"

// Each driver call of a pipeline's life fails in turn, with a code of each kind. The
// error is typed and tells the code, or less memory did as well; each job is
// delivered or returned, everything is closed, no thread stays locked. Calls are counted by
// function: how often a life asks for events is not the same each time.
func TestEveryCallFails(t *testing.T) {
	e := emulator(t)
	checkGoroutines(t)
	config := small()
	config.Timed = true
	stride := 1
	if testing.Short() {
		stride = 7
	}
	calls := gputest.Calls(faulty(t, e, config, emu.AnyCall, 0, 0, false).names)
	for _, code := range []int{outOfMemory, 400, 719} {
		silent := 0
		for i := 0; i < len(calls); i += stride {
			call := calls[i]
			l := faulty(t, e, config, call.Name, call.Nth, code, false)
			switch {
			case l.names[call.Name] < call.Nth: // it polled less often than the first one
			case l.err != nil && !tells(l.err, code):
				t.Errorf("%v fails with %d: %v", call, code, l.err)
			case l.err != nil || len(l.stats.Refused) > 0:
			case call.Name == unlocks:
				silent++
			default:
				t.Errorf("%v fails with %d, and nobody is told", call, code)
			}
		}
		// Of each lane, of Start, of each slot's Close, and of the life itself.
		if limit := config.Streams + 1 + config.Slots + 4; silent > limit {
			t.Errorf("%d failures of %s with %d show nowhere, more than %d", silent, unlocks, code, limit)
		}
	}
}

// Each function that a pipeline calls fails whenever it is called.
func TestEveryFunctionFails(t *testing.T) {
	e := emulator(t)
	checkGoroutines(t)
	config := small()
	config.Timed = true
	for name := range faulty(t, e, config, emu.AnyCall, 0, 0, false).names {
		for _, code := range []int{outOfMemory, 400, 719} {
			l := faulty(t, e, config, name, 1, code, true)
			if l.err != nil && !tells(l.err, code) {
				t.Errorf("%s fails with %d: %v", name, code, l.err)
			}
			if l.err == nil && code == 719 && name != unlocks {
				t.Errorf("%s loses the device, and nobody is told", name)
			}
		}
	}
}

// A device is lost while many lanes and producers are at work: all of them end, and
// every job is accounted for.
func TestLostAtRandom(t *testing.T) {
	e := emulator(t)
	checkGoroutines(t)
	config := small()
	config.Streams, config.Depth, config.Slots = 8, 3, 20
	calls := faulty(t, e, config, emu.AnyCall, 0, 0, false).calls
	random := rand.New(rand.NewPCG(3, 4))
	for range rounds(100) {
		nth := 1 + random.IntN(calls)
		l := faulty(t, e, config, emu.AnyCall, nth, 700, false)
		if l.err == nil && l.calls > nth+20 { // not one of the last calls of Unlock
			t.Errorf("call %d of %d loses the device, and nobody is told", nth, l.calls)
		}
		if l.err != nil && !errors.Is(l.err, cuda.ErrLost) {
			t.Errorf("call %d of %d loses the device: %v", nth, l.calls, l.err)
		}
	}
}

// rounds is n, or fewer in short tests.
func rounds(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

// life is what a pipeline on a device that fails came to.
type life struct {
	err   error
	stats streams.Stats
	calls int            // of the driver, by the pipeline
	names map[string]int // of each function
}

// faulty opens the device, lets the nth call of a function fail (0: none), and runs
// a pipeline to its end.
func faulty(t *testing.T, e *emu.Emu, config streams.Config, call string, nth, code int, forever bool) life {
	t.Helper()
	e.Reset()
	defer e.Reset()
	r, thread, err := openRig()
	must(t, err)
	before := e.Calls()
	if nth > 0 {
		e.Fault(call, nth, code, forever)
	}
	jobs := r.jobs(3*config.Streams*config.Depth, 5, nil)
	var l life
	done := make(chan struct{})
	go func() { // on another OS thread than the rig's, where the context is not current
		defer close(done)
		l.err = r.run(context.Background(), t, config, jobs, 3)
	}()
	bounded.Receive(t, "the end of the run", done)
	l.stats, l.names = r.stats, e.Calls()
	for name, n := range before {
		if l.names[name] -= n; l.names[name] == 0 {
			delete(l.names, name)
		}
	}
	for _, n := range l.names {
		l.calls += n
	}
	thread.Unlock()
	l.err = errors.Join(l.err, r.context.Lost(), r.context.Close())
	if n := cuda.LockedThreads(); n != 0 {
		t.Fatalf("call %s %d fails with %d: %d threads are locked", call, nth, code, n)
	}
	// what a lost context holds stays
	if leaks := e.Leaks(); len(leaks) > 0 && !errors.Is(l.err, cuda.ErrLost) {
		t.Errorf("call %s %d fails with %d, %v: left are %q", call, nth, code, l.err, leaks)
	}
	return l
}

// openRig is a rig outside of gputest, whose device may be lost, and its thread.
func openRig() (*rig, *cuda.Thread, error) {
	driver, err := cuda.Open()
	if err != nil {
		return nil, nil, err
	}
	c, err := driver.Context(0)
	if err != nil {
		return nil, nil, err
	}
	thread, err := c.Lock()
	if err != nil {
		return nil, nil, err
	}
	k, err := kerneltest.LoadStream(thread)
	return &rig{context: c, kernels: k}, thread, err
}

// tells reports whether an error of code is among those joined in err.
func tells(err error, code int) bool {
	var one *cuda.Error
	if errors.As(err, &one) && one.Code == code {
		return true
	}
	var many interface{ Unwrap() []error }
	return errors.As(err, &many) && slices.ContainsFunc(many.Unwrap(), func(err error) bool { return tells(err, code) })
}
