package ega

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/partition"
)

// placeBytes is the size of a buffer between device and placers. A guess: the link's full rate, and
// enough rows for each host bucket.
const placeBytes = 4 << 20

// placing is the way of rows from the device to Place: pinned buffers that lanes fill and placers empty. The pinned
// pages of the paper are these alone: rows stay in the host buckets, which spill by themselves.
type placing struct {
	pass    *MultiPass
	bytes   cuda.Size // of a buffer
	buffers []*cuda.Pinned
	free    chan *cuda.Pinned
	full    chan placed
	placers sync.WaitGroup
	mu      sync.Mutex // of buffers, until the first lane has made them
}

// placed is rows for a placer.
type placed struct {
	buffer *cuda.Pinned
	rows   []uint64
}

func (p *placing) init(m *MultiPass) {
	p.pass = m
	n := m.config.Placers + 1
	p.bytes = max(placeBytes, m.plan.layout.RowBytes())
	p.free, p.full = make(chan *cuda.Pinned, n), make(chan placed, n)
}

// start makes the buffers and starts the placers, once. One buffer will do where memory is short.
func (p *placing) start(t *cuda.Thread) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.buffers) > 0 {
		return nil
	}
	for range cap(p.free) {
		b, err := pin(t, p.pass.config.Host, p.bytes)
		if err != nil && len(p.buffers) == 0 {
			return fmt.Errorf("buffer for rows that leave the device: %w", err)
		}
		if err != nil {
			break
		}
		p.buffers = append(p.buffers, b)
		p.free <- b
	}
	full := p.full // finish may come before a placer begins
	for i := range p.pass.config.Placers {
		p.placers.Go(func() { p.work(i, full) })
	}
	return nil
}

// work is the life of a placer. An error stops the pass; what comes after it goes nowhere.
func (p *placing) work(placer int, full <-chan placed) {
	for f := range full {
		if p.pass.ctx.Err() == nil {
			if err := p.pass.config.Place(placer, f.rows); err != nil {
				p.pass.cancel(fmt.Errorf("place rows: %w", err))
			}
		}
		p.free <- f.buffer
	}
}

// buffer waits for one that is free.
func (p *placing) buffer(t *cuda.Thread) (*cuda.Pinned, error) {
	if err := p.start(t); err != nil {
		return nil, err
	}
	select {
	case b := <-p.free:
		return b, nil
	case <-p.pass.ctx.Done():
		return nil, context.Cause(p.pass.ctx)
	}
}

// send copies rows to a buffer, as copy queues it, waits for that, and hands them on. copy returns how many there are.
func (p *placing) send(t *cuda.Thread, stream *cuda.Stream, copyOut func(to *cuda.Pinned) (int, error)) (int, error) {
	b, err := p.buffer(t)
	if err != nil {
		return 0, err
	}
	n, err := copyOut(b)
	if err = errors.Join(err, stream.Synchronize()); err != nil {
		p.free <- b
		return 0, err
	}
	p.full <- placed{b, wordsOf(b.Bytes()[:n*int(p.pass.plan.layout.RowBytes())])} // has room for all buffers
	p.pass.counts.placed(uint64(n))
	return n, nil
}

// chain sends the rows of a listed chain, as many pages at a time as a buffer has room for.
func (p *placing) chain(t *cuda.Thread, stream *cuda.Stream, c *partition.Chains, list partition.ChainPages) (rows uint64, err error) {
	last, pages := list.Sizes[0].Last, list.Pages
	step := max(int(p.bytes/(cuda.Size(c.PageRows())*p.pass.plan.layout.RowBytes())), 1)
	for len(pages) > 0 {
		some := partition.ChainPages{First: list.First, Pages: pages[:min(step, len(pages))]}
		pages = pages[len(some.Pages):]
		size := partition.ChainSize{Pages: len(some.Pages), Last: c.PageRows()}
		if len(pages) == 0 {
			size.Last = last
		}
		some.Sizes, some.From = []partition.ChainSize{size}, []uint32{0, uint32(len(some.Pages))}
		n, err := p.send(t, stream, func(to *cuda.Pinned) (int, error) { return c.CopyOut(stream, some, to, 0) })
		if err != nil {
			return rows, err
		}
		rows += uint64(n)
	}
	return rows, nil
}

// dense sends n rows that lie one after the other.
func (p *placing) dense(t *cuda.Thread, stream *cuda.Stream, from cuda.Span, n uint64) error {
	row := p.pass.plan.layout.RowBytes()
	step := uint64(p.bytes / row)
	for at := uint64(0); at < n; at += step {
		end := min(at+step, n)
		piece := from.Slice(cuda.Size(at)*row, cuda.Size(end)*row)
		if _, err := p.send(t, stream, func(to *cuda.Pinned) (int, error) {
			return int(end - at), stream.CopyOut(to.Span(0, piece.Size), piece)
		}); err != nil {
			return err
		}
	}
	return nil
}

// finish waits until all is placed, and returns what stopped the pass.
func (p *placing) finish() error {
	if p.full != nil {
		close(p.full)
		p.full = nil
	}
	p.placers.Wait()
	return context.Cause(p.pass.ctx)
}

// close frees the buffers; no lane fills any of them.
func (p *placing) close() error {
	_ = p.finish() // what stopped the pass is Finish's to tell
	var errs []error
	for _, b := range p.buffers {
		errs = append(errs, unpin(p.pass.context, p.pass.config.Host, b))
	}
	p.buffers = nil
	return errors.Join(errs...)
}

// pin allocates pinned memory within a budget, which may be nil.
func pin(t *cuda.Thread, budget func(int64) error, n cuda.Size) (*cuda.Pinned, error) {
	if budget != nil {
		if err := budget(int64(n)); err != nil {
			return nil, err
		}
	}
	b, err := t.AllocPinned(n)
	if err != nil && budget != nil {
		_ = budget(-int64(n)) // only asking for more can fail
	}
	return b, err
}

// unpin frees it. What a lost context has pinned stays, and stays counted.
func unpin(c *cuda.Context, budget func(int64) error, b *cuda.Pinned) error {
	n := int64(b.Device().Size)
	err := b.Close()
	if budget != nil && c.Lost() == nil {
		_ = budget(-n)
	}
	return err
}

// current closes something with the context current from the first call to the last. Should that fail, each tries for itself.
func current(c *cuda.Context, closing func() error) error {
	if c.Lost() != nil {
		return closing()
	}
	t, err := c.Lock()
	if err == nil {
		defer t.Unlock()
	}
	return errors.Join(err, closing())
}

// wordsOf is bytes as words of 64 bits; they begin at one.
func wordsOf(b []byte) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/8)
}
