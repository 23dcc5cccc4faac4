package partition

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

// Rows is the rows of a chain whose pages hold so many.
func (s ChainSize) Rows(pageRows int) int { return max(s.Pages-1, 0)*pageRows + s.Last }

// Sizes reads how large the chains of all partitions are. No call may be under way.
func (c *Chains) Sizes() ([]ChainSize, error) {
	lengths, err := readWords(c.thread, c.lengths)
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

// ChainPages is the pages of some chains, one chain after the other.
type ChainPages struct {
	First int         // the partition of the first of them
	Sizes []ChainSize // of each
	From  []uint32    // where its pages begin in Pages; one more, where they end
	Pages []uint32    // in their chain's order
}

// List finds the pages of the n partitions from first on, for which sizes are those of all
// partitions, and waits for that.
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
	if err := c.kernels.List(stream, kernels.Sweep(uint64(c.slots)), c.view(), uint32(first), uint32(n), c.from.Ptr, c.pages.Ptr); err != nil {
		return ChainPages{}, err
	}
	if err := stream.Synchronize(); err != nil {
		return ChainPages{}, err
	}
	var err error
	l.Pages, err = readWords(c.thread, c.pages.Slice(0, 4*cuda.Size(all)))
	return l, err
}

// Listed is where the outcome of the last List is in device memory, From and Pages,
// for kernels that take chains. It is valid until the next List.
func (c *Chains) Listed() (from, pages cuda.Span) { return c.from, c.pages }

// CopyOut queues that the rows of listed pages are copied to pinned memory, one page after
// the other from byte `at` on. It returns how many rows those are.
func (c *Chains) CopyOut(stream *cuda.Stream, l ChainPages, dst *cuda.Pinned, at cuda.Size) (int, error) {
	view := c.pool.View()
	done := 0
	for i, s := range l.Sizes {
		pages := l.Pages[l.From[i]:l.From[i+1]]
		for k, page := range pages {
			n := c.PageRows()
			if k == len(pages)-1 {
				n = s.Last
			}
			src := cuda.Span{Ptr: view.Pages + cuda.Ptr(page)<<view.PageShift, Size: c.rows.bytes(n)}
			if err := stream.CopyOut(dst.Span(at+c.rows.bytes(done), at+c.rows.bytes(done+n)), src); err != nil {
				return done, fmt.Errorf("copy chain %d: %w", l.First+i, err)
			}
			done += n
		}
	}
	return done, nil
}

// Free queues that the pages of the n partitions from first on are given back to the pool, and that
// their chains are empty.
func (c *Chains) Free(stream *cuda.Stream, first, n int) error { return c.settle(stream, first, n) }
