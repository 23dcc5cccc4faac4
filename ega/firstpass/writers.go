package firstpass

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gagg-dev/gagg/ega/internal/pinned"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// placeBytes is the size of a buffer between device and placers. A guess: the link's full rate, and
// enough rows for each host bucket.
const placeBytes = 4 << 20

// placing is the way of rows from the device to Place: pinned buffers that senders fill and placers empty, into host
// buckets, which spill by themselves. Rows that are kept go another way (kept).
type placing struct {
	pass    *Pass
	free    chan *cuda.Pinned
	full    chan placed
	placers sync.WaitGroup

	mu      sync.Mutex // of what follows
	bytes   cuda.Size  // of a buffer, once there is one
	buffers []*cuda.Pinned
	most    int // of them
}

// placed is rows for a placer.
type placed struct {
	buffer *cuda.Pinned
	rows   []uint64
}

func (p *placing) init(m *Pass) {
	p.pass = m
	p.most = m.config.Placers + m.config.Streams*(sendAhead+1) // of each lane one is filled, and others are queued for
	p.free, p.full = make(chan *cuda.Pinned, p.most), make(chan placed, p.most)
}

// start makes the first buffer and starts the placers, once. It returns the size of a buffer: placeBytes, or as much less as the
// host allows.
func (p *placing) start(t *cuda.Thread) (cuda.Size, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.buffers) > 0 {
		return p.bytes, nil
	}
	row := p.pass.plan.layout.RowBytes()
	b, err := pinned.AllocLess(t, p.pass.config.Host, max(placeBytes, row), max(pinned.Least, row))
	if err != nil {
		return 0, fmt.Errorf("buffer for rows that leave the device: %w", err)
	}
	p.bytes = b.Device().Size
	p.add(b)
	full := p.full // finish may come before a placer begins
	for i := range p.pass.config.Placers {
		p.placers.Go(func() { p.work(i, full) })
	}
	return p.bytes, nil
}

// more makes another buffer, when none is free: as few as the placers need, since pinning takes longer than a copy does. It does
// nothing where there are enough, or the host allows no more; one will do.
func (p *placing) more(t *cuda.Thread) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.buffers) >= p.most {
		return
	}
	b, err := t.AllocPinnedFrom(p.pass.config.Host, p.bytes)
	if err != nil {
		p.most = len(p.buffers)
		return
	}
	p.add(b)
}

// add lets lanes have a new buffer; mu is held.
func (p *placing) add(b *cuda.Pinned) {
	p.buffers = append(p.buffers, b)
	p.free <- b // has room for all buffers
}

// work is the life of a placer. An error stops the pass; what comes after it goes nowhere.
func (p *placing) work(placer int, full <-chan placed) {
	for f := range full {
		if p.pass.ctx.Err() == nil {
			err := invariant.Fenced(func() error { return p.pass.config.Place(placer, f.rows) })
			if err != nil {
				p.pass.cancel(fmt.Errorf("place rows: %w", err))
			}
		}
		p.free <- f.buffer
	}
}

// buffer waits for one that is free.
func (p *placing) buffer() (*cuda.Pinned, error) {
	defer p.pass.counts.leaverWaited(time.Now())
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
		errs = append(errs, b.Close())
	}
	p.buffers = nil
	return errors.Join(errs...)
}
