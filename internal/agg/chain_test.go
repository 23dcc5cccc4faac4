package agg

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/budget/budgettest"
	"github.com/gagg-dev/gagg/internal/column"
)

// A group whose values are many times what may be sorted at once: its runs are
// merged in several steps, and the memory to sort in stays small.
func TestGiantChain(t *testing.T) {
	t.Parallel()
	gens := map[string]generator{
		"double": oddFloats(column.Float64),
		"string": stringsOf(column.Type{Kind: column.String}),
	}
	lists := map[string][]holistic{
		"double": {{"median", nil}, {"mad", nil}, {"mode", nil}, {"entropy", nil}, {"list", nil}, {"max", 700}, {"histogram", nil}},
		"string": {{"median", nil}, {"mode", nil}, {"string_agg", "-"}, {"min", 700}, {"histogram", nil}},
	}
	for name, gen := range gens {
		t.Run(name, func(t *testing.T) {
			d := randomData(testRand(), 20_000, 1, "some", []generator{gen})
			var calls []Call
			for _, h := range lists[name] {
				calls = append(calls, h.call(t, d))
			}
			runs := new(memoryRuns)
			l := Compile(calls, testBase, Options{MaxRows: -1, Runs: runs})
			l.limits = limits{compact: 4096, inline: 2000, piece: 1000, block: 1 << 10, fanIn: 4}
			got, err := spilling(l, d, testRand()).results(t, 1)
			if err != nil {
				t.Fatal(err)
			}
			for c, h := range lists[name] {
				if want := h.wants(t, d)[0]; !cellOf(got[c][0]).Matches(want) {
					t.Errorf("%v = %.200s, want %.200s", h, cellOf(got[c][0]), want)
				}
			}
			if len(runs.blocks) == 0 || runs.most > l.limits.block {
				t.Errorf("%d blocks of at most %d bytes", len(runs.blocks), runs.most)
			}
			w := l.workspace()
			if n := cap(w.words) + cap(w.spare) + cap(w.items); n > 50*l.limits.piece {
				t.Errorf("%d words to sort pieces of %d", n, l.limits.piece)
			}
		})
	}
}

// failingRuns fails after some operations.
type failingRuns struct {
	memoryRuns
	left int
}

var errRuns = errors.New("no runs")

func (r *failingRuns) Write(b []byte) (uint64, error) {
	if r.left--; r.left < 0 {
		return 0, errRuns
	}
	return r.memoryRuns.Write(b)
}

func (r *failingRuns) Read(ref uint64, buf []byte) ([]byte, error) {
	if r.left--; r.left < 0 {
		return nil, errRuns
	}
	return r.memoryRuns.Read(ref, buf)
}

// An error of Runs comes out of Move or Finish, whenever it happens.
func TestRunErrors(t *testing.T) {
	t.Parallel()
	d := randomData(testRand(), 500, 1, "none", []generator{stringsOf(column.Type{Kind: column.String})})
	list := []holistic{{"median", nil}, {"mode", nil}, {"string_agg", ","}}
	var calls []Call
	for _, h := range list {
		calls = append(calls, h.call(t, d))
	}
	for n := 0; ; n++ {
		l := Compile(calls, testBase, Options{MaxRows: -1, Runs: &failingRuns{left: n}})
		l.limits = tiny
		w := newWorker(l, new(arena.Arenas))
		w.update(d, seq(250))
		b, err := w.spill()
		if err == nil {
			w.update(d, seq(500)[250:])
			if err = w.read(b); err == nil {
				if _, err = w.results(t, 1); err == nil {
					if n < 100 {
						t.Fatalf("%d operations are enough", n)
					}
					return
				}
			}
		}
		if !errors.Is(err, errRuns) {
			t.Fatalf("after %d operations: %v", n, err)
		}
		n += n / 4 // not every one
	}
}

// ledger counts what it is asked for.
type ledger struct{ asked int }

func (b *ledger) grow(n int64) error {
	if n > 0 {
		b.asked++
	}
	return nil
}

// needy is an aggregate of each kind that puts values into an arena.
var needy = []holistic{
	{"median", nil},
	{"mode", nil},
	{"histogram", nil},
	{"list", nil},
	{"min", 5},
	{"max", 20},
	{"approx_count_distinct", nil},
	{"min", nil},
	{"first", nil},
}

