package agg

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
)

// testData is a table with the group of every row.
type testData struct {
	groups int
	gids   []uint32
	args   [][]column.Value
	times  int64 // how many rows each row stands for; 0: one
}

// subset returns the values of some rows as an Input.
func (d *testData) input(rows []int) *Input {
	in := &Input{Rows: len(rows), Times: d.times}
	for _, col := range d.args {
		vals := make([]column.Value, len(rows))
		for i, r := range rows {
			vals[i] = col[r]
		}
		in.Args = append(in.Args, vectorOf(col[0].Type, vals))
	}
	for _, r := range rows {
		in.Pos = append(in.Pos, int64(r))
	}
	return in
}

// input is d.input, now and then with narrow vectors where the layout takes them.
func (w *worker) input(d *testData, rows []int) *Input {
	in := d.input(rows)
	for i := range in.Args {
		v := &in.Args[i]
		fit := v.Type.Rep() == column.RepWide && w.l.TakesNarrow(i) && len(rows)%3 > 0
		for _, n := range v.Wide {
			fit = fit && n.BigInt().IsInt64()
		}
		if !fit {
			continue
		}
		for _, n := range v.Wide {
			v.Int = append(v.Int, int64(n.LowBits()))
		}
		v.Wide, v.Narrow = nil, true
	}
	return in
}

// vectorOf makes a flat vector. Slots of NULL hold rubbish.
func vectorOf(t column.Type, vals []column.Value) column.Vector {
	v := column.Vector{Type: t}
	for _, x := range vals {
		if x.Null {
			x = column.Value{Null: true, Int: -77, Float: math.Inf(-1), Wide: decimal256.FromI64(-77), Bytes: "\x00rubbish"}
		}
		v.Append(x)
	}
	return v
}

// worker is a table that grows as an executor's does.
type worker struct {
	l     *Layout
	t     Table
	local map[uint32]uint32 // group of the data to group of the table
}

const testBase = 3 // as if there were a hash and two key words

func newWorker(l *Layout, reg *arena.Arenas) *worker {
	return &worker{l: l, t: Table{Stride: testBase + l.Words(), Arena: reg.New()}, local: map[uint32]uint32{}}
}

func (w *worker) group(g uint32) (id uint32, isNew bool) {
	if id, ok := w.local[g]; ok {
		return id, false
	}
	id = uint32(len(w.local))
	w.local[g] = id
	w.t.Rows = append(w.t.Rows, make([]uint64, w.t.Stride)...)
	return id, true
}

func (w *worker) row(id uint32) []uint64 { return w.t.Rows[int(id)*w.t.Stride:][:w.t.Stride] }

// update feeds rows as one batch.
func (w *worker) update(d *testData, rows []int) {
	firstNew := uint32(len(w.local))
	gids := make([]uint32, len(rows))
	for i, r := range rows {
		id, isNew := w.group(d.gids[r])
		if isNew {
			w.l.Init(w.row(id))
		}
		gids[i] = id
	}
	w.l.Update(&w.t, gids, firstNew, w.input(d, rows))
}

// updateOne feeds rows of the same group as one batch.
func (w *worker) updateOne(d *testData, rows []int) {
	if len(rows) == 0 {
		return
	}
	id, isNew := w.group(d.gids[rows[0]])
	if isNew {
		w.l.Init(w.row(id))
	}
	w.l.UpdateOne(&w.t, id, isNew, w.input(d, rows))
}

// merge combines the groups of o into those of w.
func (w *worker) merge(o *worker, rng *rand.Rand) {
	for g, from := range o.local {
		id, isNew := w.group(g)
		switch {
		case isNew && rng.IntN(2) == 0:
			w.l.InitEmpty(w.row(id))
			w.t.Unseen = true
			fallthrough
		case !isNew:
			combine := w.l.Combine
			if rng.IntN(2) == 0 {
				combine = w.l.Join
			}
			combine(w.row(id), o.row(from), w.t.Arena.Registry(), w.t.Arena)
		default:
			copy(w.row(id), o.row(from))
			w.t.Unseen = true
		}
	}
}

// results finishes all calls; element [c][g] is that of call c for group g.
func (w *worker) results(t *testing.T, groups int) ([][]column.Value, error) {
	t.Helper()
	var rows []uint64
	for g := range groups {
		id, isNew := w.group(uint32(g))
		if isNew {
			w.l.InitEmpty(w.row(id))
		}
		rows = append(rows, w.row(id)...)
	}
	var out [][]column.Value
	var vec column.Vector // shared on purpose: Finish must overwrite all of it
	for c := range w.l.calls {
		if err := w.l.Finish(c, rows, len(w.row(0)), w.t.Arena.Registry(), &vec); err != nil {
			return nil, err
		}
		vals := make([]column.Value, groups)
		for g := range vals {
			vals[g] = vec.At(g)
		}
		out = append(out, vals)
	}
	return out, nil
}

