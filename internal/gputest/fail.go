package gputest

import (
	"cmp"
	"errors"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/cuda/emu"
)

const outOfMemory = 2 // CUDA_ERROR_OUT_OF_MEMORY

// FailCalls makes the driver calls of a life fail in turn, every step-th of
// them, and wants it to say so. A life makes something, uses it and closes it.
// After each failure comes after, unless it is nil. Open looks whether anything
// stays open. Faults are the emulator's: elsewhere the test is skipped.
func FailCalls(t *testing.T, step int, life func() error, after func()) {
	t.Helper()
	emulator, emulated := emu.Control()
	if !emulated {
		t.Skip("faults are the emulator's")
	}
	calls := 0
	for range 2 { // in the first one the thread makes a stream of its own
		before := count(emulator.Calls())
		if err := life(); err != nil {
			t.Fatalf("no call fails: %v", err)
		}
		calls = count(emulator.Calls()) - before
	}
	for nth := 0; nth < calls; nth += step {
		emulator.Fault(emu.AnyCall, nth+1, outOfMemory, false)
		if err := life(); !errors.Is(err, cuda.ErrOutOfMemory) {
			t.Errorf("call %d of %d fails: %v, want out of memory", nth+1, calls, err)
		}
		if after != nil {
			after()
		}
	}
}

// Call is the Nth call of a function of the driver, from 1 on.
type Call struct {
	Name string
	Nth  int
}

// pollsFailed is how many of the calls fail that only ask whether an event has come.
const pollsFailed = 20

// Calls lists the driver calls of a run that made so many of each function, function by function.
// A run on a busy machine polls some thousand times more than on an idle one, and these calls are
// all alike: the list has the first few.
func Calls(counts map[string]int) (list []Call) {
	for name, n := range counts {
		if name == "cuEventQuery" {
			n = min(n, pollsFailed)
		}
		for nth := range n {
			list = append(list, Call{name, nth + 1})
		}
	}
	slices.SortFunc(list, func(a, b Call) int { return cmp.Or(cmp.Compare(a.Name, b.Name), a.Nth-b.Nth) })
	return list
}

// count is how many driver calls there were.
func count(calls map[string]int) (n int) {
	for _, c := range calls {
		n += c
	}
	return n
}
