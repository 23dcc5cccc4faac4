package cpu

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/invariant"
	"github.com/gagg-dev/gagg/partition"
)

// Reader gives the batches of the units of a scan, one unit at a time.
// Batches are valid until the next call. One a worker.
type Reader interface {
	// Where has the reader filter rows, before any unit is opened: it sets Batch.Sel, and may leave
	// out what no row is left of. The filter uses the columns cols. false: the reader filters
	// nothing.
	Where(filter func(b *column.Batch, sel []int32) ([]int32, error), cols []int) bool
	Open(unit int) error
	Next(b *column.Batch) (bool, error)
	Close()
}

// Input is what a run reads and how.
type Input struct {
	Units    int
	Reader   func() Reader
	Pipeline func() Pipeline
	// of a worker, by its reader; nil: an accelerator takes rows alone
	Builder func(Reader) BatchBuilder
	// a unit was read; may be called from several workers at once
	Done func(unit int, rows int64)
	// all units were, without an error, and distinct values are folded next; nil will do
	ReadAll func()
}

// Groups is the outcome of a run: the groups of all workers, partitioned.
type Groups struct {
	Buckets     []*partition.Buckets // of each worker
	Partitioned bool                 // groups went to partitions before the end of the input
	Estimate    float64              // about how many there are
	Sent        int64                // input rows that the device was given, as rows or groups
	Distinct    []Folded             // counts of each of Config.Distinct
	Inner       []InnerGroups        // the groups of each, with Config.KeepDistinct; else none

	stores []*store
	drawn  int64         // memory for mergers (IN-PLACE)
	from   budget.Lender // it is released to
}

// Resident is how many rows lie in buckets.
func (g *Groups) Resident() (n int64) {
	for _, b := range g.Buckets {
		n += b.AllRows()
	}
	return n
}

// Sizes is how many rows each partition has.
func (g *Groups) Sizes() []int64 {
	sizes := make([]int64, g.Buckets[0].Partitions())
	for _, b := range g.Buckets {
		for p := range sizes {
			sizes[p] += b.PartitionRows(p)
		}
	}
	return sizes
}

// Close lets go of all groups.
func (g *Groups) Close() error {
	var errs []error
	for _, s := range g.stores {
		errs = append(errs, s.close())
	}
	g.giveBack()
	for i := range g.Inner {
		errs = append(errs, g.Inner[i].Groups.Close())
	}
	g.stores, g.Buckets, g.Inner = nil, nil, nil
	return errors.Join(errs...)
}

// smallResult is how many groups, over all workers, are merged by one goroutine: below it, starting
// others costs more than it gains, unless groups keep their values: one merges as many in less than
// a millisecond, at 50 ns a group.
const smallResult = 16 << 10

// Group aggregates the input with Config.Threads workers. It returns the first error of any worker,
// or the context's, once all have stopped.
func (r *Run) Group(ctx context.Context, in Input) (Groups, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.openSets()
	defer r.closeSets()
	workers := make([]*Worker, max(r.cfg.Threads, 1))
	var next atomic.Int64
	each(len(workers), func(i int) {
		var err error
		if workers[i], err = r.work(ctx, in, &next); err != nil {
			cancel(err)
		}
	})
	workers = withOthers(workers)
	err := context.Cause(ctx)
	var folded []Folded
	var inner []InnerGroups
	switch {
	case err != nil:
	case r.cfg.KeepDistinct:
		folded, inner, err = r.keepAll(in, workers)
	default:
		folded, err = r.foldAll(ctx, in, workers)
	}
	if err == nil {
		var g Groups
		if g, err = r.finish(workers); err == nil {
			g.Distinct, g.Inner = folded, inner
			return g, nil
		}
	}
	for i := range inner {
		err = errors.Join(err, inner[i].Groups.Close())
	}
	for _, w := range workers {
		if w != nil {
			err = errors.Join(err, invariant.Fenced(w.close)) // one that has panicked may again
		}
	}
	return Groups{}, err
}

// withOthers is the workers of all threads, those of the first grouping set in front.
func withOthers(workers []*Worker) []*Worker {
	all := slices.Clone(workers)
	for _, w := range workers {
		if w != nil {
			all = append(all, w.others...)
			w.others = nil
		}
	}
	return all
}

