package streams

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// phase of a pipeline.
type phase int

const (
	phaseOpen      phase = iota // takes jobs; until Finish or an error
	phaseFinishing              // takes no jobs; until all are delivered, or an error
	phaseStopped                // an error: nothing is delivered any more; the last phase
	phaseEnded                  // all was delivered; the last phase
)

// Pipeline runs jobs on a device. Slot, Submit, Release and SubmitPinned are
// called from any number of goroutines, Finish and Close by the one that started
// it, after they are done.
type Pipeline struct {
	config  Config
	context *cuda.Context
	facts   *kernels.Facts
	host    budget.Lender
	device  budget.Lender
	begin   time.Time

	slots   []*Slot       // changed by Start, then by pinning (with mu held), then by Close
	idle    chan *Slot    // free slots
	queue   chan *entry   // submitted, not yet taken by a lane
	loans   chan struct{} // one for each lent input under way
	stopped chan struct{} // closed when the pipeline stops
	release func() bool   // forgets the caller's context.Context
	lanes   sync.WaitGroup
	pinning sync.WaitGroup // makes slots beside the first
	missing atomic.Int64   // slots that are still to be pinned

	mu       sync.Mutex
	phase    phase
	errs     []error // the first one stopped the pipeline, others are of lanes that end
	returned []Returned
	stats    Stats
	closed   bool
}

// Start makes a pipeline in a context of a device. Pinning takes 0.3 ms for each MiB, so it returns
// when there are two slots, while the others are made. The end of ctx stops the pipeline.
func Start(ctx context.Context, device *cuda.Context, config Config) (*Pipeline, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	config = config.withDefaults()
	loans := config.Streams*config.Depth + spareSlots
	p := &Pipeline{
		config: config, context: device, facts: kernels.NewFacts(device), host: budget.Or(config.Host), device: budget.Or(config.Device), begin: config.Began,
		idle:    make(chan *Slot, config.Slots),
		queue:   make(chan *entry, config.Slots+loans),
		loans:   make(chan struct{}, loans),
		stopped: make(chan struct{}),
		stats:   Stats{Streams: make([]StreamStats, config.Streams)},
	}
	p.release = context.AfterFunc(ctx, func() { p.stop(context.Cause(ctx)) })
	if err := p.start(); err != nil {
		p.stop(err)
		return nil, errors.Join(p.Finish(), p.Close())
	}
	return p, nil
}

// start makes the slots while the lanes make their stages.
func (p *Pipeline) start() error {
	ready := make(chan error, p.config.Streams)
	for i := range p.config.Streams {
		l := &lane{pipeline: p, number: i, stats: &p.stats.Streams[i]}
		p.lanes.Go(func() { l.live(ready) })
	}
	err := p.startSlots()
	able := 0
	for range p.config.Streams {
		switch failed := <-ready; {
		case failed == nil:
			able++
		case refused(failed):
			p.refuse(failed)
		default:
			err = errors.Join(err, failed)
		}
	}
	if err == nil && able == 0 {
		return errors.Join(p.Stats().Refused...) // others may still be refused slots
	}
	return err
}

// refuse notes what the pipeline does without.
func (p *Pipeline) refuse(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.Refused = append(p.stats.Refused, err)
}

// stop ends the taking and delivering of jobs. The first error counts.
func (p *Pipeline) stop(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.phase < phaseStopped {
		p.halt(err)
	}
}

// note keeps the error of a lane that has ended, and stops the others.
func (p *Pipeline) note(err error) {
	if err == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.phase < phaseStopped:
		p.halt(err)
	case !errors.Is(p.errs[0], err): // that of a lost context comes from every lane
		p.errs = append(p.errs, err)
	}
}

// halt is stop with p.mu held and the phase known.
func (p *Pipeline) halt(err error) {
	p.phase = phaseStopped
	p.errs = append(p.errs, err)
	close(p.stopped)
}

// Stopped is closed when the pipeline stops: nothing is delivered any more but what a lane is
// delivering.
func (p *Pipeline) Stopped() <-chan struct{} { return p.stopped }

func (p *Pipeline) isStopped() bool {
	select {
	case <-p.stopped:
		return true
	default:
		return false
	}
}

func (p *Pipeline) stoppedError() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Errorf("%w: %w", ErrStopped, p.errs[0])
}

// Finish is called when nothing more will be submitted. It waits until all jobs
// are delivered, or the pipeline has stopped and its lanes have ended, and
// returns what stopped it, or what went wrong at the end of a lane. Jobs that
// were not delivered are in Returned. A second call returns the same.
func (p *Pipeline) Finish() error {
	p.mu.Lock()
	if p.phase == phaseOpen {
		p.phase = phaseFinishing
		close(p.queue)
	}
	p.mu.Unlock()
	p.lanes.Wait()
	p.pinning.Wait()
	p.release()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.empty()
	if p.phase == phaseFinishing {
		p.phase = phaseEnded
	}
	return errors.Join(p.errs...)
}

// empty returns what no lane has taken.
func (p *Pipeline) empty() {
	for {
		select {
		case e, open := <-p.queue:
			if !open {
				return
			}
			p.giveBack(e)
		default:
			return
		}
	}
}

// Returned is the jobs that were submitted and not delivered, in no order. It is
// complete once Finish has returned and all producers have ended.
func (p *Pipeline) Returned() []Returned {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.returned
}

// Close frees all that the pipeline has; jobs that are still under way are
// dropped. It is called when no producer is at work any more. A second call does
// nothing.
func (p *Pipeline) Close() error {
	if p.closed {
		return nil
	}
	p.closed = true
	p.mu.Lock()
	finished := p.phase != phaseOpen
	p.mu.Unlock()
	if !finished {
		p.stop(errClosed)
	}
	_ = p.Finish() // Finish returns its errors to its own caller, if they are not of this stop
	return p.freeSlots()
}

// freeSlots frees them with the context current from the first to the last. Should
// that fail, each tries for itself.
func (p *Pipeline) freeSlots() error {
	var err error
	if p.context.Lost() == nil {
		var t *cuda.Thread
		if t, err = p.context.Lock(); err == nil {
			defer t.Unlock()
		}
	}
	for _, s := range p.slots {
		err = errors.Join(err, p.free(s.staging))
	}
	return err
}
