package reference_test

import (
	"encoding/binary"
	"testing"

	"github.com/gagg-dev/gagg/gpumem/reference"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// slabRig is a device with the kernels that the tests of Slabs use. What it
// makes is closed at the end of the test.
type slabRig struct {
	tb     testing.TB
	thread *cuda.Thread
	stream *cuda.Stream
	slab   *kerneltest.Slab
	bench  *kerneltest.SlabBench
	stress *kerneltest.SlabStress
}

func newSlabRig(tb testing.TB) *slabRig {
	tb.Helper()
	r := &slabRig{tb: tb, thread: gputest.Open(tb)}
	r.stream = gputest.Keep(tb, r.thread.NewStream)
	r.slab = load(tb, r.thread, kerneltest.LoadSlab)
	r.bench = load(tb, r.thread, kerneltest.LoadSlabBench)
	r.stress = load(tb, r.thread, kerneltest.LoadSlabStress)
	return r
}

func load[T any](tb testing.TB, t *cuda.Thread, open func(*cuda.Thread) (T, error)) T {
	tb.Helper()
	return gputest.Make(tb, func() (T, error) { return open(t) })
}

func (r *slabRig) slabs(c reference.SlabConfig) *reference.Slabs {
	r.tb.Helper()
	return gputest.Keep(r.tb, func() (*reference.Slabs, error) { return reference.NewSlabs(r.thread, r.slab, c) })
}

// words is device memory of n words of 32 bits, each set to v.
func (r *slabRig) words(n int, v uint32) cuda.Span {
	r.tb.Helper()
	span := gputest.Keep(r.tb, func() (*cuda.Memory, error) { return r.thread.Alloc(cuda.Size(4 * n)) }).Span()
	r.do(r.stream.Fill32(span, v))
	return span
}

// do ends the test at an error.
func (r *slabRig) do(err error) {
	r.tb.Helper()
	if err != nil {
		r.tb.Fatal(err)
	}
}

// bytes waits for the stream and reads device memory.
func (r *slabRig) bytes(span cuda.Span) []byte {
	r.tb.Helper()
	r.do(r.stream.Synchronize())
	out := make([]byte, span.Size)
	r.do(r.thread.Read(out, span))
	return out
}

// read waits for the stream and reads words of 32 bits.
func (r *slabRig) read(span cuda.Span) []uint32 {
	r.tb.Helper()
	raw := r.bytes(span)
	out := make([]uint32, len(raw)/4)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(raw[4*i:])
	}
	return out
}

// write brings words of 32 bits to the device.
func (r *slabRig) write(values []uint32) cuda.Span {
	r.tb.Helper()
	span := r.words(max(len(values), 1), 0)
	r.do(r.stream.Synchronize())
	raw := make([]byte, 0, 4*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, v)
	}
	r.do(r.thread.Write(span.Slice(0, cuda.Size(len(raw))), raw))
	return span
}

// allocate gets n slabs in one launch, one for each thread.
func (r *slabRig) allocate(s *reference.Slabs, n int, spread uint32) []uint32 {
	r.tb.Helper()
	out := r.words(n, 0)
	r.do(r.bench.Get(r.stream, threads(n), s.View(), out.Ptr, uint32(n), spread))
	return r.read(out)
}

// free gives slabs back in one launch.
func (r *slabRig) free(s *reference.Slabs, addresses []uint32) {
	r.tb.Helper()
	in := r.write(addresses)
	r.do(r.bench.Free(r.stream, threads(len(addresses)), s.View(), in.Ptr, uint32(len(addresses))))
	r.do(r.stream.Synchronize())
}

// threads is a grid with a thread for each of n, and at least one warp.
func threads(n int) cuda.Grid {
	const block = 128
	return cuda.Grid{Blocks: uint32(max(n+block-1, block) / block), Threads: block}
}

// used wants n slabs to be in use.
func (r *slabRig) used(s *reference.Slabs, n int) {
	r.tb.Helper()
	got, err := s.Used()
	r.do(err)
	if got != uint64(n) {
		r.tb.Fatalf("%d slabs are in use, want %d", got, n)
	}
}

// distinct wants addresses to be those of different slabs of s, but for
// NoSlab, and returns how many there are.
func (r *slabRig) distinct(s *reference.Slabs, addresses []uint32) int {
	r.tb.Helper()
	view := s.View()
	seen := map[uint32]bool{}
	for i, a := range addresses {
		if a == reference.NoSlab {
			continue
		}
		if super, block := a>>24, a>>10&0x3fff; super >= view.Count || block >= view.Blocks {
			r.tb.Fatalf("thread %d got address %#x: there is no such slab", i, a)
		}
		if seen[a] {
			r.tb.Fatalf("thread %d got slab %#x, which another one has", i, a)
		}
		seen[a] = true
	}
	return len(seen)
}
