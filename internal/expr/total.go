package expr

import (
	"math/big"

	"github.com/gagg-dev/gagg/internal/column"
)

// This file tells which expressions cannot fail, by their types alone.

// MayFail reports whether there may be rows for which the expression cannot be computed. It is
// true unless all parts are known to be computable: comparisons and what is made of them,
// arithmetic of floats, and arithmetic of integers and decimals whose types leave room for all
// results.
func (e *Expr) MayFail() bool { return e.root.mayFail() }

func (n *bound) mayFail() bool {
	for _, a := range n.args {
		if a.mayFail() {
			return true
		}
	}
	switch n.kind {
	case boundColumn, boundConst, boundIsNull, boundAnd, boundOr, boundChoose:
		return false
	}
	return !n.sure && n.within == nil && n.rank() == rankAny
}

// extent is from where to where integers are.
type extent struct{ least, most *big.Int }

// extentOf is where the integers of n are; nil: it has none, or they are not known.
func extentOf(n *bound) *extent {
	switch {
	case n.kind == boundConst && !n.value.Null && n.typ.IsInteger() && n.typ.Kind != column.Uint64:
		v := big.NewInt(n.value.Int)
		return &extent{v, v}
	case n.within != nil:
		return n.within
	case !n.typ.IsInteger():
		return nil
	}
	bits, least := uint(n.typ.Bits()), big.NewInt(0)
	if !n.typ.IsUnsigned() {
		bits--
		least.Neg(least.Lsh(big.NewInt(1), bits))
	}
	most := big.NewInt(1)
	return &extent{least, most.Sub(most.Lsh(most, bits), big.NewInt(1))}
}

// sureArithmetic is the range of the results of an operation on integers, if all fit 64 bits; nil
// if some may not.
func sureArithmetic(op string, l, r *bound) *extent {
	a, b := extentOf(l), extentOf(r)
	if a == nil || b == nil {
		return nil
	}
	var of func(z, x, y *big.Int) *big.Int
	switch op {
	case "+":
		of = (*big.Int).Add
	case "-":
		of = (*big.Int).Sub
	case "*":
		of = (*big.Int).Mul
	case "//": // no further from 0 than the dividend, of either sign
		most := higher(a.most, new(big.Int).Neg(a.least))
		if !most.IsInt64() {
			return nil
		}
		return &extent{new(big.Int).Neg(most), most}
	case "%": // no further from 0 than the dividend
		return &extent{lower(a.least, new(big.Int)), higher(a.most, new(big.Int))}
	}
	var in extent
	for _, x := range []*big.Int{a.least, a.most} {
		for _, y := range []*big.Int{b.least, b.most} {
			v := of(new(big.Int), x, y)
			in = extent{lower(in.least, v), higher(in.most, v)}
		}
	}
	if !in.least.IsInt64() || !in.most.IsInt64() {
		return nil
	}
	return &in
}

// lower is the lesser one; a may be nil.
func lower(a, b *big.Int) *big.Int {
	if a == nil || b.Cmp(a) < 0 {
		return b
	}
	return a
}

// higher is the greater one; a may be nil.
func higher(a, b *big.Int) *big.Int {
	if a == nil || b.Cmp(a) > 0 {
		return b
	}
	return a
}
