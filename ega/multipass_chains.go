package ega

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/gagg-dev/gagg/gpumem"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/partition"
)

// append queues that rows are appended to the chains. It makes room first, so that there are pages for all.
func (l *passLane) append(stream *cuda.Stream, rows cuda.Span, n uint64) error {
	if err := l.open(); err != nil {
		return err
	}
	layout := l.pass.plan.layout
	if l.plan.bound(layout, l.rows+n) > uint64(l.plan.pages) {
		if err := l.evict(stream, n); err != nil {
			return fmt.Errorf("evict: %w", err)
		}
	}
	l.rows += n
	l.pass.counts.rest(n)
	return l.chains.Append(stream, rows, int(n))
}

// open makes pool and chains, smaller ones if somebody else has the memory.
func (l *passLane) open() error {
	if l.chains != nil {
		return nil
	}
	m := l.pass
	c := l.thread.Context()
	pages, chains := kernels.NewPages(c), kernels.NewEgaScatterChain(c)
	if err := c.Load(append(pages.Parts(), partition.ChainKernels(chains, m.plan.layout.Stride())...)...); err != nil {
		return err
	}
	l.plan = planPool(m.plan.layout, m.plan.pool(m.table.size()), m.plan.most)
	for {
		err := l.make(pages, chains)
		half := l.plan.pages / 2
		if err == nil {
			m.counts.pages(l.plan.pages)
		}
		if !errors.Is(err, cuda.ErrOutOfMemory) || half < l.plan.least(m.plan.layout, m.plan.most) {
			return err
		}
		l.plan.pages = half
	}
}

func (l *passLane) make(pages *kernels.Pages, chains *kernels.EgaScatterChain) (err error) {
	m := l.pass
	if l.pool, err = gpumem.New(l.thread, pages, l.plan.config()); err != nil {
		return err
	}
	if l.chains, err = partition.NewChains(l.thread, chains, l.pool, l.plan.device(m.plan.layout), m.plan.most); err != nil {
		return errors.Join(err, l.close())
	}
	return nil
}

// evictShare is the share of the pages that may stay in use when chains are evicted: the lane waits for its stream
// before it begins, so what goes at once is to be worth that. A guess.
const evictShare = 0.75

// evict copies chains to the host, the fullest first, until there is room for n more rows, or all.
func (l *passLane) evict(stream *cuda.Stream, n uint64) error {
	if err := stream.Synchronize(); err != nil {
		return err
	}
	sizes, err := l.sizes()
	if err != nil {
		return err
	}
	order := inOrder(len(sizes))
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(sizes[b].Pages, sizes[a].Pages) })
	most := uint64(evictShare * float64(l.plan.pages))
	l.pass.counts.eviction()
	return l.send(stream, sizes, order, func() bool {
		return l.plan.bound(l.pass.plan.layout, l.rows+n) <= most
	})
}

// evictAll copies all chains to the host.
func (l *passLane) evictAll(stream *cuda.Stream) error {
	sizes, err := l.sizes()
	if err != nil {
		return err
	}
	return l.send(stream, sizes, inOrder(len(sizes)), func() bool { return false })
}

// inOrder is the numbers of n chains.
func inOrder(n int) []int {
	order := make([]int, n)
	for p := range order {
		order[p] = p
	}
	return order
}

// send copies chains to the host in this order, and frees their pages behind the copies, until it is enough.
func (l *passLane) send(stream *cuda.Stream, sizes []partition.ChainSize, order []int, enough func() bool) error {
	list, err := l.chains.List(stream, sizes, 0, len(sizes))
	if err != nil {
		return err
	}
	return l.pass.placing.sending(l.thread, stream, func(s *sender) error {
		for _, p := range order {
			if enough() || sizes[p].Pages == 0 {
				continue
			}
			rows, err := s.chain(l.chains, list, p)
			if err != nil {
				return err
			}
			l.rows -= rows
			if err := l.chains.Free(stream, p, 1); err != nil {
				return err
			}
		}
		return nil
	})
}

// sizes is how large the chains are, all of whose rows are there.
func (l *passLane) sizes() ([]partition.ChainSize, error) {
	sizes, err := l.chains.Sizes()
	if err != nil {
		return nil, err
	}
	rows := uint64(0)
	for _, s := range sizes {
		rows += uint64(s.Rows(l.chains.PageRows()))
	}
	if rows != l.rows {
		return nil, fmt.Errorf("chains have %d rows, %d were appended", rows, l.rows)
	}
	return sizes, nil
}

func (l *passLane) close() error {
	var errs []error
	if l.chains != nil {
		errs = append(errs, l.chains.Close())
	}
	if l.pool != nil {
		errs = append(errs, l.pool.Close())
	}
	l.chains, l.pool = nil, nil
	return errors.Join(errs...)
}
