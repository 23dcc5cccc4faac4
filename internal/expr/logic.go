package expr

import "github.com/gagg-dev/gagg/internal/column"

// asBool takes x as an operand of a logical operator; NULL is a boolean too.
func asBool(x *bound, op string) (*bound, error) {
	switch x.typ.Kind {
	case column.Bool:
		return x, nil
	case column.Null:
		return newNull(boolType), nil
	}
	return nil, typeErrorf("%s needs boolean operands, not %s", op, x.typ)
}

func not(x *bound, src Node) *bound {
	n := &bound{kind: boundStrict, typ: boolType, src: src, args: []*bound{x}, skip: skipNot(x), kernel: func(f *frame) error {
		in := f.args[0].Int[:f.n]
		for i := range f.out.Int {
			f.out.Int[i] = in[i] ^ 1
		}
		return nil
	}}
	return n.finish().onWords(wordOp{code: CodeNot})
}

// logic binds and, or by SQL's three-valued rules.
func logic(op string, l, r *bound) (*bound, error) {
	l, err := asBool(l, op)
	if err != nil {
		return nil, err
	}
	if r, err = asBool(r, op); err != nil {
		return nil, err
	}
	if op == "and" {
		return newAnd(l, r), nil
	}
	n := &bound{kind: boundOr, typ: boolType, args: []*bound{l, r}, kernel: orRows}
	return n.finish(), nil
}

func newAnd(l, r *bound) *bound {
	n := &bound{kind: boundAnd, typ: boolType, args: []*bound{l, r}, kernel: andRows}
	return n.finish()
}

func andRows(f *frame) error {
	a, b := f.args[0], f.args[1]
	out := f.out.Int
	x, y := a.Int[:len(out)], b.Int[:len(out)]
	for i := range out {
		out[i] = x[i] & y[i]
	}
	return f.logicNulls(0)
}

func orRows(f *frame) error {
	a, b := f.args[0], f.args[1]
	out := f.out.Int
	x, y := a.Int[:len(out)], b.Int[:len(out)]
	for i := range out {
		out[i] = x[i] | y[i]
	}
	return f.logicNulls(1)
}

// logicNulls settles the rows with a NULL operand: they are decisive (0 for
// and, 1 for or) if the other operand is that, else NULL.
func (f *frame) logicNulls(decisive int64) error {
	a, b := f.args[0], f.args[1]
	if a.Null == nil && b.Null == nil {
		return nil
	}
	null := f.ownNulls()
	for i := range f.n {
		na, nb := a.IsNull(i), b.IsNull(i)
		if !na && !nb {
			continue
		}
		if !na && a.Int[i] == decisive || !nb && b.Int[i] == decisive {
			f.out.Int[i] = decisive
			continue
		}
		f.out.Int[i], null[i] = 0, true
	}
	return nil
}
