package agg

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
)

// stateTable is states as columns, with the group of each row.
type stateTable struct {
	gids []uint32
	cols []column.Vector
}

func (s *stateTable) add(g uint32, value func(col int) column.Value) {
	s.gids = append(s.gids, g)
	for i := range s.cols {
		s.cols[i].Append(value(i))
	}
}

// states is the states of all groups of w, which has a layout with Options.States.
func (w *worker) states() (*stateTable, error) {
	cols := w.l.StateColumns()
	s := &stateTable{cols: make([]column.Vector, len(cols))}
	for i := range s.cols {
		s.cols[i].Type = cols[i].Type
	}
	reg := w.t.Arena.Registry()
	columns := func(rows []uint64) (made []column.Vector, err error) {
		made = make([]column.Vector, len(cols))
		for i := range made {
			if err := w.l.State(i, rows, w.t.Stride, reg, nil, &made[i]); err != nil {
				return nil, err
			}
		}
		return made, nil
	}
	empty := make([]uint64, w.t.Stride)
	w.l.InitEmpty(empty)
	nothing, err := columns(empty)
	if err != nil {
		return nil, err
	}
	for g, id := range w.local {
		made, err := columns(w.row(id))
		if err != nil {
			return nil, err
		}
		s.add(g, func(col int) column.Value { return made[col].At(0) })
		err = w.l.LongStates(w.row(id), reg, func(col int, piece []byte) error {
			s.add(g, func(c int) column.Value {
				v := nothing[c].At(0)
				if c == col {
					v.Bytes = string(piece)
				}
				return v
			})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

// combineStates combines states into the groups of w, whose layout has Options.Take. The columns of
// the states come after `others` other arguments.
func (w *worker) combineStates(s *stateTable, others int, rng *rand.Rand) error {
	for _, rows := range split(seq(len(s.gids)), rng) {
		in := &Input{Rows: len(rows), Args: make([]column.Vector, others+len(s.cols))}
		var cols []*column.Vector
		for i := range s.cols {
			v := column.Vector{Type: s.cols[i].Type}
			for _, r := range rows {
				v.Append(s.cols[i].At(r))
			}
			v.Data = slices.Grow(v.Data, column.SpanPadding)
			in.Args[others+i] = v
			cols = append(cols, &in.Args[others+i])
		}
		if err := w.l.CheckStates(cols, len(rows)); err != nil {
			return err
		}
		gids, first := make([]uint32, len(rows)), uint32(len(w.local))
		for i, r := range rows {
			id, isNew := w.group(s.gids[r])
			if isNew {
				w.l.Init(w.row(id))
			}
			gids[i] = id
		}
		before := w.t.Arena.Bytes()
		need := w.l.Need(in)
		w.l.Update(&w.t, gids, first, in)
		if took := w.t.Arena.Bytes() - before; need == 0 && took > 0 {
			return errors.New("values were put into an arena without a need")
		}
	}
	return nil
}

// throughStates is a way by states: of any parts of the rows, combined in any tree.
func throughStates(calls []Call, o Options) func(*Layout, *testData, *rand.Rand) *worker {
	return func(_ *Layout, d *testData, rng *rand.Rand) *worker {
		o.States, o.Take = true, nil
		from := []*Layout{Compile(calls, testBase, o)}
		if o.Windows != nil { // exact sums of other windows
			o.Windows = nil
			from = append(from, Compile(calls, testBase, o))
		}
		o.Take = &Take{First: len(d.args)}
		into := Compile(calls, testBase, o)
		parts := make([]*worker, 1+rng.IntN(8))
		for i := range parts {
			parts[i] = newWorker(from[i%len(from)], &arena.Arenas{})
		}
		for _, rows := range split(seq(len(d.gids)), rng) {
			parts[rng.IntN(len(parts))].update(d, rows)
		}
		var all []*stateTable
		keep := func(w *worker) {
			s, err := w.states()
			if err != nil {
				panic(err)
			}
			all = append(all, s)
		}
		for _, w := range parts {
			keep(w)
		}
		for {
			w := newWorker(into, &arena.Arenas{})
			for range min(1+rng.IntN(3), len(all)) {
				i := rng.IntN(len(all))
				if err := w.combineStates(all[i], len(d.args), rng); err != nil {
					panic(err)
				}
				all = slices.Delete(all, i, i+1)
			}
			if len(all) == 0 {
				return w
			}
			keep(w)
		}
	}
}

// A state of an exact sum that no run has written is refused, and each that one may have written is
// not.
func TestExactStateChecked(t *testing.T) {
	t.Parallel()
	const head = 1 << headBits
	type words []int64
	d := &testData{groups: 1, gids: []uint32{0}, args: [][]column.Value{{{Type: column.Type{Kind: column.Float64}, Float: 1}}}}
	l := Compile([]Call{callOf(t, d, "sum", 0)}, testBase, Options{Deterministic: true, MaxRows: -1, States: true, Take: &Take{First: 1}})
	n := l.slots[0].fixed.n
	for _, c := range []struct {
		name  string
		state words
		good  bool
	}{
		{"0", words{}, true},
		{"1", words{0, 1}, true},
		{"-3/2", words{-1*head + 1<<3, 3}, true},
		{"NaN beside numbers", words{specialNaN, 1}, true},
		{"infinity alone", words{specialPlus}, true},
		{"the least double", words{-1074 * head, 1}, true},
		{"the greatest one", words{971 * head, 1<<53 - 1}, true},
		{"nothing, in words", words{0}, false},
		{"a last bit of 0", words{0, 2}, false},
		{"a last word of 0", words{0, 1, 0}, false},
		{"less than any double", words{-1200 * head, 1}, false},
		{"more than any sum", words{1088 * head, 1}, false},
		{"an exponent that wraps", words{math.MaxInt64 &^ 15, 1}, false},
		{"a long number", append(words{0, 1}, make(words, n)...), false},
		{"infinity with an exponent", words{specialPlus + head}, false},
	} {
		var b []byte
		for _, w := range c.state {
			b = binary.LittleEndian.AppendUint64(b, uint64(w))
		}
		if got := l.slots[0].fitsExact(b); got != c.good {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if l.slots[0].fitsExact(make([]byte, 12)) {
		t.Error("half a word is taken")
	}
}
