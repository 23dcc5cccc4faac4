package ega

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/gagg-dev/gagg/internal/cuda"
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
	n := m.config.Placers + 2 // one is filled, another is queued for
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
func (p *placing) buffer() (*cuda.Pinned, error) {
	select {
	case b := <-p.free:
		return b, nil
	case <-p.pass.ctx.Done():
		return nil, context.Cause(p.pass.ctx)
	}
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
