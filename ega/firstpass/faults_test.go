package firstpass_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/ega/egatest"
	"github.com/gagg-dev/gagg/ega/firstpass"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/cuda/emu"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// Whichever driver call fails, the error says so or the answer is right, since a pass does with
// less memory and the driver is asked once more. Nothing stays open.
func TestPassFaults(t *testing.T) {
	e, emulated := emu.Control()
	if !emulated {
		t.Skip("faults are the emulator's")
	}
	l := passLayouts[0]
	rows := egatest.Rows(rand.New(rand.NewPCG(5, 6)), &l, 3000, func(i int) uint64 { return uint64(i) })
	stride := 29 // from anywhere on: some runs of the tests have every call
	if testing.Short() {
		stride = 97
	}
	for _, way := range []struct {
		name         string
		device, keep int64
		drain        bool
	}{{"in core", 4 << 20, 0, false}, {"evicted", 100_000, 0, false}, {"retained", 100_000, 2 * leastPinned, false}, {"drained", 100_000, retainAll, true}} {
		stride := stride
		if way.keep > 0 {
			stride *= 3 // most calls are those of rows that are evicted
		}
		for _, code := range []int{egatest.OutOfMemory, egatest.DeviceLost} {
			t.Run(fmt.Sprintf("%s/code=%d", way.name, code), func(t *testing.T) {
				p := passRig{bits: 1, drain: way.drain, config: firstpass.Config{
					Layout: l, Streams: 1, Depth: 1, SlotBytes: 10_000, Device: way.device, Groups: 40, RetainBytes: way.keep,
				}}
				p.grant = atMost(leastPinned)
				calls, err := p.faulty(t, e, rows, gputest.Call{}, 0)
				if err != nil || way.device < 4<<20 != (p.stats.Evictions > 0) || way.keep > 0 != (p.stats.RetainedRows > 0) {
					t.Fatalf("%v, %+v", err, p.stats)
				}
				for i := rand.IntN(stride); i < len(calls); i += stride {
					p.failing(t, e, rows, calls[i], code)
				}
			})
		}
	}
}

// failing runs a pass one of whose calls fails.
func (p *passRig) failing(t *testing.T, e *emu.Emu, rows []uint64, call gputest.Call, code int) {
	t.Helper()
	class := cuda.ErrOutOfMemory
	if code == egatest.DeviceLost {
		class = cuda.ErrLost
	}
	switch _, err := p.faulty(t, e, rows, call, code); {
	case err == nil:
		p.check(t, rows)
	case !errors.Is(err, class):
		t.Errorf("%v fails with %d: %v", call, code, err)
	}
	if t.Failed() {
		t.Fatalf("%v fails with %d", call, code)
	}
}

// faulty runs a pass in a context of its own one of whose calls fails; the zero Call: none. It
// returns the calls there were.
func (p *passRig) faulty(t *testing.T, e *emu.Emu, rows []uint64, call gputest.Call, code int) (calls []gputest.Call, err error) {
	t.Helper()
	p.host, p.stats = 0, firstpass.Stats{}
	calls, err = egatest.WithFault(t, e, call, code, func(c *cuda.Context) error { return p.run(c, rows) })
	if !errors.Is(err, cuda.ErrLost) && p.host != 0 {
		t.Errorf("%v: %d bytes are still drawn from the host's budget", err, p.host)
	}
	return calls, err
}
