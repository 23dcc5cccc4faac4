package ondevice

import (
	"encoding/binary"
	"fmt"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// ChainSize is how large a chain is.
type ChainSize struct {
	Pages int
	Last  int // rows in its last page; all others are full
}

// Rows is the number of rows of a chain whose pages hold pageRows rows.
func (s ChainSize) Rows(pageRows int) int { return max(s.Pages-1, 0)*pageRows + s.Last }

// Sizes reads how large the chains of all partitions are. No call may be under way.
func (c *Chains) Sizes() ([]ChainSize, error) {
	lengths, err := ReadWords(c.thread, c.lengths)
	if err != nil {
		return nil, err
	}
	raw := make([]byte, c.now.rows.Size)
	if err := c.thread.Read(raw, c.now.rows); err != nil {
		return nil, err
	}
	sizes := make([]ChainSize, len(lengths))
	for p, pages := range lengths {
		if pages > 0 {
			rows := binary.LittleEndian.Uint64(raw[8*p:])
			sizes[p] = ChainSize{Pages: int(pages), Last: int(rows - uint64(pages-1)*uint64(c.pageRows))}
		}
	}
	return sizes, nil
}

// List queues a kernel that lists the pages of all chains, which have these sizes, on the device.
// The list is valid until the next List or until rows are appended.
func (c *Chains) List(stream *cuda.Stream, sizes []ChainSize) error {
	from := make([]uint32, 0, len(sizes))
	raw := make([]byte, 0, 4*len(sizes))
	all := uint32(0)
	for _, s := range sizes {
		from, raw = append(from, all), binary.LittleEndian.AppendUint32(raw, all)
		all += uint32(s.Pages)
	}
	if err := c.thread.Write(c.from.Slice(0, cuda.Size(len(raw))), raw); err != nil {
		return err
	}
	c.listed = from
	return c.kernels.List(stream, kernels.Sweep(uint64(c.slots)), c.view(), c.from.Ptr, c.pages.Ptr)
}

// Gather queues a copy of n rows of the chain of partition p, from row `first` on, to the start of
// `to`. List comes before it.
func (c *Chains) Gather(stream *cuda.Stream, p, first, n int, to cuda.Span) error {
	if size := c.rows.bytes(n); n < 1 || size > to.Size {
		return fmt.Errorf("gather a chain: %d rows to %v", n, to.Size)
	}
	pages := c.pages.Ptr + 4*cuda.Ptr(c.listed[p])
	stride := uint32(c.rows.Stride)
	return c.kernels.Gather(stream, kernels.Sweep(uint64(n)*uint64(stride)), c.view(), pages, stride, uint64(first), uint32(n), to.Ptr)
}

// Free queues a kernel that gives the pages of the n partitions from first on back to the pool,
// which leaves their chains empty.
func (c *Chains) Free(stream *cuda.Stream, first, n int) error { return c.settle(stream, first, n) }
