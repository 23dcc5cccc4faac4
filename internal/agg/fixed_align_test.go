package agg

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// alignedDraws are pairs of values for sums of products: nearly all of a pair are aligned, or not.
var alignedDraws = map[string]struct {
	x, y    generator
	aligned bool
}{
	"normal":   {floatsOf(column.Float64, (*rand.Rand).NormFloat64), floatsOf(column.Float64, (*rand.Rand).NormFloat64), true},
	"far away": {floatsOf(column.Float64, func(r *rand.Rand) float64 { return 1e9 + r.Float64() }), floatsOf(column.Float64, func(r *rand.Rand) float64 { return -1e-9 * r.Float64() }), true},
	"rests": {
		floatsOf(column.Float64, func(r *rand.Rand) float64 { return []float64{0x1p-40, 0, -3, 1}[min(r.IntN(300), 3)] * r.Float64() }),
		floatsOf(column.Float64, func(r *rand.Rand) float64 {
			return []float64{5e-324, math.Inf(1), math.NaN(), 0x1p-100, 7}[min(r.IntN(1500), 4)]
		}), true,
	},
	"integers":     {intsOf(column.Int32, func(r *rand.Rand) int64 { return int64(int32(r.Uint32())) }), intsOf(column.Int8, func(r *rand.Rand) int64 { return int64(r.IntN(11) - 5) }), true},
	"mixed":        {intsOf(column.Uint32, func(r *rand.Rand) int64 { return int64(r.Uint32()) }), floatsOf(column.Float64, (*rand.Rand).NormFloat64), true},
	"converted":    {decimals(12, 2), intsOf(column.Int64, func(r *rand.Rand) int64 { return r.Int64() - r.Int64() }), true},
	"any exponent": {floatsOf(column.Float64, finiteBits), floatsOf(column.Float64, finiteBits), false},
	"zeros":        {floatsOf(column.Float64, func(*rand.Rand) float64 { return 0 }), floatsOf(column.Float64, func(*rand.Rand) float64 { return math.Copysign(0, -1) }), true},
}

// Sums by way of aligned values are those of adding each value by itself, to the bit, in groups and
// in one.
func TestAligned(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Sorted(maps.Keys(alignedDraws)) {
		draw := alignedDraws[name]
		for _, groups := range []int{1, 3, 500, 5000} { // of the last the table is not near
			t.Run(fmt.Sprintf("%s/groups=%d", name, groups), func(t *testing.T) {
				d := randomData(testRand(), 5000, groups, "none", []generator{draw.x, draw.y})
				if slices.Contains([]string{"rests", "normal"}, name) {
					// one of the rest beside a zero, and both
					d.args[0][17].Float, d.args[1][17].Float = 0, math.NaN()
					d.args[0][18].Float, d.args[1][18].Float = 0x1p-200, math.Inf(-1)
				}
				calls := []Call{callOf(t, d, "covar_pop", 0, 1), callOf(t, d, "corr", 0, 1), callOf(t, d, "kurtosis", 0), callOf(t, d, "skewness", 1)}
				for _, o := range []Options{{MaxRows: -1}, {MaxRows: 5000}} {
					o.Deterministic, o.Special = true, true
					testAligned(t, Compile(calls, testBase, o), d, draw.aligned)
				}
			})
		}
	}
}

func testAligned(t *testing.T, l *Layout, d *testData, aligned bool) {
	t.Helper()
	in := d.input(seq(len(d.gids)))
	v := view{rows: in.Rows, gids: d.gids, args: in.Args}
	table := func() *Table {
		t := &Table{Stride: testBase + l.Words()}
		t.Rows = make([]uint64, d.groups*t.Stride)
		for g := range d.groups {
			l.Init(t.Rows[g*t.Stride:])
		}
		return t
	}
	want, got, one := table(), table(), table()
	for i := range l.slots {
		s := &l.slots[i]
		if !s.isFixed() {
			continue
		}
		if !s.fixed.aligned {
			t.Errorf("slot %d is not aligned", i)
		}
		if _, is := s.alignedAdder(got, &v); is != aligned {
			t.Errorf("op %d of %d, %d: aligned is %v", s.op, s.x, s.y, is)
		}
		x, y := s.floats(want, &v)
		for row, g := range d.gids {
			if !s.addOne(want.Rows, int(g)*want.Stride, x[row], y[row]) {
				t.Fatalf("%v, %v are outside", x[row], y[row])
			}
		}
		l.updateAligned(got, l.slots[i:i+1], &v)
		if d.groups == 1 {
			l.reduceSlots(one, 0, one.Rows, s.set, &view{rows: in.Rows, args: in.Args})
		}
		for at := range d.groups {
			words := func(t *Table) []uint64 { return t.Rows[at*t.Stride:][:t.Stride][s.hot:][:s.fixed.n] }
			if !slices.Equal(words(got), words(want)) {
				t.Fatalf("op %d of %d, %d, group %d: %x, want %x", s.op, s.x, s.y, at, words(got), words(want))
			}
			if d.groups == 1 && !slices.Equal(words(one), words(want)) {
				t.Fatalf("op %d of %d, %d, one group: %x, want %x", s.op, s.x, s.y, words(one), words(want))
			}
		}
		clear(one.Rows)
	}
	if !slices.Equal(got.Rows, want.Rows) {
		t.Error("what is told of NaN and infinities differs")
	}
	if got.Outside() != nil {
		t.Error(got.Outside())
	}
}

// Where the window begins at the least of the values, as statistics tell it, sums of powers have
// fewer words, and batches of the least values alone are aligned as others are.
func TestAlignedFromLeast(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ least, most float64 }{{1e-5, 100}, {1, 2}, {0x1p-200, 1}} {
		fit := Fit(fractionOf(c.most), 2, 1000)
		from := fit.From(c.least)
		for _, low := range []float64{c.least, (c.least + c.most) / 2} {
			d := randomData(testRand(), 1000, 3, "none", []generator{floatsOf(column.Float64, func(r *rand.Rand) float64 { return low * (1 + r.Float64()/4) })})
			calls := []Call{callOf(t, d, "kurtosis", 0)}
			wide, l := layoutWords(calls, fit), Compile(calls, testBase, Options{Deterministic: true, MaxRows: 1000, Windows: []Window{from}})
			if narrow := layoutWords(calls, from); narrow > wide || c.least > 1e-10 && narrow == wide {
				t.Errorf("%v to %v: %d words, %d by the greatest alone", c.least, c.most, narrow, wide)
			}
			if c.least > 1e-10 {
				testAligned(t, l, d, true)
			}
		}
	}
	if w := (Window{Low: -100, High: 7}); w.From(0) != w || w.From(1e-5).Low != -69 || w.From(64).Low != 7-63 || w.From(5e-324) != w {
		t.Errorf("%v from 0, 1e-5, 64, 5e-324: %v, %v, %v, %v", w, w.From(0), w.From(1e-5), w.From(64), w.From(5e-324))
	}
}

// fractionOf is an exponent of 2 that v does not reach.
func fractionOf(v float64) int {
	_, high := math.Frexp(v)
	return high
}

func layoutWords(calls []Call, w Window) int {
	return Compile(calls, testBase, Options{Deterministic: true, MaxRows: 1000, Windows: []Window{w}}).Words()
}
