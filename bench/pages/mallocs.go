package main

import (
	"errors"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// scenario is one of the seven of the paper's figure 14: what each thread asks for.
type scenario struct {
	name   string
	bytes  int  // 0: mixed, 4 to 8192
	atOnce bool // it gives back what it got at once
}

var scenarios = []scenario{
	{"16 B", 16, false},
	{"256 B", 256, false},
	{"1 KiB", 1 << 10, false},
	{"4 KiB", 4 << 10, false},
	{"8 KiB", 8 << 10, false},
	{"mixed", 0, false},
	{"4 KiB, freed at once", 4 << 10, true},
}

// pages is how many pages a request takes at most.
func (s scenario) pages() int {
	if s.bytes == 0 {
		return 8192 >> pageShift
	}
	return (s.bytes + 1<<pageShift - 1) >> pageShift
}

// freeRun is how many free pages lie together where memory of any size is asked
// for: twice the largest request, so that as many requests as there are such runs
// are served in any order.
const freeRun = 64

// mallocs is RW_malloc, gagg's page_malloc, as a contender.
type mallocs struct {
	pool *pool
	what scenario
	at   setting
}

func (m *mallocs) name() string { return "RW_malloc" }

func (m *mallocs) close() error { return nil } // the pool is everybody's

func (m *mallocs) fill(s *cuda.Stream, share float64) (int, error) {
	m.at = setting{share: share, run: freeRun}
	return m.pool.free(s, m.at)
}

func (m *mallocs) reset(s *cuda.Stream) error {
	return errors.Join(m.pool.to(s, false, m.at), s.Fill(m.pool.shares.Span(), 0))
}

func (m *mallocs) ask(n int) kerneltest.PageMalloc {
	ask := kerneltest.PageMalloc{Out: m.pool.held.Span().Ptr, N: uint32(n), Bytes: uint32(m.what.bytes)}
	if m.what.atOnce {
		ask.AtOnce = 1
	}
	return ask
}

func (m *mallocs) get(s *cuda.Stream, n int) error {
	v := m.pool.view(false)
	v.Shares = m.pool.shares.Span().Ptr
	return m.pool.measured.Malloc(s, grid(n), v, m.ask(n))
}

func (m *mallocs) give(s *cuda.Stream, n int) error {
	if m.what.atOnce {
		return nil
	}
	v := m.pool.view(false)
	v.Shares = m.pool.shares.Span().Ptr
	return m.pool.measured.MallocFree(s, grid(n), v, m.ask(n))
}

func (m *mallocs) check(n int) error {
	err := m.pool.checkHeld(n, 8, 1<<64-1)
	if m.what.atOnce && errors.Is(err, errTwice) {
		return nil // by one after the other
	}
	return err
}
