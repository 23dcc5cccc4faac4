package expr

import (
	"slices"
	"unsafe"

	"github.com/gagg-dev/gagg/internal/column"
)

// A case of a few short branches, none of which can fail, is computed on all rows: taking apart the
// rows of each branch and putting them together again takes longer than some values that nobody
// needs.

const (
	allBranches = 3  // conditions of a case that is computed on all rows, and
	allSteps    = 10 // nodes of each of its parts: up to 70 values a row
)

// onAllRows reports whether a choice may be computed on all rows, and is small enough.
func (n *bound) onAllRows() bool {
	return n.typ.Rep() != column.RepBytes && n.typ.Kind != column.Null && len(n.choose.conds) <= allBranches && n.isSmall()
}

// isSmall reports whether no part of a choice may fail, or has many nodes.
func (n *bound) isSmall() bool {
	for _, a := range n.args {
		if a.mayFail() || a.steps() > allSteps {
			return false
		}
	}
	return true
}

// steps is how many nodes there are in n, those that are used twice counted twice.
func (n *bound) steps() int {
	steps := 1
	for _, a := range n.args {
		steps += a.steps()
	}
	return steps
}

// chooseAll is the kernel of a choice whose arguments are conditions, their values and the value
// where none is true. It begins with the last of the values, and puts the others over it, the first
// one last.
func chooseAll(f *frame) error {
	k := len(f.args) / 2
	conds, values := f.args[:k], f.args[k:]
	f.chooseNulls(conds, values)
	wide := f.out.Type.Rep() == column.RepWide
	if wide && slices.ContainsFunc(values, func(v *column.Vector) bool { return !v.Narrow }) {
		return f.chooseWides(conds, values)
	}
	out := f.out.Int
	switch {
	case wide:
		out = f.narrow()
	case f.out.Type.IsFloat():
		out = floatBits(f.out.Float)
	}
	copy(out, integerBits(values[k], f.n))
	for i := k - 1; i >= 0; i-- {
		put(out, conds[i], integerBits(values[i], f.n))
	}
	return nil
}

// put sets out to values where the condition is true.
func put[T any](out []T, cond *column.Vector, values []T) {
	is, values := cond.Int[:len(out)], values[:len(out)]
	if cond.Null == nil {
		for i := range out {
			v := out[i]
			if is[i] != 0 {
				v = values[i]
			}
			out[i] = v
		}
		return
	}
	null := cond.Null[:len(out)]
	for i := range out {
		v := out[i]
		if is[i]&truth(!null[i]) != 0 {
			v = values[i]
		}
		out[i] = v
	}
}

// chooseNulls makes NULL the rows whose value is.
func (f *frame) chooseNulls(conds, values []*column.Vector) {
	if !slices.ContainsFunc(values, func(v *column.Vector) bool { return v.Null != nil }) {
		return
	}
	null := f.ownNulls()
	k := len(conds)
	if last := values[k].Null; last != nil {
		copy(null, last)
	}
	for i := k - 1; i >= 0; i-- {
		putNulls(null, conds[i], values[i].Null)
	}
}

// putNulls sets null to values (nil: all false) where the condition is true. It takes no branch by
// rows: filters of aggregates are as good as random.
func putNulls(null []bool, cond *column.Vector, values []bool) {
	is := cond.Int[:len(null)]
	if cond.Null == nil && values == nil {
		for i, n := range null {
			null[i] = truth(n)&^is[i] != 0
		}
		return
	}
	for i, n := range null {
		to, value := is[i], false
		if cond.Null != nil {
			to &= truth(!cond.Null[i])
		}
		if values != nil {
			value = values[i]
		}
		null[i] = truth(value)&to|truth(n)&^to != 0
	}
}

// chooseWides is for decimals of which some do not fit 64 bits.
func (f *frame) chooseWides(conds, values []*column.Vector) error {
	out := f.widen()
	for i := range out {
		out[i] = wideAt(chosen(conds, values, i), f.out.Type, i)
	}
	return nil
}

// chosen is what row i takes its value from.
func chosen(conds, values []*column.Vector, i int) *column.Vector {
	for k, c := range conds {
		if trueAt(c, i) != 0 {
			return values[k]
		}
	}
	return values[len(conds)]
}

// integerBits is the values of integers, of narrow decimals, or of floats as the integers of the
// same bits.
func integerBits(v *column.Vector, n int) []int64 {
	if v.Type.IsFloat() {
		return floatBits(v.Float[:n])
	}
	return v.Int[:n]
}

func floatBits(s []float64) []int64 {
	return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}
