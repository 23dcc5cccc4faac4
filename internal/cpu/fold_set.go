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
func MayShare(keys *key.Layout) bool { return !keys.HasRefs() && keys.Words <= memberWords }

// openSets makes the shared sets for which there is memory.
func (r *Run) openSets() {
	for _, d := range r.inner {
		inner := d.Config
		if d.Shared == 0 {
			continue
		}
		if d.Pair != nil {
			r.openPairs(d)
			continue
		}
		members := int64(r.cfg.workers()) * memberBytes(inner.Keys.Words)
		if d.Shared > members && inner.Budget.Draw(members) == nil {
			d.set = newSharedSet(inner.Keys.Words, inner.Rows, d.Shared-members, inner.Budget)
			d.set.members = members
		}
	}
}

// closeSets lets go of what shared sets hold.
func (r *Run) closeSets() {
	for _, d := range r.inner {
		d.closeSet()
	}
}

// closeSet lets go of what the shared set holds.
func (d *inner) closeSet() {
	if d.set == nil {
		return
	}
	d.set.memory.drop()
	d.Config.Budget.Release(d.set.members)
	d.set = nil
}

// foldSet folds the keys of a shared set. If it is closed they go to the inner workers, and all is
// false.
func (r *Run) foldSet(ctx context.Context, n int, workers []*Worker) (folded Folded, all bool, err error) {
	f := setFolding{inner: r.inner[n]}
	errs := make([]error, len(workers))
	each(len(workers), func(i int) {
		defer invariant.Recovered(&errs[i])
		_ = workers[i].sets.of[n].member.enterAll() // an error tells that the set is closed, which is looked at
	})
	if err := errors.Join(errs...); err != nil {
		return Folded{}, false, err
	}
	if all = !f.set.closed.Load(); all && !workers[0].sets.own {
		r.rows = max(r.rows, 0) + int64(f.set.count())
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	each(len(workers), func(i int) {
		var err error
		if all {
			err = f.work(ctx, workers[i])
		} else {
			err = f.drain(ctx, &workers[i].sets.of[n])
		}
		if err != nil {
			cancel(err)
		}
	})
	f.closeSet()
	if err := context.Cause(ctx); err != nil || !all {
		return Folded{}, false, err
	}
	for _, w := range workers {
		s := &w.sets.of[n]
		err = errors.Join(err, s.worker.close())
		s.worker, s.member = nil, nil
	}
	return Folded{Groups: f.folded.Load(), Partitions: setParts}, true, err
}

// setFolding is the folding of one shared set.
type setFolding struct {
	*inner
	next   atomic.Int64 // partition
	folded atomic.Int64 // keys
}

// work folds partitions into the tables of w until none is left.
func (f *setFolding) work(ctx context.Context, w *Worker) (err error) {
	defer invariant.Recovered(&err)
	into := newFolder(f.Distinct, w, 0)
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

// drain makes rows of the inner worker of the keys that the worker has collected, and of those in
// partitions until none is left.
func (f *setFolding) drain(ctx context.Context, s *set) (err error) {
	defer invariant.Recovered(&err)
	c := f.Config
	d := key.Decoder{Layout: c.Keys, Intern: c.Intern, Arenas: c.Arenas, Stride: f.set.words}
	b := column.Batch{Cols: make([]column.Vector, len(s.batch.Cols))}
	add := func(keys []uint64) error {
		d.Begin(keys)
		for i := range b.Cols {
			d.Decode(i, keys, &b.Cols[i])
		}
		b.Rows = len(keys) / d.Stride
		return s.addInner(&b)
	}
	for p, n := range s.member.filled {
		if n > 0 {
			if err := add(s.member.buffer(p)); err != nil {
				return err
			}
		}
	}
	s.member = nil
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
