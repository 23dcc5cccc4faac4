package cpu

import (
	"context"
	"errors"
	"math"
	"sync/atomic"

	"github.com/gagg-dev/gagg/internal/invariant"
)

// This file is how pairs are counted at the end of the input: partition by partition, each
// goroutine enters the pairs of all workers into a set, and counts those that are new by the
// numbers of their groups. The counts are added to the groups where these are.

// foldPairs counts the pairs of a distinct value. If a worker has none any more, or memory is
// refused, they go to the inner workers, and all is false.
func (r *Run) foldPairs(ctx context.Context, n int, workers []*Worker) (folded Folded, all bool, err error) {
	f := newPairFolding(r, n, workers)
	if all = f != nil; all {
		defer f.close()
		if err := f.run(ctx); err != nil {
			if !refused(err) {
				return Folded{}, false, err
			}
			all = false
		}
	}
	errs := make([]error, len(workers))
	each(len(workers), func(i int) {
		defer invariant.Recovered(&errs[i])
		w := workers[i]
		s := &w.sets.of[n]
		if !all {
			errs[i] = w.unpair(s)
			return
		}
		f.addTo(i)
		f.numbers.leave(i)
		s.pairs.close()
		errs[i] = s.worker.close()
		s.pairs, s.worker = nil, nil
	})
	r.inner[n].pairs = nil
	if err = errors.Join(errs...); err != nil || !all {
		return Folded{}, false, err
	}
	r.joined = f.numbers.join
	return Folded{Groups: f.folded.Load(), Partitions: f.parts}, true, nil
}

// pairFolding is the counting of the pairs of a distinct value.
type pairFolding struct {
	*inner
	cfg     *Config
	n       int
	workers []*Worker
	numbers *numbering
	counts  []uint32 // by number
	held    int64    // bytes of both
	parts   int
	next    atomic.Int64 // partition
	folded  atomic.Int64 // different pairs
}

// newPairFolding returns nil if a worker has no pairs any more, or they cannot be counted by
// number.
func newPairFolding(r *Run, n int, workers []*Worker) *pairFolding {
	f := &pairFolding{inner: r.inner[n], cfg: r.cfg, n: n, workers: workers}
	rows := 0
	for _, w := range workers {
		p := w.sets.of[n].pairs
		if p == nil || p.closed.Load() {
			return nil
		}
		if p.buckets != nil {
			rows += p.n
			f.parts = p.buckets.Partitions()
		}
	}
	numbers, ok := newNumbering(r.cfg, workers)
	if !ok || rows >= math.MaxUint32 {
		return nil
	}
	f.numbers = numbers
	bytes := numbers.bytes() + 4*int64(numbers.all)
	if f.Config.Budget.Draw(bytes) != nil {
		return nil
	}
	f.held = bytes
	return f
}

func (f *pairFolding) close() {
	f.Config.Budget.Release(f.held)
	f.held = 0
}

// run counts all pairs.
func (f *pairFolding) run(ctx context.Context) error {
	if err := f.numbers.number(ctx); err != nil {
		return err
	}
	f.counts = make([]uint32, f.numbers.all)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	each(len(f.workers), func(int) {
		if err := f.work(ctx); err != nil {
			cancel(err)
		}
	})
	return context.Cause(ctx)
}

// work counts the pairs of partitions until none is left.
func (f *pairFolding) work(ctx context.Context) (err error) {
	defer invariant.Recovered(&err)
	c := pairCounter{counts: f.counts}
	defer c.set.drop()
	for {
		part := int(f.next.Add(1)) - 1
		if part >= f.parts {
			break
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := f.count(part, &c); err != nil {
			return err
		}
	}
	c.flush()
	f.folded.Add(c.folded)
	return nil
}

// count counts the pairs of a partition.
func (f *pairFolding) count(part int, c *pairCounter) error {
	rows := 0
	for _, w := range f.workers {
		if p := w.sets.of[f.n].pairs; p.buckets != nil {
			rows += p.buckets.Rows(part)
		}
	}
	if err := c.set.begin(rows, f.Config.Budget); err != nil {
		return err
	}
	for i, w := range f.workers {
		p := w.sets.of[f.n].pairs
		if p.buckets == nil {
			continue
		}
		for _, page := range p.buckets.Pages(nil, part) {
			c.page(page, f.numbers.of(i))
		}
	}
	return nil
}

// pairCounter counts the pairs of one goroutine. A group that most pairs may be of is counted
// apart, since others count it, too.
type pairCounter struct {
	set    pairSet
	counts []uint32 // of all goroutines
	recent [recentCounts]struct{ number, n uint32 }
	folded int64
}

// recentCounts is how many groups are counted apart, by their numbers: 2 KiB, which stay in a
// core's first cache.
const recentCounts = 256

// page counts the pairs of a page that are new. shared is the numbers of its worker's groups; nil:
// these are their own.
func (c *pairCounter) page(page []uint64, shared []uint32) {
	var numbers [pairsAtOnce]uint32
	for len(page) > 0 {
		some := page[:min(len(page), pairWords*pairsAtOnce)]
		page = page[len(some):]
		ids := numbers[:len(some)/pairWords]
		if shared == nil {
			for i := range ids {
				ids[i] = uint32(some[pairWords*i])
			}
		} else {
			for i := range ids {
				ids[i] = shared[uint32(some[pairWords*i])]
			}
		}
		fresh := c.set.enter(ids, some)
		c.folded += int64(len(fresh))
		for _, i := range fresh {
			c.add(ids[i])
		}
	}
}

// add counts a pair of a group.
func (c *pairCounter) add(number uint32) {
	r := &c.recent[number%recentCounts]
	if r.number != number {
		if r.n > 0 {
			atomic.AddUint32(&c.counts[r.number], r.n)
		}
		r.number, r.n = number, 0
	}
	r.n++
}

// flush counts what was counted apart.
func (c *pairCounter) flush() {
	for _, r := range c.recent {
		if r.n > 0 {
			atomic.AddUint32(&c.counts[r.number], r.n)
		}
	}
}

// addTo adds the counts to the groups of a worker.
func (f *pairFolding) addTo(worker int) {
	t := f.workers[worker].table
	states := f.cfg.States.Part(f.Part)
	for i, n := range f.counts[f.numbers.first[worker]:][:t.n] {
		if n > 0 {
			states.AddRows(t.rows.Rows[i*t.rows.Stride:(i+1)*t.rows.Stride], uint64(n))
		}
	}
}
