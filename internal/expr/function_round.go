package expr

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
)

// rounding is a way to a multiple of a power of ten.
type rounding uint8

const (
	roundHalf  rounding = iota // to the nearest, halves away from zero
	roundDown                  // floor
	roundUp                    // ceil
	roundTrunc                 // towards zero
	roundEven                  // to the nearest, halves to the even one
)

// step says whether the quotient truncated towards zero has to grow (1) or
// fall (-1): by the sign of the remainder (0: none) and whether it is half of
// the divisor or more.
func (r rounding) step(sign int, half bool) int64 {
	switch {
	case r == roundHalf && half:
		return int64(sign)
	case r == roundDown && sign < 0:
		return -1
	case r == roundUp && sign > 0:
		return 1
	}
	return 0
}

// doubles is what r does to a double without fraction digits.
func (r rounding) doubles() func(float64) float64 {
	return [...]func(float64) float64{math.Round, math.Floor, math.Ceil, math.Trunc, math.RoundToEven}[r]
}

// maxPlaces bounds the digits that round and trunc are asked for: beyond it
// no number changes, or every one becomes 0.
const maxPlaces = 1000

// places is the constant number of digits in argument 1, 0 without it.
func places(args []*bound) int {
	if len(args) < 2 || args[1].kind != boundConst {
		return 0
	}
	return int(min(max(args[1].value.Int, -maxPlaces), maxPlaces))
}

// roundedType is the type of round(x, digits) and of floor(x): decimals lose
// the digits behind the point.
var roundedType = result{"its type; of integers int64, of uint64 that; of decimals with these digits", func(args []*bound) column.Type {
	switch t := args[0].typ; {
	case t.Kind == column.Decimal:
		return column.DecimalType(int(t.Precision), max(0, min(int(t.Scale), places(args))))
	case t.IsInteger() && t.Kind != column.Uint64:
		return int64Type
	default:
		return t
	}
}}

// rounded binds round, floor, ceil and trunc.
func rounded(r rounding) func(*call) (*bound, error) {
	return func(c *call) (*bound, error) {
		x, n := c.args[0], places(c.args)
		switch t := x.typ; {
		case t.IsFloat():
			return c.strict(roundDoubles(r, n, t), x).onWords(toType(t, r.doubleWords(n))...), nil
		case n >= int(t.Scale): // nothing to lose; the scale of an integer is 0
			if x.typ == c.typ {
				return x, nil
			}
			return retyped(c.typ, c.n, x), nil
		case t.Kind == column.Uint64:
			return c.strict(roundUints(r, -n), x), nil
		case t.Rep() == column.RepInt64:
			digits, zeros := int(t.Scale)-max(n, 0), max(-n, 0)
			return c.strict(roundInts(r, digits, zeros, c.typ), x).roundsWords(r, digits, zeros), nil
		default:
			return narrow(c.typ, c.n, roundWides(r, int(t.Scale)-max(n, 0), max(-n, 0), c.typ), x), nil
		}
	}
}

// roundDoubles rounds to n digits behind the point as DuckDB does: by the
// product with a power of ten, which rounds too.
func roundDoubles(r rounding, n int, t column.Type) kernel {
	whole := r.doubles()
	power := math.Pow10(max(n, -n))
	one := whole
	switch {
	case n > 0:
		one = func(v float64) float64 {
			if w := whole(v*power) / power; !math.IsNaN(w) && !math.IsInf(w, 0) {
				return w
			}
			return v
		}
	case n < 0:
		one = func(v float64) float64 {
			if w := whole(v/power) * power; !math.IsNaN(w) && !math.IsInf(w, 0) {
				return w
			}
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return v
			}
			return 0
		}
	}
	return func(f *frame) error {
		out := f.out.Float
		for i, v := range f.args[0].Float[:len(out)] {
			out[i] = one(v)
		}
		if t.Kind != column.Float64 {
			roundToFloat(out)
		}
		return nil
	}
}

// doubleWords is r to n digits behind the point as an operation on words.
func (r rounding) doubleWords(n int) wordOp {
	const multiples = 8
	op := wordOp{code: CodeRoundDouble, constant: uint64(r), with: math.Float64bits(math.Pow10(max(n, -n)))}
	if n < 0 {
		op.constant |= multiples
	}
	return op
}

// words is r of an integer divided by d, which is even. Halves near the ends of an int64 fail.
func (r rounding) words(d int64) []wordOp {
	switch r {
	case roundDown:
		return []wordOp{{code: CodeFloor, constant: uint64(d)}}
	case roundUp:
		return []wordOp{{code: CodeMultiply, with: minusOne}, {code: CodeFloor, constant: uint64(d)}, {code: CodeMultiply, with: minusOne}}
	case roundTrunc:
		return []wordOp{{code: CodeDivide, with: uint64(d)}}
	}
	return []wordOp{belowZero, {code: CodeMultiply, with: uint64(-d)}, addWord(d / 2), {code: CodeAdd, back: 4}, {code: CodeDivide, with: uint64(d)}}
}

const minusOne = math.MaxUint64

// belowZero is 1 or 0.
var belowZero = wordOp{code: CodeCompareInt, constant: 1}

