package expr

import (
	"math"

	"github.com/gagg-dev/gagg/internal/column"
)

// reachCols is the most columns whose ends Reach combines: it evaluates two to the power of them
// rows.
const reachCols = 6

// Reach estimates the range of the values of an expression from the ranges of its columns. ends
// gives those by batch index; false if one is not known. The result is false if nothing is known.
//
// It evaluates sums, differences and products of integers and decimals where every column is at
// one of its ends. Those values include the extremes unless a column is multiplied by itself, so
// a caller has to notice a value outside the range.
func (e *Expr) Reach(ends func(col int) (least, most column.Value, ok bool)) (r column.Range, ok bool) {
	out, ok := e.corners(ends)
	if !ok {
		return r, false
	}
	return rangeOf(out)
}

// corners is the values of a polynomial where every column is at one of its ends; false: these are
// not known, or it is none.
func (e *Expr) corners(ends func(col int) (least, most column.Value, ok bool)) (*column.Vector, bool) {
	cols := e.Columns()
	if len(cols) == 0 || len(cols) > reachCols || e.root.kind != boundColumn && !isPolynomial(e.root.src) {
		return nil, false
	}
	corners := column.Batch{Rows: 1 << len(cols), Cols: make([]column.Vector, cols[len(cols)-1]+1)}
	for k, c := range cols {
		least, most, ok := ends(c)
		if !ok {
			return nil, false
		}
		v := &corners.Cols[c]
		v.Type = least.Type
		for corner := range corners.Rows {
			if corner>>k&1 == 0 {
				v.Append(least)
			} else {
				v.Append(most)
			}
		}
	}
	var out column.Vector
	if err := e.NewEval().Eval(&corners, &out); err != nil {
		return nil, false
	}
	return &out, true
}

// isPolynomial reports whether a node is made of columns and constants by + - * alone.
func isPolynomial(n Node) bool {
	switch n := n.(type) {
	case *Column, *Literal:
		return true
	case *Unary:
		return n.Op == "-" && isPolynomial(n.X)
	case *Binary:
		return (n.Op == "+" || n.Op == "-" || n.Op == "*") && isPolynomial(n.L) && isPolynomial(n.R)
	}
	return false
}

// rangeOf is the range of the values of v. It is false if some are NULL, or are no signed
// integers of 64 bits.
func rangeOf(v *column.Vector) (r column.Range, ok bool) {
	if t := v.Type; !t.IsInteger() && t.Kind != column.Decimal || t.Kind == column.Uint64 {
		return r, false
	}
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	for i := range v.Len {
		if v.IsNull(i) {
			return r, false
		}
		x := v.At(i)
		small := x.Int
		if v.Type.Rep() == column.RepWide {
			if small, ok = int64Of(x.Wide); !ok {
				return r, false
			}
		}
		least, most = min(least, small), max(most, small)
	}
	return column.RangeOf(least, most), true
}

// ReachFloat estimates the least and the greatest size of the values of an expression of floats as
// Reach estimates a range. The least is 0 where values may have either sign, and of all that is no
// column: (f - 5) * (f - 5) is least between the ends of f.
func (e *Expr) ReachFloat(ends func(col int) (least, most column.Value, ok bool)) (least, most float64, ok bool) {
	out, ok := e.corners(ends)
	if !ok || !out.Type.IsFloat() {
		return 0, 0, false
	}
	low, high := math.Inf(1), math.Inf(-1)
	for i := range out.Len {
		x := out.Float[i]
		if out.IsNull(i) || x != x {
			return 0, 0, false
		}
		low, high = min(low, x), max(high, x)
	}
	if e.root.kind == boundColumn {
		least = max(low, -high, 0)
	}
	return least, max(high, -low), true
}