// each calls f(0) … f(n-1) at once and waits for all.
func each(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := 1; i < n; i++ {
		wg.Go(func() { f(i) })
	}
	f(0)
	wg.Wait()
}

// work is the life of one worker: it takes units until none is left. The worker is
// returned to be closed also with an error, and after a panic.
func (r *Run) work(ctx context.Context, in Input, next *atomic.Int64) (w *Worker, err error) {
	defer invariant.Recovered(&err)
	if w, err = r.NewWorker(in.Pipeline()); err != nil {
		return nil, err
	}
	w.endWith(ctx)
	reader := in.Reader()
	defer reader.Close()
	w.filtered = w.pipe.Where.Filter != nil
	if first := w.pipe.First; first.Filter != nil && reader.Where(func(b *column.Batch, sel []int32) ([]int32, error) {
		return w.applyFilter(first, b, sel)
	}, first.Cols) {
		w.pipe.Where = w.pipe.Residual
	}
	if r.accelerator != nil {
		if in.Builder != nil {
			w.builder = in.Builder(reader)
		}
		w.share(in.Units, next)
	}
	for {
		unit := int(next.Add(1)) - 1
		if unit >= in.Units {
			break
		}
		rows, err := w.takeUnit(ctx, reader, unit)
		if err != nil {
			return w, err
		}
		in.Done(unit, rows)
	}
	if err := w.submit(); err != nil { // others may wait for the memory of its tile
		return w, err
	}
	return w, w.readDeclined(ctx, reader)
}

func (w *Worker) unit(ctx context.Context, r Reader, unit int) (rows int64, err error) {
	if err := r.Open(unit); err != nil {
		return 0, err
	}
	var b column.Batch
	for ctx.Err() == nil {
		ok, err := r.Next(&b)
		if err != nil || !ok {
			return rows, err
		}
		rows += b.Stands()
		if err := w.Add(&b); err != nil {
			return rows, err
		}
	}
	return rows, context.Cause(ctx)
}

// inTables is how many groups are in tables, and whether any worker has begun to partition.
func inTables(workers []*Worker) (all int, partitioned bool) {
	for _, w := range workers {
		n, begun := w.Groups()
		all, partitioned = all+n, partitioned || begun
	}
	return all, partitioned
}

// finish empties all workers into buckets of one number of partitions.
func (r *Run) finish(workers []*Worker) (g Groups, err error) {
	total, _ := inTables(workers)
	if err := r.dropBelowTopN(workers, total); err != nil {
		return g, err
	}
	total, g.Partitioned = inTables(workers)
	all := partition.NewSketch()
	for _, w := range workers {
		all.Merge(w.sketch)
	}
	bits := uint(0)
	offloaded, err := r.offloaded(workers)
	if err != nil {
		return g, err
	}
	device := 0.0 // groups, which may be of rows that no worker has seen
	if offloaded {
		g.Partitioned = true
		device = r.accelerator.Groups()
		bits = r.choose(max(all.Estimate()+float64(total), device), 0, math.MaxInt64, r.rows, 0)
	} else if g.Partitioned || total > smallResult || r.cfg.States.HasChains() || r.cfg.Partitions > 0 || len(r.back) > 0 {
		bits = r.choose(max(all.Estimate(), float64(total)), 0, math.MaxInt64, r.rows, 0)
	}
	staying, err := g.stayingTables(r, workers, bits)
	if err != nil {
		return g, err
	}
	errs := make([]error, len(workers))
	each(len(workers), func(i int) {
		defer invariant.Recovered(&errs[i])
		if errs[i] = workers[i].Finish(bits, staying[i]); errs[i] == nil {
			errs[i] = workers[i].store.whole()
		}
	})
	for _, w := range workers {
		g.Buckets = append(g.Buckets, w.store.buckets)
		g.stores = append(g.stores, w.store)
	}
	all = partition.NewSketch() // the tables' groups too
	for _, w := range workers {
		all.Merge(w.sketch)
	}
	g.Estimate, g.Sent = max(all.Estimate(), device), r.sent.Load()
	r.groups = g.Estimate
	r.expected.Store(int64(g.Estimate))
	if err = errors.Join(errs...); err != nil {
		g.giveBack()
	}
	return g, err
}
