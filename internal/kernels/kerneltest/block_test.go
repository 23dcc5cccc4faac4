package kerneltest_test

import (
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// Behind a barrier a thread sees what all others of its block wrote to shared
// memory before it.
func TestSharedMemory(t *testing.T) {
	eachShape(t, func(t *testing.T, d *device, g cuda.Grid) {
		n := threads(g)
		in, out := fill(n, d.draws.Uint32), upload(d, make([]uint32, n))
		d.must(family(d, kerneltest.LoadBlock).Reverse(d.stream, g, upload(d, in), out))
		want := slices.Clone(in)
		for block := range slices.Chunk(want, int(g.Threads)) {
			slices.Reverse(block)
		}
		expect(t, "reversed", download[uint32](d, out, n), want)
	})
}

// A launch gives blocks of any size their dynamic shared memory.
func TestDynamicSharedMemory(t *testing.T) {
	eachShape(t, func(t *testing.T, d *device, g cuda.Grid) {
		in, out := fill(threads(g), d.draws.Uint64), upload(d, make([]uint64, g.Blocks))
		g.Shared = 8 * g.Threads
		d.must(family(d, kerneltest.LoadBlock).Sum(d.stream, g, upload(d, in), out))
		want := make([]uint64, g.Blocks)
		for i, v := range in {
			want[i/int(g.Threads)] += v
		}
		expect(t, "sums", download[uint64](d, out, int(g.Blocks)), want)
	})
}

// Barriers count out the threads that have exited.
func TestBarrierAfterExit(t *testing.T) {
	eachShape(t, func(t *testing.T, d *device, g cuda.Grid) {
		const rounds = 5
		n := threads(g)
		leaves := fill(n, func() uint32 { return toUint(d.draws.IntN(3) == 0) })
		stay := make([]uint32, g.Blocks)
		for i, gone := range leaves {
			stay[i/int(g.Threads)] += 1 - gone
		}
		want := make([]uint32, n)
		for i, gone := range leaves {
			want[i] = rounds * stay[i/int(g.Threads)] * (1 - gone)
		}
		out := upload(d, make([]uint32, n))
		d.must(family(d, kerneltest.LoadBlock).Leave(d.stream, g, upload(d, leaves), out, rounds))
		expect(t, "sums", download[uint32](d, out, n), want)
	})
}

// Between two barriers the warps of a block go their own ways.
func TestBarrierAfterWarps(t *testing.T) {
	eachShape(t, func(t *testing.T, d *device, g cuda.Grid) {
		n := threads(g)
		out := upload(d, make([]uint32, n))
		d.must(family(d, kerneltest.LoadBlock).Rounds(d.stream, g, out))
		want := make([]uint32, n)
		last := (int(g.Threads) - 1) / lanes
		for i := range want {
			warp := last - i%int(g.Threads)/lanes
			want[i] = uint32(warp*lanes + warp + 1) // its first thread, and one for each round
		}
		expect(t, "values", download[uint32](d, out, n), want)
	})
}

// On the emulator shared memory is never 0 by chance, neither at first nor after
// another block left zeros there.
func TestFreshSharedMemory(t *testing.T) {
	if !gputest.Emulated() {
		t.Skip("a device promises nothing")
	}
	d := newDevice(t)
	zeros := upload(d, []uint32{0})
	k := family(d, kerneltest.LoadBlock)
	for range 3 {
		d.must(k.Fresh(d.stream, cuda.Grid{Blocks: 8, Threads: 64, Shared: 1024}, zeros))
	}
	if n := download[uint32](d, zeros, 1)[0]; n != 0 {
		t.Errorf("%d words are 0", n)
	}
}
