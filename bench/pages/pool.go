package main

import (
	"errors"

	"github.com/gagg-dev/gagg/gpumem/reference"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// noPage is PAGE_NONE of pages.cuh.
const noPage = uint32(1<<32 - 1)

// Of the pools that are measured. Pages of 256 bytes are the paper's choice for
// RW_malloc: 32 of them are the largest request.
const (
	pageShift = 8
	// A search that gives up would be measured as a short one. What is free always
	// suffices, and is found long before this.
	stepLimit = 1 << 22
)

// pool is the memory of page pools: a bitmap and flags for the same pages, whose
// bytes are never touched, so that there are none.
type pool struct {
	*bench
	pages    int
	kernels  *kernels.Pages
	measured *kerneltest.PagesBench
	bitmap   *cuda.Memory
	flags    *cuda.Memory
	locks    *cuda.Memory // a bit for each word of the bitmap, all 0 between launches
	shares   *cuda.Memory // of each page the requests that share it
	seed     uint32       // of the walks: another one for each launch
}

func newPool(b *bench, pages int) (p *pool, err error) {
	p = &pool{bench: b, pages: pages}
	if p.kernels, err = kernels.LoadPages(b.thread); err != nil {
		return nil, err
	}
	if p.measured, err = kerneltest.LoadPagesBench(b.thread); err != nil {
		return nil, err
	}
	for _, m := range []struct {
		memory **cuda.Memory
		bytes  int
	}{{&p.bitmap, pages / 8}, {&p.flags, 4 * pages}, {&p.locks, pages / word / 8}, {&p.shares, 4 * pages}} {
		if *m.memory, err = b.alloc(m.bytes); err != nil {
			return nil, err
		}
	}
	return p, withStream(b.thread, func(s *cuda.Stream) error {
		return errors.Join(s.Fill(p.locks.Span(), 0), s.Fill(p.shares.Span(), 0), s.Synchronize())
	})
}

// view is the pool for a launch, with a bitmap or with flags.
func (p *pool) view(flags bool) kernels.PagePool {
	p.seed++
	v := kernels.PagePool{
		Pages: p.bitmap.Span().Ptr, // an address that is not null; nothing is read or written there
		Words: p.bitmap.Span().Ptr, WordPages: word,
		Count: uint32(p.pages), PageShift: pageShift, StepLimit: stepLimit, Seed: p.seed,
	}
	if flags {
		v.Words, v.WordPages = p.flags.Span().Ptr, 1
	}
	return v
}

// setting is what a pool is brought to: a share of free pages, in runs of so many.
type setting struct {
	share float64
	run   int
}

// to brings the pool to a setting, always the same pages of it.
func (p *pool) to(s *cuda.Stream, flags bool, at setting) error {
	const seed = 1
	return p.measured.Fill(s, grid(1<<20), p.view(flags), uint32(at.share*(1<<32-1)), seed, uint32(at.run))
}

// free is how many pages a setting leaves free.
func (p *pool) free(s *cuda.Stream, at setting) (int, error) {
	if err := p.to(s, false, at); err != nil {
		return 0, err
	}
	used, err := p.counted(s, 1, func(counts cuda.Ptr) error { return p.kernels.Used(s, grid(1<<20), p.view(false), counts) })
	if err != nil {
		return 0, err
	}
	return p.pages - int(used[0]), nil
}

// asked is who asks for pages.
type asked struct {
	lanes  int // of each warp, from the first on
	rounds int // pages that each of them gets, one after another
}

// everyone is a page for every thread.
var everyone = asked{lanes: 32, rounds: 1}

// walkers is a method on a pool, as a contender.
type walkers struct {
	pool *pool
	how  method
	ask  asked
	at   setting
}

func (w *walkers) name() string { return w.how.name }

func (w *walkers) close() error { return nil } // the pool is everybody's

func (w *walkers) fill(s *cuda.Stream, share float64) (int, error) {
	w.at.share = share
	return w.pool.free(s, w.at)
}

func (w *walkers) reset(s *cuda.Stream) error { return w.pool.to(s, w.how.flags, w.at) }

// run launches one of the method's kernels for n pages.
func (w *walkers) run(s *cuda.Stream, kernel launch, n int, counts cuda.Ptr) error {
	p, requests := w.pool, n/w.ask.rounds
	warps := (requests + w.ask.lanes - 1) / w.ask.lanes
	return kernel(p.measured, s, grid(32*warps), p.view(w.how.flags), kerneltest.PageAsk{
		Out: p.held.Span().Ptr, Locks: p.locks.Span().Ptr, Counts: counts,
		N: uint32(requests), Lanes: uint32(1<<w.ask.lanes - 1), Rounds: uint32(w.ask.rounds), Help: 1,
	})
}

func (w *walkers) get(s *cuda.Stream, n int) error {
	if p := w.pool; w.ask == everyone && w.how.burst != nil {
		return w.how.burst(p.measured, s, grid(n), p.view(w.how.flags), p.held.Span().Ptr, uint32(n))
	}
	return w.run(s, w.how.get, n, 0)
}

func (w *walkers) give(s *cuda.Stream, n int) error { return w.run(s, w.how.give, n, 0) }

func (w *walkers) check(n int) error { return w.pool.checkHeld(n, 4, uint64(noPage)) }

func (w *walkers) count(s *cuda.Stream, n int) (steps, error) {
	c, err := w.pool.counted(s, 6, func(counts cuda.Ptr) error { return w.run(s, w.how.counted, n, counts) })
	if err != nil {
		return steps{}, err
	}
	return steps{Thread: ratio(c[2], c[0]), Warp: ratio(c[5], c[4])}, nil
}

func (w *walkers) formulas(b reference.Steps) formulas { return w.how.formulas(b).finite() }
