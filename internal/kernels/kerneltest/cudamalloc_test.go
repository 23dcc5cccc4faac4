package kerneltest_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/gputest"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// CUDA's own allocator links and hands out memory that does not overlap. The
// heap has 8 MiB, the pieces take half of it.
func TestCudaMalloc(t *testing.T) {
	r := newQueueRig(t)
	k := gputest.Make(t, func() (*kerneltest.CudamallocBench, error) { return kerneltest.LoadCudamallocBench(r.Thread) })
	const n, bytes = 4097, 512
	for range 3 {
		out, spoiled := r.Words(2*n, 0), r.Words(1, 0)
		r.Do(k.Get(r.Stream, warps(n), out.Ptr, bytes, n))
		pieces := r.pointers(out)
		slices.Sort(pieces)
		for i := 1; i < n; i++ {
			if pieces[i-1] == 0 || pieces[i]-pieces[i-1] < bytes {
				t.Fatalf("pieces of %d bytes at %#x and %#x", bytes, pieces[i-1], pieces[i])
			}
		}
		r.Do(k.Free(r.Stream, warps(n), out.Ptr, n, spoiled.Ptr))
		if s := r.Read(spoiled)[0]; s != 0 {
			t.Errorf("%d pieces were overwritten", s)
		}
	}
}

// pointers waits for the stream and reads addresses.
func (r *queueRig) pointers(span cuda.Span) []uint64 {
	r.TB.Helper()
	r.Do(r.Stream.Synchronize())
	raw := make([]byte, span.Size)
	r.Do(r.Thread.Read(raw, span))
	out := make([]uint64, len(raw)/8)
	for i := range out {
		out[i] = binary.LittleEndian.Uint64(raw[8*i:])
	}
	return out
}
