package expr

import (
	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
)

// maxCommonDigits is the precision that results stay within if the operands
// do: what Parquet readers commonly hold in 128 bits. Wider operands give
// results of up to maxDigits. What exceeds the precision is an overflow.
const maxCommonDigits = 38

// asDecimal is the decimal type that holds x exactly, x an integer or a
// decimal. A constant integer has just the digits it needs, which keeps
// `1 - discount` in 64 bits.
func asDecimal(x *bound) column.Type {
	if x.typ.Kind == column.Decimal {
		return x.typ
	}
	if x.kind == boundConst && !x.value.Null && x.typ.Kind != column.Uint64 {
		digits := 1
		for m := magnitude(x.value.Int); m >= 10; m /= 10 {
			digits++
		}
		return column.DecimalType(digits, 0)
	}
	return column.DecimalType(integerDigits[x.typ.Kind], 0)
}

// integerDigits is the number of decimal digits that a kind can have.
var integerDigits = map[column.Kind]int{
	column.Bool: 1,
	column.Int8: 3, column.Int16: 5, column.Int32: 10, column.Int64: 19,
	column.Uint8: 3, column.Uint16: 5, column.Uint32: 10, column.Uint64: 20,
}

// decimalArithmetic binds + - * % of integers and decimals, one a decimal or
// an integer of 64 unsigned bits.
func decimalArithmetic(op string, l, r *bound, src Node) (*bound, error) {
	lt, rt := asDecimal(l), asDecimal(r)
	limit := maxCommonDigits
	if max(lt.Precision, rt.Precision) > maxCommonDigits {
		limit = maxDigits
	}
	if op == "*" {
		return multiplyDecimals(l, r, lt, rt, limit, src)
	}
	scale := int(max(lt.Scale, rt.Scale))
	digits := max(int(lt.Precision-lt.Scale), int(rt.Precision-rt.Scale)) + scale
	if op != "%" {
		digits++
	}
	if scale > limit {
		return nil, typeErrorf("%s and %s have no common decimal type; cast one to double", lt, rt)
	}
	t := column.DecimalType(min(digits, limit), scale)
	if op == "%" && digits > limit {
		return strict(t, src, modScaled(l.typ, r.typ, scale-int(lt.Scale), scale-int(rt.Scale), t), l, r), nil
	}
	l, r = castTo(l, t, src), castTo(r, t, src)
	if t.Rep() == column.RepInt64 {
		return strict(t, src, withinPrecision(t, digits, intKernels[op]), l, r).neverFails(true).onWords(wordOp{code: intCodes[op]}), nil
	}
	if op == "%" {
		return strict(t, src, withinPrecision(t, digits, modWides), l, r), nil
	}
	n := narrow(t, src, withinPrecision(t, digits, narrowKernels[op]), l, r).neverFails(digits <= limit)
	return n.onWords(wordOp{code: intCodes[op]}), nil
}

func multiplyDecimals(l, r *bound, lt, rt column.Type, limit int, src Node) (*bound, error) {
	digits, scale := int(lt.Precision)+int(rt.Precision), int(lt.Scale)+int(rt.Scale)
	if scale > limit {
		return nil, typeErrorf("the product of %s and %s has more than %d digits after the point; cast one to double", lt, rt, limit)
	}
	t := column.DecimalType(min(digits, limit), scale)
	l, r = castTo(l, lt, src), castTo(r, rt, src)
	if t.Rep() == column.RepInt64 {
		return strict(t, src, mulInts, l, r).neverFails(true).onWords(wordOp{code: CodeMultiply}), nil
	}
	n := narrow(t, src, withinPrecision(t, digits, mulDecimals), l, r).neverFails(digits <= limit)
	return n.onWords(wordOp{code: CodeMultiply}), nil
}

// withinPrecision adds to k the check that the result has t's digits, if
// digits, what it may have, are more. A narrow vector has no more than any type of wide decimals.
func withinPrecision(t column.Type, digits int, k kernel) kernel {
	if digits <= int(t.Precision) {
		return k
	}
	limit := decimal256.GetScaleMultiplier(int(t.Precision))
	least := limit.Negate()
	return func(f *frame) error {
		if err := k(f); err != nil || f.out.Narrow {
			return err
		}
		return f.check(func(i int) bool {
			v := f.out.Wide[i]
			return !v.Less(limit) || !least.Less(v)
		})
	}
}

func modWides(f *frame) error {
	out := f.out.Wide
	a, b := f.args[0].Wide[:len(out)], f.args[1].Wide[:len(out)]
	for i := range out {
		out[i] = decimal256.Num{}
		switch {
		case b[i].Sign() == 0:
			f.setNull(i)
		case !f.out.IsNull(i):
			// The remainder has the sign of the dividend, in Go and in SQL.
			n := a[i].BigInt()
			out[i] = wideFromBig(n.Rem(n, b[i].BigInt()))
		}
	}
	return nil
}

// modScaled is % of decimals that have no common type: the remainder fits t
// more often than the operands do, times 10^ls and 10^rs, with its scale. They
// are rare, so integers of any size do.
func modScaled(lt, rt column.Type, ls, rs int, t column.Type) kernel {
	lp, rp, limit := pow10(ls), pow10(rs), pow10(int(t.Precision))
	return func(f *frame) error {
		for i := range f.n {
			f.out.Wide[i] = decimal256.Num{}
			if f.out.IsNull(i) {
				continue
			}
			a, b := wideAt(f.args[0], lt, i).BigInt(), wideAt(f.args[1], rt, i).BigInt()
			if b.Sign() == 0 {
				f.setNull(i)
				continue
			}
			if a.Rem(a.Mul(a, lp), b.Mul(b, rp)).CmpAbs(limit) >= 0 {
				return errOverflow
			}
			f.out.Wide[i] = wideFromBig(a)
		}
		return nil
	}
}
