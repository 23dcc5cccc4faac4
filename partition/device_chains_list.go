package partition

import (
	"encoding/binary"
	"fmt"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// ChainPages is the pages of some chains, one after the other.
type ChainPages struct {
	First int         // the partition of the first of them
	Sizes []ChainSize // of each
	From  []uint32    // where its pages begin in Pages; one more, where they end
	Pages []uint32    // the newest of a chain first
}

// List finds the pages of the n partitions from first on, for which sizes are those of all
// partitions, and waits for that. The outcome may be freed as long as nothing is appended.
func (c *Chains) List(stream *cuda.Stream, sizes []ChainSize, first, n int) (ChainPages, error) {
	l := ChainPages{First: first, Sizes: sizes[first : first+n], From: []uint32{0}}
	all := uint32(0)
	for _, s := range l.Sizes {
		all += uint32(s.Pages)
		l.From = append(l.From, all)
	}
	raw := make([]byte, 0, 4*len(l.From))
	for _, at := range l.From {
		raw = binary.LittleEndian.AppendUint32(raw, at)
	}
	if err := c.thread.Write(c.from.Slice(0, cuda.Size(len(raw))), raw); err != nil {
		return ChainPages{}, err
	}
	if err := c.kernels.List(stream, kernels.Sweep(uint64(n)), c.chains(), uint32(first), uint32(n), c.from.Ptr, c.pages.Ptr); err != nil {
		return ChainPages{}, err
	}
	if err := stream.Synchronize(); err != nil {
		return ChainPages{}, err
	}
	var err error
	l.Pages, err = readWords(c.thread, c.pages.Slice(0, 4*cuda.Size(all)))
	return l, err
}

// Listed is where the numbers of the pages of the last List are in device memory,
// for kernels that take chains. It is valid until the next List.
func (c *Chains) Listed() cuda.Span { return c.pages }

// CopyOut queues that the rows of listed pages are copied to pinned memory, one page after
// the other from byte `at` on. It returns how many rows those are.
func (c *Chains) CopyOut(stream *cuda.Stream, l ChainPages, dst *cuda.Pinned, at cuda.Size) (int, error) {
	done := 0
	for i, s := range l.Sizes {
		for k, page := range l.Pages[l.From[i]:l.From[i+1]] {
			n := c.PageRows()
			if k == 0 {
				n = s.Newest
			}
			src := cuda.Span{Ptr: c.pageAt(page) + chainHeader, Size: c.rows.bytes(n)}
			if err := stream.CopyOut(dst.Span(at+c.rows.bytes(done), at+c.rows.bytes(done+n)), src); err != nil {
				return done, fmt.Errorf("copy chain %d: %w", l.First+i, err)
			}
			done += n
		}
	}
	return done, nil
}

// pageAt is where a page begins.
func (c *Chains) pageAt(page uint32) cuda.Ptr {
	return c.view.Pool.Pages + cuda.Ptr(page)<<c.view.Pool.PageShift
}

// Free queues that the pages of the last List, which was this one, are given back, and that their chains are
// empty.
func (c *Chains) Free(stream *cuda.Stream, l ChainPages) error {
	if err := c.kernels.Free(stream, kernels.Sweep(uint64(len(l.Pages))), c.pool.View(), c.pages.Ptr, uint32(len(l.Pages))); err != nil {
		return err
	}
	n := uint32(len(l.Sizes))
	return c.kernels.Reset(stream, kernels.Sweep(uint64(n)), c.chains(), uint32(l.First), n)
}
