package expr

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/gagg-dev/gagg/internal/column"
)

// extreme binds greatest (sign 1) and least (sign -1): NULL does not count.
func extreme(sign int) func(*call) (*bound, error) {
	return func(c *call) (*bound, error) {
		args := append([]*bound(nil), c.args...)
		t, err := c.b.unify(args, c.n.Args, c.n)
		if err != nil || familyOf(t) == familyNone {
			return newNull(t), err
		}
		n := &bound{kind: boundLax, typ: t, src: c.n, args: args, kernel: extremeKernel(t, sign)}
		return n.finish(), nil
	}
}

// extremeKernel keeps of each row the number of the argument that wins.
func extremeKernel(t column.Type, sign int) kernel {
	compare := comparer(t)
	ints := t.Rep() == column.RepInt64 && t.Kind != column.Uint64
	return func(f *frame) error {
		if ints && !slices.ContainsFunc(f.args, func(v *column.Vector) bool { return v.Null != nil }) {
			extremeInts(f, sign)
			return nil
		}
		null := f.ownNulls()
		for i := range f.n {
			best := -1
			for k, a := range f.args {
				if !a.IsNull(i) && (best < 0 || sign*compare(a, f.args[best], i) > 0) {
					best = k
				}
			}
			if null[i] = best < 0; null[i] {
				f.clearRow(i)
				continue
			}
			if err := f.copyRow(f.args[best], i); err != nil {
				return err
			}
		}
		return nil
	}
}

// extremeInts is extremeKernel for signed integers, none of them NULL.
func extremeInts(f *frame, sign int) {
	out := f.out.Int
	copy(out, f.args[0].Int)
	for _, a := range f.args[1:] {
		in := a.Int[:len(out)]
		for i, v := range out {
			if sign > 0 {
				out[i] = max(v, in[i])
			} else {
				out[i] = min(v, in[i])
			}
		}
	}
}

// comparer compares row i of two flat vectors of type t.
func comparer(t column.Type) func(a, b *column.Vector, i int) int {
	switch {
	case t.Rep() == column.RepBytes:
		return func(a, b *column.Vector, i int) int { return bytes.Compare(a.Bytes(i), b.Bytes(i)) }
	case t.Rep() == column.RepWide:
		return func(a, b *column.Vector, i int) int { return a.Wide[i].Cmp(b.Wide[i]) }
	case t.IsFloat():
		return func(a, b *column.Vector, i int) int { return compareDoubles(a.Float[i], b.Float[i]) }
	case t.Kind == column.Uint64:
		return func(a, b *column.Vector, i int) int { return cmp.Compare(uint64(a.Int[i]), uint64(b.Int[i])) }
	}
	return func(a, b *column.Vector, i int) int { return cmp.Compare(a.Int[i], b.Int[i]) }
}

// copyRow stores row i of a flat vector of the result's type.
func (f *frame) copyRow(from *column.Vector, i int) error {
	switch f.out.Type.Rep() {
	case column.RepInt64:
		f.out.Int[i] = from.Int[i]
	case column.RepFloat64:
		f.out.Float[i] = from.Float[i]
	case column.RepWide:
		f.out.Wide[i] = from.Wide[i]
	case column.RepBytes:
		start := len(f.out.Data)
		f.out.Data = append(f.out.Data, from.Bytes(i)...)
		return f.closeSpan(i, start)
	}
	return nil
}
