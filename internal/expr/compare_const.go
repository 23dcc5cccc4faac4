package expr

import (
	"math"

	"github.com/gagg-dev/gagg/internal/column"
)

// compareWithConst compares x with a constant that is not NULL and has been
// made comparable with x's type. The constant moves into the domain of x:
// `n < 1.5` of an integer becomes `n <= 1`, `d >= 2.005` of a decimal(5,2)
// becomes `d > 2.00`, `n = 1.5` can never be true. src is for errors.
func compareWithConst(op compareOp, x *bound, c column.Value, src Node) *bound {
	t := x.typ
	switch {
	case t.Rep() == column.RepBytes:
		c.Type = t
		return constCompare(op, x, c, src)
	case t.IsFloat():
		return compareFloatConst(op, x, c, src)
	case t.Kind == column.Decimal && c.Type.IsFloat():
		// As DuckDB does it: a decimal meets a double as a double.
		return compareFloatConst(op, castTo(x, floatLike(c.Type), src), c, src)
	}
	e := exactOf(c)
	if e.inf != 0 {
		return outOfRange(op, x, e.inf, src)
	}
	n, same := e.floor(t)
	lo, hi := storedRange(t)
	switch {
	case n.Cmp(lo) < 0:
		return outOfRange(op, x, -1, src)
	case n.Cmp(hi) > 0:
		return outOfRange(op, x, 1, src)
	}
	if !same { // c lies between n and n+1
		switch op {
		case opEQ, opNE:
			return decided(x, op == opNE, src)
		case opLT, opGE:
			// x < c if x <= n, x >= c if x > n
			op = map[compareOp]compareOp{opLT: opLE, opGE: opGT}[op]
		}
	}
	return constCompare(op, x, stored(n, t), src)
}

// nearest gives the value of the float type t for a constant to compare
// with, and the side of the constant that it lies on: 0 where it stands for
// the constant itself, -1 where it is below. A decimal is rounded to t, so
// that `f = 0.1` finds what was written as 0.1; an integer is exact.
func nearest(c column.Value, t column.Type) (f float64, side int) {
	if c.Type.IsFloat() {
		return c.Float, 0
	}
	f, side = exactOf(c).toDouble()
	if c.Type.Kind != column.Decimal {
		return f, side
	}
	if t.Kind != column.Float64 {
		f = float64(float32(f))
	}
	return f, 0
}

// compareFloatConst compares a float expression with a constant.
func compareFloatConst(op compareOp, x *bound, c column.Value, src Node) *bound {
	f, side := nearest(c, x.typ)
	// With f not c itself, no float lies between f and c: only whether f is
	// on this or that side of c counts.
	if side != 0 {
		switch op {
		case opEQ, opNE:
			return decided(x, op == opNE, src)
		case opLT, opLE:
			op = opLT
			if side < 0 {
				op = opLE
			}
		case opGT, opGE:
			op = opGE
			if side < 0 {
				op = opGT
			}
		}
	}
	return constCompare(op, x, column.Value{Type: x.typ, Float: f}, src)
}

// outOfRange compares with a constant that lies above (side 1) or below
// (side -1) all that x can be.
func outOfRange(op compareOp, x *bound, side int, src Node) *bound {
	return decided(x, op.holds()[1-side] != 0, src)
}

// decided is a comparison whose outcome is the same for all x but NULL.
func decided(x *bound, outcome bool, src Node) *bound {
	v := truth(outcome)
	n := &bound{kind: boundStrict, typ: boolType, src: src, args: []*bound{x}, kernel: func(f *frame) error {
		fill(f.out.Int, v)
		return nil
	}}
	n.skip = func(func(int) column.Bounds) outcomes { return outcomes{canBeTrue: outcome, canBeFalse: !outcome} }
	return n.finish().onWords(wordOp{code: CodeReplace, constant: uint64(v)})
}

// constCompare compares x with a constant of x's own type.
func constCompare(op compareOp, x *bound, c column.Value, src Node) *bound {
	n := &bound{kind: boundStrict, typ: boolType, src: src, args: []*bound{x}, kernel: constKernel(op, x.typ, c), narrow: x.typ.Rep() == column.RepWide}
	if x.kind == boundColumn {
		n.skip = skipCompare(op, x.col, c)
	}
	if word, ok := wordOf(c); ok && mayBeWord(x.typ) {
		return n.finish().onWords(wordOp{code: comparing(x.typ), constant: op.outcomes(), with: word})
	}
	if x.typ.Rep() == column.RepBytes && len(c.Bytes) == 0 { // no text is less than the empty one
		return n.finish().onLength(wordOp{code: CodeCompareInt, constant: op.outcomes()})
	}
	if op == opEQ || op == opNE {
		return n.finish().onMatch(op == opNE, false, c.Bytes)
	}
	return n.finish()
}

// comparing is the operation that compares words of a type.
func comparing(t column.Type) Code {
	switch {
	case t.IsFloat():
		return CodeCompareDouble
	case t.Kind == column.Uint64:
		return CodeCompareUint
	}
	return CodeCompareInt
}

func constKernel(op compareOp, t column.Type, c column.Value) kernel {
	switch {
	case t.Rep() == column.RepBytes:
		b := []byte(c.Bytes)
		return func(f *frame) error {
			compareBytesConst(op, f.out.Int, f.args[0], b)
			return nil
		}
	case t.Rep() == column.RepWide:
		return compareDecimalConst(op, c.Wide)
	case t.IsFloat() && math.IsNaN(c.Float):
		return func(f *frame) error {
			compareNaN(op, f.out.Int, f.args[0].Float)
			return nil
		}
	case t.IsFloat():
		return func(f *frame) error {
			compareConst(op, f.out.Int, f.args[0].Float, c.Float)
			return nil
		}
	case t.Kind == column.Uint64:
		return func(f *frame) error {
			compareConst(op, f.out.Int, uints(f.args[0].Int), uint64(c.Int))
			return nil
		}
	}
	return func(f *frame) error {
		compareConst(op, f.out.Int, f.args[0].Int, c.Int)
		return nil
	}
}
