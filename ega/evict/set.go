package evict

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/gagg-dev/gagg/gpumem"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/partition/ondevice"
)

// chainSet is a set of chains to which a lane appends until their pages are used up. Then all rows
// of the set are evicted, while the lane fills another set.
//
//	empty    the lane's, which has appended nothing
//	filling  the lane's, the one it appends to; until pages may be short for the next rows, or
//	         the pass ends
//	full     the evictor's, which copies the rows to the host and frees the pages; then the set
//	         is empty again
type chainSet struct {
	pool   *gpumem.Pool
	chains *ondevice.Chains
	rows   uint64      // in chains
	filled *cuda.Event // the rows were appended
	left   *cuda.Event // the earlier rows were copied, and their pages are free
}

// newSet makes a set.
func (l *Lane) newSet() (_ *chainSet, err error) {
	c, layout := l.thread.Context(), l.of.config.Layout
	pages, chains := kernels.NewPages(c), kernels.NewEgaScatterChain(c)
	if err := c.Load(append(pages.Parts(), ondevice.ChainKernels(chains, layout.Stride())...)...); err != nil {
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
	if s.pool, err = gpumem.New(l.thread, pages, l.plan.config()); err != nil {
		return nil, err
	}
	s.chains, err = ondevice.NewChains(l.thread, chains, s.pool, l.plan.device(layout), l.of.config.MaxRows)
	return s, err
}

// send queues the copies of all rows of the set, which is empty afterwards. It reads the sizes of
// the chains on a stream of its own, look, while the rows of the previous set still leave.
func (s *chainSet) send(to *sender, look *cuda.Stream) error {
	if err := look.Wait(s.filled); err != nil {
		return err
	}
	if err := until(look.Done); err != nil {
		return err
	}
	s.chains.Move(to.thread)
	sizes, err := s.sizes()
	if err != nil {
		return err
	}
	if err := s.chains.List(to.stream, sizes); err != nil {
		return err
	}
	chainBits := uint(bits.TrailingZeros(uint(len(sizes))))
	for p, size := range sizes {
		if err := to.chain(s.chains, p, size.Rows(s.chains.PageRows()), chainBits); err != nil {
			return err
		}
	}
	s.rows = 0
	if err := s.chains.Free(to.stream, 0, len(sizes)); err != nil {
		return err
	}
	return to.stream.Record(s.left)
}

// sizes returns the sizes of the chains. All rows must have been appended.
func (s *chainSet) sizes() ([]ondevice.ChainSize, error) {
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
