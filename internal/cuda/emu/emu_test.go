package emu_test

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gagg-dev/gagg/internal/bounded"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/cuda/emu"
)

// open is a thread on the emulator; without it the test skips. Before and
// afterwards the emulator is reset, so a test may leave anything behind, also a
// lost context.
func open(t *testing.T) (*cuda.Thread, *emu.Emu) {
	t.Helper()
	driver, err := cuda.Open()
	e, emulated := emu.Control()
	if !emulated {
		t.Skip("GAGG_CUDA_LIBRARY does not name the emulator")
	}
	check(t, err)
	e.Reset()
	context, err := driver.Context(0)
	check(t, err)
	thread, err := context.Lock()
	check(t, err)
	t.Cleanup(func() {
		thread.Unlock()
		e.Reset()
		if leaks := e.Leaks(); leaks != nil {
			t.Errorf("after a reset: %q", leaks)
		}
	})
	return thread, e
}

func check(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// contains reports whether a line has all the words.
func contains(lines []string, words ...string) bool {
	return slices.ContainsFunc(lines, func(line string) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) })
	})
}

func sanitized() bool { return strings.Contains(os.Getenv("GAGG_CUDA_LIBRARY"), "asan") }

// again runs one test in another process, with more in its environment.
func again(t *testing.T, test string, environment ...string) (string, error) {
	t.Helper()
	command := bounded.Command(t, os.Args[0], "-test.run=^"+test+"$", "-test.v", "-test.count=1")
	command.Env = append(os.Environ(), append(environment, "GAGG_EMU_AGAIN=1")...)
	output, err := command.CombinedOutput()
	return string(output), err
}

// inAgain reports whether this is that process; tests for it skip elsewhere.
func inAgain(t *testing.T) {
	t.Helper()
	if os.Getenv("GAGG_EMU_AGAIN") == "" {
		t.Skip("run by another test")
	}
}

// What is open is listed with its kind and the call that made it.
func TestLeaks(t *testing.T) {
	thread, e := open(t)
	for _, kind := range []struct {
		what, call string
		make       func() (io.Closer, error)
	}{
		{"stream", "cuStreamCreate", func() (io.Closer, error) { return thread.NewStream() }},
		{"event", "cuEventCreate", func() (io.Closer, error) { return thread.NewEvent() }},
		{"device memory of 1000 bytes", "cuMemAlloc_v2", func() (io.Closer, error) { return thread.Alloc(1000) }},
		{"registered memory of 5242880 bytes", "cuMemHostRegister_v2", func() (io.Closer, error) { return thread.AllocPinned(5 << 20) }},
		{"pinned memory of 5000 bytes", "cuMemHostAlloc", func() (io.Closer, error) { return thread.AllocPinned(5000) }},
	} {
		thing, err := kind.make()
		check(t, err)
		if leaks := e.Leaks(); !contains(leaks, kind.what, "made by call ", kind.call) {
			t.Errorf("an open %s is not among %q", kind.what, leaks)
		}
		check(t, thing.Close())
		if leaks := e.Leaks(); contains(leaks, kind.what) {
			t.Errorf("a closed %s is among %q", kind.what, leaks)
		}
	}
	_, err := thread.Context().Function(&cuda.Source{Kernel: "probe_spin", PTX: []byte(spin)})
	check(t, err)
	if leaks := e.Leaks(); !contains(leaks, "module", "made by call ", "cuModuleLoadDataEx") {
		t.Errorf("a module that is loaded is not among %q", leaks)
	}
	if leaks := e.Leaks(); !contains(leaks, "context of device 0", "retained 1 times") {
		t.Errorf("the context is not among %q", leaks)
	}
}

// The nth call from now fails, once or for ever; other functions do not.
func TestFault(t *testing.T) {
	thread, e := open(t)
	for _, c := range []struct {
		name, call string
		nth        int
		forever    bool
		fails      []bool
	}{
		{"another function", "cuMemHostAlloc", 1, false, []bool{false, false, false}},
		{"the second", "cuMemAlloc_v2", 2, false, []bool{false, true, false, false}},
		{"from the second on", "cuMemAlloc_v2", 2, true, []bool{false, true, true, true}},
	} {
		e.Fault(c.call, c.nth, 2, c.forever)
		for i, fails := range c.fails {
			m, err := thread.Alloc(100)
			if errors.Is(err, cuda.ErrOutOfMemory) != fails {
				t.Errorf("%s: allocation %d: %v", c.name, i, err)
			}
			if err == nil {
				check(t, m.Close())
			}
		}
	}
}

