package main

import (
	"io"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/gagg-dev/gagg"
)

// redrawEvery is how often the bar is drawn: smooth to the eye, and cheap.
const redrawEvery = 100 * time.Millisecond

// bar shows how far a run is: bytes read of all bytes to read, then groups
// written. Workers only store counters; one goroutine draws.
type bar struct {
	read, total atomic.Int64 // bytes
	groups      atomic.Int64 // found so far, or all of them once writing
	written     atomic.Int64 // groups
	writing     atomic.Bool

	stop, stopped chan struct{}
}

// startBar begins to draw on w.
func startBar(w io.Writer) *bar {
	b := &bar{stop: make(chan struct{}), stopped: make(chan struct{})}
	go b.draw(w)
	return b
}

// Progress takes the counters of the run; any worker may call it.
func (b *bar) Progress(p gagg.Progress) {
	raise(&b.read, p.BytesDone)
	raise(&b.total, p.BytesTotal)
	raise(&b.groups, p.Groups)
}

// raise sets a to v unless it is larger already: reports of several workers
// may arrive out of order, and a bar does not go back.
func raise(a *atomic.Int64, v int64) {
	for old := a.Load(); v > old; old = a.Load() {
		if a.CompareAndSwap(old, v) {
			return
		}
	}
}

// wrote counts groups of the result that were written.
func (b *bar) wrote(groups int64) {
	b.writing.Store(true)
	b.written.Add(groups)
}

// finish removes the bar from the screen. The bar may be nil.
func (b *bar) finish() {
	if b == nil {
		return
	}
	close(b.stop)
	<-b.stopped
}

func (b *bar) draw(w io.Writer) {
	defer close(b.stopped)
	ticker := time.NewTicker(redrawEvery)
	defer ticker.Stop()
	reading := newPhase(w, "reading", progressbar.OptionShowBytes(true))
	writing := newPhase(w, "writing", progressbar.OptionShowCount(), progressbar.OptionSetItsString("groups"), progressbar.OptionShowIts())
	current := reading
	for {
		if b.writing.Load() && current == reading {
			_ = reading.Clear()
			current = writing
		}
		if current == reading {
			show(reading, b.read.Load(), b.total.Load())
		} else {
			show(writing, b.written.Load(), b.groups.Load())
		}
		select {
		case <-b.stop:
			_ = current.Clear()
			return
		case <-ticker.C:
		}
	}
}

func newPhase(w io.Writer, name string, more ...progressbar.Option) *progressbar.ProgressBar {
	return progressbar.NewOptions64(1, append([]progressbar.Option{
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(name),
		progressbar.OptionSetWidth(30),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionSetRenderBlankState(false),
	}, more...)...)
}

// show draws done of total. The end is left to finish: a bar that reaches
// its total counts as complete and would end the line.
func show(p *progressbar.ProgressBar, done, total int64) {
	total = max(total, done) + 1
	if p.GetMax64() != total {
		p.ChangeMax64(total)
	}
	_ = p.Set64(done)
}
