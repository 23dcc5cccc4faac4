package agg

import (
	"errors"
	"math/rand/v2"
	"slices"

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

// take combines states into the groups of w, whose layout has Options.Take, behind so many other
// arguments.
func (w *worker) take(s *stateTable, others int, rng *rand.Rand) error {
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
		from := Compile(calls, testBase, o)
		o.Take = &Take{First: len(d.args)}
		into := Compile(calls, testBase, o)
		parts := make([]*worker, 1+rng.IntN(8))
		for i := range parts {
			parts[i] = newWorker(from, &arena.Arenas{})
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
				if err := w.take(all[i], len(d.args), rng); err != nil {
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
