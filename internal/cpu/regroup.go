package cpu

import (
	"context"
	"errors"
	"math"
	"sync/atomic"

	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/invariant"
	"github.com/gagg-dev/gagg/merge"
	"github.com/gagg-dev/gagg/partition"
)

// This file is distinct values where an accelerator takes part, which groups by one set of keys. So
// all rows of the input are grouped once, by the keys and the value x (NULL too), and these groups
// have the states of the aggregates of all rows (part 0). They are then rows for a run by the keys:
//
//	rows ──▶ run by keys and x, with an accelerator ──▶ groups ──mergers──▶ workers of a run by keys
//	         states of part 0                                      part 0 is combined
//	                                                               x, if not NULL, is a row of its part
//
// The rows of both runs have the same state words, behind keys of more words and of fewer.
//
// An accelerator that has all groups may make those by the keys itself. The other run then begins
// with these (Run.Adopt).
//
// Values that are counted go this way with an accelerator and without. COUNTED-ONCE: a value x that
// is counted reaches its part once, with how many rows its group has, and where the first is.
//
// Keys that an accelerator cannot compute go the same way. It groups by what it can compute of
// them, and by x if there is one, and the keys are computed of its groups. Different parts may have
// the same keys, and so a group by these the same x several times: x goes to the inner run of the
// other run, as those of rows do.

// Regrouping is how the groups of a run become those of another, by other keys.
type Regrouping struct {
	From *Config // of the run of the groups
	// From's keys are the keys of the other run, and its value; nil: Keys makes the keys of the
	// first of From's, and behind these is the distinct value of the other run, if it has one. Keys
	// is called by each worker, and gives the evaluators alone
	Distinct *Distinct
	Keys     func() Pipeline
	Merger   func() (*Merger, error)
	Ranges   []merge.Range // of partitions of the groups
}

// Regroup groups groups, with Config.Threads workers. Nobody needs these afterwards.
func (r *Run) Regroup(ctx context.Context, pipe Pipeline, g Regrouping) (out Groups, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.openSets()
	defer r.closeSets()
	workers := make([]*Worker, max(r.cfg.Threads, 1))
	n := regrouping{Regrouping: g}
	each(len(workers), func(i int) {
		var err error
		if workers[i], err = r.NewWorker(pipe); err == nil {
			err = n.work(ctx, workers[i])
		}
		if err != nil {
			cancel(err)
		}
	})
	folded := []Folded{}
	if err = context.Cause(ctx); err == nil {
		folded, err = r.foldAll(ctx, Input{}, workers)
	}
	if err == nil {
		if out, err = r.finish(workers); err == nil {
			if out.Distinct = folded; g.Distinct != nil {
				out.Distinct = []Folded{{n.groups.Load(), len(g.Ranges), true}}
			}
			return out, nil
		}
	}
	for _, w := range workers {
		if w != nil {
			err = errors.Join(err, invariant.Fenced(w.close))
		}
	}
	return Groups{}, err
}

// Adopt is so many groups of a run that has no workers, since an accelerator has all of them, of so
// many input rows that it was given. Buckets have no rows, and are as many as of any run with so
// many groups.
func (r *Run) Adopt(groups uint64, sent int64) Groups {
	n := float64(groups)
	s := newStore(r.cfg, r.cfg.Budget)
	s.open(0, r.choose(n, n, 1, 1, 0))
	r.groups = n
	return Groups{
		Buckets: []*partition.Buckets{s.buckets}, stores: []*store{s}, Partitioned: true,
		Estimate: n, Sent: sent,
	}
}

type regrouping struct {
	Regrouping
	next   atomic.Int64 // range
	groups atomic.Int64 // that have an x
}

