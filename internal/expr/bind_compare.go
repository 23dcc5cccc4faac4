package expr

import (
	"fmt"

	"github.com/gagg-dev/gagg/internal/column"
)

// family is a set of types that compare with each other.
type family uint8

const (
	familyNone   family = iota
	familyNumber        // and bool, as 0 and 1
	familyDay           // date, timestamp
	familyClock         // time
	familyBytes
)

func familyOf(t column.Type) family {
	switch {
	case t.IsNumeric() || t.Kind == column.Bool:
		return familyNumber
	case t.Kind == column.Date || t.Kind == column.Timestamp:
		return familyDay
	case t.Kind == column.Time:
		return familyClock
	case t.Rep() == column.RepBytes:
		return familyBytes
	}
	return familyNone
}

// compare binds l op r; ln and rn are their nodes, for the place of a bad
// literal.
func (b *binder) compare(op compareOp, l, r *bound, ln, rn Node, src Node) (*bound, error) {
	if isNullConst(l) || isNullConst(r) {
		return newNull(boolType), nil
	}
	if l.kind == boundInterval || r.kind == boundInterval {
		return b.compareIntervals(op, l, r, src)
	}
	var err error
	if l, err = literalAs(l, r.typ); err != nil {
		return nil, b.at(ln.Pos(), err)
	}
	if r, err = literalAs(r, l.typ); err != nil {
		return nil, b.at(rn.Pos(), err)
	}
	if f := familyOf(l.typ); f == familyNone || f != familyOf(r.typ) {
		return nil, typeErrorf("cannot compare %s and %s%s", l.typ, r.typ, dayHint(l.typ, rn)+dayHint(r.typ, ln))
	}
	switch {
	case r.kind == boundConst:
		return compareWithConst(op, l, r.value, src), nil
	case l.kind == boundConst:
		return compareWithConst(op.flip(), r, l.value, src), nil
	}
	return compareColumns(op, l, r, src), nil
}

// dayHint is how to write the date that a number beside a value of type t seems to be: 2024-01-31
// is a difference, 1992.
func dayHint(t column.Type, n Node) string {
	outer, ok := n.(*Binary)
	if !ok || outer.Op != "-" || familyOf(t) != familyDay {
		return ""
	}
	inner, ok := outer.L.(*Binary)
	if !ok || inner.Op != "-" {
		return ""
	}
	var part [3]int64
	for i, n := range []Node{inner.L, inner.R, outer.R} {
		lit, ok := n.(*Literal)
		if !ok || lit.Value.Type != int64Type || lit.Value.Null {
			return ""
		}
		part[i] = lit.Value.Int
	}
	day := fmt.Sprintf("%04d-%02d-%02d", part[0], part[1], part[2])
	if _, ok := parseTemporal("date", day); !ok {
		return ""
	}
	return "; write '" + day + "', in quotes"
}

func isNullConst(x *bound) bool { return x.kind == boundConst && x.value.Null }

// literalAs reads a constant string as a value to compare with type t; other
// things stay as they are.
func literalAs(x *bound, t column.Type) (*bound, error) {
	if x.kind != boundConst || x.typ.Kind != column.String || x.value.Null || t.Kind == column.String {
		return x, nil
	}
	v, ok := parseAs(x.value.Bytes, t)
	if !ok {
		return nil, typeErrorf("'%s' is not a value of type %s", oneLine(x.value.Bytes), t)
	}
	return newConst(v), nil
}

// compareColumns compares two expressions that vary.
func compareColumns(op compareOp, l, r *bound, src Node) *bound {
	lt, rt := l.typ, r.typ
	switch familyOf(lt) {
	case familyBytes:
		return strict(boolType, src, func(f *frame) error {
			compareBytes(op, f.out.Int, f.args[0], f.args[1])
			return nil
		}, l, r)
	case familyDay, familyClock:
		return compareTemporal(op, l, r, src)
	}
	switch {
	case lt.IsFloat() || rt.IsFloat():
		return compareWithFloat(op, l, r, src)
	case lt.Kind == column.Decimal || rt.Kind == column.Decimal:
		return compareDecimals(op, l, r, src)
	case lt.Kind == column.Uint64 && rt.Kind == column.Uint64:
		return strict(boolType, src, func(f *frame) error {
			compareEach(op, f.out.Int, uints(f.args[0].Int), uints(f.args[1].Int))
			return nil
		}, l, r).onWords(wordOp{code: CodeCompareUint, constant: op.outcomes()})
	case lt.Kind == column.Uint64:
		return compareColumns(op.flip(), r, l, src)
	case rt.Kind == column.Uint64:
		return strict(boolType, src, compareFunc(op, func(a, b *column.Vector, i int) int {
			return compareIntUint(a.Int[i], uint64(b.Int[i]))
		}), l, r)
	}
	return compareInts(op, l, r, src)
}

