package expr

import (
	"math"
	"math/bits"

	"github.com/gagg-dev/gagg/internal/column"
)

// arithmetic binds + - * / // %.
//
//	int op int          int64, checked
//	uint64 op uint64    uint64, checked; with a signed column: decimal, exact
//	decimal op decimal  decimal, exact; integers are decimals without scale
//	float op any        float if both have at most its digits, else double
//	any / any           double; by zero: NULL
//	int // int          int64, uint64 of unsigned ones, cut to whole; by zero: NULL; of others /
//	date ± int          date; date - date: int64, days
func arithmetic(op string, l, r *bound, src Node) (*bound, error) {
	if t, ok := dateArithmetic(op, l.typ, r.typ); ok {
		return intArithmetic(op, t, l, r, src), nil
	}
	for _, x := range []*bound{l, r} {
		if !x.typ.IsNumeric() && x.typ.Kind != column.Null {
			return nil, typeErrorf("cannot %s %s and %s", verbs[op], l.typ, r.typ)
		}
	}
	lt, rt := l.typ, r.typ
	switch {
	case lt.Kind == column.Null && rt.Kind == column.Null:
		return newNull(nullType), nil
	case lt.Kind == column.Null:
		lt = rt
		l = newNull(rt)
	case rt.Kind == column.Null:
		rt = lt
		r = newNull(lt)
	}
	switch {
	case op == "/", op == "//" && !(lt.IsInteger() && rt.IsInteger()):
		n := strict(doubleType, src, divideDoubles, castTo(l, doubleType, src), castTo(r, doubleType, src)).neverFails(true)
		return n.onWords(wordOp{code: CodeDivideDouble}), nil
	case lt.IsFloat() || rt.IsFloat():
		return floatArithmetic(op, commonFloat(lt, rt), l, r, src), nil
	case lt.Kind == column.Decimal || rt.Kind == column.Decimal:
		return decimalArithmetic(op, l, r, src)
	case lt.Kind == column.Uint64 || rt.Kind == column.Uint64:
		if isUnsigned(l) && isUnsigned(r) {
			return strict(uint64Type, src, uintKernels[op], l, r), nil
		}
		if op == "//" {
			return nil, typeErrorf("cannot divide %s by %s to a whole number; cast one of them", lt, rt)
		}
		return decimalArithmetic(op, l, r, src)
	}
	return intArithmetic(op, int64Type, l, r, src), nil
}