// A fault may be put on any function: at last the one after all that are made.
func TestFaultOfAnyCall(t *testing.T) {
	thread, e := open(t)
	for nth := 1; ; nth++ {
		e.Fault(emu.AnyCall, nth, 2, false)
		_, _, err := thread.MemoryInfo()
		m, errAlloc := thread.Alloc(100)
		var errClose error
		if m != nil {
			errClose = m.Close()
		}
		failed := errors.Join(err, errAlloc, errClose)
		if failed == nil {
			if nth < 4 {
				t.Errorf("no call failed when call %d was to", nth)
			}
			return
		}
		if !errors.Is(failed, cuda.ErrOutOfMemory) {
			t.Errorf("call %d: %v", nth, failed)
		}
	}
}

// What gives something back has done so even when it fails.
func TestFaultOfRelease(t *testing.T) {
	thread, e := open(t)
	m, err := thread.Alloc(100)
	check(t, err)
	e.Fault("cuMemFree_v2", 1, 1, false)
	if err := m.Close(); err == nil {
		t.Error("Close has not failed")
	}
	if leaks := e.Leaks(); contains(leaks, "device memory") {
		t.Errorf("the memory was not freed: %q", leaks)
	}
}

// Calls counts by name, and from the last reset.
func TestCalls(t *testing.T) {
	thread, e := open(t)
	before := e.Calls()
	for range 3 {
		m, err := thread.Alloc(10)
		check(t, err)
		check(t, m.Close())
	}
	after := e.Calls()
	if n := after["cuMemAlloc_v2"] - before["cuMemAlloc_v2"]; n != 3 {
		t.Errorf("%d allocations counted", n)
	}
	e.Reset()
	if calls := e.Calls(); len(calls) != 0 {
		t.Errorf("after a reset: %v", calls)
	}
}

// Settings come from the environment too.
func TestEnvironment(t *testing.T) {
	open(t)
	output, err := again(t, "TestEnvironmentIsSet", "GAGG_EMU_DEVICES=3", "GAGG_EMU_MEMORY=1000000", "GAGG_EMU_VERSION=12040",
		"GAGG_EMU_FAULT=cuMemAlloc_v2:2:2,cuStreamCreate:1:2:forever", "GAGG_EMU_SLOW=30000:40000", "CUDA_VISIBLE_DEVICES=0,2")
	if err != nil {
		t.Errorf("%v\n%s", err, output)
	}
	output, err = again(t, "TestNoDeviceIsVisible", "CUDA_VISIBLE_DEVICES=")
	if err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}

func TestEnvironmentIsSet(t *testing.T) {
	inAgain(t)
	driver, err := cuda.Open()
	check(t, err)
	devices, err := driver.Devices()
	check(t, err)
	if len(devices) != 2 || driver.Version() != 12040 {
		t.Errorf("%d devices, version %d", len(devices), driver.Version())
	}
	context, err := driver.Context(1)
	check(t, err)
	thread, err := context.Lock()
	check(t, err)
	if free, total, err := thread.MemoryInfo(); err != nil || free != 1000000 || total != 1000000 {
		t.Errorf("%v of %v bytes free, %v", free, total, err)
	}
	m, err := thread.Alloc(999_000)
	check(t, err)
	if _, err := thread.Alloc(100); !errors.Is(err, cuda.ErrOutOfMemory) {
		t.Errorf("the second allocation: %v", err)
	}
	if _, err := thread.Alloc(2000); !errors.Is(err, cuda.ErrOutOfMemory) {
		t.Errorf("more than there is: %v", err)
	}
	for range 2 {
		if _, err := thread.NewStream(); !errors.Is(err, cuda.ErrOutOfMemory) {
			t.Errorf("a stream: %v", err)
		}
	}
	check(t, m.Close())
}

func TestNoDeviceIsVisible(t *testing.T) {
	inAgain(t)
	if _, err := cuda.Open(); !errors.Is(err, cuda.ErrNoDevice) {
		t.Errorf("no device is visible: %v", err)
	}
}

const (
	short = 2 * time.Millisecond
	long  = 50 * time.Millisecond
)
