package main

import (
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// cudaMalloc is the allocator that CUDA offers to kernels. Its heap is as large
// as the driver makes it, and empty: no share of it can be taken before.
type cudaMalloc struct {
	*bench
	kernels *kerneltest.CudamallocBench
	bytes   int // of a piece
}

func newCUDAMalloc(b *bench, bytes int) (*cudaMalloc, error) {
	k, err := kerneltest.LoadCudamallocBench(b.thread)
	return &cudaMalloc{bench: b, kernels: k, bytes: bytes}, err
}

func (m *cudaMalloc) close() error { return nil }

func (m *cudaMalloc) name() string { return "CUDA malloc" }

// fill cannot know how much fits: that shows when it is asked for.
func (m *cudaMalloc) fill(*cuda.Stream, float64) (int, error) { return 2 * m.most, nil }

func (m *cudaMalloc) reset(*cuda.Stream) error { return nil }

func (m *cudaMalloc) get(s *cuda.Stream, n int) error {
	return m.kernels.Get(s, grid(n), m.held.Span().Ptr, uint32(m.bytes), uint32(n))
}

func (m *cudaMalloc) give(s *cuda.Stream, n int) error {
	return m.kernels.Free(s, grid(n), m.held.Span().Ptr, uint32(n), m.counts.Span().Ptr)
}

func (m *cudaMalloc) check(n int) error { return m.checkHeld(n, 8, 0) }
