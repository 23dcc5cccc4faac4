package expr

import (
	"math"

	"github.com/gagg-dev/gagg/internal/column"
)

// absoluteType is the type of abs(x).
func absoluteType(args []*bound) column.Type {
	if t := args[0].typ; !t.IsSigned() || !t.IsInteger() {
		return t
	}
	return int64Type
}

// absolute binds abs(x).
func absolute(c *call) (*bound, error) {
	x := c.args[0]
	switch {
	case x.typ.IsUnsigned():
		return x, nil
	case x.typ.IsFloat():
		return c.strict(absDoubles, x).onWords(wordOp{code: CodeMagnitude}), nil
	case x.typ.Rep() == column.RepWide:
		return c.strict(func(f *frame) error {
			for i, v := range f.args[0].Wide[:f.n] {
				f.out.Wide[i] = v.Abs()
			}
			return nil
		}, x), nil
	}
	return c.strict(absInts, x).onWords(belowZero, wordOp{code: CodeMultiply, with: ^uint64(1)}, addWord(1), wordOp{code: CodeMultiply, back: 4}), nil
}

func absDoubles(f *frame) error {
	for i, v := range f.args[0].Float[:f.n] {
		f.out.Float[i] = math.Abs(v)
	}
	return nil
}

func absInts(f *frame) error {
	in := f.args[0].Int[:f.n]
	alarm := false
	for i, v := range in {
		f.out.Int[i] = int64(magnitude(v))
		alarm = alarm || f.out.Int[i] < 0
	}
	if !alarm {
		return nil
	}
	return f.check(func(i int) bool { return f.out.Int[i] < 0 })
}
