package expr

import (
	"math"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
)

// castTo converts a number (or boolean) to a float or to a decimal of at
// least its scale. These are the conversions that operators make on their
// own; explicitCast has the others.
func castTo(x *bound, t column.Type, src Node) *bound {
	switch {
	case x.typ == t:
		return x
	case isNullConst(x):
		return newNull(t)
	case t.IsFloat():
		return strict(t, src, toFloat(x.typ, t), x).neverFails(true).castsToFloat(x.typ, t)
	}
	shift := int(t.Scale)
	if x.typ.Kind == column.Decimal {
		shift -= int(x.typ.Scale)
	}
	if shift == 0 && x.typ.Rep() == t.Rep() && x.typ.Kind == column.Decimal && x.typ.Precision <= t.Precision {
		return retyped(t, src, x)
	}
	fits := digitsOf(x.typ)+shift <= int(t.Precision)
	if t.Rep() == column.RepWide && x.typ.Kind != column.Uint64 && shift <= column.MaxInt64Digits {
		n := narrow(t, src, rescaleDecimals(pow10(shift).Int64(), rescale(x.typ, t, shift)), x).neverFails(fits)
		return n.onWords(wordOp{code: CodeMultiply, with: pow10(shift).Uint64()})
	}
	n := strict(t, src, rescale(x.typ, t, shift), x).neverFails(fits)
	if fits && shift >= 0 && x.typ.Kind != column.Uint64 {
		n.onWords(wordOp{code: CodeMultiply, with: pow10(shift).Uint64()})
	}
	return n
}

// exactPowers is up to which n 10^n is a double.
const exactPowers = 22

// castsToFloat adds the operations of toFloat. Of decimals whose digits are no double they fail.
func (n *bound) castsToFloat(from, t column.Type) *bound {
	toDouble := wordOp{code: CodeToDouble}
	switch {
	case !mayBeWord(from) || from.Kind == column.Uint64 || from.Scale > exactPowers:
		return n
	case from.IsFloat():
		return n.onWords(toType(t)...)
	case from.Kind != column.Decimal:
		return n.onWords(toType(t, toDouble)...)
	}
	power := wordOp{code: CodeDivideDouble, with: math.Float64bits(math.Pow10(int(from.Scale)))}
	return n.onWords(toType(t, wordOp{code: CodeWithin, constant: exactDouble - 1}, toDouble, power)...)
}

// retyped makes the node of retype.
func retyped(t column.Type, src Node, x *bound) *bound {
	if t.Rep() == column.RepWide {
		return narrow(t, src, retype, x).neverFails(true).onWords()
	}
	return strict(t, src, retype, x).neverFails(true).onWords()
}

// retype gives the values another type with the same representation.
func retype(f *frame) error {
	t, n := f.out.Type, f.out.Null
	f.out = *f.args[0]
	f.out.Type, f.out.Null = t, n
	return nil
}

// toFloat converts from to the float type t.
func toFloat(from, t column.Type) kernel {
	k := toDoubles(from)
	if t.Kind == column.Float64 {
		return k
	}
	return func(f *frame) error {
		err := k(f)
		roundToFloat(f.out.Float)
		return err
	}
}

func toDoubles(from column.Type) kernel {
	switch {
	case from.IsFloat():
		return func(f *frame) error {
			copy(f.out.Float, f.args[0].Float)
			return nil
		}
	case from.Kind == column.Uint64:
		return func(f *frame) error {
			for i, v := range uints(f.args[0].Int[:f.n]) {
				f.out.Float[i] = float64(v)
			}
			return nil
		}
	case from.Rep() == column.RepWide:
		return func(f *frame) error {
			for i, v := range f.args[0].Wide[:f.n] {
				if !f.out.IsNull(i) {
					f.out.Float[i] = wideToDouble(v, int(from.Scale))
				}
			}
			return nil
		}
	case from.Kind == column.Decimal:
		return func(f *frame) error { return decimalsToDoubles(f, int(from.Scale)) }
	}
	return func(f *frame) error {
		for i, v := range f.args[0].Int[:f.n] {
			f.out.Float[i] = float64(v)
		}
		return nil
	}
}

// exactDouble is up to where doubles hold every integer.
const exactDouble = 1 << 53

// decimalsToDoubles divides by the power of ten, which is right to the last
// bit where both are exact doubles, and else reads the number as text.
func decimalsToDoubles(f *frame, scale int) error {
	in := f.args[0].Int[:f.n]
	power := math.Pow10(scale) // scale <= 18: exact
	for i, v := range in {
		if v <= exactDouble && v >= -exactDouble {
			f.out.Float[i] = float64(v) / power
		} else {
			f.out.Float[i] = textToDouble(strconv.FormatInt(v, 10), scale)
		}
	}
	return nil
}

