package cpu

import (
	"errors"
	"slices"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/key"
)

// This file is grouping sets: one input, grouped by several sets of the keys at once.
//
// The last key is the number of a set, and a key that a set does not have is NULL in its groups. So
// the groups of all sets are groups of one query: they share partitions, disk, merging and output,
// for all aggregates. Only workers are not shared: each set has one in each thread, since sets
// reduce rows differently: the total of all rows stays in a table of one group while the finest set
// may need no table at all.
//
//	batch ──▶ worker of the first set: filter, keys, arguments, each computed once
//	              ├──▶ its own table, by its keys
//	              └──▶ the workers of the other sets: the same vectors, NULL for the keys that a set leaves out
//
// GROUPING-TOTAL: a set without keys has a group, also of no rows.

// Groupings is the grouping sets of a run.
type Groupings struct {
	Sets  [][]bool      // by set and key, the number of the set not among them: the set has the key
	Types []column.Type // of all keys
}

// workers is how many workers all threads have.
func (c *Config) workers() int { return max(c.Threads, 1) * max(len(c.Groupings.Sets), 1) }

// grouping is a worker's grouping set.
type grouping struct {
	set int    // its number
	has []bool // by key: the set has it; the last one is the number of the set
	// by key: what stands in the place of one that the set does not have; nil: it has it
	masks   []*column.Dict
	number  *column.Dict    // of the set
	zeros   []int32         // codes of constants
	nulls   []bool          // all true
	telling []column.Vector // scratch: the keys that differ among the groups of the set
}

// newGrouping is the grouping set of worker number n of a thread. types are those of the keys.
func newGrouping(has []bool, n int) *grouping {
	return &grouping{
		set: n, has: has, masks: make([]*column.Dict, len(has)),
		number: &column.Dict{Values: column.Vector{Len: 1, Int: []int64{int64(n)}}},
	}
}

// groupBy makes the workers of all sets but the first, which is the worker's own.
func (w *Worker) groupBy(g *Groupings) error {
	for n, has := range g.Sets {
		o := w
		if n > 0 {
			var err error
			if o, err = w.run.newWorker(Pipeline{Keys: make([]Evaluator, len(w.pipe.Keys)), Args: w.pipe.Args}); err != nil {
				return err
			}
			w.others = append(w.others, o)
		}
		o.grouping = newGrouping(has, n)
		o.join(n)
		if err := o.addTotal(); err != nil {
			return err
		}
	}
	return nil
}

// addTotal makes the group of a set without keys (GROUPING-TOTAL).
func (w *Worker) addTotal() error {
	g := w.grouping
	if slices.Contains(g.has, true) {
		return nil
	}
	keys := w.cfg.Groupings.one()
	g.mask(keys, 1)
	if err := w.encode(keys, 1); err != nil {
		return err
	}
	if err := w.table.secure(1); err != nil {
		return err
	}
	w.groups = sized(w.groups, 1)
	w.table.find(w.encoder, w.groups)
	w.cfg.States.InitEmpty(w.table.rows.Rows)
	w.table.rows.Unseen = true
	return nil
}

// TotalKey is the words of the key of the one group that a set without keys has, of the sets that
// groups are of.
func (c *Config) TotalKey(of Groupings, set int) []uint64 {
	g := newGrouping(of.Sets[set], set)
	keys := of.one()
	g.mask(keys, 1)
	e := key.NewEncoder(c.Keys, c.Intern)
	e.Encode(keys, 1)
	words := make([]uint64, len(e.Words))
	for i := range words {
		words[i] = e.Words[i][0]
	}
	return words
}

// FindKey is where the row of a key without long strings begins among rows; -1: it is not there.
func (c *Config) FindKey(rows, words []uint64) int {
	base := c.Keys.Base()
	for at := 0; at < len(rows); at += c.Stride {
		if slices.Equal(rows[at+base:at+base+len(words)], words) {
			return at
		}
	}
	return -1
}

// one is the keys of one row, of which nothing is known.
func (g *Groupings) one() []column.Vector {
	keys := make([]column.Vector, len(g.Types))
	for i, t := range g.Types {
		keys[i].Type, keys[i].Len = t, 1
	}
	return keys
}