// ways are the strategies by which rows may reach a result.
var ways = map[string]func(*Layout, *testData, *rand.Rand) *worker{
	"one batch": func(l *Layout, d *testData, _ *rand.Rand) *worker {
		w := newWorker(l, &arena.Arenas{})
		w.update(d, seq(len(d.gids)))
		return w
	},
	"batches": func(l *Layout, d *testData, rng *rand.Rand) *worker {
		w := newWorker(l, &arena.Arenas{})
		for _, rows := range split(seq(len(d.gids)), rng) {
			w.update(d, rows)
		}
		return w
	},
	"group by group": func(l *Layout, d *testData, rng *rand.Rand) *worker {
		w := newWorker(l, &arena.Arenas{})
		for _, rows := range byGroup(d) {
			for _, part := range split(rows, rng) {
				w.updateOne(d, part)
			}
		}
		return w
	},
	// Batches reach workers in any order, whose tables then merge in any
	// order; some workers go on after they took over the state of others.
	"workers": func(l *Layout, d *testData, rng *rand.Rand) *worker {
		var reg arena.Arenas
		workers := make([]*worker, 1+rng.IntN(6))
		for i := range workers {
			workers[i] = newWorker(l, &reg)
		}
		batches := split(seq(len(d.gids)), rng)
		rng.Shuffle(len(batches), func(i, j int) { batches[i], batches[j] = batches[j], batches[i] })
		for _, rows := range batches {
			workers[rng.IntN(len(workers))].update(d, rows)
			if len(workers) > 1 && rng.IntN(5) == 0 {
				workers = mergeTwo(workers, rng)
			}
		}
		for len(workers) > 1 {
			workers = mergeTwo(workers, rng)
		}
		return workers[0]
	},
	"spilling": spilling,
}

// block is rows as they are written to disk.
type block struct {
	groups []uint32
	rows   []uint64
	values []byte // a section
}

// spill moves the rows of w to a block and empties w.
func (w *worker) spill() (block, error) {
	var b block
	var s arena.Section
	for g, id := range w.local {
		if err := w.l.Move(w.row(id), w.t.Arena.Registry(), &s); err != nil {
			return b, err
		}
		b.groups = append(b.groups, g)
		b.rows = append(b.rows, w.row(id)...)
	}
	b.values = append([]byte{}, s.Bytes()...)
	w.local = map[uint32]uint32{}
	w.t.Rows = w.t.Rows[:0]
	w.t.Arena.Reset()
	return b, nil
}

// read combines the rows of a block into those of w, and then spoils it.
func (w *worker) read(b block) error {
	reg := w.t.Arena.Registry()
	base := reg.Adopt(b.values)
	for i, g := range b.groups {
		row := b.rows[i*w.t.Stride:][:w.t.Stride]
		w.l.Rebase(row, base)
		id, isNew := w.group(g)
		if !isNew {
			w.l.Combine(w.row(id), row, reg, w.t.Arena)
			continue
		}
		if err := w.l.Move(row, reg, w.t.Arena); err != nil {
			return err
		}
		copy(w.row(id), row)
		w.t.Unseen = true
	}
	reg.Drop(base)
	for i := range b.values {
		b.values[i] = 0xa5
	}
	return nil
}

// spilling feeds batches to workers that spill now and then, and reads the
// blocks back in any order, some by way of another block.
func spilling(l *Layout, d *testData, rng *rand.Rand) *worker {
	reg := new(arena.Arenas)
	var blocks []block
	spill := func(w *worker) {
		b, err := w.spill()
		if err != nil {
			panic(err)
		}
		blocks = append(blocks, b)
	}
	workers := []*worker{newWorker(l, reg), newWorker(l, reg)}
	batches := split(seq(len(d.gids)), rng)
	rng.Shuffle(len(batches), func(i, j int) { batches[i], batches[j] = batches[j], batches[i] })
	for _, rows := range batches {
		w := workers[rng.IntN(2)]
		w.update(d, rows)
		if rng.IntN(3) == 0 {
			spill(w)
		}
	}
	spill(workers[0])
	for len(blocks) > 0 {
		i := rng.IntN(len(blocks))
		if err := workers[1].read(blocks[i]); err != nil {
			panic(err)
		}
		blocks[i] = blocks[len(blocks)-1]
		blocks = blocks[:len(blocks)-1]
		if rng.IntN(6) == 0 {
			spill(workers[1])
		}
	}
	return workers[1]
}