func wideToDouble(v decimal256.Num, scale int) float64 {
	if x, ok := int64Of(v); ok && x <= exactDouble && x >= -exactDouble && scale <= exactPowers {
		return float64(x) / math.Pow10(scale)
	}
	return textToDouble(v.BigInt().String(), scale)
}

// textToDouble reads digits * 10^-scale, correctly rounded.
func textToDouble(digits string, scale int) float64 {
	// No error: the digits are well-formed, and 76 of them are in range.
	f, _ := strconv.ParseFloat(digits+"e-"+strconv.Itoa(scale), 64)
	return f
}

// rescale multiplies stored integers of from by 10^shift, shift >= 0, to
// make decimals of type t.
func rescale(from, t column.Type, shift int) kernel {
	if t.Rep() == column.RepInt64 && from.Rep() == column.RepInt64 && from.Kind != column.Uint64 {
		power, limit := pow10(shift).Int64(), pow10(int(t.Precision)).Int64()
		return func(f *frame) error { return rescaleInts(f, power, limit) }
	}
	if integer := from.Rep() == column.RepInt64 && from.Kind != column.Uint64; integer && shift <= column.MaxInt64Digits &&
		digitsOf(from)+shift <= int(t.Precision) {
		power := pow10(shift).Int64()
		return func(f *frame) error {
			for i, v := range f.args[0].Int[:f.n] {
				f.out.Wide[i] = mul64(v, power)
			}
			return nil
		}
	}
	power, limit := decimal256.GetScaleMultiplier(shift), decimal256.GetScaleMultiplier(int(t.Precision))
	narrow := t.Rep() == column.RepInt64
	return func(f *frame) error { return rescaleWides(f, from, power, limit, narrow) }
}

// digitsOf is the greatest number of digits of a stored integer of t.
func digitsOf(t column.Type) int {
	if t.Kind == column.Decimal {
		return int(t.Precision)
	}
	return integerDigits[t.Kind]
}

func rescaleInts(f *frame, power, limit int64) error {
	in := f.args[0].Int[:f.n]
	most := (limit - 1) / power // largest magnitude that stays below limit
	alarm := false
	for i, v := range in {
		f.out.Int[i] = v * power
		alarm = alarm || v > most || v < -most
	}
	if !alarm {
		return nil
	}
	return f.check(func(i int) bool { return in[i] > most || in[i] < -most })
}

func rescaleWides(f *frame, from column.Type, power, limit decimal256.Num, narrow bool) error {
	in := f.args[0]
	least := limit.Negate()
	at := func(i int) (decimal256.Num, bool) {
		v, over := mulWide(wideAt(in, from, i), power)
		return v, over || !v.Less(limit) || !least.Less(v)
	}
	alarm := false
	for i := range f.n {
		v, over := at(i)
		alarm = alarm || over
		if narrow {
			f.out.Int[i] = int64(v.LowBits())
		} else {
			f.out.Wide[i] = v
		}
	}
	if !alarm {
		return nil
	}
	return f.check(func(i int) bool {
		_, over := at(i)
		return over
	})
}

// wideAt is the stored integer of row i, of a type without floats and bytes.
func wideAt(v *column.Vector, t column.Type, i int) decimal256.Num {
	switch {
	case t.Rep() == column.RepWide && !v.Narrow:
		return v.Wide[i]
	case t.Kind == column.Uint64:
		return decimal256.FromU64(uint64(v.Int[i]))
	}
	return decimal256.FromI64(v.Int[i])
}

// negate binds unary minus.
func negate(x *bound, src Node) (*bound, error) {
	switch t := x.typ; {
	case t.Kind == column.Null:
		return x, nil
	case t.IsFloat():
		n := strict(t, src, mulDoubles, x, newConst(column.Value{Type: t, Float: -1}))
		return n.onWords(wordOp{code: CodeMultiplyDouble}), nil
	case t.Kind == column.Decimal && t.Rep() == column.RepInt64:
		return strict(t, src, subInts, newConst(column.Value{Type: t}), x).onWords(wordOp{code: CodeSubtract}), nil
	case t.Kind == column.Decimal:
		return narrow(t, src, subDecimals, newConst(column.Value{Type: t}), x).onWords(wordOp{code: CodeSubtract}), nil
	case t.IsInteger():
		return arithmetic("-", newConst(intValue(0)), x, src)
	}
	return nil, typeErrorf("cannot negate %s", x.typ)
}
