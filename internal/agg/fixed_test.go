package agg

import (
	"errors"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
)

// bigFloats adds up in 5000 bits, which holds any sum of doubles and of their products exactly.
func bigFloats(vals ...float64) *big.Float {
	sum := new(big.Float).SetPrec(5000)
	for _, v := range vals {
		sum.Add(sum, new(big.Float).SetFloat64(v))
	}
	return sum
}

// wantExact is the exact sum of doubles, rounded once.
func wantExact(vals [][]column.Value) column.Value {
	out := column.Value{Type: column.Type{Kind: column.Float64}}
	vals = present(vals)
	var finite []float64
	special := 0.0
	for _, v := range vals[0] {
		if v.Float-v.Float != 0 {
			special += v.Float
		} else {
			finite = append(finite, v.Float)
		}
	}
	out.Null = len(vals[0]) == 0
	if out.Float, _ = bigFloats(finite...).Float64(); special != 0 {
		out.Float = special
	}
	return out
}

// exactDraws are values that are hard on a sum.
var exactDraws = map[string]func(rng *rand.Rand) float64{
	"normal":   (*rand.Rand).NormFloat64,
	"cents":    func(rng *rand.Rand) float64 { return float64(rng.IntN(1e6)) / 100 },
	"any bits": func(rng *rand.Rand) float64 { return finiteBits(rng) },
	"cancels": func(rng *rand.Rand) float64 {
		return []float64{1e300, -1e300, 1, 1e-300, -1e-300, 0.1, math.MaxFloat64, -math.MaxFloat64}[rng.IntN(8)]
	},
	"subnormal": func(rng *rand.Rand) float64 {
		return math.Float64frombits(rng.Uint64N(1<<53)) * float64(1-2*rng.IntN(2))
	},
	"zeros":    func(rng *rand.Rand) float64 { return []float64{0, math.Copysign(0, -1), 3, -3}[rng.IntN(4)] },
	"one side": func(rng *rand.Rand) float64 { return -math.Ldexp(1-rng.Float64(), rng.IntN(40)) },
}

func finiteBits(rng *rand.Rand) float64 {
	for {
		if v := math.Float64frombits(rng.Uint64()); v-v == 0 {
			return v
		}
	}
}

// windowOf is the window of the values of an argument.
func windowOf(d *testData, arg int) Window {
	e := WindowError{Windows: map[int]Window{}}
	for _, v := range d.args[arg] {
		if !v.Null {
			e.look(arg, []float64{v.Float})
		}
	}
	return e.Windows[arg]
}

// fixedOptions are some by which a window has what the data needs.
func fixedOptions(d *testData) []Options {
	rows, windows := int64(len(d.gids)), make([]Window, len(d.args))
	for i := range windows {
		windows[i] = windowOf(d, i)
	}
	return []Options{
		{Deterministic: true, MaxRows: -1},
		{Deterministic: true, MaxRows: rows, Windows: windows},
		{Deterministic: true, MaxRows: rows, Windows: windows, Special: true},
		{Deterministic: true, MaxRows: -1, Windows: windows, Device: true},
	}
}

// An exact sum is that of math/big, rounded once, to the bit, on all ways that rows may take.
func TestFixedSum(t *testing.T) {
	t.Parallel()
	for name, draw := range exactDraws {
		t.Run(name, func(t *testing.T) {
			tables(t, []generator{floatsOf(column.Float64, draw)}, func(t *testing.T, d *testData) {
				checkWith(t, d, []Call{callOf(t, d, "sum", 0)}, []want{wantExact}, 0, fixedOptions(d)...)
			})
		})
	}
}

// A float of 32 bits has a window of its own, in fewer words.
func TestFixedSumFloat32(t *testing.T) {
	t.Parallel()
	draw := func(rng *rand.Rand) float64 {
		for {
			if v := float64(math.Float32frombits(rng.Uint32())); v-v == 0 {
				return v
			}
		}
	}
	tables(t, []generator{floatsOf(column.Float32, draw)}, func(t *testing.T, d *testData) {
		l := Compile([]Call{callOf(t, d, "sum", 0)}, testBase, Options{Deterministic: true, MaxRows: 1 << 30})
		if n := l.slots[0].fixed.n; n > 6 {
			t.Errorf("%d words for floats of 32 bits", n)
		}
		checkWith(t, d, []Call{callOf(t, d, "sum", 0)}, []want{wantExact}, 0, fixedOptions(d)...)
	})
}

