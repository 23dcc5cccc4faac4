package gpumem

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// Pool is pages of device memory that threads take and give back inside kernels:
// the package comment has the whole of it. This is the host side, which owns the
// memory. Like its thread it is used on one goroutine.
type Pool struct {
	thread  *cuda.Thread
	kernels *kernels.Pages
	config  Config
	view    kernels.PagePool
	memory  []*cuda.Memory
	count   *cuda.Memory // 8 bytes, for Used
	stream  *cuda.Stream
}

// New allocates the pages of a configuration, all of them free. k is kept, not
// owned: the caller closes it, after the Pool. Errors: cuda.ErrOutOfMemory, and
// those of Validate.
func New(t *cuda.Thread, k *kernels.Pages, c Config) (*Pool, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("page pool: %w", err)
	}
	p := &Pool{thread: t, kernels: k, config: c, view: c.view()}
	if err := p.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("page pool: %w", err), p.Close())
	}
	return p, nil
}

// open makes what New returns; Close undoes it wherever it stopped.
func (p *Pool) open() (err error) {
	if p.stream, err = p.thread.NewStream(); err != nil {
		return err
	}
	if p.count, err = p.thread.Alloc(8); err != nil {
		return err
	}
	if p.view.Words, err = p.alloc(p.config.words() * 4); err != nil {
		return err
	}
	if p.config.Parts {
		if p.view.Shares, err = p.alloc(cuda.Size(p.config.Pages) * 4); err != nil {
			return err
		}
	}
	if p.view.Pages, err = p.alloc(cuda.Size(p.config.Pages) * p.config.PageBytes); err != nil {
		return err
	}
	return p.Reset()
}

// alloc allocates memory that Close frees.
func (p *Pool) alloc(n cuda.Size) (cuda.Ptr, error) {
	memory, err := p.thread.Alloc(n)
	if err != nil {
		return 0, err
	}
	p.memory = append(p.memory, memory)
	return memory.Span().Ptr, nil
}

// View is what a launch takes: each launch another one, for its random numbers.
// It is valid until Close.
func (p *Pool) View() kernels.PagePool {
	// the golden ratio of 2^32: no seed comes again soon, nor is near another
	p.view.Seed += 0x9e3779b9
	return p.view
}

// Capacity is how many pages there are, in use or free.
func (p *Pool) Capacity() uint32 { return p.config.Pages }

// Reset makes all pages free, and waits for that. Kernels that use the pool must
// have ended.
func (p *Pool) Reset() error {
	if err := p.kernels.Reset(p.stream, p.grid(), p.view); err != nil {
		return err
	}
	return p.stream.Synchronize()
}

// Used counts the pages in use, and waits for that. It is exact if no kernel that
// takes or gives pages runs meanwhile.
func (p *Pool) Used() (uint32, error) {
	if err := p.stream.Fill(p.count.Span(), 0); err != nil {
		return 0, err
	}
	if err := p.kernels.Used(p.stream, p.grid(), p.view, p.count.Span().Ptr); err != nil {
		return 0, err
	}
	if err := p.stream.Synchronize(); err != nil {
		return 0, err
	}
	var used [8]byte
	err := p.thread.Read(used[:], p.count.Span())
	return uint32(binary.LittleEndian.Uint64(used[:])), err
}

// Free counts the free pages, like Used.
func (p *Pool) Free() (uint32, error) {
	used, err := p.Used()
	return p.config.Pages - used, err
}

// grid has a thread for each word, up to what fills a device.
func (p *Pool) grid() cuda.Grid { return kernels.Sweep(uint64(p.config.words())) }

// Close frees the memory. Kernels that use it must have ended. A second call does
// nothing.
func (p *Pool) Close() error {
	var errs []error
	for _, memory := range p.memory {
		errs = append(errs, memory.Close())
	}
	if p.count != nil {
		errs = append(errs, p.count.Close())
	}
	if p.stream != nil {
		errs = append(errs, p.stream.Close())
	}
	p.memory, p.count, p.stream = nil, nil, nil
	return errors.Join(errs...)
}
