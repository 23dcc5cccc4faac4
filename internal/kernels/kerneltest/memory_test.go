package kerneltest_test

import (
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// folded is what memory.cu's eight atomics make of values, from the words that
// change nothing. signed orders values as signed ones.
func folded[T uint32 | uint64](values []T, less func(a, b T) int) []T {
	out := foldStart[T]()
	for _, v := range values {
		out[0] += v
		out[1], out[2] = min(out[1], v), max(out[2], v)
		out[3] = slices.MinFunc([]T{out[3], v}, less)
		out[4] = slices.MaxFunc([]T{out[4], v}, less)
		out[5] &= v
		out[6] |= v
		out[7] ^= v
	}
	return out
}

func foldStart[T uint32 | uint64]() []T {
	all := ^T(0)
	top := all ^ all>>1 // the least signed value
	return []T{0, all, 0, all ^ top, top, all, 0, 0}
}

// Every atomic that folds values, with all threads at one word.
func TestAtomicsOfWords(t *testing.T) {
	eachShape(t, func(t *testing.T, d *device, g cuda.Grid) {
		in, out := fill(threads(g), d.draws.Uint32), upload(d, foldStart[uint32]())
		for i := range in { // or and and would have nothing to show else
			in[i] = in[i]&^0xf0 | 0x0f
		}
		d.must(family(d, kerneltest.LoadMemory).Fold(d.stream, g, upload(d, in), out))
		expect(t, "words", download[uint32](d, out, 8), folded(in, func(a, b uint32) int { return int(int64(int32(a)) - int64(int32(b))) }))
	})
}

// The same for 64 bits, and in shared memory.
func TestAtomicsOfLongs(t *testing.T) {
	eachShape(t, func(t *testing.T, d *device, g cuda.Grid) {
		k := family(d, kerneltest.LoadMemory)
		in, out, shared := fill(threads(g), d.draws.Uint64), upload(d, foldStart[uint64]()), upload(d, make([]uint64, 2))
		for i := range in {
			in[i] = in[i]&^(0xff<<30) | 0x0f<<30
		}
		values := upload(d, in)
		d.must(k.FoldLong(d.stream, g, values, out))
		d.must(k.FoldShared(d.stream, g, values, shared))
		want := folded(in, func(a, b uint64) int {
			if int64(a) < int64(b) {
				return -1
			}
			return 1
		})
		expect(t, "longs", download[uint64](d, out, 8), want)
		expect(t, "shared", download[uint64](d, shared, 2), []uint64{want[0], want[7]})
	})
}

// Floating point values add up: whole ones, so that any order gives the same.
func TestAtomicAddOfDoubles(t *testing.T) {
	eachShape(t, func(t *testing.T, d *device, g cuda.Grid) {
		in, out := fill(threads(g), func() float64 { return float64(d.draws.IntN(1e6) - 5e5) }), upload(d, []float64{0.25})
		d.must(family(d, kerneltest.LoadMemory).FoldDouble(d.stream, g, upload(d, in), out))
		want := 0.25
		for _, v := range in {
			want += v
		}
		expect(t, "sum", download[float64](d, out, 1), []float64{want})
	})
}

// An atomic gives the old value to one thread only: tickets are 0, 1, 2, …
func TestTickets(t *testing.T) {
	eachShape(t, func(t *testing.T, d *device, g cuda.Grid) {
		n := threads(g)
		const start = 1<<32 - 10 // the carry into the upper half is part of it
		out, long := upload(d, make([]uint32, n)), upload(d, make([]uint64, n))
		d.must(family(d, kerneltest.LoadMemory).Ticket(d.stream, g, upload(d, []uint32{0}), upload(d, []uint64{start}), out, long))
		tickets, longs := download[uint32](d, out, n), download[uint64](d, long, n)
		slices.Sort(tickets)
		slices.Sort(longs)
		want, wantLong := make([]uint32, n), make([]uint64, n)
		for i := range n {
			want[i], wantLong[i] = uint32(i), uint64(start+i)
		}
		expect(t, "tickets", tickets, want)
		expect(t, "tickets of 64 bits", longs, wantLong)
	})
}

// Numbers that go through one word by exchange come out once each.
func TestExchange(t *testing.T) {
	eachShape(t, func(t *testing.T, d *device, g cuda.Grid) {
		n := threads(g)
		word, wordLong := upload(d, []uint32{0}), upload(d, []uint64{0})
		out, long := upload(d, make([]uint32, n)), upload(d, make([]uint64, n))
		d.must(family(d, kerneltest.LoadMemory).Exchange(d.stream, g, word, wordLong, out, long))
		seen := append(download[uint32](d, out, n), download[uint32](d, word, 1)...)
		seenLong := append(download[uint64](d, long, n), download[uint64](d, wordLong, 1)...)
		slices.Sort(seen)
		slices.Sort(seenLong)
		want, wantLong := make([]uint32, n+1), make([]uint64, n+1)
		for i := range want {
			want[i], wantLong[i] = uint32(i), uint64(i)<<32
		}
		expect(t, "numbers", seen, want)
		expect(t, "numbers of 64 bits", seenLong, wantLong)
	})
}

// Blocks wait for the block before them, and see all it wrote.
func TestLookBack(t *testing.T) {
	for _, blocks := range []int{1, 2, 100, 3000} {
		d := newDevice(t)
		k := family(d, kerneltest.LoadMemory)
		g := cuda.Grid{Blocks: uint32(blocks), Threads: 33}
		in := fill(blocks, d.draws.Uint64)
		want := make([]uint64, blocks)
		var sum uint64
		for i, v := range in {
			sum += v
			want[i] = sum
		}
		values := upload(d, in)
		sums := upload(d, make([]uint64, blocks))
		d.must(k.LookBack(d.stream, g, values, sums, upload(d, make([]uint32, blocks))))
		expect(t, "sums by acquire and release", download[uint64](d, sums, blocks), want)
		sums = upload(d, make([]uint64, blocks))
		d.must(k.Fence(d.stream, g, values, sums, upload(d, make([]uint64, blocks))))
		expect(t, "sums by fences", download[uint64](d, sums, blocks), want)
	}
}

// A lock that one lane takes for its warp keeps all other warps out.
func TestLock(t *testing.T) {
	eachShape(t, func(t *testing.T, d *device, g cuda.Grid) {
		lock, counter := upload(d, []uint32{0}), upload(d, []uint32{0})
		d.must(family(d, kerneltest.LoadMemory).Lock(d.stream, g, lock, counter))
		expect(t, "count", download[uint32](d, counter, 1), []uint32{uint32(threads(g))})
		expect(t, "lock", download[uint32](d, lock, 1), []uint32{0})
	})
}

// A bit that one lane takes by or_acquire and gives back by and_release is a lock too,
// and the word's other bits stay as they are.
func TestLockOfABit(t *testing.T) {
	eachShape(t, func(t *testing.T, d *device, g cuda.Grid) {
		word, counter := upload(d, []uint32{0xf00f}), upload(d, []uint32{0})
		d.must(family(d, kerneltest.LoadMemory).Bit(d.stream, g, word, 0x40, counter))
		warps := int(g.Blocks) * ((int(g.Threads) + 31) / 32)
		expect(t, "count", download[uint32](d, counter, 1), []uint32{uint32(warps)})
		expect(t, "word", download[uint32](d, word, 1), []uint32{0xf00f})
	})
}

// Four words are loaded in their order.
func TestLoadOfFour(t *testing.T) {
	eachShape(t, func(t *testing.T, d *device, g cuda.Grid) {
		in := fill(4*threads(g), d.draws.Uint32)
		out := upload(d, make([]uint32, len(in)))
		d.must(family(d, kerneltest.LoadMemory).Four(d.stream, g, upload(d, in), out))
		expect(t, "words", download[uint32](d, out, len(in)), in)
	})
}

// Behind __syncwarp a lane sees what the others of its warp wrote before it.
func TestNeighbour(t *testing.T) {
	eachShape(t, func(t *testing.T, d *device, g cuda.Grid) {
		n := threads(g)
		in, out := fill(n, d.draws.Uint32), upload(d, make([]uint32, n))
		d.must(family(d, kerneltest.LoadMemory).Neighbour(d.stream, g, upload(d, in), out))
		want := make([]uint32, n)
		for i := range n {
			lane, first, count := place(g, i)
			want[i] = in[first+(lane+1)%count]
		}
		expect(t, "values", download[uint32](d, out, n), want)
	})
}

// The clocks do not go back. How finely globaltimer ticks is the device's own.
func TestClocks(t *testing.T) {
	d, g := newDevice(t), cuda.Grid{Blocks: 4, Threads: 33}
	out := upload(d, make([]int64, 2*threads(g)))
	d.must(family(d, kerneltest.LoadMemory).Clock(d.stream, g, out))
	for i, v := range slices.Collect(slices.Chunk(download[int64](d, out, 2*threads(g)), 2)) {
		if v[0] <= 0 || v[1] < 0 {
			t.Fatalf("thread %d saw clocks go on by %d ticks, %d ns", i, v[0], v[1])
		}
	}
}
