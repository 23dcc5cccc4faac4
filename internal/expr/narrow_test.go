package expr

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
)

// + - * of decimals are what big integers give: for decimals of any size, among them those around
// 31, 32, 62, 63 and 127 bits, in narrow vectors or not, and for batches of which only some rows
// fit 64 bits. An overflow is one whichever way it was computed.
func TestNarrow(t *testing.T) {
	t.Parallel()
	types := []column.Type{column.DecimalType(15, 0), column.DecimalType(18, 0), column.DecimalType(19, 0), column.DecimalType(38, 0), column.DecimalType(70, 0), int64Type}
	narrowed := 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 9))
		l, rt, op := pick(r, types...), pick(r, types...), pick(r, "+", "-", "*")
		lookup := func(name string) (int, column.Type, error) {
			return map[string]int{"a": 0, "b": 1}[name], map[string]column.Type{"a": l, "b": rt}[name], nil
		}
		text := fmt.Sprintf("(a %s b) %s -a", op, pick(r, "+", "-"))
		n, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		e, err := Bind(n, text, lookup)
		if err != nil {
			t.Fatal(err)
		}
		if e.Type().Rep() != column.RepWide {
			continue
		}
		most := pick(r, 8, 31, 32, 62, 63, 127, 220)
		values := [][]column.Value{decimalsUpTo(r, l, most), decimalsUpTo(r, rt, pick(r, 8, 31, most))}
		b := &column.Batch{Rows: len(values[0]), Cols: []column.Vector{flatVector(l, values[0]), flatVector(rt, values[1])}}
		plain, narrow := e.NewEval(), e.NewEval()
		narrow.TakeNarrow()
		var out, small column.Vector
		errPlain, errNarrow := plain.Eval(b, &out), narrow.Eval(b, &small)
		want, over := reckoned(op, text[8] == '+', e.Type(), values)
		var overflow *OverflowError
		if over != errors.As(errPlain, &overflow) || over != errors.As(errNarrow, &overflow) {
			t.Fatalf("seed %d: %s of %s and %s: %v, %v, overflow %t", seed, text, l, rt, errPlain, errNarrow, over)
		}
		if over {
			continue
		}
		if small.Narrow {
			narrowed++
			widen(&small, &small)
		}
		for i := range want {
			if out.Wide[i].BigInt().Cmp(want[i]) != 0 || small.Wide[i] != out.Wide[i] {
				t.Fatalf("seed %d: %s of %s and %s, %v and %v: %v, %v, want %v", seed, text, l, rt, values[0][i], values[1][i], out.Wide[i].BigInt(), small.Wide[i].BigInt(), want[i])
			}
		}
	}
	if narrowed < 100 {
		t.Errorf("%d results were narrow", narrowed)
	}
}

// decimalsUpTo draws values of so many bits at most that fit a type.
func decimalsUpTo(r *rand.Rand, typ column.Type, most int) (values []column.Value) {
	limit := new(big.Int).Lsh(big.NewInt(1), 63)
	if typ.Kind == column.Decimal {
		limit = pow10(int(typ.Precision))
	}
	for range 5 {
		n := new(big.Int).Lsh(big.NewInt(1), uint(r.IntN(most+1)))
		n.Sub(n, big.NewInt(r.Int64N(2)))
		if n.Cmp(limit) >= 0 {
			n.Sub(limit, big.NewInt(1))
		}
		if r.IntN(2) == 0 {
			n.Neg(n)
		}
		v := column.Value{Type: typ}
		if typ.Rep() == column.RepWide {
			v.Wide = wideFromBig(n)
		} else {
			v.Int = n.Int64()
		}
		values = append(values, v)
	}
	return values
}

// reckoned is (a op b) + -a, or minus that, and whether a step of it does not fit its type, which
// has 38 or 76 digits.
func reckoned(op string, plus bool, typ column.Type, values [][]column.Value) (want []*big.Int, over bool) {
	digits := 38
	if max(values[0][0].Type.Precision, values[1][0].Type.Precision) > 38 {
		digits = 76
	}
	of := map[string]func(z, x, y *big.Int) *big.Int{"+": (*big.Int).Add, "-": (*big.Int).Sub, "*": (*big.Int).Mul}
	for i := range values[0] {
		a, b := bigOf(values[0][i]), bigOf(values[1][i])
		n := of[op](new(big.Int), a, b)
		over = over || n.CmpAbs(pow10(digits)) >= 0
		if plus {
			n.Sub(n, a)
		} else {
			n.Add(n, a)
		}
		over = over || n.CmpAbs(pow10(int(typ.Precision))) >= 0
		want = append(want, n)
	}
	return want, over
}

func bigOf(v column.Value) *big.Int {
	if v.Type.Rep() == column.RepWide {
		return v.Wide.BigInt()
	}
	return big.NewInt(v.Int)
}

// Rounding narrow vectors gives what rounding each value as a large integer does, also where the
// result no longer fits 64 bits.
func TestRoundNarrow(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	narrowed, wide := 0, 0
	for range 3000 {
		from := pick(r, 0, 4)
		arg, scale := column.DecimalType(20+r.IntN(10), from), r.IntN(3+from)-3
		how := rounding(r.IntN(4))
		typ := column.DecimalType(19+r.IntN(5), max(scale, 0))
		digits, zeros := from-max(scale, 0), max(-scale, 0)
		values := decimalsUpTo(r, int64Type, pick(r, 8, 31, 62, 63))
		in := column.Vector{Type: arg, Len: len(values), Narrow: true}
		for _, x := range values {
			in.Int = append(in.Int, x.Int)
		}
		one := roundWide(how, digits, zeros, typ)
		f := frame{args: []*column.Vector{&in}}
		f.reset(in.Len, &bound{typ: typ})
		if err := roundWides(how, digits, zeros, typ)(&f); err != nil {
			t.Fatal(err)
		}
		out := f.out
		if out.Narrow {
			narrowed++
			widen(&f.out, &out)
		} else {
			wide++
		}
		for i, x := range in.Int {
			if want, err := one(decimal256.FromI64(x)); err != nil || out.Wide[i] != want {
				t.Fatalf("%d rounded to %d digits by %d: %v, want %v (%v)", x, scale, how, out.Wide[i], want, err)
			}
		}
	}
	if narrowed < 2000 || wide < 10 {
		t.Errorf("%d results are narrow, %d are not", narrowed, wide)
	}
}
