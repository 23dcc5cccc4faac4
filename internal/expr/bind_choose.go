package expr

import (
	"github.com/gagg-dev/gagg/internal/column"
)

// caseWhen binds case, with an operand (compared with each branch) or
// without.
func (b *binder) caseWhen(n *Case) (*bound, error) {
	c := &choice{els: newNull(nullType)}
	var operand *bound
	var err error
	if n.Operand != nil {
		if operand, err = b.bind(n.Operand); err != nil {
			return nil, err
		}
	}
	for _, w := range n.Whens {
		cond, err := b.bind(w.If)
		if err != nil {
			return nil, err
		}
		then, err := b.chosen(w.Then)
		if err != nil {
			return nil, err
		}
		if operand != nil {
			cond, err = b.compare(opEQ, operand, cond, n.Operand, w.If, n)
		} else {
			typ := cond.typ
			// which "filter (where …)" is made of too
			if cond, err = asBool(cond, "when"); err != nil {
				err = typeErrorf("a condition must be boolean, this is %s", typ)
			}
		}
		if err != nil {
			return nil, b.at(w.If.Pos(), err)
		}
		c.conds, c.thens = append(c.conds, cond), append(c.thens, then)
	}
	if n.Else != nil {
		if c.els, err = b.chosen(n.Else); err != nil {
			return nil, err
		}
	}
	var nodes []Node
	for _, w := range n.Whens {
		nodes = append(nodes, w.Then)
	}
	return b.unified(c, append(nodes, n.Else), n)
}

// chosen binds what a case may give: intervals too, as values.
func (b *binder) chosen(n Node) (*bound, error) {
	if x, err := b.any(n); err == nil && x.typ == intervalType {
		return b.whole(n)
	}
	return b.bind(n)
}

// coalesce binds coalesce(a, b, …): the first that is not NULL.
func coalesce(c *call) (*bound, error) {
	last := len(c.args) - 1
	plan := &choice{els: c.args[last]}
	for _, a := range c.args[:last] {
		plan.conds, plan.thens = append(plan.conds, isNullOf(a, true)), append(plan.thens, a)
	}
	return c.b.unified(plan, c.n.Args, c.n)
}

// nullIf binds nullif(a, b): NULL where they are equal, else a.
func nullIf(c *call) (*bound, error) {
	a := c.args[0]
	eq, err := c.b.compare(opEQ, a, c.args[1], c.n.Args[0], c.n.Args[1], c.n)
	if err != nil {
		return nil, err
	}
	return newChoice(a.typ, &choice{conds: []*bound{eq}, thens: []*bound{newNull(a.typ)}, els: a}), nil
}

// unified gives all values of c one type. nodes are those of the branches, and
// of else where there is one.
func (b *binder) unified(c *choice, nodes []Node, src Node) (*bound, error) {
	values := append(append([]*bound(nil), c.thens...), c.els)
	t, err := b.unify(values, nodes, src)
	if err != nil {
		return nil, err
	}
	c.thens, c.els = values[:len(c.thens)], values[len(c.thens)]
	return newChoice(t, c), nil
}

// unify converts values to one type. A text literal beside others is read as
// their type.
func (b *binder) unify(values []*bound, nodes []Node, src Node) (column.Type, error) {
	t, err := commonTypeOf(values, func(x *bound) bool { return !isText(x) })
	if err != nil {
		return t, err
	}
	if f := familyOf(t); f == familyNone || f == familyBytes {
		if t, err = commonTypeOf(values, func(*bound) bool { return true }); err != nil {
			return t, err
		}
	}
	for i, x := range values {
		if isText(x) && familyOf(t) != familyBytes {
			v, ok := convert(x.value, t)
			if !ok {
				return t, b.at(nodes[i].Pos(), typeErrorf("'%s' is not a value of type %s", oneLine(x.value.Bytes), t))
			}
			x = newConst(v)
		}
		if values[i], err = convertTo(x, t, src); err != nil {
			return t, err
		}
	}
	return t, nil
}

// isText reports whether x is a text literal.
func isText(x *bound) bool {
	return x.kind == boundConst && x.typ.Kind == column.String && !x.value.Null
}

func commonTypeOf(values []*bound, counts func(*bound) bool) (t column.Type, err error) {
	t = nullType
	for _, x := range values {
		if counts(x) {
			if t, err = commonType(t, x); err != nil {
				return t, err
			}
		}
	}
	return t, nil
}

// commonType gives the type that holds values of t and of x.
func commonType(t column.Type, x *bound) (column.Type, error) {
	if t == x.typ || x.typ.Kind == column.Null {
		return t, nil
	}
	switch {
	case t.Kind == column.Null:
		return x.typ, nil
	case familyOf(t) != familyOf(x.typ) || t.Kind == column.Bool || x.typ.Kind == column.Bool:
	case familyOf(t) == familyDay:
		return commonDay(t, x.typ), nil
	case familyOf(t) == familyClock && t.UTC == x.typ.UTC:
		t.Unit = max(t.Unit, x.typ.Unit)
		return t, nil
	case isBinary(t) && isBinary(x.typ): // of lengths that differ
		return binaryType, nil
	case familyOf(t) != familyNumber:
	case t.IsFloat() || x.typ.IsFloat():
		return commonFloat(t, x.typ), nil
	case t.Kind != column.Decimal && x.typ.Kind != column.Decimal && t.Kind != column.Uint64 && x.typ.Kind != column.Uint64:
		return int64Type, nil
	default:
		a, b := asDecimal(&bound{typ: t}), asDecimal(x)
		scale := max(a.Scale, b.Scale)
		if digits := max(a.Precision-a.Scale, b.Precision-b.Scale) + scale; digits <= maxDigits {
			return column.DecimalType(int(digits), int(scale)), nil
		}
	}
	return t, typeErrorf("%s and %s have no common type", t, x.typ)
}

func isBinary(t column.Type) bool { return t.Kind == column.Binary || t.Kind == column.FixedBinary }

// commonDay is the finer of two dates or timestamps.
func commonDay(t, u column.Type) column.Type {
	if t.Kind == column.Date || u.Kind == column.Timestamp && u.Unit > t.Unit {
		t, u = u, t
	}
	t.UTC = t.UTC || u.UTC
	return t
}

// convertTo converts x to the common type t.
func convertTo(x *bound, t column.Type, src Node) (*bound, error) {
	if t == intervalType && isNullConst(x) {
		return newNull(t), nil
	}
	if x.typ == t || familyOf(t) == familyNone {
		return x, nil
	}
	if t.IsFloat() || t.Kind == column.Decimal {
		return castTo(x, t, src), nil
	}
	if x.typ.IsInteger() && t == int64Type {
		return retyped(t, src, x), nil
	}
	return explicitCast(x, t, src)
}
