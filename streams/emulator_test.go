package streams_test

import (
	"testing"
	"time"

	"github.com/gagg-dev/gagg/internal/cuda/emu"
)

// slow makes the operations of streams take a while, on the emulator, so that they overlap in all
// ways and a missing wait shows.
func slow(t *testing.T) {
	if e, emulated := emu.Control(); emulated {
		e.Slow(0, 200*time.Microsecond)
		t.Cleanup(func() { e.Slow(0, 0) })
	}
}

// emulator skips the test where there is none.
func emulator(t *testing.T) *emu.Emu {
	t.Helper()
	e, emulated := emu.Control()
	if !emulated {
		t.Skip("faults are the emulator's")
	}
	return e
}
