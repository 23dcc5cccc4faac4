package main

import (
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/gagg-dev/gagg"
)

// redrawEvery is how often the bar is drawn: smooth to the eye, and cheap.
const redrawEvery = 100 * time.Millisecond

// bar shows how far a run is: bytes read of all bytes to read, then groups
// written, whose number is only known at the end. Workers only store
// counters; one goroutine draws.
type bar struct {
	read, total atomic.Int64 // bytes
	written     atomic.Int64 // groups

	stop     func() // ends draw; the second call does nothing
	stopping chan struct{}
	stopped  chan struct{}
}

// startBar begins to draw on w.
func startBar(w io.Writer) *bar {
	b := &bar{stopping: make(chan struct{}), stopped: make(chan struct{})}
	b.stop = sync.OnceFunc(func() { close(b.stopping) })
	go b.draw(w)
	return b
}

// Progress takes the counters of the run; any worker may call it.
func (b *bar) Progress(p gagg.Progress) {
	raise(&b.read, p.BytesDone)
	raise(&b.total, p.BytesTotal)
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
func (b *bar) wrote(groups int64) { b.written.Add(groups) }

// finish removes the bar from the screen. The bar may be nil, or finished
// already.
func (b *bar) finish() {
	if b == nil {
		return
	}
	b.stop()
	<-b.stopped
}

func (b *bar) draw(w io.Writer) {
	defer close(b.stopped)
	ticker := time.NewTicker(redrawEvery)
	defer ticker.Stop()
	reading := newPhase(w, "reading", 1, progressbar.OptionShowBytes(true), progressbar.OptionSetPredictTime(true))
	writing := newPhase(w, "writing", -1, progressbar.OptionShowCount(), progressbar.OptionSetItsString("groups"))
	for current := reading; ; {
		if written := b.written.Load(); written > 0 {
			if current == reading {
				_ = reading.Clear()
				current = writing
			}
			_ = writing.Set64(written)
		} else {
			show(reading, b.read.Load(), b.total.Load())
		}
		select {
		case <-b.stopping:
			_ = current.Clear()
			return
		case <-ticker.C:
		}
	}
}

// newPhase makes the bar of one phase; -1 stands for a total that is not
// known.
func newPhase(w io.Writer, name string, total int64, more ...progressbar.Option) *progressbar.ProgressBar {
	return progressbar.NewOptions64(total, append([]progressbar.Option{
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(name),
		progressbar.OptionSetWidth(30),
		progressbar.OptionSetSpinnerChangeInterval(0), // else a goroutine of its own draws on, even after Clear
	}, more...)...)
}

// show draws done of total. The end is left to finish: a bar that reaches
// its total counts as complete and would end the line.
func show(p *progressbar.ProgressBar, done, total int64) {
	total = max(total, done+1)
	if p.GetMax64() != total {
		p.ChangeMax64(total)
	}
	_ = p.Set64(done)
}
