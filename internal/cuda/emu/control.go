package emu

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Emu is the emulator that package cuda opened. Its methods may be called from
// any goroutine.
type Emu struct {
	fault func(call string, nth uint64, code int32, forever bool)
	calls func(text *byte, size uint64) uint64
	leaks func(text *byte, size uint64) uint64
	reset func()
	seed  func(seed uint64)
	slow  func(from, to uint64)
	built func() string // nil: the library is older than the function
}

// Control finds the emulator; false when the library that package cuda opens
// ($GAGG_CUDA_LIBRARY) is another one, or none.
func Control() (*Emu, bool) {
	e := bound()
	return e, e != nil
}

var bound = sync.OnceValue(bind)

// AnyCall is the name that stands for every function in Fault.
const AnyCall = "*"

// Fault makes the nth call from now, 1 being the next, of a function of the
// driver, such as "cuMemAlloc_v2", return a code instead of doing its work;
// with forever, the calls after it too. A code that says that the device is
// lost (214, 700, 702, 719, 999 and others) loses the context that is current
// there. Functions that give something back do so nevertheless: the driver lets
// them report errors of earlier work. cuGetErrorName and cuGetErrorString do
// not count as calls.
func (e *Emu) Fault(call string, nth, code int, forever bool) {
	e.fault(call, uint64(nth), int32(code), forever)
}

// Calls is how often each function was called since the last Reset.
func (e *Emu) Calls() map[string]int {
	calls := map[string]int{}
	for _, line := range lines(e.calls) {
		name, count, _ := strings.Cut(line, " ")
		n, err := strconv.Atoi(count)
		if err != nil {
			panic(fmt.Sprintf("emu_calls: %q", line))
		}
		calls[name] = n
	}
	return calls
}

// Leaks describes what lives in the emulator: contexts, streams, events,
// modules, device and pinned memory, each with the number of the driver call
// that made it. What belongs to a lost context is not among it, since the driver
// would not take it back. Problems that no call returned come first: memory
// written to out of bounds, or freed with work for it in a stream.
func (e *Emu) Leaks() []string { return lines(e.leaks) }

// Reset waits until all streams are done, destroys every context with all that
// is in it, lost or not, and forgets faults, counts and problems, and what Seed
// and Slow have set. Handles from before are invalid; the library stays
// initialised, and a context can be retained anew.
func (e *Emu) Reset() { e.reset() }

// Built is the fingerprint of the kernels that the emulator was built from (Kernels).
func (e *Emu) Built() string {
	if e.built == nil {
		return ""
	}
	return e.built()
}

// Seed sets what the order of a launch's threads is drawn from ($GAGG_EMU_SEED).
func (e *Emu) Seed(seed uint64) { e.seed(seed) }

// Slow makes each operation of a stream wait first, for a random time between
// two limits ($GAGG_EMU_SLOW).
func (e *Emu) Slow(from, to time.Duration) {
	e.slow(uint64(from.Microseconds()), uint64(to.Microseconds()))
}

// lines calls a function that hands out text: once for its length, and again
// while it grows.
func lines(get func(text *byte, size uint64) uint64) []string {
	buffer := make([]byte, 1)
	for {
		n := get(&buffer[0], uint64(len(buffer)))
		if n < uint64(len(buffer)) {
			text := strings.TrimSuffix(string(buffer[:n]), "\n")
			if text == "" {
				return nil
			}
			return strings.Split(text, "\n")
		}
		buffer = make([]byte, n+1)
	}
}
