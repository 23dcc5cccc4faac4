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
		pair, err := b.bindAll(w.If, w.Then)
		if err != nil {
			return nil, err
		}
		cond := pair[0]
		if operand != nil {
			cond, err = b.compare(opEQ, operand, cond, n.Operand, w.If, n)
		} else {
			cond, err = asBool(cond, "when")
		}
		if err != nil {
			return nil, b.at(w.If.Pos(), err)
		}
		c.conds, c.thens = append(c.conds, cond), append(c.thens, pair[1])
	}
	if n.Else != nil {
		if c.els, err = b.bind(n.Else); err != nil {
			return nil, err
		}
	}
	return b.unified(c, n)
}

// coalesce binds coalesce(a, b, …): the first that is not NULL.
func coalesce(c *call) (*bound, error) {
	last := len(c.args) - 1
	plan := &choice{els: c.args[last]}
	for _, a := range c.args[:last] {
		plan.conds, plan.thens = append(plan.conds, isNullOf(a, true)), append(plan.thens, a)
	}
	return c.b.unified(plan, c.n)
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

// unified gives all values of c one type.
func (b *binder) unified(c *choice, src Node) (*bound, error) {
	values := append(append([]*bound(nil), c.thens...), c.els)
	t := nullType
	for _, v := range values {
		var err error
		if t, err = commonType(t, v); err != nil {
			return nil, err
		}
	}
	for i, v := range values {
		v, err := convertTo(v, t, src)
		if err != nil {
			return nil, err
		}
		if i < len(c.thens) {
			c.thens[i] = v
		} else {
			c.els = v
		}
	}
	return newChoice(t, c), nil
}

// commonType gives the type that holds values of t and of x. A constant
// string takes part as what it is compared with.
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
	if x.typ == t || familyOf(t) == familyNone {
		return x, nil
	}
	if t.IsFloat() || t.Kind == column.Decimal {
		return castTo(x, t, src), nil
	}
	if x.typ.IsInteger() && t == int64Type {
		return strict(t, src, retype, x), nil
	}
	return explicitCast(x, t, src)
}