// NaN and infinities win over numbers, and over one another as in any sum of doubles.
func TestFixedSumSpecial(t *testing.T) {
	t.Parallel()
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		vals          []float64
		sum, variance float64
	}{
		{[]float64{1, inf, 2, 3, 4, 5}, inf, nan},
		{[]float64{-inf, 1, 2, -inf, 7, 7}, -inf, nan},
		{[]float64{inf, 1, 2, 3, -inf, 4}, nan, nan},
		{[]float64{1, nan, 2, inf, 3}, nan, nan},
		{[]float64{math.MaxFloat64, math.MaxFloat64}, inf, nan},
		{[]float64{1e200, -1e200}, 0, inf},
		{[]float64{math.Copysign(0, -1), 0}, 0, 0},
		{[]float64{5e-324, 5e-324}, 1e-323, 0},
	} {
		d := &testData{groups: 1, args: [][]column.Value{{}}}
		for _, f := range c.vals {
			d.gids = append(d.gids, 0)
			d.args[0] = append(d.args[0], column.Value{Type: column.Type{Kind: column.Float64}, Float: f})
		}
		is := func(f float64) want {
			return func([][]column.Value) column.Value {
				return column.Value{Type: column.Type{Kind: column.Float64}, Float: f}
			}
		}
		checkWith(t, d, []Call{callOf(t, d, "sum", 0), callOf(t, d, "var_pop", 0)}, []want{is(c.sum), is(c.variance)}, 0,
			Options{Deterministic: true, MaxRows: -1, Special: true},
			Options{Deterministic: true, MaxRows: 10, Special: true})
	}
}

// Moments of doubles are as near to the exact ones as without, and have the same bits on all ways,
// in all windows, with or without a device.
func TestFixedMoments(t *testing.T) {
	t.Parallel()
	names := []string{"var_samp", "stddev_pop", "covar_samp", "corr", "skewness", "kurtosis", "sum", "mean"}
	draws := []func(rng *rand.Rand) float64{
		(*rand.Rand).NormFloat64,
		func(rng *rand.Rand) float64 { return 1e3 + rng.Float64() },
	}
	for _, draw := range draws {
		d := randomData(testRand(), 3000, 7, "some", []generator{floatsOf(column.Float64, draw), floatsOf(column.Float64, draw)})
		var calls []Call
		for _, name := range names {
			calls = append(calls, callOf(t, d, name, seq(signatures[byName[name]].args)...))
		}
		checkWith(t, d, calls[:6], []want{
			wantMoment("var_samp"), wantMoment("stddev_pop"), wantMoment("covar_samp"), wantMoment("corr"), wantMoment("skewness"),
			wantMoment("kurtosis"),
		}, 1e-9, fixedOptions(d)...)
		var first [][]column.Value
		for _, o := range fixedOptions(d) {
			all := maps.Clone(ways)
			all["states"] = throughStates(calls, o)
			for way, feed := range all {
				got, err := feed(Compile(calls, testBase, o), d, testRand()).results(t, d.groups)
				if err != nil {
					t.Fatal(err)
				}
				if first == nil {
					first = got
				}
				for c := range got {
					for g, v := range got[c] {
						if math.Float64bits(v.Float) != math.Float64bits(first[c][g].Float) || v.Null != first[c][g].Null {
							t.Fatalf("%s, %+v: %s of group %d is %x, and %x otherwise", way, o, names[c], g, v.Float, first[c][g].Float)
						}
					}
				}
			}
		}
	}
}

// The product of a group does not depend on the order of its factors.
func TestOrderedProduct(t *testing.T) {
	t.Parallel()
	for _, gen := range []generator{floatsOf(column.Float64, (*rand.Rand).NormFloat64), ints(column.Int32), decimals(30, 4), ints(column.Uint64)} {
		d := randomData(testRand(), 500, 3, "some", []generator{gen})
		calls := []Call{callOf(t, d, "product", 0)}
		plain, err := ways["one batch"](Compile(calls, testBase, Options{MaxRows: -1}), d, nil).results(t, d.groups)
		if err != nil {
			t.Fatal(err)
		}
		l := Compile(calls, testBase, Options{MaxRows: -1, Deterministic: true})
		for name, way := range ways {
			for seed := range uint64(3) {
				got, err := way(l, d, rand.New(rand.NewPCG(seed, 1))).results(t, d.groups)
				if err != nil {
					t.Fatal(err)
				}
				first, err := ways["one batch"](l, d, nil).results(t, d.groups)
				if err != nil {
					t.Fatal(err)
				}
				for g := range got[0] {
					if !same(got[0][g], first[0][g], 0) || !same(got[0][g], plain[0][g], 1e-12) {
						t.Fatalf("%s: %v, in one batch %v, by order %v", name, show(got[0][g]), show(first[0][g]), show(plain[0][g]))
					}
				}
			}
		}
	}
}

