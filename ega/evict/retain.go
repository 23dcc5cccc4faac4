package evict

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/gagg-dev/gagg/ega/internal/pinned"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// retention keeps evicted rows in the pinned buffers to which they were copied. No writer reads
// them; the second pass copies them from there to the device. So each row is written to the host's
// memory once and read once, which matters because that memory limits the speed of both passes
// (docs/experiments/0012).
//
// Its phases are those of retainPhase. Goroutines of its own, the pinners, make buffers a few
// ahead of need: most of that time they wait for the system to clear pages, and then for the
// driver's lock.
type retention struct {
	of     *Eviction
	memory *bufferMemory

	mu      sync.Mutex // of what follows
	changed sync.Cond
	phase   retainPhase
	asked   uint           // how often it might have been asked whether rows should stay
	size    cuda.Size      // of a buffer
	bytes   int64          // of those that were made, or are being
	making  int            // buffers under way
	ready   []*cuda.Pinned // made, and not used yet
	full    []*buffer      // all that senders have given back
	forget  func() bool    // ends the watch over the pass's context; nil: there is none
	running sync.WaitGroup // pinners
}

// retainPhase is the phase of a retention.
type retainPhase int

const (
	// no row is retained; before set 1, 2, 4 and so on leaves, RetainPays is called, until it is
	// true
	retainAsking retainPhase = iota
	// pinners make buffers; until RetainBytes or the host's memory are used up, or the pass ends
	retainMaking
	// no buffer is made any more; senders use up those there are, and then the writers' again
	retainSpent
)

func (r *retention) init(e *Eviction) {
	r.of, r.changed.L = e, &r.mu
	r.memory = &bufferMemory{context: e.config.Context, host: e.config.Host, spares: e.config.Spares}
	if e.config.RetainBytes == 0 {
		r.phase = retainSpent
	}
}

// decide runs before a set leaves. It has rows retained from now on if that pays, in buffers of at
// most that many bytes. It may count the groups on the device, on the stream.
func (r *retention) decide(t *cuda.Thread, s *cuda.Stream, most cuda.Size) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	// all groups are counted for an answer
	if r.asked++; r.phase != retainAsking || r.asked&(r.asked-1) != 0 {
		return nil
	}
	if pays := r.of.config.RetainPays; pays != nil {
		if yes, err := pays(t, s); err != nil || !yes {
			return err
		}
	}
	r.size = bufferSize(cuda.Size(r.of.config.RetainBytes), most, max(pinned.Least, r.of.row))
	if r.size == 0 {
		r.spend()
		return nil
	}
	r.start()
	return nil
}

// start starts the pinners.
func (r *retention) start() {
	r.phase = retainMaking
	r.forget = context.AfterFunc(r.of.ctx, r.end)
	for range min(pinners, max(runtime.GOMAXPROCS(0)/2, 1)) {
		r.running.Go(func() {
			if invariant.Fenced(r.pin) != nil {
				r.end() // the lane that uses the device next reports that it is lost
			}
		})
	}
}

// mostBuffer is the limit that decide gives bufferSize. It is such that the buffers of all pinners
// together have room for two sets. If the host allowed the writers only small buffers, those that
// are retained are no larger.
func mostBuffer(writers cuda.Size, set poolPlan) cuda.Size {
	if writers < writeBytes {
		return writers
	}
	return max(min(retainBufferBytes, 2*cuda.Size(set.pages)*set.page/pinners), writers)
}

// bufferSize is the size of buffers that may take `retain` bytes together: at most `most`, smaller
// so that there are several, but at least `least`. 0: there are none.
func bufferSize(retain, most, least cuda.Size) cuda.Size {
	size := most
	for retain/size < retainBuffers && size/2 >= least {
		size /= 2
	}
	if size > retain {
		return 0
	}
	return size
}

// pin runs a pinner.
func (r *retention) pin() error {
	t, err := r.of.config.Context.Lock()
	if err != nil {
		return err
	}
	defer t.Unlock()
	for r.wanted() {
		if err := r.make(t); err != nil {
			return err // as of memory that the host has no more of
		}
	}
	return nil
}

// make makes a buffer that was wanted.
func (r *retention) make(t *cuda.Thread) (err error) {
	var b *cuda.Pinned
	defer func() { r.made(b) }() // also after a panic: another goroutine waits for the buffer
	defer r.of.counts.pinned(time.Now())
	b, err = r.memory.make(t, r.size)
	return err
}

// wanted waits until another buffer is wanted, and counts it; false: none is any more.
func (r *retention) wanted() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.phase == retainMaking && len(r.ready)+r.making >= pinners {
		r.changed.Wait()
	}
	if r.phase == retainMaking && r.bytes+int64(r.size) > r.of.config.RetainBytes { // RETAIN-BUDGET
		r.spend()
	}
	if r.phase != retainMaking {
		return false
	}
	r.bytes += int64(r.size)
	r.making++
	return true
}

// made takes a buffer that was wanted; nil: it could not be made.
func (r *retention) made(b *cuda.Pinned) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.making--
	if b == nil {
		r.bytes -= int64(r.size)
	} else {
		r.ready = append(r.ready, b)
	}
	r.changed.Broadcast()
}

// end has no more buffers made.
func (r *retention) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spend()
}

// spend is end for a caller that holds mu.
func (r *retention) spend() {
	r.phase = retainSpent
	r.changed.Broadcast()
}

// next returns the next buffer. It waits while one is being made. nil: rows are not retained, or
// no longer (GO-ON).
func (r *retention) next() *buffer {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.phase == retainAsking {
		return nil
	}
	defer r.of.counts.evictorWaited(time.Now())
	for len(r.ready) == 0 && (r.phase == retainMaking || r.making > 0) {
		r.changed.Wait()
	}
	last := len(r.ready) - 1
	if last < 0 {
		return nil
	}
	b := &buffer{of: r.memory, pinned: r.ready[last]}
	r.ready = r.ready[:last]
	r.changed.Broadcast()
	return b
}

// add adds a buffer whose rows have all arrived (RETAIN-WHOLE), or an empty one that an error
// left.
func (r *retention) add(b *buffer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.full = append(r.full, b)
}

// finish ends the making of buffers and frees those that were not used. No sender may wait for
// one.
func (r *retention) finish() error {
	r.end()
	r.running.Wait()
	if r.forget != nil {
		r.forget()
	}
	unused := r.ready
	r.ready = nil
	var errs []error
	for _, b := range unused {
		errs = append(errs, r.memory.free(b))
	}
	return errors.Join(errs...)
}

// close frees all buffers but those that Eviction.Rows has taken.
func (r *retention) close() error {
	err := r.finish()
	full := r.full
	r.full = nil
	for _, b := range full {
		err = errors.Join(err, b.free())
	}
	return err
}
