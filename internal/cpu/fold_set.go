package cpu

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/invariant"
	"github.com/gagg-dev/gagg/internal/key"
)

// This file is what becomes of shared sets at the end of the input: their keys are rows for the
// outer workers, as the groups of an inner run are (fold.go). Those of a set that was closed go to
// the inner workers first.

// MayShare reports whether a shared set can hold such keys.
func MayShare(keys SetKeys) bool { return !keys.Layout.HasRefs() && keys.Layout.Words <= memberWords }

// openSets makes the shared sets for which there is memory.
func (r *Run) openSets() {
	for _, d := range r.inner {
		if d.Shared == 0 {
			continue
		}
		if d.Pair != nil {
			r.openPairs(d)
			continue
		}
		rows := d.Config.Rows
		if rows > 0 { // the rows of each grouping set are among them
			rows /= int64(max(len(r.cfg.Groupings.Sets), 1))
		}
		members := int64(0)
		for _, keys := range d.Sets {
			if MayShare(keys) {
				members += int64(max(r.cfg.Threads, 1)) * memberBytes(keys.Layout.Words)
			}
		}
		if members == 0 || d.Shared <= members || d.Config.Budget.Draw(members) != nil {
			continue
		}
		d.members, d.memory = members, slabs{from: d.Config.Budget, most: d.Shared - members}
		d.sets = make([]*sharedSet, len(d.Sets))
		for i, keys := range d.Sets {
			if MayShare(keys) {
				d.sets[i] = newSharedSet(keys.Layout.Words, rows, &d.memory)
			}
		}
	}
}

// closeSets lets go of what shared sets hold.
func (r *Run) closeSets() {
	for _, d := range r.inner {
		d.closeSets()
	}
}

// closeSets lets go of what the shared sets hold.
func (d *inner) closeSets() {
	if d.sets == nil {
		return
	}
	d.memory.drop()
	d.Config.Budget.Release(d.members)
	d.sets, d.members = nil, 0
}

// foldSets folds the keys of shared sets. If one is closed, or there are groups of which no set is,
// all is false: these are with the inner workers then.
func (r *Run) foldSets(ctx context.Context, n int, workers []*Worker) (folded Folded, all bool, err error) {
	d := r.inner[n]
	all = true
	folded.Partitions = setParts
	for i, set := range d.sets {
		if set == nil {
			all = false
			continue
		}
		f := setFolding{inner: d, n: n, set: set, keys: d.Sets[i]}
		for _, w := range workers {
			if w.grouping == nil || w.grouping.set == i {
				f.workers = append(f.workers, w)
			}
		}
		open, err := f.run(ctx)
		if err != nil {
			return Folded{}, false, err
		}
		all = all && open
		folded.Groups += f.folded.Load()
		if open && !workers[0].sets.own {
			r.rows = max(r.rows, 0) + f.folded.Load()
		}
	}
	d.closeSets()
	for _, w := range workers {
		s := &w.sets.of[n]
		s.member = nil
		if all {
			err = errors.Join(err, s.worker.close())
			s.worker = nil
		}
	}
	return folded, all, err
}

// setFolding is the folding of one shared set.
type setFolding struct {
	*inner
	n       int // which inner run it is
	set     *sharedSet
	keys    SetKeys
	workers []*Worker    // its members
	next    atomic.Int64 // partition
	folded  atomic.Int64 // keys
}

// run folds the keys of the set. If it is closed they go to the inner workers, and open is false.
func (f *setFolding) run(ctx context.Context) (open bool, err error) {
	errs := make([]error, len(f.workers))
	each(len(f.workers), func(i int) {
		defer invariant.Recovered(&errs[i])
		_ = f.member(i).enterAll() // an error means that the set is closed, which is checked below
	})
	if err := errors.Join(errs...); err != nil {
		return false, err
	}
	open = !f.set.closed.Load()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	each(len(f.workers), func(i int) {
		do := f.drain
		if open {
			do = f.work
		}
		if err := do(ctx, i); err != nil {
			cancel(err)
		}
	})
	return open, context.Cause(ctx)
}

// member is that of a worker.
func (f *setFolding) member(worker int) *member { return f.workers[worker].sets.of[f.n].member }

// work folds partitions into the tables of a worker until none is left.
func (f *setFolding) work(ctx context.Context, worker int) (err error) {
	defer invariant.Recovered(&err)
	w := f.workers[worker]
	into := newFolder(f.Distinct, w, f.keys, 0)
	if into.counts {
		if n := f.set.count(); f.folded.CompareAndSwap(0, int64(n)) {
			w.addCount(n)
		}
		return nil
	}
	err = f.walk(ctx, into.add)
	f.folded.Add(into.folded)
	return err
}

// drain makes rows of the inner worker of the keys that a worker has collected, and of those in
// partitions until none is left.
func (f *setFolding) drain(ctx context.Context, worker int) (err error) {
	defer invariant.Recovered(&err)
	c, s := f.Config, &f.workers[worker].sets.of[f.n]
	g := f.workers[worker].grouping
	d := key.Decoder{Layout: f.keys.Layout, Intern: c.Intern, Arenas: c.Arenas, Stride: f.set.words}
	b := column.Batch{Cols: make([]column.Vector, len(s.batch.Cols))}
	if g != nil {
		copy(b.Cols, c.Groupings.one())
	}
	add := func(keys []uint64) error {
		b.Rows = len(keys) / d.Stride
		decodeSome(&d, f.keys.Columns, keys, b.Cols)
		if g != nil {
			g.mask(b.Cols[:len(b.Cols)-1], b.Rows)
		}
		return s.addInner(&b)
	}
	for p, n := range s.member.filled {
		if n > 0 {
			if err := add(s.member.buffer(p)); err != nil {
				return err
			}
		}
	}
	return f.walk(ctx, add)
}

// walkKeys is how many keys are folded at a time.
const walkKeys = 4096

// walk calls do with the keys of partitions, end to end, until none is left.
func (f *setFolding) walk(ctx context.Context, do func(keys []uint64) error) error {
	w := f.set.words
	keys := make([]uint64, 0, walkKeys*w)
	for {
		p := int(f.next.Add(1)) - 1
		if p >= setParts {
			break
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if p == 0 && f.set.zeros.Load() {
			keys = keys[:w]
		}
		for slots := f.set.parts[p].slots; len(slots) > 0; slots = slots[w:] {
			if free(slots[:w]) {
				continue
			}
			if len(keys) == cap(keys) {
				if err := do(keys); err != nil {
					return err
				}
				keys = keys[:0]
			}
			keys = append(keys, slots[:w]...)
		}
	}
	if len(keys) > 0 {
		return do(keys)
	}
	return nil
}
