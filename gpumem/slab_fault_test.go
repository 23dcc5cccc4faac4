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

const outOfMemory = 2 // CUDA_ERROR_OUT_OF_MEMORY

// Whichever driver call of a pool's life fails, the error says so, and nothing
// stays open (gputest looks).
func TestSlabsFaults(t *testing.T) {
	thread := gputest.Open(t)
	emulator, emulated := emu.Control()
	if !emulated {
		t.Skip("faults are the emulator's")
	}
	k := load(t, thread, kernels.LoadSlab)
	calls := 0
	for range 2 { // in the first one the thread makes a stream of its own
		before := count(emulator.Calls())
		if err := slabsLife(thread, k); err != nil {
			t.Fatalf("no call fails: %v", err)
		}
		calls = count(emulator.Calls()) - before
	}
	for nth := range calls {
		emulator.Fault(emu.AnyCall, nth+1, outOfMemory, false)
		if err := slabsLife(thread, k); !errors.Is(err, cuda.ErrOutOfMemory) {
			t.Errorf("call %d fails: %v, want out of memory", nth+1, err)
		}
	}
}

// slabsLife makes a pool, lets it grow, asks it, and closes it.
func slabsLife(thread *cuda.Thread, k *kernels.Slab) (err error) {
	s, err := gpumem.NewSlabs(thread, k, gpumem.SlabConfig{SlabBytes: 128, Blocks: 1, SuperBlocks: 2})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.Grow(); err != nil {
		return err
	}
	if err := s.Reset(); err != nil {
		return err
	}
	_, err = s.Used()
	return err
}

// count is how many driver calls there were.
func count(calls map[string]int) int {
	n := 0
	for _, c := range calls {
		n += c
	}
	return n
}
