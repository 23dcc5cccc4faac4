package main

import (
	"github.com/gagg-dev/gagg/bench/device"
	"github.com/gagg-dev/gagg/gpumem"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
	"github.com/gagg-dev/gagg/partition/ondevice"
	"github.com/gagg-dev/gagg/partition/reference"
)

// Names of the ways.
const (
	wayCopy   = "copy"
	wayPaper  = "paper 003"
	wayPieces = "pieces"
	wayChains = "chains"
)

// ways are all ways to divide rows, which they find in src.
func (b *bench) ways(c *closers, d ondevice.Rows, rows int) ([]device.Case, error) {
	size := cuda.Size(rows * d.Stride * 8)
	cases := []device.Case{{Name: wayCopy, Run: func(s *cuda.Stream) error {
		return s.Copy(b.dst.Span().Slice(0, size), b.src.Span().Slice(0, size))
	}}}
	for _, way := range []func(*closers, ondevice.Rows, int) (device.Case, bool, error){b.paper, b.pieces, b.chains} {
		k, fits, err := way(c, d, rows)
		if err != nil {
			return nil, err
		}
		if fits {
			cases = append(cases, k)
		}
	}
	return cases, nil
}

// pieces is reference.DeviceScatter. With two levels it makes src anew, in another order:
// the next round has other rows, of the same keys.
func (b *bench) pieces(c *closers, d ondevice.Rows, rows int) (device.Case, bool, error) {
	var s *reference.DeviceScatter
	made, err := reference.NewDeviceScatter(b.thread, b.scatter, d, rows)
	err = open(c, &s, made, err)
	return device.Case{Name: wayPieces, Run: func(stream *cuda.Stream) error {
		_, err := s.Scatter(stream, b.src.Span(), b.dst.Span(), rows)
		return err
	}}, true, err
}

// chains is ondevice.Chains, whose pool has all pages free at the start of each round.
func (b *bench) chains(c *closers, d ondevice.Rows, rows int) (device.Case, bool, error) {
	if d.Bits > kernels.ScatterMostBits {
		return device.Case{}, false, nil
	}
	var pool *gpumem.Pool
	perPage := int(b.Page) / (8 * d.Stride)
	pages := uint32(rows/perPage + d.Partitions() + 1)
	madePool, err := gpumem.New(b.thread, b.pages, gpumem.Config{Pages: pages, PageBytes: cuda.Size(b.Page), LowestFree: 1e-4})
	if err := open(c, &pool, madePool, err); err != nil {
		return device.Case{}, false, err
	}
	var chains *ondevice.Chains
	made, err := ondevice.NewChains(b.thread, b.chain, pool, d, rows)
	if err := open(c, &chains, made, err); err != nil {
		return device.Case{}, false, err
	}
	return device.Case{
		Name: wayChains,
		Prepare: func(*cuda.Stream) error {
			if err := pool.Reset(); err != nil {
				return err
			}
			return chains.Reset()
		},
		Run: func(s *cuda.Stream) error { return chains.Append(s, b.src.Span(), rows) },
		After: func() error {
			_, err := chains.Left()
			return err
		},
	}, true, nil
}

// paper is the kernels of paper 003.
func (b *bench) paper(c *closers, d ondevice.Rows, rows int) (device.Case, bool, error) {
	if d.Bits > kernels.ScatterMostBits {
		return device.Case{}, false, nil
	}
	const threads, tile = 512, 4096
	var index, counts *cuda.Memory
	made, err := b.thread.Alloc(4 * cuda.Size(rows))
	if err := open(c, &index, made, err); err != nil {
		return device.Case{}, false, err
	}
	made, err = b.thread.Alloc(8*cuda.Size(d.Partitions()) + 4 + 8)
	if err := open(c, &counts, made, err); err != nil {
		return device.Case{}, false, err
	}
	next := counts.Span().Slice(0, 4*cuda.Size(d.Partitions()))
	from := next.Ptr + cuda.Ptr(next.Size)
	all := counts.Span().Slice(counts.Span().Size-8, counts.Span().Size)
	view := kernels.ScatterRows{Words: b.src.Span().Ptr, Count: uint32(rows), Stride: uint32(d.Stride), Bits: uint32(d.Bits), Most: tile}
	level := kernels.ScatterLevel{Rows: view, From: all.Ptr, Next: next.Ptr, Segments: 1}
	grid := cuda.Grid{Blocks: uint32(rows)/tile + 1, Threads: threads, Shared: 4 << d.Bits}
	return device.Case{Name: wayPaper, Run: func(s *cuda.Stream) error {
		for _, step := range []func() error{
			func() error { return s.Fill32(all.Slice(0, 4), 0) },
			func() error { return s.Fill32(all.Slice(4, 8), uint32(rows)) },
			func() error { return s.Fill32(next, 0) },
			func() error { return b.data.Index(s, grid, view, next.Ptr, index.Span().Ptr) },
			func() error { return b.scatter.Prefix(s, kerneltest.PrefixGrid(1, uint32(d.Bits)), level, from) },
			func() error {
				return b.data.Final(s, cuda.Grid{Blocks: uint32(rows)/threads + 1, Threads: threads}, view, from, index.Span().Ptr, b.dst.Span().Ptr)
			},
		} {
			if err := step(); err != nil {
				return err
			}
		}
		return nil
	}}, true, nil
}
