package evict

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

// writers are the goroutines that call Write, with the pinned buffers that senders fill and
// writers empty. Retained rows do not pass through them (retention).
type writers struct {
	of      *Eviction
	free    chan *cuda.Pinned
	full    chan batch
	running sync.WaitGroup

	mu      sync.Mutex // of what follows
	bytes   cuda.Size  // of a buffer, once there is one
	buffers []*cuda.Pinned
	most    int // of them
}

// batch is rows for a writer.
type batch struct {
	buffer *cuda.Pinned
	rows   []uint64
}

func (w *writers) init(e *Eviction) {
	w.of = e
	// for each lane one buffer that is filled, and those that are queued
	w.most = e.config.Writers + e.config.Lanes*(sendAhead+1)
	w.free, w.full = make(chan *cuda.Pinned, w.most), make(chan batch, w.most)
}

// start makes the first buffer and starts the writers, once. It returns the size of a buffer:
// writeBytes, or as much less as the host allows.
func (w *writers) start(t *cuda.Thread) (cuda.Size, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.buffers) > 0 {
		return w.bytes, nil
	}
	row := w.of.row
	b, err := pinned.AllocLess(t, w.of.config.Host, max(writeBytes, row), max(pinned.Least, row))
	if err != nil {
		return 0, fmt.Errorf("buffer for rows that leave the device: %w", err)
	}
	w.bytes = b.Device().Size
	w.add(b)
	full := w.full // finish may come before a writer begins
	for i := range w.of.config.Writers {
		w.running.Go(func() { w.work(i, full) })
	}
	return w.bytes, nil
}

// more makes another buffer when none is free. There are only as many as the writers need, since
// pinning takes longer than a copy does. It does nothing if there are enough, or if the host
// allows no more: one buffer is sufficient.
func (w *writers) more(t *cuda.Thread) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.buffers) >= w.most {
		return
	}
	b, err := t.AllocPinnedFrom(w.of.config.Host, w.bytes)
	if err != nil {
		w.most = len(w.buffers)
		return
	}
	w.add(b)
}

// add lets lanes have a new buffer; mu is held.
func (w *writers) add(b *cuda.Pinned) {
	w.buffers = append(w.buffers, b)
	w.free <- b // has room for all buffers
}

// work runs a writer. An error stops the pass; rows that come after it are dropped.
func (w *writers) work(writer int, full <-chan batch) {
	for f := range full {
		if w.of.ctx.Err() == nil {
			err := invariant.Fenced(func() error { return w.of.config.Write(writer, f.rows) })
			if err != nil {
				w.of.stop(fmt.Errorf("write evicted rows: %w", err))
			}
		}
		w.free <- f.buffer
	}
}

// buffer waits for one that is free.
func (w *writers) buffer() (*cuda.Pinned, error) {
	defer w.of.counts.evictorWaited(time.Now())
	select {
	case b := <-w.free:
		return b, nil
	case <-w.of.ctx.Done():
		return nil, context.Cause(w.of.ctx)
	}
}

// finish waits until all rows are written, or dropped because the pass was stopped.
func (w *writers) finish() {
	if w.full != nil {
		close(w.full)
		w.full = nil
	}
	w.running.Wait()
}

// close frees the buffers. No lane may fill any of them.
func (w *writers) close() error {
	w.finish()
	var errs []error
	for _, b := range w.buffers {
		errs = append(errs, b.Close())
	}
	w.buffers = nil
	return errors.Join(errs...)
}
