package kerneltest_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// The tests of device.cuh run kernels that use all of it, and compute in Go what
// CUDA promises. They pass on a device and on the emulator.

const lanes = 32

// shapes is grids with blocks that are no warp, one, more, and as large as can be.
var shapes = []cuda.Grid{
	{Blocks: 1, Threads: 1},
	{Blocks: 3, Threads: 31},
	{Blocks: 2, Threads: 32},
	{Blocks: 5, Threads: 33},
	{Blocks: 7, Threads: 100},
	{Blocks: 2, Threads: 1024},
}

// eachShape runs a test with each of shapes.
func eachShape(t *testing.T, test func(t *testing.T, d *device, g cuda.Grid)) {
	for _, g := range shapes {
		t.Run(fmt.Sprintf("blocks=%d/threads=%d", g.Blocks, g.Threads), func(t *testing.T) {
			test(t, newDevice(t), g)
		})
	}
}

// device is a device with a stream, and draws that are the same in each run.
type device struct {
	tb     testing.TB
	thread *cuda.Thread
	stream *cuda.Stream
	draws  *rand.Rand
}

func newDevice(tb testing.TB) *device {
	tb.Helper()
	d := &device{tb: tb, thread: gputest.Open(tb), draws: rand.New(rand.NewPCG(1, 2))}
	d.stream = gputest.Keep(tb, d.thread.NewStream)
	return d
}

func (d *device) must(err error) {
	d.tb.Helper()
	if err != nil {
		d.tb.Fatal(err)
	}
}

// family loads the kernels of a file.
func family[T any](d *device, load func(*cuda.Thread) (T, error)) T {
	d.tb.Helper()
	return gputest.Make(d.tb, func() (T, error) { return load(d.thread) })
}

// upload is device memory with a copy of values.
func upload[T any](d *device, values []T) cuda.Ptr {
	d.tb.Helper()
	memory := gputest.Keep(d.tb, func() (*cuda.Memory, error) {
		return d.thread.Alloc(cuda.Size(len(values)) * cuda.Size(unsafe.Sizeof(values[0])))
	})
	d.must(d.thread.Write(memory.Span(), raw(values)))
	return memory.Span().Ptr
}

// download waits for the stream and reads n values.
func download[T any](d *device, from cuda.Ptr, n int) []T {
	d.tb.Helper()
	values := make([]T, n)
	d.must(d.stream.Synchronize())
	d.must(d.thread.Read(raw(values), cuda.Span{Ptr: from, Size: cuda.Size(len(raw(values)))}))
	return values
}

func threads(g cuda.Grid) int { return int(g.Blocks * g.Threads) }

// fill is n values, each made by f.
func fill[T any](n int, f func() T) []T {
	values := make([]T, n)
	for i := range values {
		values[i] = f()
	}
	return values
}

// expect compares values of each thread of a grid.
func expect[T comparable](tb testing.TB, what string, got, want []T) {
	tb.Helper()
	if slices.Equal(got, want) {
		return
	}
	wrong := 0
	for i := range want {
		if got[i] == want[i] {
			continue
		}
		if wrong++; wrong <= 5 {
			tb.Errorf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
	tb.Errorf("%s: %d of %d elements are wrong", what, wrong, len(want))
}

// place is where thread i of a grid is: its lane, and the first thread of its
// warp, which has n lanes.
func place(g cuda.Grid, i int) (lane, first, n int) {
	inBlock := i % int(g.Threads)
	lane = inBlock % lanes
	return lane, i - lane, min(lanes, int(g.Threads)-(inBlock-lane))
}

// groups draws for each thread the mask of the lanes that it meets: the lanes of
// each warp are divided at random, into one group as often as into many.
func (d *device) groups(g cuda.Grid) []uint32 {
	masks := make([]uint32, threads(g))
	for i := range masks {
		lane, first, n := place(g, i)
		if lane != 0 {
			continue
		}
		count := 1 + d.draws.IntN(n)*d.draws.IntN(2)
		groups := make([]uint32, count)
		of := fill(n, func() int { return d.draws.IntN(count) })
		for l, group := range of {
			groups[group] |= 1 << l
		}
		for l, group := range of {
			masks[first+l] = groups[group]
		}
	}
	return masks
}

// members is the threads that thread i meets when it names mask.
func members(g cuda.Grid, i int, mask uint32) []int {
	_, first, _ := place(g, i)
	var all []int
	for ; mask != 0; mask &= mask - 1 {
		all = append(all, first+bits.TrailingZeros32(mask))
	}
	return all
}

func toUint(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}
