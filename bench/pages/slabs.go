package main

import (
	"errors"

	"github.com/gagg-dev/gagg/gpumem/reference"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// slabBytes is the size of a slab in paper 001.
const slabBytes = 128

// slabs is SlabAlloc: a warp allocates for its lanes one after the other.
type slabs struct {
	*bench
	kernels  *kerneltest.Slab
	measured *kerneltest.SlabBench
	pool     *reference.Slabs
	share    uint32 // of free slabs, in 2^-32
}

func newSlabs(b *bench, units int) (s *slabs, err error) {
	s = &slabs{bench: b}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if s.kernels, err = kerneltest.LoadSlab(b.thread); err != nil {
		return s, err
	}
	if s.measured, err = kerneltest.LoadSlabBench(b.thread); err != nil {
		return s, err
	}
	perSuper := reference.MaxSlabBlocks * reference.SlabsPerBlock
	c := reference.SlabConfig{SlabBytes: slabBytes, SuperBlocks: uint32(max(units/perSuper, 1)), Blocks: reference.MaxSlabBlocks}
	if units < perSuper {
		c.Blocks = uint32(max(units/reference.SlabsPerBlock, 1))
	}
	s.pool, err = reference.NewSlabs(b.thread, s.kernels, c)
	return s, err
}

func (s *slabs) close() error {
	if s.pool == nil {
		return nil
	}
	return s.pool.Close()
}

func (s *slabs) name() string { return "SlabAlloc" }

func (s *slabs) fill(stream *cuda.Stream, share float64) (int, error) {
	s.share = uint32(share * (1<<32 - 1))
	if err := s.reset(stream); err != nil {
		return 0, err
	}
	if err := stream.Synchronize(); err != nil {
		return 0, err
	}
	used, err := s.pool.Used()
	return int(s.pool.Capacity() - used), err
}

func (s *slabs) reset(stream *cuda.Stream) error {
	return s.measured.Fill(stream, grid(1<<20), s.pool.View(), s.share, 1)
}

func (s *slabs) get(stream *cuda.Stream, n int) error {
	return s.measured.Get(stream, grid(n), s.pool.View(), s.held.Span().Ptr, uint32(n), 1)
}

func (s *slabs) give(stream *cuda.Stream, n int) error {
	return s.measured.Free(stream, grid(n), s.pool.View(), s.held.Span().Ptr, uint32(n))
}

// count's steps are tries to take a slab and reads of a bitmap, which a warp
// makes for its lanes one after the other: those of a warp are all of its lanes'.
func (s *slabs) count(stream *cuda.Stream, n int) (steps, error) {
	c, err := s.counted(stream, 5, func(counts cuda.Ptr) error {
		return s.measured.GetCounted(stream, grid(n), s.pool.View(), s.held.Span().Ptr, uint32(n), 1, counts)
	})
	if err != nil {
		return steps{}, err
	}
	rounds := c[2] + c[3]
	return steps{Thread: ratio(rounds, c[0]), Warp: ratio(rounds, c[4])}, nil
}

// formulas: the paper gives none.
func (s *slabs) formulas(reference.Steps) formulas { return formulas{} }

func (s *slabs) check(n int) error { return s.checkHeld(n, 4, uint64(reference.NoSlab)) }
