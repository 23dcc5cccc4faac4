package reference_test

import (
	"encoding/binary"
	"fmt"
	"testing"
	"unsafe"

	"github.com/gagg-dev/gagg/gpumem/reference"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// Warps allocate and free at random, at all fill levels, and each finds in its
// slabs what it wrote there (SLAB-FRESH).
func TestSlabsChurn(t *testing.T) {
	cases := []struct {
		blocks, warps, rounds int
		most                  uint32
	}{
		{blocks: 1, warps: 1, rounds: 500, most: 32},  // one warp alone
		{blocks: 1, warps: 32, rounds: 64, most: 4},   // one memory block for all
		{blocks: 2, warps: 64, rounds: 64, most: 32},  // as many slabs as are wanted at most
		{blocks: 1, warps: 64, rounds: 100, most: 32}, // too few
		{blocks: 40, warps: 256, rounds: 64, most: 32},
	}
	if !gputest.Emulated() && !testing.Short() {
		cases = append(cases, cases[2], cases[3], cases[4])
		for i := range cases[len(cases)-3:] { // a million threads, eight times as many rounds
			c := &cases[len(cases)-3+i]
			c.blocks, c.warps, c.rounds = c.blocks*(1<<15)/c.warps, 1<<15, c.rounds*8
		}
	}
	for _, c := range cases {
		for _, spread := range []uint32{0, 1} {
			t.Run(fmt.Sprintf("blocks=%d/warps=%d/most=%d/spread=%d", c.blocks, c.warps, c.most, spread), func(t *testing.T) {
				r := newSlabRig(t)
				s := r.slabs(reference.SlabConfig{SlabBytes: 256, Blocks: uint32(c.blocks), SuperBlocks: 1, Tries: 3})
				short := c.warps*int(c.most) > int(s.Capacity())
				r.churn(s, c.warps, c.rounds, c.most, spread, short)
			})
		}
	}
}

// churn lets warps allocate and free, and wants none of the faults that the
// kernel watches for; short tells whether there may be too few slabs.
func (r *slabRig) churn(s *reference.Slabs, warps, rounds int, most, spread uint32, short bool) {
	r.TB.Helper()
	owners := r.Words(int(s.Capacity()), 0)
	held := r.Words(warps*32, 0)
	faults := r.Words(int(unsafe.Sizeof(kerneltest.OwnerFaults{})/4), 0)
	r.Do(r.stress.Churn(r.Stream, cuda.Grid{Blocks: uint32(warps), Threads: 32}, s.View(), uint32(rounds), most, spread, 5, owners.Ptr, held.Ptr, faults.Ptr))
	checkFaults(r.TB, r.Read(faults), short)

	addresses := r.Read(held)
	n := r.distinct(s, addresses)
	r.used(s, n)
	owned := 0
	for _, owner := range r.Read(owners) {
		owned += min(int(owner), 1)
	}
	if owned != n {
		r.TB.Errorf("%d slabs have an owner, %d are held", owned, n)
	}
	r.free(s, addresses)
	r.used(s, 0)
}

// checkFaults wants OwnerFaults to be without faults; short tells whether
// refusals are none.
func checkFaults(tb testing.TB, f []uint32, short bool) {
	tb.Helper()
	found := kerneltest.OwnerFaults{Twice: f[0], Strange: f[1], Spoiled: f[2], Refused: f[3]}
	if found.Twice != 0 || found.Strange != 0 || found.Spoiled != 0 || (found.Refused != 0 && !short) {
		tb.Errorf("faults: %+v", found)
	}
}

// Every address leads to the word and the memory that the layout says.
func TestSlabsPlaces(t *testing.T) {
	for _, shape := range slabShapes {
		t.Run(slabName(shape), func(t *testing.T) {
			r := newSlabRig(t)
			s := r.slabs(shape)
			addresses := r.allocate(s, int(s.Capacity()), 1)
			n := len(addresses)
			words, slabs := r.Words(2*n, 0), r.Words(2*n, 0)
			r.Do(r.stress.Places(r.Stream, gputest.Threads(n), s.View(), r.Write(addresses).Ptr, words.Ptr, slabs.Ptr, uint32(n)))
			gotWords, gotSlabs := r.Bytes(words), r.Bytes(slabs)
			for i, a := range addresses {
				super := s.View().SuperBlocks[a>>24]
				block, slab := cuda.Ptr(a>>10&0x3fff), cuda.Ptr(a&0x3ff)
				wantWord := super + block*128 + slab/32*4
				wantSlab := super + cuda.Ptr(shape.Blocks)*128 + (block*1024+slab)*cuda.Ptr(shape.SlabBytes)
				word, at := binary.LittleEndian.Uint64(gotWords[8*i:]), binary.LittleEndian.Uint64(gotSlabs[8*i:])
				if cuda.Ptr(word) != wantWord || cuda.Ptr(at) != wantSlab {
					t.Fatalf("address %#x: word at %#x, slab at %#x, want %#x, %#x", a, word, at, wantWord, wantSlab)
				}
			}
		})
	}
}

// What allocating costs: one atomic each as long as the resident has room and
// nobody else is there; a change of resident when it is full.
func TestSlabsCounts(t *testing.T) {
	r := newSlabRig(t)
	s := r.slabs(reference.SlabConfig{SlabBytes: 128, Blocks: 4, SuperBlocks: 1, Tries: 2})
	for _, c := range []struct {
		n, refused int
		want       kerneltest.SlabCounts // as far as it is certain
	}{
		{n: 32, want: kerneltest.SlabCounts{Slabs: 32, Atomics: 32, Reads: 1, Warps: 1, SlabRounds: 2, WarpRounds: 33}},
		{n: 5, want: kerneltest.SlabCounts{Slabs: 5, Atomics: 5, Reads: 1, Warps: 1, SlabRounds: 2, WarpRounds: 6}},
		{n: 4096 - 37},
		// A full pool: for each slab two tries, the first of which is the warp's
		// first choice, and four blocks in order.
		{n: 3, refused: 3, want: kerneltest.SlabCounts{Refused: 3, Reads: 18, Warps: 1, SlabRounds: 6, WarpRounds: 18}},
	} {
		got := r.counted(s, c.n)
		if c.want.Warps != 0 && got != c.want {
			t.Errorf("n=%d: %+v, want %+v", c.n, got, c.want)
		}
		if int(got.Slabs) != c.n-c.refused || int(got.Refused) != c.refused || got.Atomics < got.Slabs {
			t.Errorf("n=%d: %+v", c.n, got)
		}
	}
}

// counted allocates n slabs and returns what that cost.
func (r *slabRig) counted(s *reference.Slabs, n int) kerneltest.SlabCounts {
	r.TB.Helper()
	out := r.Words(n, 0)
	counts := r.Words(int(unsafe.Sizeof(kerneltest.SlabCounts{})/4), 0)
	r.Do(r.bench.GetCounted(r.Stream, gputest.Threads(n), s.View(), out.Ptr, uint32(n), 0, counts.Ptr))
	raw := r.Bytes(counts)
	at := func(i int) uint64 { return binary.LittleEndian.Uint64(raw[8*i:]) }
	return kerneltest.SlabCounts{
		Slabs: at(0), Refused: at(1), Atomics: at(2), Reads: at(3), Warps: at(4), SlabRounds: at(5), WarpRounds: at(6),
	}
}