// What Need and CombineNeed reserve is enough: no update, merge or join asks for
// more.
func TestNeed(t *testing.T) {
	t.Parallel()
	for name, gen := range allKinds() {
		var calls []Call
		d := randomData(testRand(), 1000, 400, "some", []generator{gen})
		for _, h := range needy {
			calls = append(calls, h.call(t, d))
		}
		for _, limits := range []limits{usualLimits, tiny} {
			var b ledger
			reg := arena.New(budgettest.Lender(b.grow))
			l := Compile(calls, testBase, Options{MaxRows: -1, Runs: new(memoryRuns)})
			l.limits = limits
			rng := testRand()
			w := newWorker(l, reg)
			for i, rows := range split(seq(len(d.gids)), rng) {
				in := d.input(rows)
				w.t.Arena = reg.New() // none has room left over
				if err := w.t.Arena.Reserve(l.Need(in)); err != nil {
					t.Fatal(err)
				}
				b.asked = 0
				w.update(d, rows)
				if b.asked > 0 {
					t.Fatalf("%s: batch %d of %d rows takes more than it needs", name, i, len(rows))
				}
			}
			for range 4 {
				other := newWorker(l, reg)
				for range 1 + rng.IntN(3) {
					other.update(d, seq(len(d.gids))[:rng.IntN(1000)])
				}
				block, err := other.spill()
				if err != nil {
					t.Fatal(err)
				}
				for _, g := range block.groups {
					if id, isNew := w.group(g); isNew {
						l.InitEmpty(w.row(id))
					}
				}
				w.t.Arena = reg.New()
				if err := w.t.Arena.Reserve(l.CombineNeed(len(block.values), len(block.groups))); err != nil {
					t.Fatal(err)
				}
				b.asked = 0
				if err := w.read(block); err != nil {
					t.Fatal(err)
				}
				if b.asked > 0 {
					t.Fatalf("%s: a merge of %d rows with %d bytes takes more than it needs", name, len(block.groups), len(block.values))
				}
			}
			for range 4 {
				other := newWorker(l, reg)
				for range 1 + rng.IntN(3) {
					other.update(d, seq(len(d.gids))[:rng.IntN(1000)])
				}
				for g := range other.local {
					if id, isNew := w.group(g); isNew {
						l.InitEmpty(w.row(id))
					}
				}
				w.t.Arena = reg.New()
				if err := w.t.Arena.Reserve(l.CombineNeed(0, len(other.local))); err != nil {
					t.Fatal(err)
				}
				b.asked = 0
				for g, from := range other.local {
					id, _ := w.group(g)
					l.Join(w.row(id), other.row(from), reg, w.t.Arena)
				}
				if b.asked > 0 {
					t.Fatalf("%s: joining %d rows takes more than it needs", name, len(other.local))
				}
			}
			reg.Close()
		}
	}
}

// NeedOne reserves enough for one group, with any values before.
func TestNeedOne(t *testing.T) {
	t.Parallel()
	for name, gen := range allKinds() {
		d := randomData(testRand(), 3000, 1, "some", []generator{gen})
		for _, h := range needy {
			var b ledger
			reg := arena.New(budgettest.Lender(b.grow))
			l := Compile([]Call{h.call(t, d)}, testBase, Options{MaxRows: -1})
			rng := testRand()
			w := newWorker(l, reg)
			for range 2 {
				for _, rows := range split(seq(len(d.gids)), rng) {
					w.t.Arena = reg.New()
					if err := w.t.Arena.Reserve(l.NeedOne(d.input(rows))); err != nil {
						t.Fatal(err)
					}
					b.asked = 0
					w.updateOne(d, rows)
					if b.asked > 0 {
						t.Fatalf("%s of %s: %d rows take more than they need", h.name, name, len(rows))
					}
				}
			}
			reg.Close()
		}
	}
}

// The most that a batch can need: every row begins another blob of full size.
func TestNeedOfFullChains(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"median", "list"} {
		d := randomData(testRand(), 500, 500, "none", []generator{kinds["int64"]})
		for r := range d.gids {
			d.gids[r] = uint32(r)
		}
		var b ledger
		reg := arena.New(budgettest.Lender(b.grow))
		l := Compile([]Call{holistic{name, nil}.call(t, d)}, testBase, Options{MaxRows: -1})
		w := newWorker(l, reg)
		for range 200 {
			w.t.Arena = reg.New()
			if err := w.t.Arena.Reserve(l.Need(d.input(seq(500)))); err != nil {
				t.Fatal(err)
			}
			b.asked = 0
			w.update(d, seq(500))
			if b.asked > 0 {
				t.Fatalf("%s: a batch takes more than it needs", name)
			}
		}
		reg.Close()
	}
}

// Few distinct values take little memory, over however many rows.
func TestCompaction(t *testing.T) {
	t.Parallel()
	d := randomData(testRand(), 4096, 3, "none", []generator{kinds["boolean"]})
	for _, h := range []holistic{
		{"mode", nil}, {"entropy", nil}, {"histogram", nil}, {"approx_count_distinct", nil}, {"min", 50},
	} {
		reg := new(arena.Arenas)
		w := newWorker(Compile([]Call{h.call(t, d)}, testBase, Options{MaxRows: -1}), reg)
		for range 100 {
			w.update(d, seq(4096))
		}
		if reg.Bytes() > 1<<20 {
			t.Errorf("%v: %d bytes for two distinct values", h, reg.Bytes())
		}
	}
}