// Of values that come as often the least is chosen, not the first.
func TestDeterministicTies(t *testing.T) {
	t.Parallel()
	d := &testData{groups: 1, args: [][]column.Value{{}}}
	for _, n := range []int64{9, 4, 7, 7, 4, 1, 9} {
		d.gids = append(d.gids, 0)
		d.args[0] = append(d.args[0], column.Value{Type: column.Type{Kind: column.Int64}, Int: n})
	}
	checkWith(t, d, []Call{callOf(t, d, "mode", 0)}, []want{func([][]column.Value) column.Value {
		return column.Value{Type: column.Type{Kind: column.Int64}, Int: 4}
	}}, 0, Options{MaxRows: -1, Deterministic: true})
	l := Compile([]Call{topCall(t, d, 3)}, testBase, Options{MaxRows: -1, Deterministic: true})
	w := ways["one batch"](l, d, nil)
	var out column.Vector
	if err := l.Finish(0, w.row(0), w.t.Stride, w.t.Arena.Registry(), &out); err != nil {
		t.Fatal(err)
	}
	if got := out.Elem.Int[:3]; got[0] != 4 || got[1] != 7 || got[2] != 9 {
		t.Errorf("the most frequent are %v, want 4 7 9", got)
	}
}

func topCall(t *testing.T, d *testData, k int64) Call {
	t.Helper()
	c := Call{Args: []int{0}, Types: []column.Type{d.args[0][0].Type}, Params: []column.Value{{Type: column.Type{Kind: column.Int64}, Int: k}}}
	var err error
	if c.Func, _, err = Resolve("approx_top_k", c.Types, c.Params); err != nil {
		t.Fatal(err)
	}
	return c
}

// A digit outside of the window is reported, with its position; without one there is no error.
func TestOutside(t *testing.T) {
	t.Parallel()
	window := Window{Low: -60, High: 10}
	for _, c := range []struct {
		v       float64
		outside bool
		special bool
	}{
		{1023, false, false},
		{1 << 60, true, false},
		{0x1p-200, true, false},
		{-0x1.fffffffffffffp9, false, false},
		{0, false, false},
		{5e-324, true, false},
		{math.Inf(-1), true, true},
		{math.NaN(), true, true},
	} {
		for _, fn := range []string{"sum", "var_pop", "skewness"} {
			for _, one := range []bool{false, true} {
				d := &testData{groups: 1, gids: []uint32{0, 0}, args: [][]column.Value{{
					{Type: column.Type{Kind: column.Float64}, Float: 1}, {Type: column.Type{Kind: column.Float64}, Float: c.v},
				}}}
				l := Compile([]Call{callOf(t, d, fn, 0)}, testBase, Options{Deterministic: true, MaxRows: 2, Windows: []Window{window}})
				w := newWorker(l, &arena.Arenas{})
				if one {
					w.updateOne(d, seq(2))
				} else {
					w.update(d, seq(2))
				}
				err := w.t.Outside()
				var told *WindowError
				if errors.As(err, &told) != c.outside {
					t.Fatalf("%s of %v: %v", fn, c.v, err)
				}
				if !c.outside {
					continue
				}
				if told.Special != c.special || !c.special && told.Windows[0].Join(windowOf(d, 0)) != told.Windows[0] {
					t.Errorf("%s of %v: outside is told as %+v", fn, c.v, told)
				}
			}
		}
	}
}

// Numbers are rounded to the nearest double, to the even one between two, subnormal ones too; the
// second double has what the first one lacks.
func TestRoundSize(t *testing.T) {
	t.Parallel()
	rng := testRand()
	for range 20_000 {
		words := make([]uint64, 1+rng.IntN(5))
		for i := range words {
			switch words[i] = rng.Uint64(); rng.IntN(4) {
			case 0:
				words[i] = 0
			case 1:
				words[i] = math.MaxUint64
			case 2:
				words[i] = 1 << rng.IntN(64)
			}
		}
		low := rng.IntN(2600) - 1500
		exact := new(big.Float).SetPrec(5000)
		for i, w := range words {
			term := new(big.Float).SetPrec(5000).SetUint64(w)
			exact.Add(exact, term.SetMantExp(term, low+64*i))
		}
		got := roundSize(words, low)
		want, _ := exact.Float64()
		if got.s != want {
			t.Fatalf("%x * 2^%d is %x, want %x", words, low, got.s, want)
		}
		if math.IsInf(want, 0) {
			continue
		}
		rest := exact.Sub(exact, bigFloats(want))
		left, _ := rest.Float64()
		if math.Abs(left-got.c) > math.Abs(want)*0x1p-120+math.Abs(left)*0x1p-50+5e-324 {
			t.Fatalf("%x * 2^%d lacks %x, want %x", words, low, got.c, left)
		}
	}
}
