package ega

import (
	"github.com/gagg-dev/gagg/internal/cuda"
)

// Groups is the groups that a pass left on the device, each in one place, whole, divided by the top bits of their hash
// into partitions, and each partition into fine buckets by the bits that follow. Reader and Partition are called from any
// goroutine. Close comes after the readers'.
type Groups struct {
	context *cuda.Context
	host    func(int64) error
	buffer  int // bytes of those of a reader

	memory *cuda.Memory // the rows, bucket after bucket
	row    cuda.Size
	bits   uint     // 2^bits partitions
	fine   uint     // 2^fine buckets; at least bits
	from   []uint32 // by bucket: its first row, and where the last one ends
}

// Len is how many groups there are.
func (g *Groups) Len() uint64 { return uint64(g.from[len(g.from)-1]) }

// Partition is how many groups partition p has.
func (g *Groups) Partition(p int) uint64 {
	first, end := g.buckets(p)
	return uint64(g.from[end] - g.from[first])
}

// buckets is the fine buckets of a partition, from first to before end.
func (g *Groups) buckets(p int) (first, end int) {
	return p << (g.fine - g.bits), (p + 1) << (g.fine - g.bits)
}

// span is where the rows of some buckets are.
func (g *Groups) span(first, end int) cuda.Span {
	return g.memory.Span().Slice(cuda.Size(g.from[first])*g.row, cuda.Size(g.from[end])*g.row)
}

// Close frees the memory. A second call does nothing.
func (g *Groups) Close() error {
	if g.memory == nil {
		return nil
	}
	memory := g.memory
	g.memory = nil
	return current(g.context, memory.Close)
}
