package kerneltest_test

import (
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/cuda/emu"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

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
