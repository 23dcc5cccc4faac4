package cpu

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/invariant"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/merge"
)

// This file is how the groups of inner runs, the different values of each group of the query,
// become rows for the outer workers (distinct.go): partition by partition, each goroutine into the
// tables of one worker.

// Folded is counts of an inner run.
type Folded struct {
	Groups      int64 // its groups: different values, of all groups of the query together
	Partitions  int
	Partitioned bool // groups went to partitions before the end of the input
}

// foldAll folds all inner runs, one after the other. Their memory is free afterwards.
func (r *Run) foldAll(ctx context.Context, in Input, workers []*Worker) (folded []Folded, err error) {
	if len(r.inner) > 0 && in.ReadAll != nil {
		in.ReadAll()
	}
	for n := range r.inner {
		f, err := r.fold(ctx, n, workers)
		if err != nil {
			return nil, err
		}
		folded = append(folded, f)
	}
	return folded, nil
}

// fold folds inner run n.
func (r *Run) fold(ctx context.Context, n int, workers []*Worker) (Folded, error) {
	d := r.inner[n]
	inner := make([]*Worker, len(workers))
	for i, w := range workers {
		inner[i] = w.sets.of[n].worker
	}
	shared := Folded{}
	if d.sets != nil {
		var all bool
		var err error
		if shared, all, err = r.foldSets(ctx, n, workers); all || err != nil {
			return shared, err
		}
	}
	if d.pairs != nil {
		if folded, all, err := r.foldPairs(ctx, n, workers); all || err != nil {
			return folded, err
		}
	}
	g, err := d.run.finish(inner)
	if err != nil {
		return Folded{}, err
	}
	if !workers[0].sets.own { // the rows that workers see are the groups of inner runs
		r.rows = max(r.rows, 0) + int64(g.Estimate)
	}
	f := folding{outer: r.cfg, inner: d, groups: &g, ranges: merge.Buddies(g.Sizes(), -1)}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	each(min(r.cfg.Threads, len(workers)), func(i int) { // as many as there is memory to merge with
		if err := f.work(ctx, workers[i]); err != nil {
			cancel(err)
		}
	})
	if err := context.Cause(ctx); err != nil {
		return Folded{}, err
	}
	for _, w := range workers {
		w.sets.of[n].worker = nil
	}
	return Folded{shared.Groups + f.folded.Load(), len(g.Sizes()), g.Partitioned}, g.Close()
}

// InnerGroups is the groups of an inner run, to be merged as they are.
type InnerGroups struct {
	Run    *Run
	Config *Config
	Groups Groups
}

// keepAll completes all inner runs.
func (r *Run) keepAll(in Input, workers []*Worker) (folded []Folded, groups []InnerGroups, err error) {
	if len(r.inner) > 0 && in.ReadAll != nil {
		in.ReadAll()
	}
	for n, d := range r.inner {
		inner := make([]*Worker, len(workers))
		for i, w := range workers {
			inner[i] = w.sets.of[n].worker
		}
		g, err := d.run.finish(inner)
		if err != nil {
			return nil, groups, err
		}
		for _, w := range workers {
			w.sets.of[n].worker = nil // its rows are those of g
		}
		groups = append(groups, InnerGroups{d.run, d.Config, g})
		folded = append(folded, Folded{int64(g.Estimate), len(g.Sizes()), g.Partitioned})
	}
	return folded, groups, nil
}

// folding is the folding of one inner run.
type folding struct {
	*inner
	outer  *Config
	groups *Groups
	ranges []merge.Range // of its partitions
	next   atomic.Int64
	folded atomic.Int64 // groups
}

// work folds partitions into the tables of w until none is left.
func (f *folding) work(ctx context.Context, w *Worker) (err error) {
	defer invariant.Recovered(&err)
	m := f.run.NewMerger(f.groups.Buckets)
	defer func() { err = errors.Join(err, m.Close()) }()
	into := newFolder(f.Distinct, w, SetKeys{Layout: f.Config.Keys}, f.Config.Keys.Base())
	for {
		n := int(f.next.Add(1)) - 1
		if n >= len(f.ranges) {
			return nil
		}
		m.Prefetch(f.ranges[min(n+f.outer.Threads, len(f.ranges)-1)])
		if into.counts {
			groups, err := m.Count(ctx, f.ranges[n])
			if err != nil {
				return err
			}
			w.addCount(int(groups))
			f.folded.Add(groups)
			continue
		}
		if err := m.Merge(ctx, f.ranges[n], into.add); err != nil {
			return err
		}
		f.folded.Add(into.folded)
		into.folded = 0
	}
}

