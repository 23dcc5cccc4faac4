package reference_test

import (
	"errors"
	"testing"

	"github.com/gagg-dev/gagg/gpumem/reference"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// Whichever driver call of a pool's life fails, the error says so, and nothing
// stays open (gputest looks).
func TestSlabsFaults(t *testing.T) {
	thread := gputest.Open(t)
	k := gputest.Load(t, thread, kerneltest.LoadSlab)
	gputest.FailCalls(t, 1, func() error { return slabsLife(thread, k) }, nil)
}

// slabsLife makes a pool, lets it grow, asks it, and closes it.
func slabsLife(thread *cuda.Thread, k *kerneltest.Slab) (err error) {
	s, err := reference.NewSlabs(thread, k, reference.SlabConfig{SlabBytes: 128, Blocks: 1, SuperBlocks: 2})
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
