package reference_test

import (
	"testing"

	"github.com/gagg-dev/gagg/gpumem/reference"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// slabRig is a device with the kernels that the tests of Slabs use. What it
// makes is closed at the end of the test.
type slabRig struct {
	*gputest.Rig
	slab   *kerneltest.Slab
	bench  *kerneltest.SlabBench
	stress *kerneltest.SlabStress
}

func newSlabRig(tb testing.TB) *slabRig {
	tb.Helper()
	r := &slabRig{Rig: gputest.NewRig(tb, gputest.Open(tb))}
	r.slab = gputest.Load(tb, r.Thread, kerneltest.LoadSlab)
	r.bench = gputest.Load(tb, r.Thread, kerneltest.LoadSlabBench)
	r.stress = gputest.Load(tb, r.Thread, kerneltest.LoadSlabStress)
	return r
}

func (r *slabRig) slabs(c reference.SlabConfig) *reference.Slabs {
	r.TB.Helper()
	return gputest.Keep(r.TB, func() (*reference.Slabs, error) { return reference.NewSlabs(r.Thread, r.slab, c) })
}

// allocate gets n slabs in one launch, one for each thread.
func (r *slabRig) allocate(s *reference.Slabs, n int, spread uint32) []uint32 {
	r.TB.Helper()
	out := r.Words(n, 0)
	r.Do(r.bench.Get(r.Stream, gputest.Threads(n), s.View(), out.Ptr, uint32(n), spread))
	return r.Read(out)
}

// free gives slabs back in one launch.
func (r *slabRig) free(s *reference.Slabs, addresses []uint32) {
	r.TB.Helper()
	in := r.Write(addresses)
	r.Do(r.bench.Free(r.Stream, gputest.Threads(len(addresses)), s.View(), in.Ptr, uint32(len(addresses))))
	r.Do(r.Stream.Synchronize())
}

// used wants n slabs to be in use.
func (r *slabRig) used(s *reference.Slabs, n int) {
	r.TB.Helper()
	got, err := s.Used()
	r.Do(err)
	if got != uint64(n) {
		r.TB.Fatalf("%d slabs are in use, want %d", got, n)
	}
}

// distinct wants addresses to be those of different slabs of s, but for
// NoSlab, and returns how many there are.
func (r *slabRig) distinct(s *reference.Slabs, addresses []uint32) int {
	r.TB.Helper()
	view := s.View()
	seen := map[uint32]bool{}
	for i, a := range addresses {
		if a == reference.NoSlab {
			continue
		}
		if super, block := a>>24, a>>10&0x3fff; super >= view.Count || block >= view.Blocks {
			r.TB.Fatalf("thread %d got address %#x: there is no such slab", i, a)
		}
		if seen[a] {
			r.TB.Fatalf("thread %d got slab %#x, which another one has", i, a)
		}
		seen[a] = true
	}
	return len(seen)
}
