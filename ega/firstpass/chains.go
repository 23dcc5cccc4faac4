package firstpass

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gagg-dev/gagg/gpumem"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/partition"
)

// chainSet is chains of pages that a lane appends to until its pages are spent. Then all its rows leave the device, while the lane
// fills another set.
//
//	empty    of the lane, which has appended nothing to it
//	filling  of the lane, the one that it appends to; until pages may be short for the next rows, or the pass ends
//	full     of the leaver (multipass_leave.go), which copies it to the host and frees its pages; then it is empty again
type chainSet struct {
	pool   *gpumem.Pool
	chains *partition.Chains
	rows   uint64      // in chains
	filled *cuda.Event // what was appended is there
	left   *cuda.Event // what was there before has left, and its pages are free
}

// laneChains is the chains of a lane: a few sets in turns.
type laneChains struct {
	plan    poolPlan  // of each
	most    int       // sets
	pieces  cuda.Size // device memory of the sender
	sets    []*chainSet
	filling *chainSet // nil: none is
	leaver  leaver
}

// append queues that rows are appended to the chains. It makes room first, so that there are pages for all.
func (l *lane) append(stream *cuda.Stream, rows cuda.Span, n uint64) error {
	if c := &l.chains; c.filling != nil && !c.plan.room(l.pass.plan.layout, c.filling.rows+n) {
		if err := l.leave(stream); err != nil {
			return fmt.Errorf("evict: %w", err)
		}
	}
	if l.chains.filling == nil {
		if err := l.fill(stream); err != nil {
			return err
		}
	}
	set := l.chains.filling
	set.rows += n
	return set.chains.Append(stream, rows, int(n))
}

// fill begins to fill an empty set, another one if there is memory, or the next one that is empty again.
func (l *lane) fill(stream *cuda.Stream) error {
	c := &l.chains
	select {
	case c.filling = <-c.leaver.empty:
		return l.reuse(stream)
	default:
	}
	if c.sets == nil || len(c.sets) < c.most {
		if more, err := l.another(); more || err != nil {
			return err
		}
	}
	defer l.pass.counts.laneWaited(time.Now())
	select {
	case c.filling = <-c.leaver.empty:
		return l.reuse(stream)
	case <-l.pass.ctx.Done():
		return context.Cause(l.pass.ctx)
	}
}

// reuse makes the set that is filled one of the lane's again.
func (l *lane) reuse(stream *cuda.Stream) error {
	l.chains.filling.chains.Move(l.thread)
	return stream.Wait(l.chains.filling.left)
}

// another makes one more set, which is filled then; the first one smaller if somebody else has the memory. False: there is none
// for one more.
func (l *lane) another() (bool, error) {
	c, layout, most := &l.chains, l.pass.plan.layout, l.pass.plan.most
	first := c.sets == nil
	if first {
		var memory cuda.Size
		memory, c.pieces = l.pass.plan.pool(l.pass.table.size())
		c.most, c.plan = planSets(layout, memory, most)
	}
	for {
		set, err := l.newSet()
		switch half := c.plan.pages / 2; {
		case err == nil:
			if first {
				l.start()
			}
			c.sets, c.filling = append(c.sets, set), set
			l.pass.counts.pages(c.plan.pages)
			return true, nil
		case !errors.Is(err, cuda.ErrOutOfMemory):
			return false, err
		case !first:
			c.most = len(c.sets)
			return false, nil
		case half < c.plan.least(layout, most):
			return false, err
		default:
			c.plan.pages = half
		}
	}
}

// newSet makes a set.
func (l *lane) newSet() (_ *chainSet, err error) {
	c, layout := l.thread.Context(), l.pass.plan.layout
	pages, chains := kernels.NewPages(c), kernels.NewEgaScatterChain(c)
	if err := c.Load(append(pages.Parts(), partition.ChainKernels(chains, layout.Stride())...)...); err != nil {
		return nil, err
	}
	s := &chainSet{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	for _, e := range []**cuda.Event{&s.filled, &s.left} {
		if *e, err = l.thread.NewEvent(); err != nil {
			return nil, err
		}
	}
	if s.pool, err = gpumem.New(l.thread, pages, l.chains.plan.config()); err != nil {
		return nil, err
	}
	s.chains, err = partition.NewChains(l.thread, chains, s.pool, l.chains.plan.device(layout), l.pass.plan.most)
	return s, err
}

// sizes is how large the chains are, all of whose rows are there.
func (s *chainSet) sizes() ([]partition.ChainSize, error) {
	sizes, err := s.chains.Sizes()
	if err != nil {
		return nil, err
	}
	rows := uint64(0)
	for _, size := range sizes {
		rows += uint64(size.Rows(s.chains.PageRows()))
	}
	if rows != s.rows {
		return nil, fmt.Errorf("chains have %d rows, %d were appended", rows, s.rows)
	}
	return sizes, nil
}

func (s *chainSet) close() error {
	var errs []error
	if s.chains != nil {
		errs = append(errs, s.chains.Close())
	}
	if s.pool != nil {
		errs = append(errs, s.pool.Close())
	}
	for _, e := range []*cuda.Event{s.filled, s.left} {
		if e != nil {
			errs = append(errs, e.Close())
		}
	}
	*s = chainSet{}
	return errors.Join(errs...)
}
