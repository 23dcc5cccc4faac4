package expr

import (
	"slices"

	"github.com/gagg-dev/gagg/internal/column"
)

// conjuncts appends the operands of and below s, or s itself.
func (s *step) conjuncts(list []*step) []*step {
	if s.node.kind == boundAnd {
		for _, a := range s.args {
			list = a.conjuncts(list)
		}
		return list
	}
	return append(list, s)
}

// Filter appends to sel the rows of b for which the expression, a boolean,
// is true, ascending. The operands of and are taken one after the other, and
// the later ones not at all once no row is left.
func (v *Eval) Filter(b *column.Batch, sel []int32) ([]int32, error) {
	v.begin(b)
	start := len(sel)
	for i, c := range v.conjuncts {
		r, err := c.run()
		if err != nil {
			return sel[:start], err
		}
		if i == 0 {
			sel = appendTrue(sel, r)
		} else {
			sel = keepTrue(sel, start, r)
		}
		if len(sel) == start {
			break
		}
	}
	return sel, nil
}

// appendTrue appends the rows that are true. The loops write every row's
// number and step over it only if the row is true: no branch to mispredict.
func appendTrue(sel []int32, v *column.Vector) []int32 {
	k := len(sel)
	sel = slices.Grow(sel, v.Len)[:k+v.Len]
	switch {
	case v.Dict != nil && v.Null == nil:
		is := v.Dict.Values.Int
		for i, c := range v.Codes {
			sel[k] = int32(i)
			k += int(is[c] & 1)
		}
	case v.Null == nil:
		for i, is := range v.Int {
			sel[k] = int32(i)
			k += int(is & 1)
		}
	case v.Dict != nil:
		is, null := v.Dict.Values.Int, v.Null[:len(v.Codes)]
		for i, c := range v.Codes {
			sel[k] = int32(i)
			k += int(is[c] & truth(!null[i]))
		}
	default:
		null := v.Null[:len(v.Int)]
		for i, is := range v.Int {
			sel[k] = int32(i)
			k += int(is & truth(!null[i]))
		}
	}
	return sel[:k]
}

// keepTrue keeps of sel, from start, the rows that are true.
func keepTrue(sel []int32, start int, v *column.Vector) []int32 {
	k := start
	for _, i := range sel[start:] {
		sel[k] = i
		k += int(trueAt(v, int(i)))
	}
	return sel[:k]
}

// trueAt is 1 if row i of a boolean vector is true, else 0.
func trueAt(v *column.Vector, i int) int64 {
	if v.Null != nil && v.Null[i] {
		return 0
	}
	if v.Dict != nil {
		return v.Dict.Values.Int[v.Codes[i]] & 1
	}
	return v.Int[i] & 1
}
