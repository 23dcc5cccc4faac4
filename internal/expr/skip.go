package expr

import (
	"cmp"
	"math"
	"strings"

	"github.com/gagg-dev/gagg/internal/column"
)

// outcomes is what a boolean expression can be on some rows. NULL needs no
// place of its own: it is neither true nor false, whatever else is.
type outcomes struct {
	canBeTrue, canBeFalse bool
}

// skipper derives outcomes from bounds, erring only towards "can be".
type skipper func(bounds func(int) column.Bounds) outcomes

var anything = outcomes{canBeTrue: true, canBeFalse: true}

// outcomes of n, a boolean or NULL, by interval reasoning.
func (n *bound) outcomes(bounds func(int) column.Bounds) outcomes {
	switch {
	case n.kind == boundConst:
		return outcomes{
			canBeTrue:  !n.value.Null && n.value.Int != 0,
			canBeFalse: !n.value.Null && n.value.Int == 0,
		}
	case n.kind == boundAnd || n.kind == boundOr:
		a, b := n.args[0].outcomes(bounds), n.args[1].outcomes(bounds)
		if n.kind == boundAnd {
			return outcomes{a.canBeTrue && b.canBeTrue, a.canBeFalse || b.canBeFalse}
		}
		return outcomes{a.canBeTrue || b.canBeTrue, a.canBeFalse && b.canBeFalse}
	case n.kind == boundColumn && n.typ == boolType:
		i := newInterval(bounds(n.col), boolType)
		return outcomes{
			canBeTrue:  i.compare(opEQ, boolValue(true)).canBeTrue,
			canBeFalse: i.compare(opEQ, boolValue(false)).canBeTrue,
		}
	case n.skip != nil:
		return n.skip(bounds)
	}
	return anything
}

// skipNot exchanges the outcomes of x.
func skipNot(x *bound) skipper {
	return func(bounds func(int) column.Bounds) outcomes {
		o := x.outcomes(bounds)
		return outcomes{canBeTrue: o.canBeFalse, canBeFalse: o.canBeTrue}
	}
}

// skipCompare is the skipper of column op c.
func skipCompare(op compareOp, col int, c column.Value) skipper {
	return func(bounds func(int) column.Bounds) outcomes {
		return newInterval(bounds(col), c.Type).compare(op, c)
	}
}

// skipIn is the skipper of column in (set). withNull: the list holds NULL
// too, so that it is never false.
func skipIn(col int, set []column.Value, withNull bool) skipper {
	return func(bounds func(int) column.Bounds) outcomes {
		o := outcomes{canBeFalse: true}
		for _, c := range set {
			eq := newInterval(bounds(col), c.Type).compare(opEQ, c)
			o.canBeTrue = o.canBeTrue || eq.canBeTrue
			o.canBeFalse = o.canBeFalse && eq.canBeFalse
		}
		o.canBeFalse = o.canBeFalse && !withNull
		return o
	}
}

// skipPrefix is the skipper of a test that is true of texts in a column only if they begin with
// prefix: these lie together in the order of texts.
func skipPrefix(col int, prefix string) skipper {
	return func(bounds func(int) column.Bounds) outcomes {
		o := anything
		i := newInterval(bounds(col), column.Type{Kind: column.String})
		below := i.HasMax && i.Max.Bytes < prefix
		above := i.HasMin && i.Min.Bytes > prefix && !strings.HasPrefix(i.Min.Bytes, prefix)
		o.canBeTrue = !below && !above
		return o
	}
}

// interval is where the values of a column lie.
type interval struct {
	column.Bounds
	nan bool // there may be NaN, which bounds leave out
}

// newInterval keeps of b what can be relied on for values of type t.
func newInterval(b column.Bounds, t column.Type) interval {
	i := interval{Bounds: b, nan: t.IsFloat()}
	i.HasMin = b.HasMin && b.Min.Type == t && !b.Min.Null && b.Min.Float == b.Min.Float
	i.HasMax = b.HasMax && b.Max.Type == t && !b.Max.Null && b.Max.Float == b.Max.Float
	return i
}

// compare gives the outcomes of value op c for the values within i.
func (i interval) compare(op compareOp, c column.Value) outcomes {
	if i.nan && math.IsNaN(c.Float) {
		return anything
	}
	// The least and the greatest value may be below, at or above c.
	canBeBelow := !i.HasMin || compareStored(i.Min, c) < 0
	canBeAbove := !i.HasMax || compareStored(i.Max, c) > 0 || i.nan
	canBeEqual := (!i.HasMin || compareStored(i.Min, c) <= 0) && (!i.HasMax || compareStored(i.Max, c) >= 0) && i.maybeHolds(c)
	can := [3]bool{canBeBelow, canBeEqual, canBeAbove}
	var o outcomes
	for k, holds := range op.holds() {
		if can[k] && holds != 0 {
			o.canBeTrue = true
		}
		if can[k] && holds == 0 {
			o.canBeFalse = true
		}
	}
	return o
}

// maybeHolds asks the bloom filter. It hashes bits, so zero, which has two
// signs, is not asked for.
func (i interval) maybeHolds(c column.Value) bool {
	return i.MaybeIn == nil || i.nan && c.Float == 0 || i.MaybeIn(c)
}

// compareStored compares two values of the same type, neither NULL.
func compareStored(a, b column.Value) int {
	switch {
	case a.Type.Rep() == column.RepBytes:
		return strings.Compare(a.Bytes, b.Bytes)
	case a.Type.Rep() == column.RepWide:
		return a.Wide.Cmp(b.Wide)
	case a.Type.IsFloat():
		return compareDoubles(a.Float, b.Float)
	case a.Type.Kind == column.Uint64:
		return cmp.Compare(uint64(a.Int), uint64(b.Int))
	}
	return cmp.Compare(a.Int, b.Int)
}