var verbs = map[string]string{"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "//": "divide", "%": "take the remainder of", "||": "join"}

// dateArithmetic gives the type of an operation on a date, if there is one.
func dateArithmetic(op string, l, r column.Type) (column.Type, bool) {
	isDate := func(t column.Type) bool { return t.Kind == column.Date }
	switch {
	case op == "-" && isDate(l) && isDate(r):
		return int64Type, true
	case op == "-" && isDate(l) && r.IsInteger() && r.Kind != column.Uint64,
		op == "+" && isDate(l) && r.IsInteger() && r.Kind != column.Uint64,
		op == "+" && isDate(r) && l.IsInteger() && l.Kind != column.Uint64:
		return dateType, true
	}
	return column.Type{}, false
}

// isUnsigned reports whether the stored integers of x mean the same as
// unsigned ones: all but negative constants and signed columns.
func isUnsigned(x *bound) bool {
	return x.typ.IsUnsigned() || x.kind == boundConst && x.value.Int >= 0
}

// commonFloat is float only if neither side is a double.
func commonFloat(l, r column.Type) column.Type {
	if l.Kind == column.Float64 || r.Kind == column.Float64 {
		return doubleType
	}
	return floatType
}

func intArithmetic(op string, t column.Type, l, r *bound, src Node) *bound {
	k := intKernels[op]
	if t.Kind != column.Date {
		n := strict(t, src, k, l, r)
		if n.kind == boundStrict {
			n.within = sureArithmetic(op, l, r)
		}
		return n.onWords(wordOp{code: intCodes[op]})
	}
	return strict(t, src, func(f *frame) error {
		if err := k(f); err != nil {
			return err
		}
		return f.check(func(i int) bool { return f.out.Int[i] != int64(int32(f.out.Int[i])) })
	}, l, r).onWords(wordOp{code: intCodes[op]}, wordOp{code: CodeWithin, constant: math.MaxInt32})
}

var (
	intKernels = map[string]kernel{"+": addInts, "-": subInts, "*": mulInts, "//": divInts, "%": modInts}
	intCodes   = map[string]Code{"+": CodeAdd, "-": CodeSubtract, "*": CodeMultiply, "//": CodeDivide, "%": CodeRemainder}
)

func addInts(f *frame) error {
	out := f.out.Int
	a, b := f.args[0].Int[:len(out)], f.args[1].Int[:len(out)]
	alarm := int64(0) // negative where a sum has another sign than both operands
	for i := range out {
		r := a[i] + b[i]
		alarm |= (a[i] ^ r) & (b[i] ^ r)
		out[i] = r
	}
	if alarm >= 0 {
		return nil
	}
	return f.check(func(i int) bool { return (a[i]^out[i])&(b[i]^out[i]) < 0 })
}

func subInts(f *frame) error {
	out := f.out.Int
	a, b := f.args[0].Int[:len(out)], f.args[1].Int[:len(out)]
	alarm := int64(0)
	for i := range out {
		r := a[i] - b[i]
		alarm |= (a[i] ^ b[i]) & (a[i] ^ r)
		out[i] = r
	}
	if alarm >= 0 {
		return nil
	}
	return f.check(func(i int) bool { return (a[i]^b[i])&(a[i]^out[i]) < 0 })
}

// mulInts multiplies without wide products. multiply tells whether all products of the batch are
// sure to fit; if they are not, each row is checked.
func mulInts(f *frame) error {
	a, b := f.args[0].Int, f.args[1].Int
	if multiply(f.out.Int, a, b) {
		return nil
	}
	return f.check(func(i int) bool { return mulOverflows(a[i], b[i]) })
}

// mulOverflows reports whether a*b does not fit an int64.
func mulOverflows(a, b int64) bool {
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	if (a < 0) != (b < 0) {
		return hi != 0 || lo > 1<<63
	}
	return hi != 0 || lo >= 1<<63
}

func divInts(f *frame) error {
	out := f.out.Int
	a, b := f.args[0].Int[:len(out)], f.args[1].Int[:len(out)]
	alarm := false // the one quotient that does not fit
	for i := range out {
		if b[i] == 0 {
			out[i] = 0
			f.setNull(i)
			continue
		}
		alarm = alarm || a[i] == math.MinInt64 && b[i] == -1
		out[i] = a[i] / b[i]
	}
	if !alarm {
		return nil
	}
	return f.check(func(i int) bool { return a[i] == math.MinInt64 && b[i] == -1 })
}

func modInts(f *frame) error {
	out := f.out.Int
	a, b := f.args[0].Int[:len(out)], f.args[1].Int[:len(out)]
	for i := range out {
		if b[i] == 0 {
			out[i] = 0
			f.setNull(i)
			continue
		}
		out[i] = a[i] % b[i]
	}
	return nil
}

var uintKernels = map[string]kernel{"+": addUints, "-": subUints, "*": mulUints, "//": divUints, "%": modUints}

func addUints(f *frame) error {
	out := uints(f.out.Int)
	a, b := uints(f.args[0].Int)[:len(out)], uints(f.args[1].Int)[:len(out)]
	carry := uint64(0)
	for i := range out {
		r, c := bits.Add64(a[i], b[i], 0)
		out[i] = r
		carry |= c
	}
	if carry == 0 {
		return nil
	}
	return f.check(func(i int) bool { return out[i] < a[i] })
}

func subUints(f *frame) error {
	out := uints(f.out.Int)
	a, b := uints(f.args[0].Int)[:len(out)], uints(f.args[1].Int)[:len(out)]
	borrow := uint64(0)
	for i := range out {
		r, c := bits.Sub64(a[i], b[i], 0)
		out[i] = r
		borrow |= c
	}
	if borrow == 0 {
		return nil
	}
	return f.check(func(i int) bool { return a[i] < b[i] })
}

func mulUints(f *frame) error {
	out := uints(f.out.Int)
	a, b := uints(f.args[0].Int)[:len(out)], uints(f.args[1].Int)[:len(out)]
	over := uint64(0)
	for i := range out {
		hi, lo := bits.Mul64(a[i], b[i])
		out[i] = lo
		over |= hi
	}
	if over == 0 {
		return nil
	}
	return f.check(func(i int) bool {
		hi, _ := bits.Mul64(a[i], b[i])
		return hi != 0
	})
}

func divUints(f *frame) error {
	out := uints(f.out.Int)
	a, b := uints(f.args[0].Int)[:len(out)], uints(f.args[1].Int)[:len(out)]
	for i := range out {
		if b[i] == 0 {
			out[i] = 0
			f.setNull(i)
			continue
		}
		out[i] = a[i] / b[i]
	}
	return nil
}

func modUints(f *frame) error {
	out := uints(f.out.Int)
	a, b := uints(f.args[0].Int)[:len(out)], uints(f.args[1].Int)[:len(out)]
	for i := range out {
		if b[i] == 0 {
			out[i] = 0
			f.setNull(i)
			continue
		}
		out[i] = a[i] % b[i]
	}
	return nil
}

func floatArithmetic(op string, t column.Type, l, r *bound, src Node) *bound {
	l, r = castTo(l, t, src), castTo(r, t, src)
	k, code := floatKernels[op], floatCodes[op]
	n := (*bound)(nil)
	if t.Kind == column.Float64 {
		n = strict(t, src, k, l, r).neverFails(true)
	} else {
		n = strict(t, src, func(f *frame) error {
			err := k(f)
			roundToFloat(f.out.Float)
			return err
		}, l, r).neverFails(true)
	}
	if code == 0 {
		return n
	}
	return n.onWords(toType(t, wordOp{code: code})...)
}

// floatCodes is the operations of floatKernels; there is none for the remainder.
var floatCodes = map[string]Code{"+": CodeAddDouble, "-": CodeSubtractDouble, "*": CodeMultiplyDouble}

// toType adds to an operation that gives doubles the rounding to a type of floats.
func toType(t column.Type, ops ...wordOp) []wordOp {
	if t.Kind == column.Float64 {
		return ops
	}
	return append(ops, wordOp{code: CodeToFloat})
}

// roundToFloat rounds doubles to what a float32 holds. For one + - * of two
// floats this gives the float32 operation exactly.
func roundToFloat(s []float64) {
	for i := range s {
		s[i] = float64(float32(s[i]))
	}
}

var floatKernels = map[string]kernel{"+": addDoubles, "-": subDoubles, "*": mulDoubles, "%": modDoubles}

func addDoubles(f *frame) error {
	out := f.out.Float
	a, b := f.args[0].Float[:len(out)], f.args[1].Float[:len(out)]
	for i := range out {
		out[i] = a[i] + b[i]
	}
	return nil
}

func subDoubles(f *frame) error {
	out := f.out.Float
	a, b := f.args[0].Float[:len(out)], f.args[1].Float[:len(out)]
	for i := range out {
		out[i] = a[i] - b[i]
	}
	return nil
}

func mulDoubles(f *frame) error {
	out := f.out.Float
	a, b := f.args[0].Float[:len(out)], f.args[1].Float[:len(out)]
	for i := range out {
		out[i] = a[i] * b[i]
	}
	return nil
}

func modDoubles(f *frame) error {
	out := f.out.Float
	a, b := f.args[0].Float[:len(out)], f.args[1].Float[:len(out)]
	for i := range out {
		out[i] = math.Mod(a[i], b[i])
	}
	return f.nullWhereZero(b)
}

func divideDoubles(f *frame) error {
	out := f.out.Float
	a, b := f.args[0].Float[:len(out)], f.args[1].Float[:len(out)]
	for i := range out {
		out[i] = a[i] / b[i]
	}
	return f.nullWhereZero(b)
}

// nullWhereZero makes the rows NULL whose divisor is zero.
func (f *frame) nullWhereZero(divisor []float64) error {
	zero := int64(0)
	for _, d := range divisor {
		zero |= truth(d == 0)
	}
	if zero == 0 {
		return nil
	}
	null := f.ownNulls()
	for i, d := range divisor {
		null[i] = null[i] || d == 0
	}
	return nil
}
