package cuda_test

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/cuda/emu"
	"github.com/gagg-dev/gagg/internal/hostmem"
)

// unlockCalls is how many calls of a tour may fail in silence: what Unlock does
// to leave the OS thread as it was, after all that was asked for was done.
const unlockCalls = 5

// Each driver call of a run fails in turn, with a code of each kind. The error is
// typed and tells the code, everything is closed, and no thread stays locked.
func TestEveryCallFails(t *testing.T) {
	e := emulator(t)
	calls := tourCalls(t, e)
	n := 0
	for _, count := range calls {
		n += count
	}
	for _, code := range []int{2, 46, 214, 400, 719, 999} {
		silent := 0
		for nth := 1; nth <= n; nth++ {
			e.Reset()
			e.Fault(emu.AnyCall, nth, code, false)
			err := tour()
			checkTour(t, e, err)
			var failed *cuda.Error
			switch {
			case err == nil:
				silent++
			case !errors.As(err, &failed) || !tells(err, code):
				t.Errorf("call %d of %d fails with %d: %v", nth, n, code, err)
			}
		}
		if silent > unlockCalls {
			t.Errorf("%d failures with %d show nowhere", silent, code)
		}
	}
}

// Each function of the driver fails whenever it is called.
func TestEveryFunctionFails(t *testing.T) {
	e := emulator(t)
	calls := tourCalls(t, e)
	for _, name := range cuda.Functions() {
		if name == "cuGetErrorName" || name == "cuGetErrorString" {
			continue // they have nothing to do where nothing fails
		}
		if calls[name] == 0 {
			t.Errorf("the tour does not call %s", name)
			continue
		}
		for _, code := range []int{2, 719} {
			e.Reset()
			e.Fault(name, 1, code, true)
			err := tour()
			checkTour(t, e, err)
			if err == nil {
				t.Errorf("%s fails with %d, and nobody is told", name, code)
			}
		}
	}
}

// tourCalls is how often a tour calls each function.
func tourCalls(t *testing.T, e *emu.Emu) map[string]int {
	t.Helper()
	e.Reset()
	if err := tour(); err != nil {
		t.Fatal(err)
	}
	checkTour(t, e, nil)
	return e.Calls()
}

func checkTour(t *testing.T, e *emu.Emu, err error) {
	t.Helper()
	if n := cuda.LockedThreads(); n != 0 {
		t.Fatalf("%v: %d threads are locked", err, n)
	}
	// what a lost context holds stays
	if leaks := e.Leaks(); len(leaks) > 0 && !errors.Is(err, cuda.ErrLost) {
		t.Errorf("%v leaves %q", err, leaks)
	}
}

// tells reports whether an error of code is among those joined in err.
func tells(err error, code int) bool {
	var one *cuda.Error
	if errors.As(err, &one) && one.Code == code {
		return true
	}
	var many interface{ Unwrap() []error }
	if !errors.As(err, &many) {
		return false
	}
	return slices.ContainsFunc(many.Unwrap(), func(err error) bool { return tells(err, code) })
}

// F62, F63: whatever keeps a device from being used has a class of its own,
// and a sentence about what to do.
func TestStartFails(t *testing.T) {
	e := emulator(t)
	for _, c := range []struct {
		call  string
		code  int
		class error
	}{
		{"cuInit", 34, cuda.ErrNoDriver},
		{"cuInit", 35, cuda.ErrOldDriver},
		{"cuInit", 803, cuda.ErrOldDriver},
		{"cuInit", 804, cuda.ErrOldDriver},
		{"cuInit", 100, cuda.ErrNoDevice},
		{"cuInit", 802, cuda.ErrNotReady},
		{"cuInit", 999, cuda.ErrNotReady},
		{"cuDriverGetVersion", 999, cuda.ErrNotReady},
		{"cuDeviceGetCount", 100, cuda.ErrNoDevice},
		{"cuDeviceGet", 101, cuda.ErrNoDevice},
		{"cuDevicePrimaryCtxRetain", 46, cuda.ErrBusy},
		{"cuDevicePrimaryCtxRetain", 201, cuda.ErrBusy},
		{"cuDevicePrimaryCtxRetain", 2, cuda.ErrOutOfMemory},
		{"cuDevicePrimaryCtxRetain", 214, cuda.ErrLost},
	} {
		e.Reset()
		e.Fault(c.call, 1, c.code, true)
		err := tour()
		wantClasses(t, err, c.class)
		if cuda.Advice(err) == "" {
			t.Errorf("%v: no advice", err)
		}
	}
}

// F73: whatever pinning is refused with, a caller goes on with pageable memory.
func TestPinningRefused(t *testing.T) {
	e := emulator(t)
	before := hostmem.Live()
	for _, call := range []string{"cuMemHostAlloc", "cuMemHostRegister_v2"} {
		for _, code := range []int{2, 304, 801} {
			e.Reset()
			e.Fault(call, 1, code, false)
			wantClasses(t, tour(), cuda.ErrOutOfMemory)
		}
	}
	if live := hostmem.Live(); live != before {
		t.Errorf("%d bytes of the host are held, %d before", live, before)
	}
}

// F67: after a fault nothing more is asked of the driver but the name of the
// error, and whatever is asked of the context returns that error.
func TestNoCallAfterFault(t *testing.T) {
	e := emulator(t)
	for _, code := range []int{214, 700, 702, 719, 999} {
		e.Reset()
		checkLost(t, e, code)
	}
}

func checkLost(t *testing.T, e *emu.Emu, code int) {
	t.Helper()
	driver, err := cuda.OpenAnew()
	must(t, err)
	c, err := driver.Context(0)
	must(t, err)
	thread, err := c.Lock()
	must(t, err)
	h := newHandles(t, thread)
	e.Fault("cuStreamSynchronize", 1, code, false)
	fault := h.stream.Synchronize()
	wantLost(t, fault, code)
	before := e.Calls()
	for name, call := range h.methods(thread) {
		if err := call(); !errors.Is(err, fault) {
			t.Errorf("%s after code %d: %v", name, code, err)
		}
	}
	if !errors.Is(c.Lost(), fault) {
		t.Errorf("the context is lost by %v", c.Lost())
	}
	must(t, h.close())
	thread.Unlock()
	must(t, c.Close())
	if after := e.Calls(); !maps.Equal(before, after) {
		t.Errorf("calls before %v, and after the fault %v", before, after)
	}
}

func wantLost(t *testing.T, err error, code int) {
	t.Helper()
	if code >= 700 && code < 900 {
		wantClasses(t, err, cuda.ErrLost, cuda.ErrLaunch)
	} else {
		wantClasses(t, err, cuda.ErrLost)
	}
}
