package gpumem_test

import (
	"errors"
	"testing"

	"github.com/gagg-dev/gagg/gpumem"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/cuda/emu"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// Whichever driver call of a pool's life fails, the error says so, and nothing
// stays open (gputest looks).
func TestPoolFaults(t *testing.T) {
	thread := gputest.Open(t)
	emulator, emulated := emu.Control()
	if !emulated {
		t.Skip("faults are the emulator's")
	}
	k := load(t, thread, kernels.LoadPages)
	calls := 0
	for range 2 { // in the first one the thread makes a stream of its own
		before := count(emulator.Calls())
		if err := poolLife(thread, k); err != nil {
			t.Fatalf("no call fails: %v", err)
		}
		calls = count(emulator.Calls()) - before
	}
	for nth := range calls {
		emulator.Fault(emu.AnyCall, nth+1, outOfMemory, false)
		if err := poolLife(thread, k); !errors.Is(err, cuda.ErrOutOfMemory) {
			t.Errorf("call %d fails: %v, want out of memory", nth+1, err)
		}
	}
}

// poolLife makes a pool, counts its pages, and closes it.
func poolLife(thread *cuda.Thread, k *kernels.Pages) (err error) {
	p, err := gpumem.New(thread, k, gpumem.Config{Pages: 100, PageBytes: 64, Parts: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	free, err := p.Free()
	if err == nil && free != p.Capacity() {
		return errors.New("pages are in use from the start")
	}
	return err
}
