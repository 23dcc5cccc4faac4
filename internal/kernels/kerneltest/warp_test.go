package kerneltest_test

import (
	"fmt"
	"math/bits"
	"testing"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// Each group of lanes of a warp votes for itself.
func TestVote(t *testing.T) {
	eachShape(t, func(t *testing.T, d *device, g cuda.Grid) {
		n := threads(g)
		masks, in := d.groups(g), fill(n, d.draws.Uint32)
		for i := range in { // more groups that agree than chance has
			if masks[i]&1 == 0 {
				in[i] = masks[i] >> 1
			}
		}
		out := upload(d, make([]uint32, 3*n))
		d.must(family(d, kerneltest.LoadWarp).Vote(d.stream, g, upload(d, masks), upload(d, in), out))
		want := make([]uint32, 3*n)
		for i := range n {
			ballot := ballot(g, i, masks[i], func(j int) bool { return in[j]&1 == 1 })
			copy(want[3*i:], []uint32{ballot, toUint(ballot != 0), toUint(ballot == masks[i])})
		}
		expect(t, "votes", download[uint32](d, out, 3*n), want)
	})
}

// ballot is the lanes of mask whose thread says yes.
func ballot(g cuda.Grid, i int, mask uint32, yes func(thread int) bool) (set uint32) {
	for _, j := range members(g, i, mask) {
		lane, _, _ := place(g, j)
		set |= toUint(yes(j)) << lane
	}
	return set
}

// Lanes of a group find those with their value, of 32 and of 64 bits.
func TestMatch(t *testing.T) {
	eachShape(t, func(t *testing.T, d *device, g cuda.Grid) {
		n := threads(g)
		masks, in := d.groups(g), fill(n, func() uint32 { return d.draws.Uint32N(4) })
		long := fill(n, func() uint64 { return d.draws.Uint64N(3) << 40 }) // equal in the lower half
		out := upload(d, make([]uint32, 2*n))
		k := family(d, kerneltest.LoadWarp)
		d.must(k.Match(d.stream, g, upload(d, masks), upload(d, in), upload(d, long), out))
		want := make([]uint32, 2*n)
		for i := range n {
			want[2*i] = ballot(g, i, masks[i], func(j int) bool { return in[j] == in[i] })
			want[2*i+1] = ballot(g, i, masks[i], func(j int) bool { return long[j] == long[i] })
		}
		expect(t, "matches", download[uint32](d, out, 2*n), want)
	})
}

// sources is the lanes that the four shuffles of warp.cu read: source lane, up,
// down, xor. Only the five low bits of the argument count, as PTX has it.
func sources(lane, argument, width int) [4]int {
	first := lane / width * width
	last, by := first+width-1, argument%lanes
	at := [4]int{first + by%width, lane - by, lane + by, lane ^ by}
	if at[1] < first {
		at[1] = lane
	}
	if at[2] > last {
		at[2] = lane
	}
	if at[3] > last {
		at[3] = lane
	}
	return at
}

// shuffled sets got to want where a shuffle read a lane that its mask does not
// name: what it reads there is undefined.
func shuffled[T any](g cuda.Grid, masks, arguments []uint32, width int, in, got []T) (want []T) {
	want = make([]T, len(got))
	for i := range in {
		lane, first, _ := place(g, i)
		for k, source := range sources(lane, int(arguments[i]), width) {
			if masks[i]>>source&1 == 0 {
				want[4*i+k] = got[4*i+k]
			} else {
				want[4*i+k] = in[first+source]
			}
		}
	}
	return want
}

// Values of 32 and 64 bits and floating point ones move between the lanes of a
// group, in segments of each width, from lanes outside too.
func TestShuffle(t *testing.T) {
	eachShape(t, func(t *testing.T, d *device, g cuda.Grid) {
		k, n := family(d, kerneltest.LoadWarp), threads(g)
		for _, width := range []int{1, 2, 8, 16, 32} {
			masks, arguments := d.groups(g), fill(n, func() uint32 { return d.draws.Uint32N(70) })
			mask, argument := upload(d, masks), upload(d, arguments)
			in, long, double := fill(n, d.draws.Uint32), fill(n, d.draws.Uint64), fill(n, d.draws.Float64)
			out := upload(d, make([]uint32, 4*n))
			d.must(k.Shuffle(d.stream, g, mask, upload(d, in), argument, uint32(width), out))
			got := download[uint32](d, out, 4*n)
			expect(t, fmt.Sprintf("width %d", width), got, shuffled(g, masks, arguments, width, in, got))

			out = upload(d, make([]uint64, 4*n))
			d.must(k.ShuffleLong(d.stream, g, mask, upload(d, long), argument, uint32(width), out))
			gotLong := download[uint64](d, out, 4*n)
			expect(t, fmt.Sprintf("64 bits, width %d", width), gotLong, shuffled(g, masks, arguments, width, long, gotLong))

			d.must(k.ShuffleDouble(d.stream, g, mask, upload(d, double), argument, uint32(width), out))
			gotDouble := download[float64](d, out, 4*n)
			expect(t, fmt.Sprintf("double, width %d", width), raw(gotDouble), raw(shuffled(g, masks, arguments, width, double, gotDouble)))
		}
	})
}

// Lanes that took different branches vote there, and all together again after it.
func TestBranches(t *testing.T) {
	eachShape(t, func(t *testing.T, d *device, g cuda.Grid) {
		n := threads(g)
		in, out := fill(n, d.draws.Uint32), upload(d, make([]uint32, 2*n))
		d.must(family(d, kerneltest.LoadWarp).Branches(d.stream, g, upload(d, in), out))
		want := make([]uint32, 2*n)
		for i := range n {
			_, _, count := place(g, i)
			all := uint32(1<<count - 1)
			want[2*i] = ballot(g, i, all, func(j int) bool {
				return in[j]&1 == in[i]&1 && in[j]>>(2-in[i]&1)&1 == 1
			})
			want[2*i+1] = ballot(g, i, all, func(j int) bool { return in[j]&8 != 0 })
		}
		expect(t, "ballots", download[uint32](d, out, 2*n), want)
	})
}

// Lanes leave a loop one after the other, and the mask of those that stay shrinks.
func TestLoop(t *testing.T) {
	eachShape(t, func(t *testing.T, d *device, g cuda.Grid) {
		n := threads(g)
		trips, out := fill(n, func() uint32 { return d.draws.Uint32N(40) }), upload(d, make([]uint32, n))
		d.must(family(d, kerneltest.LoadWarp).Loop(d.stream, g, upload(d, trips), out))
		want := make([]uint32, n)
		for i := range n {
			_, first, count := place(g, i)
			for _, others := range trips[first : first+count] {
				want[i] += min(trips[i], others)
			}
		}
		expect(t, "sums", download[uint32](d, out, n), want)
	})
}

// Lanes that __activemask names got the same answer, and can meet.
func TestActiveMask(t *testing.T) {
	eachShape(t, func(t *testing.T, d *device, g cuda.Grid) {
		n := threads(g)
		in, out := fill(n, d.draws.Uint32), upload(d, make([]uint32, 2*n))
		d.must(family(d, kerneltest.LoadWarp).Active(d.stream, g, upload(d, in), out))
		got := download[uint32](d, out, 2*n)
		for i := range n {
			lane, _, _ := place(g, i)
			mask := got[2*i]
			if came := in[i]&1 == 1; came != (mask>>lane&1 == 1) || got[2*i+1] != mask {
				t.Fatalf("thread %d, which came there: %t, was told 0x%08x and met 0x%08x", i, came, mask, got[2*i+1])
			}
			for _, j := range members(g, i, mask) {
				if got[2*j] != mask {
					t.Fatalf("thread %d was told 0x%08x, thread %d 0x%08x", i, mask, j, got[2*j])
				}
			}
		}
	})
}

// Threads know where they are.
func TestPlace(t *testing.T) {
	eachShape(t, func(t *testing.T, d *device, g cuda.Grid) {
		n := threads(g)
		out := upload(d, make([]uint32, 7*n))
		d.must(family(d, kerneltest.LoadWarp).Place(d.stream, g, out))
		warpsOfBlock := (int(g.Threads) + lanes - 1) / lanes
		want := make([]uint32, 0, 7*n)
		for i := range n {
			lane, _, count := place(g, i)
			block, warp := i/int(g.Threads), i%int(g.Threads)/lanes
			want = append(want, uint32(lane), uint32(warp), uint32(i), uint32(block*warpsOfBlock+warp),
				bits.Reverse32(^uint32(0)<<(lanes-lane)), uint32(1<<count-1), 1)
		}
		expect(t, "places", download[uint32](d, out, 7*n), want)
	})
}