// roundsWords adds the operations of roundInts.
func (n *bound) roundsWords(r rounding, digits, zeros int) *bound {
	if !IsWord(n.typ) || digits+zeros > maxInt64Power {
		return n
	}
	ops := r.words(powers[digits+zeros])
	if zeros > 0 {
		ops = append(ops, wordOp{code: CodeMultiply, with: uint64(powers[zeros])})
		if n.typ.Kind == column.Decimal { // no multiple of ten lies between the limit and the precision
			ops = append(ops, wordOp{code: CodeWithin, constant: uint64(powers[n.typ.Precision] - 2)})
		}
	}
	return n.onWords(ops...)
}

// maxInt64Power is the largest n for which 10^n is an int64.
const maxInt64Power = 18

// divide divides by a power of ten.
func (r rounding) divide(v int64, by divisor) int64 {
	q := by.floor(v)
	rest := v - q*by.d // from 0 on: q is rounded down
	switch {
	case rest == 0 || r == roundDown:
	case r == roundUp, r == roundTrunc && v < 0, r == roundHalf && (rest > by.d-rest || rest == by.d-rest && v > 0):
		q++
	}
	return q
}

// roundInts takes the last digits off stored integers, and then puts zeros in
// place of as many as zeros says.
func roundInts(r rounding, digits, zeros int, t column.Type) kernel {
	if digits+zeros > maxInt64Power {
		return roundAway(r == roundHalf && digits+zeros == maxInt64Power+1)
	}
	by, back := newDivisor(pow10(digits+zeros).Int64()), pow10(zeros).Int64()
	_, limit := valueRange(t)
	most := limit.Int64() / back
	return func(f *frame) error {
		in, out := f.args[0].Int[:f.n], f.out.Int
		alarm := false
		for i, v := range in {
			q := r.divide(v, by)
			alarm = alarm || q > most || q < -most
			out[i] = q * back
		}
		if !alarm {
			return nil
		}
		return f.check(func(i int) bool { q := r.divide(in[i], by); return q > most || q < -most })
	}
}

// roundAway is roundInts to multiples of 10^19 and more. The nearest is 0, but
// for half of 10^19 and more (half), which leads out of the range.
func roundAway(half bool) kernel {
	most := 5*pow10(maxInt64Power).Int64() - 1
	return func(f *frame) error {
		fill(f.out.Int, 0)
		if !half {
			return nil
		}
		return f.check(func(i int) bool { v := f.args[0].Int[i]; return v > most || v < -most })
	}
}

// roundUints puts zeros in place of the last digits of unsigned integers.
func roundUints(r rounding, zeros int) kernel {
	if zeros > maxInt64Power+1 {
		// half of 10^20 is more than 2^64
		return func(f *frame) error { fill(f.out.Int, 0); return nil }
	}
	power := pow10(zeros).Uint64()
	at := func(v uint64) (uint64, bool) {
		q, rest := v/power, v%power
		if r == roundHalf && rest >= power-rest {
			q++
		}
		hi, lo := bits.Mul64(q, power)
		return lo, hi != 0
	}
	return func(f *frame) error {
		in, out := uints(f.args[0].Int[:f.n]), uints(f.out.Int)
		alarm := false
		for i, v := range in {
			over := false
			out[i], over = at(v)
			alarm = alarm || over
		}
		if !alarm {
			return nil
		}
		return f.check(func(i int) bool { _, over := at(in[i]); return over })
	}
}

// roundWides is roundInts of decimals of more than 18 digits, in 64 bits where the values fit.
func roundWides(r rounding, digits, zeros int, t column.Type) kernel {
	one := roundWide(r, digits, zeros, t)
	if digits+zeros > maxInt64Power {
		return func(f *frame) error { return f.roundEach(one) }
	}
	by, back := newDivisor(pow10(digits+zeros).Int64()), pow10(zeros).Int64()
	return func(f *frame) error {
		in, ok := integers(f.args[0], f.n)
		if !ok {
			return f.roundEach(one)
		}
		out, most, fit := f.narrow(), math.MaxInt64/back, true
		for i, v := range in {
			q := r.divide(v, by)
			fit = fit && -most <= q && q <= most
			out[i] = q * back
		}
		if !fit {
			return f.roundEach(one)
		}
		return nil
	}
}

// roundEach rounds the values of a vector of wide decimals, which may be narrow.
func (f *frame) roundEach(round func(decimal256.Num) (decimal256.Num, error)) error {
	in, narrow := integers(f.args[0], f.n)
	out := f.widen()
	for i := range out {
		out[i] = decimal256.Num{}
		if f.out.IsNull(i) {
			continue
		}
		var x decimal256.Num
		if narrow {
			x = decimal256.FromI64(in[i])
		} else {
			x = f.args[0].Wide[i]
		}
		var err error
		if out[i], err = round(x); err != nil {
			return err
		}
	}
	return nil
}

// roundWide rounds one value.
func roundWide(r rounding, digits, zeros int, t column.Type) func(decimal256.Num) (decimal256.Num, error) {
	by, back, limit := pow10(digits+zeros), pow10(zeros), pow10(int(t.Precision))
	return func(x decimal256.Num) (decimal256.Num, error) {
		var rest big.Int
		q, _ := new(big.Int).QuoRem(x.BigInt(), by, &rest)
		sign := rest.Sign()
		half := rest.Lsh(&rest, 1).CmpAbs(by) >= 0
		q.Add(q, big.NewInt(r.step(sign, half)))
		if q.Mul(q, back).CmpAbs(limit) >= 0 {
			return decimal256.Num{}, errOverflow
		}
		return wideFromBig(q), nil
	}
}
