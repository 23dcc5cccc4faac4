package cpu

import (
	"errors"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/key"
)

// This file is what takes each different value of a group once, as count(distinct x) does, while
// the input is read.
//
// A set of values for each group would be large where groups are few, and many where they are many.
// So the values are groups themselves, of the keys and the value, with workers, tables, buckets,
// disk and merging of their own: one inner run for each different value of a query.
//
//	rows of the input ──▶ worker, by keys                 the aggregates of all rows (part 0 of the states)
//	                 └──▶ inner worker, by keys and x     x is not NULL; no states
//	end of the input: partition by partition, in parallel (fold.go)
//	groups of the inner run ──▶ worker, by keys           each is a row with an x of its own (part n of the states)
//
// So one group of many values is divided among goroutines as many groups are, by the hash of the
// values.
//
// While there is memory for all of them, the groups of an inner run are one set for all workers
// (sharedset.go), or one for each grouping set, unless they have strings or other refs: no row is
// placed in a partition, and nothing is merged. The inner workers get rows when that memory is
// refused.
//
// Where the keys have texts, and x does not, each worker pairs the number that a group has in its
// table with x, in place of that (pairs.go).
//
//	keys and x ──▶ seen codes (seen.go) ──▶ member (member.go) ──▶ shared set ──▶ fold_set.go
//	                                                └── the set is closed ──▶ inner worker ──▶ fold.go
//
// SETS-ALL: each group of the query comes to the outer worker. Its rows do if part 0 has
// aggregates; else those whose x is NULL do, and the others come as groups of the first inner run.

// Distinct is a part of the aggregates that takes each different value once.
type Distinct struct {
	Part int // of the outer States
	// of the inner run: its keys are the outer ones, then the value, which is Filled; it shares the
	// outer Arenas and Intern
	Config *Config
	Arg    int  // the value's number among the arguments
	Values bool // the part needs the values; else it counts them
	// bytes that the sets which all workers share may take, beside the memory of Config; 0: there
	// are none
	Shared int64

	// Sets is the keys of shared sets: by number of the grouping set, or one. Layouts that MayShare
	// refuses have none.
	Sets []SetKeys

	// Pair is the value's layout alone, where MayPair says that groups are to be numbered; else
	// nil. Shared is what the pairs may take then.
	Pair *key.Layout
}

// SetKeys is the keys of a shared set: the value, and those of the outer keys that the grouping set
// has. The others, which are the same in all its groups, need no place.
type SetKeys struct {
	Layout  *key.Layout
	Columns []int // of the inner run, by field
}

// sets is the inner workers of a worker. nil has none.
type sets struct {
	own bool // rows have a part in aggregates of their own
	of  []set
}

// set is one inner worker.
type set struct {
	worker  *Worker
	member  *member // of the shared set; nil: there is none, or it is closed
	pairs   *pairs  // nil: the worker keeps no pairs, or they became rows
	arg     int
	needed  bool            // the outer worker needs the argument too
	value   column.Vector   // of the batch
	batch   column.Batch    // keys, then the value
	buffers []column.Buffer // by column: the rows in which the value is not NULL
	rows    []int32
	seen    seenCodes
	unseen  []column.Buffer // by column: the rows that it leaves
	values  column.Buffer   // of these rows
}

// batchColumn evaluates to a column of a batch.
type batchColumn int

func (c batchColumn) Eval(b *column.Batch, out *column.Vector) error {
	*out = b.Cols[c]
	return nil
}

// columnsOf evaluates to the first n columns of a batch.
func columnsOf(n int) []Evaluator {
	out := make([]Evaluator, n)
	for i := range out {
		out[i] = batchColumn(i)
	}
	return out
}

// newSets makes the inner workers.
func (w *Worker) newSets() error {
	w.sets = &sets{own: w.states.Updates()}
	columns := len(w.pipe.Keys) + 1
	for i, d := range w.run.inner {
		inner, err := d.run.newWorker(Pipeline{Keys: columnsOf(columns)})
		if err != nil {
			return err
		}
		w.sets.of = append(w.sets.of, set{
			worker: inner, arg: d.Arg, needed: w.states.Takes(d.Arg),
			batch: column.Batch{Cols: make([]column.Vector, columns)}, buffers: make([]column.Buffer, columns), unseen: make([]column.Buffer, columns),
		})
		if d.pairs != nil {
			w.sets.of[i].pairs = newPairs(d.pairs)
		}
	}
	return nil
}

// join has the worker be a member of the shared sets of a grouping set.
func (w *Worker) join(grouping int) {
	if w.sets == nil {
		return
	}
	for i, d := range w.run.inner {
		if d.sets != nil && d.sets[grouping] != nil {
			w.sets.of[i].member = newMember(d.sets[grouping], d.Sets[grouping], d.Config.Intern)
		}
	}
}

