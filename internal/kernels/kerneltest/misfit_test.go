package kerneltest_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/cuda/emu"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// The emulator ends kernels whose threads cannot go on together, where a device
// would hang or go on with rubbish.
func TestMisfits(t *testing.T) {
	type launch func(*kerneltest.WarpMisfit, *cuda.Stream, cuda.Grid) error
	for name, launch := range map[string]launch{
		"kind":    func(k *kerneltest.WarpMisfit, s *cuda.Stream, g cuda.Grid) error { return k.Kind(s, g, 0) },
		"mask":    (*kerneltest.WarpMisfit).Mask,
		"outside": (*kerneltest.WarpMisfit).Outside,
		"exited":  (*kerneltest.WarpMisfit).Exited,
		"ring":    (*kerneltest.WarpMisfit).Ring,
		"barrier": (*kerneltest.WarpMisfit).Barrier,
		"lane":    (*kerneltest.WarpMisfit).Lane,
		"trap":    (*kerneltest.WarpMisfit).Trap,
	} {
		t.Run(name, func(t *testing.T) {
			if !gputest.Emulated() {
				t.Skip("undefined on a device")
			}
			if !gputest.Alone(t) {
				return
			}
			d := newDevice(t)
			d.must(launch(family(d, kerneltest.LoadWarpMisfit), d.stream, cuda.Grid{Blocks: 1, Threads: 64}))
			if err := d.stream.Synchronize(); !errors.Is(err, cuda.ErrLaunch) {
				t.Errorf("the kernel ends with %v, want a failed kernel", err)
			}
		})
	}
}

// With one worker, a seed of the emulator gives the same order of threads each
// time, and another seed another one.
func TestSchedule(t *testing.T) {
	if !gputest.Emulated() {
		t.Skip("a device has no seeds")
	}
	t.Setenv("GAGG_EMU_WORKERS", "1")
	if !gputest.Alone(t) {
		return
	}
	d := newDevice(t)
	k := family(d, kerneltest.LoadMemory)
	control, _ := emu.Control()
	g := cuda.Grid{Blocks: 4, Threads: 100}
	order := func(seed uint64) []uint32 {
		control.Seed(seed)
		out, long := upload(d, make([]uint32, threads(g))), upload(d, make([]uint64, threads(g)))
		d.must(k.Ticket(d.stream, g, upload(d, []uint32{0}), upload(d, []uint64{0}), out, long))
		return download[uint32](d, out, threads(g))
	}
	first := order(7)
	if !slices.Equal(first, order(7)) {
		t.Error("the same seed gave another order")
	}
	if slices.Equal(first, order(8)) {
		t.Error("another seed gave the same order")
	}
}