// mask puts NULL in the place of the keys that the set does not have, and its number in that of the
// last one.
func (g *grouping) mask(keys []column.Vector, n int) {
	for len(g.zeros) < n {
		g.zeros, g.nulls = append(g.zeros, 0), append(g.nulls, true)
	}
	for i, has := range g.has {
		t := keys[i].Type
		if has || t.Kind == column.Null {
			continue
		}
		if g.masks[i] == nil || g.masks[i].Values.Type != t {
			g.masks[i] = &column.Dict{Values: zeroOf(t)}
		}
		keys[i] = column.Constant(g.masks[i], n, g.zeros)
		keys[i].Null = g.nulls[:n]
	}
	last := len(g.has)
	g.number.Values.Type = keys[last].Type
	keys[last] = column.Constant(g.number, n, g.zeros)
}

// zeroOf is a vector of one value.
func zeroOf(t column.Type) column.Vector {
	v := column.Vector{Type: t, Len: 1}
	switch t.Rep() {
	case column.RepInt64:
		v.Int = make([]int64, 1)
	case column.RepFloat64:
		v.Float = make([]float64, 1)
	case column.RepWide:
		v.Wide = make([]decimal256.Num, 1)
	default:
		n := t.Width // of which others may read all
		if t.Kind == column.UUID {
			n = 16
		}
		v.Span, v.Data = []column.Span{{Len: uint32(n)}}, make([]byte, n, n+column.SpanPadding)
	}
	return v
}

// telling is the keys by whose codes groups are found: those of the worker's set, or the number of
// a set that has none.
func (w *Worker) telling() []column.Vector {
	g := w.grouping
	if g == nil || w.part > 0 { // groups of all sets come
		return w.keys
	}
	g.telling = g.telling[:0]
	for i, has := range g.has {
		if has {
			g.telling = append(g.telling, w.keys[i])
		}
	}
	if len(g.telling) == 0 {
		g.telling = append(g.telling, w.keys[len(g.has)])
	}
	return g.telling
}

// addGroupings adds the n rows of a batch to the worker of each set. The first one may refuse them
// (overload), and its batch is halved; the others halve it themselves, since the rows are in the
// first one's groups by then.
func (w *Worker) addGroupings(n int) error {
	keys := append([]column.Vector(nil), w.keys...)
	w.grouping.mask(w.keys, n)
	if err := w.addEvaluated(n); err != nil {
		return err
	}
	for _, o := range w.others {
		o.read, o.selected = w.read, w.selected
		if err := o.addRange(w, keys, 0, n); err != nil {
			return err
		}
	}
	return nil
}

// addRange adds rows from..to of the batch of a worker of the same thread, whose keys are given.
func (w *Worker) addRange(of *Worker, keys []column.Vector, from, to int) error {
	w.takeRange(of, keys, from, to)
	err := w.addEvaluated(to - from)
	over := (*overload)(nil)
	switch {
	case !errors.As(err, &over):
		return err
	case to-from < 2 && refused(over.cause):
		return &LargeError{Text: w.longest(), Err: over.cause}
	case to-from < 2:
		return over.cause
	}
	half := from + (to-from)/2
	if err := w.addRange(of, keys, from, half); err != nil {
		return err
	}
	return w.addRange(of, keys, half, to)
}

// takeRange has the worker look at those rows.
func (w *Worker) takeRange(of *Worker, keys []column.Vector, from, to int) {
	for i := range keys {
		w.keys[i] = keys[i].Slice(from, to)
	}
	w.grouping.mask(w.keys, to-from)
	for i, e := range of.pipe.Args {
		if e != nil {
			w.in.Args[i] = of.in.Args[i].Slice(from, to)
		}
	}
	if w.in.Times = of.in.Times; len(of.in.Pos) > 0 {
		w.in.Pos = of.in.Pos[from:to]
	}
	if w.sets != nil {
		for i := range w.sets.of {
			w.sets.of[i].value = of.sets.of[i].value.Slice(from, to)
		}
	}
}
