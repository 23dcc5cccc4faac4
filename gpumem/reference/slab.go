package reference

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// Slabs is a SlabAlloc: memory from which warps allocate slabs inside kernels
// (paper 001, §V). What it is made of, how a warp allocates, and which
// invariants hold is told in internal/kernels/kerneltest/slab.cuh; this is its host side,
// which owns the memory. Like its thread it is used on one goroutine.
type Slabs struct {
	thread  *cuda.Thread
	kernels *kerneltest.Slab
	config  SlabConfig
	view    kerneltest.SlabPool
	supers  []*cuda.Memory
	count   *cuda.Memory // 8 bytes, for Used
	stream  *cuda.Stream
}

// NewSlabs allocates the super blocks of a configuration, with all slabs free.
// k is kept, not owned: the caller closes it, after the Slabs. Errors:
// cuda.ErrOutOfMemory, and those of Validate.
func NewSlabs(t *cuda.Thread, k *kerneltest.Slab, c SlabConfig) (*Slabs, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("slabs: %w", err)
	}
	c = c.withDefaults()
	s := &Slabs{thread: t, kernels: k, config: c, view: c.view()}
	if err := s.open(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// open makes what NewSlabs returns; Close undoes it wherever it stopped.
func (s *Slabs) open() (err error) {
	if s.stream, err = s.thread.NewStream(); err != nil {
		return err
	}
	if s.count, err = s.thread.Alloc(8); err != nil {
		return err
	}
	for range s.config.SuperBlocks {
		if err := s.Grow(); err != nil {
			return err
		}
	}
	return nil
}

// ErrSlabsFull is the error of Grow when there are as many super blocks as
// addresses can tell apart.
var ErrSlabsFull = errors.New("no more super blocks")

// Grow adds a super block, for kernels that are launched with a View taken
// after it; those that run go on with what they have. When it fails nothing
// has changed. Errors: cuda.ErrOutOfMemory, ErrSlabsFull.
func (s *Slabs) Grow() error {
	n := len(s.supers)
	if n == MaxSuperBlocks {
		return fmt.Errorf("slabs: %w: there are %d", ErrSlabsFull, n)
	}
	memory, err := s.thread.Alloc(s.config.superBytes())
	if err != nil {
		return fmt.Errorf("slabs: super block %d: %w", n, err)
	}
	if err := s.clear(memory.Span()); err != nil {
		return errors.Join(err, memory.Close())
	}
	s.supers = append(s.supers, memory)
	s.view.SuperBlocks[n] = memory.Span().Ptr
	s.view.Count++
	return nil
}

// clear makes all slabs of a super block free.
func (s *Slabs) clear(super cuda.Span) error {
	bitmaps := super.Slice(0, cuda.Size(s.config.Blocks)*bitmapBytes)
	if err := s.stream.Fill(bitmaps, 0); err != nil {
		return err
	}
	return s.stream.Synchronize()
}

// Reset makes all slabs free; kernels that use them must have ended.
func (s *Slabs) Reset() error {
	for _, super := range s.supers {
		if err := s.clear(super.Span()); err != nil {
			return err
		}
	}
	return nil
}

// View is what a kernel takes. It is valid until Close.
func (s *Slabs) View() kerneltest.SlabPool { return s.view }

// Capacity is how many slabs there are, in use or free.
func (s *Slabs) Capacity() uint64 {
	return uint64(len(s.supers)) * uint64(s.config.Blocks) * SlabsPerBlock
}

// Used counts the slabs in use, and waits for that. It is exact if no kernel
// that allocates or frees runs meanwhile.
func (s *Slabs) Used() (uint64, error) {
	if err := s.stream.Fill(s.count.Span(), 0); err != nil {
		return 0, err
	}
	if err := s.kernels.Used(s.stream, kernels.Sweep(uint64(s.config.Blocks)*32), s.view, s.count.Span().Ptr); err != nil {
		return 0, err
	}
	if err := s.stream.Synchronize(); err != nil {
		return 0, err
	}
	var used [8]byte
	err := s.thread.Read(used[:], s.count.Span())
	return binary.LittleEndian.Uint64(used[:]), err
}

// Close frees the memory. Kernels that use it must have ended. A second call
// does nothing.
func (s *Slabs) Close() error {
	var errs []error
	for _, super := range s.supers {
		errs = append(errs, super.Close())
	}
	if s.count != nil {
		errs = append(errs, s.count.Close())
	}
	if s.stream != nil {
		errs = append(errs, s.stream.Close())
	}
	s.supers, s.count, s.stream = nil, nil, nil
	return errors.Join(errs...)
}
