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
	"github.com/gagg-dev/gagg/streams"
)

// tile is a job of the pipeline: rows of a slot.
type tile struct {
	pass  *MultiPass
	rows  uint64
	epoch int // of the table that they were added to
}

// Words of a stage's facts: rows of the rest, their status, and the groups of the table, if they were counted.
const (
	tileRest = iota
	tileStatus
	tileGroups
	tileFacts
)

// restIn is a rest in memory of a stage.
func restIn(s *streams.Stage, to cuda.Span, rows uint64) kernels.EgaRest {
	return kernels.EgaRest{Rows: to.Ptr, Count: s.Facts.Ptr, Capacity: rows, Status: s.Facts.Ptr + 8*tileStatus}
}

// Launch combines the tile into the table, and leaves the rest in the stage; or appends it to chains.
func (t *tile) Launch(s *streams.Stage) (err error) {
	l := &t.pass.lanes[s.Lane]
	l.enter(t.pass, s.Thread)
	if l.bypass > 0 {
		l.bypass--
		t.pass.counts.bypassed()
		return l.append(s.Stream, s.In, t.rows)
	}
	t.epoch, err = t.pass.table.add(s.Stream, s.In, t.rows, restIn(s, s.Scratch, t.rows))
	if err != nil {
		return err
	}
	return t.pass.table.count(s.Stream, s.Facts.Slice(8*tileGroups, 8*tileFacts))
}

// Output takes care of the rest.
func (t *tile) Output(s *streams.Stage, facts []uint64) (cuda.Span, error) {
	t.pass.table.counted(facts[tileGroups])
	return cuda.Span{}, t.pass.lanes[s.Lane].keep(s, facts, t)
}

// Deliver has nothing to take.
func (t *tile) Deliver([]byte) error { return nil }

// passLane is a lane of a MultiPass: the chains of pages for its rest.
type passLane struct {
	pass    *MultiPass
	thread  *cuda.Thread
	kernels *Kernels

	plan   poolPlan
	pool   *gpumem.Pool
	chains *partition.Chains
	rows   uint64 // in chains
	bypass int    // tiles that are appended without a look at the table
}

// enter makes the lane one of a thread.
func (l *passLane) enter(m *MultiPass, t *cuda.Thread) {
	if l.thread == t {
		return
	}
	l.pass, l.thread, l.kernels = m, t, m.kernelsOn(t)
	if l.chains != nil {
		l.chains.Move(t)
	}
}

// keep finds a place for the rest of a tile: in the table, once that is larger, or in chains.
func (l *passLane) keep(s *streams.Stage, facts []uint64, t *tile) error {
	epoch := t.epoch
	from, to := s.Scratch, s.In // the input is not needed any more
	for facts[tileRest] > 0 {
		n := facts[tileRest]
		if err := kernels.Status(facts[tileStatus]).Err(); err != nil {
			return fmt.Errorf("rest of %d rows: %w", n, err)
		}
		larger, err := l.pass.table.grow(l.kernels, s.Stream, epoch)
		if err != nil {
			return err
		}
		if !larger {
			if float64(n) >= bypassShare*float64(t.rows) {
				l.bypass = bypassTiles
			}
			err := l.append(s.Stream, from, n)
			if from == s.In { // the next copy in does not wait for this stream
				err = errors.Join(err, s.Stream.Synchronize())
			}
			return err
		}
		if facts, epoch, err = l.again(s, from, to, n); err != nil {
			return err
		}
		from, to = to, from
	}
	return nil
}

// again adds n rows to the table once more, and waits for that.
func (l *passLane) again(s *streams.Stage, from, to cuda.Span, n uint64) (facts []uint64, epoch int, err error) {
	if err := s.Stream.Fill(s.Facts, 0); err != nil {
		return nil, 0, err
	}
	if epoch, err = l.pass.table.add(s.Stream, from, n, restIn(s, to, n)); err != nil {
		return nil, 0, err
	}
	if err := s.Stream.Synchronize(); err != nil {
		return nil, 0, err
	}
	m := memory{thread: l.thread}
	facts, err = m.words(s.Facts, tileFacts)
	return facts, epoch, err
}

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
	if err := m.paging.load(l.thread); err != nil {
		return err
	}
	l.plan = planPool(m.plan.layout, m.plan.pool(m.table.size()), m.plan.rows)
	for {
		err := l.make()
		half := l.plan.pages / 2
		if err == nil {
			m.counts.pages(l.plan.pages)
		}
		if !errors.Is(err, cuda.ErrOutOfMemory) || half < l.plan.least(m.plan.layout, m.plan.rows) {
			return err
		}
		l.plan.pages = half
	}
}

func (l *passLane) make() (err error) {
	m := l.pass
	if l.pool, err = gpumem.New(l.thread, m.paging.pages, l.plan.config()); err != nil {
		return err
	}
	if l.chains, err = partition.NewChains(l.thread, m.paging.chains, l.pool, l.plan.device(m.plan.layout), m.plan.rows); err != nil {
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
	order := make([]int, len(sizes))
	for p := range order {
		order[p] = p
	}
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
	order := make([]int, len(sizes))
	for p := range order {
		order[p] = p
	}
	return l.send(stream, sizes, order, func() bool { return false })
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