// Count is Merge for a caller that needs only the number of groups.
func (m *Merger) Count(ctx context.Context, p merge.Range) (groups int64, err error) {
	m.counts, m.counted = true, 0
	defer func() { m.counts = false }()
	err = m.Merge(ctx, p, func(rows []uint64) error {
		m.counted += int64(len(rows) / m.cfg.Stride)
		return nil
	})
	return m.counted, err
}

// folder makes rows for one outer worker of the groups of an inner run.
type folder struct {
	worker  *Worker
	keys    key.Decoder
	columns []int // of the batch, by field of the keys
	masks   *grouping
	layout  *key.Layout
	stride  int
	batch   column.Batch // the outer keys, then the value
	counts  bool         // there is one group, and its values are only counted
	whole   bool         // rows have states, which become the outer groups' (regroup.go)
	folded  int64        // groups of the partition
}

// foldBytes is how many bytes of long strings rows have that are folded at a time, about: what a
// core has in its second-level cache beside tables.
const foldBytes = 256 << 10

// newFolder makes a folder for rows with the key words from word base on. Without columns they have
// all keys; else those that the worker's grouping set has.
func newFolder(d *Distinct, w *Worker, has SetKeys, base int) *folder {
	keys := len(w.pipe.Keys)
	columns := keys
	if d.Values {
		columns++
	}
	w.turn(d, keys)
	return newFolderOf(d.Config, w, has, base, columns)
}

// newFolderOf makes a folder that decodes so many columns of an inner run.
func newFolderOf(inner *Config, w *Worker, has SetKeys, base, columns int) *folder {
	stride := base + has.Layout.Words
	f := &folder{
		worker: w, layout: has.Layout, stride: stride, columns: has.Columns,
		keys:   key.Decoder{Layout: has.Layout, Intern: inner.Intern, Arenas: inner.Arenas, Base: base, Stride: stride},
		batch:  column.Batch{Cols: make([]column.Vector, columns)},
		counts: columns == 0,
	}
	if f.columns == nil {
		f.columns = AllColumns(columns)
	} else if f.masks = w.grouping; f.masks != nil {
		copy(f.batch.Cols, inner.Groupings.one())
	}
	return f
}

// AllColumns is the first n columns.
func AllColumns(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// decodeSome decodes field i of the keys into column columns[i] of cols, if there is one.
func decodeSome(d *key.Decoder, columns []int, rows []uint64, cols []column.Vector) {
	d.Begin(rows)
	for i, c := range columns {
		if c < len(cols) {
			d.Decode(i, rows, &cols[c])
		}
	}
}

// turn has the worker read rows of another part of the aggregates: keys are the first columns, and
// the value follows if it is needed.
func (w *Worker) turn(d *Distinct, keys int) {
	w.states = w.cfg.States.Part(d.Part)
	w.states.Init(w.template)
	w.table.rows.Unseen = true
	w.pipe = Pipeline{Keys: columnsOf(keys), Args: make([]Evaluator, len(w.in.Args))}
	if d.Values {
		w.pipe.Args[d.Arg] = batchColumn(keys)
	}
	w.part = d.Part
	w.read, w.selected, w.asks = 0, 0, false // from now on groups come, and all of them pass
}

// add adds groups of the inner run, whole rows.
func (f *folder) add(rows []uint64) error {
	for len(rows) > 0 {
		f.keys.Begin(rows)
		n := f.fit(rows)
		some := rows[:n*f.stride]
		decodeSome(&f.keys, f.columns, some, f.batch.Cols)
		if f.masks != nil {
			f.masks.mask(f.batch.Cols[:len(f.masks.has)+1], n)
		}
		f.batch.Rows = n
		if f.whole {
			f.worker.whole.rows = some
		}
		if err := f.worker.Add(&f.batch); err != nil {
			return err
		}
		rows = rows[n*f.stride:]
		f.folded += int64(n)
	}
	return nil
}

// fit is how many of the rows are folded at a time: one at least.
func (f *folder) fit(rows []uint64) int {
	n := len(rows) / f.stride
	if !f.keys.HasLong() {
		return n
	}
	bytes := 0
	for i := range n {
		if bytes += f.layout.LongBytes(rows[i*f.stride:], f.keys.Base); bytes > foldBytes && i > 0 {
			return i
		}
	}
	return n
}

// addCount adds n rows without a value to the one group that there is.
func (w *Worker) addCount(n int) {
	w.in.Rows, w.in.Times = n, 0
	w.states.UpdateOne(&w.table.rows, 0, false, &w.in)
}