// work regroups ranges into a worker until none is left.
func (r *regrouping) work(ctx context.Context, w *Worker) (err error) {
	defer invariant.Recovered(&err)
	m, err := r.Merger()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	into := newRegrouper(&r.Regrouping, w)
	for {
		n := int(r.next.Add(1)) - 1
		if n >= len(r.Ranges) {
			break
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		m.Prefetch(r.Ranges[min(n+w.cfg.Threads, len(r.Ranges)-1)])
		if err := m.Merge(ctx, r.Ranges[n], into.add); err != nil {
			return err
		}
	}
	r.groups.Add(into.valued)
	w.whole = whole{}
	return nil
}

// regrouper makes rows for one worker of groups.
type regrouper struct {
	*folder
	value         int // the field of x; -1: there is none
	null          []bool
	with, without []uint64 // rows with an x, and without
	valued        int64    // how many had one
}

// noPart is a part of no aggregate: its rows update nothing.
const noPart = math.MaxInt

func newRegrouper(g *Regrouping, w *Worker) *regrouper {
	c, all := g.From, SetKeys{Layout: g.From.Keys}
	r := &regrouper{value: len(w.pipe.Keys)}
	if g.Distinct != nil {
		r.folder = newFolder(g.Distinct, w, all, c.Keys.Base())
	} else {
		r.value = -1
		w.turnWhole(g.Keys(), len(c.Keys.Fields()))
		r.folder = newFolderOf(c, w, all, c.Keys.Base(), len(c.Keys.Fields()))
	}
	r.folder.stride, r.folder.keys.Stride, r.folder.whole = c.Stride, c.Stride, true
	w.whole = whole{stride: c.Stride, shift: c.Keys.Base() + c.Keys.Words - w.cfg.Keys.Base() - w.cfg.Keys.Words}
	w.cfg.States.InitEmpty(w.template)
	return r
}

// turnWhole has the worker read groups, of so many columns, whose keys have evaluators. The last
// column is the value of the worker's set, if it has one: rows of part 0 may have that several
// times, and their states are combined, not updated.
func (w *Worker) turnWhole(keys Pipeline, columns int) {
	w.turn(&Distinct{Part: noPart}, 0)
	if w.sets != nil {
		w.part = 0
		w.pipe.Args[w.sets.of[0].arg] = batchColumn(columns - 1)
	}
	w.pipe.Keys, w.pipe.Begin = keys.Keys, keys.Begin
}

// add adds groups, whole rows.
func (r *regrouper) add(rows []uint64) error {
	if r.value < 0 {
		return r.put(rows, true)
	}
	r.keys.Begin(rows)
	r.null = sized(r.null, 0)
	null := r.keys.Nulls(r.value, rows, r.null)
	if null == nil {
		return r.put(rows, false)
	}
	r.null, r.with, r.without = null, r.with[:0], r.without[:0]
	for i, is := range null {
		row := rows[i*r.stride : (i+1)*r.stride]
		if is {
			r.without = append(r.without, row...)
		} else {
			r.with = append(r.with, row...)
		}
	}
	if err := r.put(r.with, false); err != nil {
		return err
	}
	return r.put(r.without, true)
}

// put adds groups of which all have an x, or none has.
func (r *regrouper) put(rows []uint64, null bool) error {
	r.worker.whole.null = null
	if !null {
		r.valued += int64(len(rows) / r.stride)
	}
	return r.folder.add(rows)
}

// whole is the rows with states that the rows of a batch stand for.
type whole struct {
	rows   []uint64 // nil: rows have no states
	stride int
	shift  int  // how many words their states are further behind
	first  int  // the first one's of the batch
	null   bool // their x is NULL

	moved []uint64 // a row whose states were moved back, if shift is negative
}

// row is a row with the states of row i of the batch, where those of the worker's rows are.
func (f *whole) row(i int) []uint64 {
	row := f.rows[(f.first+i)*f.stride:]
	if f.shift >= 0 {
		return row[f.shift:]
	}
	f.moved = sized(f.moved, f.stride-f.shift)
	copy(f.moved[-f.shift:], row[:f.stride])
	return f.moved
}

// update has rows enter their groups of a table.
func (w *Worker) update(t *agg.Table, groups []uint32, firstNew uint32) {
	if w.whole.rows == nil {
		w.states.Update(t, groups, firstNew, &w.in)
		return
	}
	t.Unseen = true // the template is that of a group of no rows
	if !w.whole.null {
		w.countWhole()
		w.states.Update(t, groups, firstNew, &w.in)
	}
	w.combineWhole(t, groups)
}

// countWhole sets how many rows the rows of a batch stand for, and where the first of each is
// (COUNTED-ONCE).
func (w *Worker) countWhole() {
	states, in := w.cfg.States, &w.in
	if w.whole.rows == nil || !states.CountsValues() {
		return
	}
	in.Counts, in.Pos = sized(in.Counts, in.Rows), sized(in.Pos, in.Rows)
	for i := range in.Rows {
		row := w.whole.row(i)
		in.Counts[i], in.Pos[i] = states.Rows(row), states.FirstOf(row)
	}
}

// combineWhole combines the states of rows with those of their groups.
func (w *Worker) combineWhole(t *agg.Table, groups []uint32) {
	states := w.cfg.States
	for i, g := range groups {
		states.Combine(t.Rows[int(g)*t.Stride:(int(g)+1)*t.Stride], w.whole.row(i), w.cfg.Arenas, t.Arena)
	}
}

// wholeNeed is how many bytes combineWhole of n rows puts into the arena at most.
func (w *Worker) wholeNeed(n int) int {
	f := &w.whole
	if f.rows == nil || !w.cfg.States.HasRefs() {
		return 0
	}
	bytes := 0
	for i := range n {
		bytes += w.cfg.States.ArenaBytes(f.row(i), w.cfg.Arenas)
	}
	return w.cfg.States.CombineNeed(bytes, n)
}
