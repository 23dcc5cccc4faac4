package expr

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// Casts between all numbers, and between all dates and times, give what rational numbers give:
// for values at the ends of both types, on either side of where they are rounded, and at random;
// for whole batches, and for batches in which a row fails.
func TestFastCast(t *testing.T) {
	t.Parallel()
	kind := func(k column.Kind) column.Type { return column.Type{Kind: k} }
	numbers := []column.Type{
		kind(column.Int8), kind(column.Int16), kind(column.Int32), int64Type, kind(column.Uint8), kind(column.Uint32), uint64Type,
		column.DecimalType(3, 1), column.DecimalType(9, 2), column.DecimalType(18, 0), column.DecimalType(18, 18), column.DecimalType(19, 4), column.DecimalType(38, 10),
		column.DecimalType(76, 30), doubleType, floatType,
	}
	var times []column.Type
	for _, u := range []column.Unit{column.Second, column.Milli, column.Micro, column.Nano} {
		times = append(times, column.TimestampType(u, u%2 == 0))
	}
	r := rand.New(rand.NewPCG(3, 3))
	for _, group := range [][]column.Type{numbers, append(times, dateType)} {
		for _, from := range group {
			for _, to := range group {
				if from != to && !to.IsFloat() {
					tryCast(t, r, from, to)
				}
			}
		}
	}
}

func tryCast(t *testing.T, r *rand.Rand, from, to column.Type) {
	e, err := Bind(&Cast{X: &Column{Name: "x"}, To: to}, "x", func(string) (int, column.Type, error) { return 0, from, nil })
	if err != nil {
		t.Fatal(err)
	}
	v := e.NewEval()
	for range 300 {
		var values []column.Value
		for range 1 + r.IntN(3) {
			values = append(values, edgeOf(r, from, to))
		}
		b := &column.Batch{Rows: len(values), Cols: []column.Vector{flatVector(from, values)}}
		var out column.Vector
		err := v.Eval(b, &out)
		fits := true
		for i, x := range values {
			want, ok := convertNumber(x, to)
			if fits = fits && ok; err == nil && ok && out.At(i) != want {
				t.Fatalf("cast of %+v to %s: %+v, want %+v", x, to, out.At(i), want)
			}
		}
		if fits != (err == nil) {
			t.Fatalf("cast of %+v to %s: error %v", values, to, err)
		}
	}
}

// edgeOf draws a value of from, often about an end of either type, or about half of a step of to.
func edgeOf(r *rand.Rand, from, to column.Type) column.Value {
	n := new(big.Rat).Mul(new(big.Rat).SetFrac64(r.Int64N(2001)-1000, 2), grid(to))
	if r.IntN(2) == 0 {
		lo, hi := valueRange(pick(r, from, to))
		if from.IsFloat() || to.IsFloat() {
			lo, hi = big.NewInt(math.MinInt64), big.NewInt(math.MaxInt64)
		}
		end := new(big.Rat).SetInt(pick(r, lo, hi))
		n.Add(n, end.Mul(end, grid(pick(r, from, to))))
	}
	if from.IsFloat() {
		f, _ := n.Float64()
		if r.IntN(9) == 0 {
			f = pick(r, math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 1<<63, -1<<63, 1e300)
		}
		return column.Value{Type: from, Float: float64(float32(f)) + (f-float64(float32(f)))*float64(from.Bits()/64)}
	}
	q := n.Quo(n, grid(from))
	i := new(big.Int).Div(q.Num(), q.Denom())
	if lo, hi := valueRange(from); i.Cmp(lo) < 0 {
		i = lo
	} else if i.Cmp(hi) > 0 {
		i = hi
	}
	return stored(i, from)
}

// Texts that are plain numbers are read at once, others as ever: the same for all.
func TestPlainNumber(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"0", "-0", "7", "-7", "007", "12.50", "12.5", ".5", "-.5", "5.", "-5.", ".", "-", "", "+3", " 3", "1_000", "1e3", "0x2A", "--1", "1.2.3", "1-2", "12a",
		"999999999999999999", "1000000000000000000", "-999999999999999999", "0.999999999999999999", "123456789012345678.1", "000000000000000000000001", "255", "256", "-1", "32767.5",
	} {
		for _, to := range []column.Type{int64Type, {Kind: column.Uint8}, {Kind: column.Int16}, uint64Type, column.DecimalType(4, 2), column.DecimalType(18, 3), column.DecimalType(30, 5)} {
			e, err := Bind(&Cast{X: &Column{Name: "x"}, To: to}, "x", func(string) (int, column.Type, error) { return 0, stringType, nil })
			if err != nil {
				t.Fatal(err)
			}
			want, ok := convert(stringValue(text), to)
			in := flatVector(stringType, []column.Value{stringValue("1"), stringValue(text)})
			var out column.Vector
			err = e.NewEval().Eval(&column.Batch{Rows: 2, Cols: []column.Vector{in}}, &out)
			if got := fmt.Sprint(err); ok != (err == nil) || ok && out.At(1) != want {
				t.Errorf("%q as %s: %+v, error %s, want %+v, %t", text, to, out, got, want, ok)
			}
		}
	}
}
