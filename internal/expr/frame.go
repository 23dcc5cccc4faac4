package expr

import (
	"slices"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
)

// frame is what a kernel works on: flat arguments of n rows, and a vector
// to fill. For a strict node out.Null is set already.
type frame struct {
	n     int
	args  []*column.Vector
	out   column.Vector
	nulls []bool  // memory for out.Null
	own   bool    // out.Null is nulls, not that of an argument
	codes []int32 // memory for the codes of a result

	folded column.Vector // memory for texts in lower case

	ints []int64 // memory for out, of a kernel that may give a narrow vector
	wide []decimal256.Num
}

// reset sizes out for n rows of a node. A node that may give a narrow vector chooses its memory
// itself.
func (f *frame) reset(n int, node *bound) {
	t := node.typ
	f.n, f.own = n, false
	f.out.Type, f.out.Len, f.out.Null, f.out.Narrow = t, n, nil, false
	if node.narrow {
		return
	}
	switch t.Rep() {
	case column.RepInt64:
		f.out.Int = sized(f.out.Int, n)
	case column.RepFloat64:
		f.out.Float = sized(f.out.Float, n)
	case column.RepWide:
		f.out.Wide = sized(f.out.Wide, n)
	case column.RepBytes:
		f.out.Span = sized(f.out.Span, n)
		f.out.Data = f.out.Data[:0]
	}
}

// narrow makes out a vector of 64-bit integers, and returns its values. If its type is of wide
// decimals, the vector is marked as narrow.
func (f *frame) narrow() []int64 {
	f.ints = sized(f.ints, f.n)
	f.out.Int, f.out.Wide, f.out.Narrow = f.ints, nil, f.out.Type.Rep() == column.RepWide
	return f.ints
}

// widen makes out a vector of wide decimals that is not narrow, and returns its values.
func (f *frame) widen() []decimal256.Num {
	f.wide = sized(f.wide, f.n)
	f.out.Int, f.out.Wide, f.out.Narrow = nil, f.wide, false
	return f.wide
}

// mergeNulls makes NULL what is NULL in any argument. The flags of a single
// argument are shared, not copied.
func (f *frame) mergeNulls() {
	for _, a := range f.args {
		if a.Null == nil {
			continue
		}
		null := a.Null[:f.n]
		if f.out.Null == nil {
			f.out.Null = null
			continue
		}
		to := f.ownNulls()
		for i, is := range null {
			to[i] = to[i] || is
		}
	}
}

// ownNulls gives out.Null as memory that may be written.
func (f *frame) ownNulls() []bool {
	if f.own {
		return f.out.Null
	}
	f.nulls = sized(f.nulls, f.n)
	if f.out.Null == nil {
		clear(f.nulls)
	} else {
		copy(f.nulls, f.out.Null)
	}
	f.own, f.out.Null = true, f.nulls
	return f.nulls
}

// harmless gives the argument a copy in which rows that are NULL are 0, whatever they were: a row
// that a case has masked may be what the kernel fails for. It reports whether there are such rows,
// of a number.
func (f *frame) harmless() bool {
	x := f.args[0]
	rep := x.Type.Rep()
	if f.out.Null == nil || rep != column.RepInt64 && rep != column.RepFloat64 {
		return false
	}
	clean := *x
	clean.Int, clean.Float = slices.Clone(x.Int), slices.Clone(x.Float)
	for i, null := range f.out.Null[:f.n] {
		switch {
		case null && rep == column.RepInt64:
			clean.Int[i] = 0
		case null:
			clean.Float[i] = 0
		}
	}
	f.args[0] = &clean
	return true
}

// setNull makes row i NULL.
func (f *frame) setNull(i int) { f.ownNulls()[i] = true }

// isNull fills the result of is null, or of is not null.
func (f *frame) isNull(negate bool) {
	null := f.args[0].Null
	if null == nil {
		fill(f.out.Int, truth(negate))
		return
	}
	for i := range f.out.Int {
		f.out.Int[i] = truth(null[i] != negate)
	}
}

// fill sets all of s to v.
func fill[T any](s []T, v T) {
	for i := range s {
		s[i] = v
	}
}

// check returns errOverflow if bad holds for a row that is not NULL. Kernels
// call it when their quick test, which covers NULL rows too, has raised an
// alarm.
func (f *frame) check(bad func(i int) bool) error {
	for i := range f.n {
		if !f.out.IsNull(i) && bad(i) {
			return errOverflow
		}
	}
	return nil
}