// One entry of one or two words needs no memory but its row; that is what
// groups of one row are made of.
func TestShortChains(t *testing.T) {
	t.Parallel()
	d := randomData(testRand(), 1000, 1, "none", []generator{kinds["int64"]})
	for r := range d.gids {
		d.gids[r] = uint32(r)
	}
	d.groups = 1000
	reg := new(arena.Arenas)
	w := newWorker(Compile([]Call{holistic{"median", nil}.call(t, d), holistic{"list", nil}.call(t, d)}, testBase, Options{MaxRows: -1}), reg)
	w.update(d, seq(1000))
	if b, err := w.spill(); err != nil || len(b.values) != 0 || reg.Bytes() != 0 {
		t.Errorf("error %v, %d bytes in a block, %d in memory", err, len(b.values), reg.Bytes())
	}
}

// Up to exactHashes distinct values are counted, more are estimated within
// four standard errors; and in the same way however they come.
func TestApproxCountDistinct(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 1000, exactHashes, exactHashes + 1, 50_000} {
		d := &testData{groups: 1}
		col := make([]column.Value, 0, 2*n)
		for i := range 2 * n {
			col = append(col, column.Value{Type: column.Type{Kind: column.Int64}, Int: int64(i % n)})
		}
		if n == 0 {
			col = append(col, column.Value{Type: column.Type{Kind: column.Int64}, Null: true})
		}
		d.args, d.gids = [][]column.Value{col}, make([]uint32, len(col))
		first := int64(-1)
		for kind, l := range chainLayouts([]Call{holistic{"approx_count_distinct", nil}.call(t, d)}, -1) {
			if n > 10_000 {
				l.limits = usualLimits
			}
			for name, way := range ways {
				got, err := way(l, d, rand.New(rand.NewPCG(1, uint64(n)))).results(t, 1)
				if err != nil {
					t.Fatal(err)
				}
				count := got[0][0].Int
				if first < 0 {
					first = count
				}
				if count != first || n <= exactHashes && count != int64(n) || math.Abs(float64(count)/float64(max(n, 1))-1) > 0.032 && n > 0 {
					t.Errorf("%s, %s: %d of %d, and %d before", kind, name, count, n, first)
				}
			}
		}
	}
}

// The result is a value of the group, within 1/256 of the exact quantile.
func TestApproxQuantile(t *testing.T) {
	t.Parallel()
	for name, gen := range allKinds() {
		typ := gen(testRand()).Type
		if !typ.IsNumeric() {
			continue
		}
		d := randomData(testRand(), 3000, 2, "some", []generator{gen})
		for _, p := range []float64{0, 0.3, 0.5, 1} {
			exact := holistic{"quantile_disc", p}.call(t, d)
			approx := holistic{"approx_quantile", p}.call(t, d)
			var before []column.Value
			for kind, l := range chainLayouts([]Call{exact, approx}, -1) {
				for way, run := range ways {
					got, err := run(l, d, testRand()).results(t, 2)
					if err != nil {
						t.Fatal(err)
					}
					if before == nil {
						before = got[1]
					}
					for g := range 2 {
						want, is := number64(got[0][g]), number64(got[1][g])
						if !same(got[1][g], before[g], 0) {
							t.Errorf("%s, %s, %s: %v, and %v before", name, kind, way, is, number64(before[g]))
						}
						if math.Abs(is-want) > math.Abs(want)/256+0x1p-1030 || math.IsNaN(is) != math.IsNaN(want) {
							t.Errorf("%s, %s, %s: quantile %v of group %d is %v, want %v", name, kind, way, p, g, is, want)
						}
					}
				}
			}
		}
	}
}

func number64(v column.Value) float64 {
	switch {
	case v.Type.IsFloat():
		return v.Float
	case v.Type.Rep() == column.RepWide:
		return v.Wide.ToFloat64(int32(v.Type.Scale))
	case v.Type.Kind == column.Uint64:
		return float64(uint64(v.Int))
	}
	return float64(v.Int)
}

// The chains of a table so large that their tails are touched first hold the same as those of a
// small one, in all forms that they take meanwhile.
func TestFarTails(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"double", "small", "string"} {
		d := benchData(kind, 500)
		var calls []Call
		for _, h := range []holistic{{"median", nil}, {"list", nil}, {"max", 30}, {"mode", nil}} {
			calls = append(calls, h.call(t, d))
		}
		l := Compile(calls, testBase, Options{MaxRows: 1e9, Runs: new(memoryRuns)})
		want, err := ways["one batch"](l, d, testRand()).results(t, d.groups)
		if err != nil {
			t.Fatal(err)
		}
		far := newWorker(l, new(arena.Arenas))
		for g := range uint32(nearChains) {
			far.group(1<<20 + g)
		}
		for k, rows := range split(seq(len(d.gids)), testRand()) {
			if far.update(d, rows); k%5 == 4 { // moved chains have one blob, or none
				b, err := far.spill()
				if err != nil {
					t.Fatal(err)
				}
				if err := far.read(b); err != nil {
					t.Fatal(err)
				}
			}
		}
		got, err := far.results(t, d.groups)
		if err != nil {
			t.Fatal(err)
		}
		for c := range want {
			for g := range want[c] {
				if a, b := cellOf(got[c][g]), cellOf(want[c][g]); !a.Matches(b) {
					t.Fatalf("%s, call %d: group %d = %s, want %s", kind, c, g, a, b)
				}
			}
		}
	}
}
