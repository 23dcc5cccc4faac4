package evict

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gagg-dev/gagg/internal/cuda"
)

// Lane takes the rows that one lane of a first pass evicts. It has a few chain sets, which it
// fills in turns, and the evictor of those that are full.
type Lane struct {
	of     *Eviction
	thread *cuda.Thread

	plan    poolPlan  // of each set
	most    int       // sets
	pieces  cuda.Size // device memory of the sender
	sets    []*chainSet
	filling *chainSet // the set being filled; nil: there is none
	evictor evictor
}

// Move gives the lane to another thread.
func (l *Lane) Move(t *cuda.Thread) {
	l.thread = t
	if l.filling != nil {
		l.filling.chains.Move(t)
	}
}

// Append queues a kernel that appends rows to the chains. It makes room first, so that there are
// pages for all rows: it may wait until others have left. Before the first rows it makes a set and
// starts the evictor.
func (l *Lane) Append(stream *cuda.Stream, rows cuda.Span, n uint64) error {
	if l.filling != nil && !l.plan.room(l.of.config.Layout, l.filling.rows+n) {
		if err := l.handOver(stream); err != nil {
			return fmt.Errorf("evict: %w", err)
		}
	}
	if l.filling == nil {
		if err := l.fill(stream); err != nil {
			return err
		}
	}
	l.filling.rows += n
	return l.filling.chains.Append(stream, rows, int(n))
}

// fill begins to fill an empty set: one that has become empty, or a new one if there is memory, or
// the next one that becomes empty, for which it waits.
func (l *Lane) fill(stream *cuda.Stream) error {
	select {
	case l.filling = <-l.evictor.empty:
		return l.reuse(stream)
	default:
	}
	if l.sets == nil || len(l.sets) < l.most {
		if more, err := l.another(); more || err != nil {
			return err
		}
	}
	defer l.of.counts.laneWaited(time.Now())
	select {
	case l.filling = <-l.evictor.empty:
		return l.reuse(stream)
	case <-l.of.ctx.Done():
		return context.Cause(l.of.ctx)
	}
}

// reuse gives the set that is filled back to the lane's thread.
func (l *Lane) reuse(stream *cuda.Stream) error {
	l.filling.chains.Move(l.thread)
	return stream.Wait(l.filling.left)
}

// another makes one more set, which is filled next. The first set is smaller if others have taken
// the memory. False: there is no memory for one more.
func (l *Lane) another() (bool, error) {
	layout, rows := l.of.config.Layout, l.of.config.MaxRows
	first := l.sets == nil
	if first {
		var memory cuda.Size
		memory, l.pieces = share(layout, l.of.config.Memory(), rows)
		l.most, l.plan = planSets(layout, memory, rows)
	}
	for {
		set, err := l.newSet()
		switch half := l.plan.pages / 2; {
		case err == nil:
			if first {
				l.startEvictor()
			}
			l.sets, l.filling = append(l.sets, set), set
			l.of.counts.pages(l.plan.pages)
			return true, nil
		case !errors.Is(err, cuda.ErrOutOfMemory):
			return false, err
		case !first:
			l.most = len(l.sets)
			return false, nil
		case half < l.plan.least(layout, rows):
			return false, err
		default:
			l.plan.pages = half
		}
	}
}

// closeSets frees the memory of the sets.
func (l *Lane) closeSets() error {
	var errs []error
	for _, s := range l.sets {
		errs = append(errs, s.close())
	}
	l.sets = nil
	return errors.Join(errs...)
}

// close ends the evictor and frees what it has left.
func (l *Lane) close() error {
	if l.evictor.done == nil {
		return l.closeSets()
	}
	l.end()
	<-l.evictor.done // EndLanes returns its error
	return l.closeSets()
}