// ranges is Options.Ranges of the arguments.
func (d *testData) ranges() []column.Range {
	out := make([]column.Range, len(d.args))
	for i, col := range d.args {
		t := col[0].Type
		if !t.IsInteger() && t.Kind != column.Decimal || t.Kind == column.Uint64 {
			continue
		}
		least, most, fits := int64(0), int64(0), true
		for _, x := range col {
			n := x.Int
			if t.Rep() == column.RepWide {
				if n = int64(x.Wide.LowBits()); x.Wide != decimal256.FromI64(n) {
					fits = false
				}
			}
			least, most = min(least, n), max(most, n)
		}
		if fits {
			out[i] = column.RangeOf(least, most)
		}
	}
	return out
}

func mergeTwo(workers []*worker, rng *rand.Rand) []*worker {
	rng.Shuffle(len(workers), func(i, j int) { workers[i], workers[j] = workers[j], workers[i] })
	last := len(workers) - 1
	workers[0].merge(workers[last], rng)
	return workers[:last]
}

func seq(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// split cuts rows into batches of random sizes, empty ones included.
func split(rows []int, rng *rand.Rand) [][]int {
	var out [][]int
	most := 1 + rng.IntN(1+len(rows))
	for len(rows) > 0 {
		n := min(rng.IntN(most+1), len(rows))
		out = append(out, rows[:n])
		rows = rows[n:]
	}
	return out
}

func byGroup(d *testData) [][]int {
	out := make([][]int, d.groups)
	for r, g := range d.gids {
		out[g] = append(out[g], r)
	}
	return out
}

// callOf resolves a call of name on columns of d.
func callOf(t testing.TB, d *testData, name string, args ...int) Call {
	t.Helper()
	c := Call{Args: args}
	for _, a := range args {
		c.Types = append(c.Types, d.args[a][0].Type)
	}
	var err error
	if c.Func, _, err = Resolve(name, c.Types, c.Params); err != nil {
		t.Fatal(err)
	}
	return c
}

// want gives the expected result of a call for the rows of one group, in file
// order: vals[k] are the values of the k-th argument.
type want func(vals [][]column.Value) column.Value

// check runs calls on d in every way and compares with wants; tolerance is
// relative to the result, 0 asks for the very bits.
func check(t *testing.T, d *testData, calls []Call, wants []want, tolerance float64) {
	t.Helper()
	rows := int64(len(d.gids)) * max(d.times, 1)
	checkWith(t, d, calls, wants, tolerance, Options{MaxRows: -1}, Options{MaxRows: rows}, Options{MaxRows: 1 << 40}, Options{MaxRows: rows, Ranges: d.ranges()})
}

// checkWith is check for layouts that are compiled with some options.
func checkWith(t *testing.T, d *testData, calls []Call, wants []want, tolerance float64, options ...Options) {
	t.Helper()
	expected := make([][]column.Value, len(calls))
	for c, call := range calls {
		for _, rows := range byGroup(d) {
			vals := make([][]column.Value, len(call.Args))
			for k, a := range call.Args {
				for _, r := range rows {
					vals[k] = append(vals[k], d.args[a][r])
				}
			}
			expected[c] = append(expected[c], wants[c](vals))
		}
	}
	seeds := uint64(2)
	if testing.Short() {
		seeds = 1
	}
	for _, o := range options {
		l, maxRows := Compile(calls, testBase, o), o.MaxRows
		all := maps.Clone(ways)
		if o.MaxRows < 0 || o.Runs != nil {
			all["states"] = throughStates(calls, o)
		}
		for name, way := range all {
			for seed := range seeds {
				rng := rand.New(rand.NewPCG(seed, 1))
				got, err := way(l, d, rng).results(t, d.groups)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				for c := range calls {
					for g := range expected[c] {
						if !same(got[c][g], expected[c][g], tolerance) {
							t.Fatalf("%s, seed %d, at most %d rows: %s of group %d = %s, want %s", name, seed, maxRows,
								calls[c].Func.Name(), g, show(got[c][g]), show(expected[c][g]))
						}
					}
				}
			}
		}
	}
}

func same(a, b column.Value, tolerance float64) bool {
	if a.Null || b.Null {
		return a.Null == b.Null && a.Type == b.Type
	}
	if a.Type != b.Type || a.Int != b.Int || a.Wide != b.Wide || a.Bytes != b.Bytes {
		return false
	}
	if a.Float == b.Float {
		return true
	}
	return a.Float != a.Float && b.Float != b.Float ||
		math.Abs(a.Float-b.Float) <= tolerance*math.Abs(b.Float)
}

func show(v column.Value) string {
	if v.Null {
		return "NULL " + v.Type.String()
	}
	switch v.Type.Rep() {
	case column.RepFloat64:
		return fmt.Sprintf("%v %s", v.Float, v.Type)
	case column.RepWide:
		return fmt.Sprintf("%v %s", v.Wide.BigInt(), v.Type)
	case column.RepBytes:
		return fmt.Sprintf("%q %s", v.Bytes, v.Type)
	}
	return fmt.Sprintf("%d %s", v.Int, v.Type)
}