func (s *sets) close() (err error) {
	if s == nil {
		return nil
	}
	for i := range s.of {
		s.of[i].pairs.close()
		if s.of[i].worker != nil {
			err = errors.Join(err, s.of[i].worker.close())
		}
	}
	return err
}

// keep keeps argument i if it is the value of a set. It reports whether the outer worker needs it.
func (s *sets) keep(i int, v *column.Vector) (needed bool) {
	if s == nil {
		return true
	}
	needed = true
	for k := range s.of {
		if t := &s.of[k]; t.arg == i {
			t.value, needed = *v, t.needed
		}
	}
	return needed
}

// addSets adds the rows of a batch: first to the worker, which may refuse them (overload), so that
// its batch is halved; then to the inner workers, which halve it themselves.
func (w *Worker) addSets(n int) error {
	if err := w.addOwn(n); err != nil {
		return err
	}
	for i := range w.sets.of {
		s := &w.sets.of[i]
		if s.pairs != nil && s.pairs.took {
			s.pairs.took = false
			continue
		}
		if err := w.unpair(s); err != nil { // the rows have met no table
			return err
		}
		s.worker.comes = w.selectivity()
		if err := s.add(w.keys, n, w.read); err != nil {
			return err
		}
	}
	return nil
}

// paired reports whether a distinct value is paired with the numbers of groups, for which all rows
// come to the table.
func (s *sets) paired() bool {
	for i := range s.of {
		if s.of[i].pairs != nil {
			return true
		}
	}
	return false
}

// addOwn adds those of the rows to the worker that belong there (SETS-ALL).
func (w *Worker) addOwn(n int) error {
	if w.sets.own || w.sets.paired() {
		return w.addRows(n)
	}
	first := &w.sets.of[0]
	if len(w.keys) == 0 || first.value.Null == nil {
		return nil
	}
	first.rows = nullRows(first.rows[:0], first.value.Null[:n], true)
	if len(first.rows) == 0 {
		return nil
	}
	keys := w.keys
	defer func() { w.keys = keys }()
	w.keys = first.batch.Cols[:len(keys)]
	for i := range keys {
		w.keys[i] = column.Gather(&keys[i], first.rows, &first.buffers[i])
	}
	return w.addRows(len(first.rows))
}

// nullRows appends the rows that are NULL, or those that are not.
func nullRows(rows []int32, null []bool, want bool) []int32 {
	for i, is := range null {
		if is == want {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

// add adds the rows whose value is not NULL. The outer worker has read `read` rows so far.
func (s *set) add(keys []column.Vector, n int, read int64) error {
	b := &s.batch
	b.Rows = n
	copy(b.Cols, keys)
	b.Cols[len(keys)] = s.value
	if s.value.Null != nil {
		if s.rows = nullRows(s.rows[:0], s.value.Null[:n], false); len(s.rows) < n {
			b.Rows = len(s.rows)
			for i := range b.Cols {
				b.Cols[i] = column.Gather(&b.Cols[i], s.rows, &s.buffers[i])
			}
		}
		b.Cols[len(keys)].Null = nil
	}
	if b.Rows == 0 {
		return nil
	}
	own := b
	if s.member != nil {
		own = s.member.batchOf(b)
	}
	value := len(own.Cols) - 1
	rows := s.seen.pick(own.Cols[:value], &own.Cols[value], b.Rows)
	if rows != nil && len(rows) == 0 || s.enter(rows, read) {
		return nil
	}
	s.leave(b, rows)
	return s.addInner(b)
}

// enter enters rows into the shared set and returns true, unless it is closed or there is none.
func (s *set) enter(rows []int32, read int64) bool {
	m := s.member
	if m == nil || m.set.closed.Load() {
		return false
	}
	s.leave(&m.own, rows)
	return m.add(&m.own, read)
}

// leave leaves some rows in a batch; nil: all.
func (s *set) leave(b *column.Batch, rows []int32) {
	if rows == nil {
		return
	}
	b.Rows = len(rows)
	for i := range b.Cols {
		b.Cols[i] = column.Gather(&b.Cols[i], rows, &s.unseen[i])
	}
	// Each entry of the dictionary comes about once from now on: it need not be translated.
	value := len(b.Cols) - 1
	b.Cols[value] = column.Flatten(&b.Cols[value], &s.values)
}

// addInner adds rows to the inner worker.
func (s *set) addInner(b *column.Batch) error {
	err := s.worker.Add(b)
	if over := (*overload)(nil); errors.As(err, &over) {
		return over.cause // the outer worker has the rows: it must not halve its batch
	}
	return err
}
