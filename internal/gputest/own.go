package gputest

import (
	"testing"
	"time"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/cuda/emu"
)

// Need is for tests of code that opens devices by itself. Where there are fewer
// than n usable ones the test skips, or fails, as by Open. At its end nothing may
// be left of what that code made (Closed), and injected faults end.
func Need(tb testing.TB, n int) {
	tb.Helper()
	devices, err := usable()
	switch {
	case err != nil:
		giveUp(tb, err)
	case devices < n && Emulated():
		tb.Skipf("%d devices are needed and %d emulated: set GAGG_EMU_DEVICES", n, devices)
	case devices < n:
		tb.Skipf("%d devices are needed, there are %d", n, devices)
	}
	tb.Cleanup(func() {
		Closed(tb)
		if e, emulated := emu.Control(); emulated {
			e.Reset()
		}
	})
}

// usable is how many devices there are.
func usable() (n int, err error) {
	driver, err := cuda.Open()
	if err != nil {
		return 0, err
	}
	all, err := driver.Devices()
	for i := range all {
		if all[i].Usable() == nil {
			n++
		}
	}
	if err == nil && n == 0 {
		err = cuda.ErrNoDevice
	}
	if err == nil && Emulated() {
		err = fresh()
	}
	return n, err
}

// closedWithin is how long a test waits at its end for what is closed in the background. If a run
// ends while a device is still being opened, nobody waits for its closing.
var closedWithin = 30 * time.Second

// Closed fails the test if something stays open in the emulator.
func Closed(tb testing.TB) {
	tb.Helper()
	if e, emulated := emu.Control(); emulated {
		for _, leak := range left(e) {
			tb.Errorf("left in the emulator: %s", leak)
		}
	}
}

// left is what stays open in the emulator.
func left(e *emu.Emu) []string {
	leaks := e.Leaks()
	for end := time.Now().Add(closedWithin); len(leaks) > 0 && time.Now().Before(end); leaks = e.Leaks() {
		time.Sleep(time.Millisecond)
	}
	return leaks
}