// compareInts compares the stored integers.
func compareInts(op compareOp, l, r *bound, src Node) *bound {
	return strict(boolType, src, func(f *frame) error {
		compareEach(op, f.out.Int, f.args[0].Int, f.args[1].Int)
		return nil
	}, l, r).onWords(wordOp{code: CodeCompareInt, constant: op.outcomes()})
}

// compareWithFloat compares where one side at least is a float.
func compareWithFloat(op compareOp, l, r *bound, src Node) *bound {
	if !l.typ.IsFloat() {
		l, r, op = r, l, op.flip()
	}
	switch {
	case r.typ.IsFloat() || r.typ.Kind == column.Decimal || r.typ.Bits() < 64:
		to := doubleType
		if r.typ.Kind == column.Decimal {
			to = floatLike(l.typ)
		}
		return strict(boolType, src, func(f *frame) error {
			compareEachDouble(op, f.out.Int, f.args[0].Float, f.args[1].Float)
			return nil
		}, l, castTo(r, to, src)).onWords(wordOp{code: CodeCompareDouble, constant: op.outcomes()})
	case r.typ.Kind == column.Uint64:
		return strict(boolType, src, compareFunc(op.flip(), func(a, b *column.Vector, i int) int {
			return compareUintDouble(uint64(a.Int[i]), b.Float[i])
		}), r, l)
	}
	return strict(boolType, src, compareFunc(op.flip(), func(a, b *column.Vector, i int) int {
		return compareIntDouble(a.Int[i], b.Float[i])
	}), r, l)
}

// floatLike is the float type that a decimal becomes when it meets t.
func floatLike(t column.Type) column.Type {
	if t.Kind == column.Float64 {
		return doubleType
	}
	return floatType
}

// compareDecimals aligns the scales. Values that fit no common decimal are
// compared as products with a power of ten, without overflow.
func compareDecimals(op compareOp, l, r *bound, src Node) *bound {
	lt, rt := asDecimal(l), asDecimal(r)
	scale := int(max(lt.Scale, rt.Scale))
	whole := max(int(lt.Precision-lt.Scale), int(rt.Precision-rt.Scale))
	switch {
	case l.typ.Rep() == column.RepInt64 && r.typ.Rep() == column.RepInt64 &&
		l.typ.Kind != column.Uint64 && r.typ.Kind != column.Uint64:
		if lt.Scale == rt.Scale {
			return compareInts(op, l, r, src)
		}
		ml, mr := pow10(scale-int(lt.Scale)).Uint64(), pow10(scale-int(rt.Scale)).Uint64()
		return strict(boolType, src, compareFunc(op, func(a, b *column.Vector, i int) int {
			return compareScaled(a.Int[i], ml, b.Int[i], mr)
		}), l, r)
	case whole+scale <= maxDigits:
		t := column.DecimalType(max(whole+scale, column.MaxInt64Digits+1), scale)
		n := narrow(boolType, src, compareDecimalsKernel(op), castTo(l, t, src), castTo(r, t, src))
		return n.onWords(wordOp{code: CodeCompareInt, constant: op.outcomes()})
	}
	return strict(boolType, src, compareFunc(op, func(a, b *column.Vector, i int) int {
		return exactOf(a.At(i)).rat.Cmp(exactOf(b.At(i)).rat)
	}), l, r)
}

// compareTemporal compares dates, timestamps or times as instants, whatever
// their units.
func compareTemporal(op compareOp, l, r *bound, src Node) *bound {
	a, b := stepsPerDay(l.typ), stepsPerDay(r.typ)
	switch {
	case a == b:
		return compareInts(op, l, r, src)
	case a > b:
		l, r, op, a, b = r, l, op.flip(), b, a
	}
	ratio := b / a
	return strict(boolType, src, compareFunc(op, func(x, y *column.Vector, i int) int {
		return compareCoarse(x.Int[i], y.Int[i], ratio)
	}), l, r)
}

func stepsPerDay(t column.Type) int64 {
	if t.Kind == column.Date {
		return 1
	}
	return secondsPerDay * t.Unit.PerSecond()
}
