package expr

import (
	"errors"
	"fmt"

	"github.com/gagg-dev/gagg/internal/column"
)

// binder turns nodes into bound nodes.
type binder struct {
	text   string
	lookup func(name string) (int, column.Type, error)
	// what other expressions have, by canonical text; nil: nothing is shared
	nodes map[string]*bound
}

// typeError is a mistake whose place the caller adds.
type typeError string

func (e typeError) Error() string { return string(e) }

func typeErrorf(format string, args ...any) error {
	return typeError(fmt.Sprintf(format, args...))
}

// at makes err an *Error at pos, unless it is one already.
func (b *binder) at(pos int, err error) error {
	var located *Error
	if errors.As(err, &located) {
		return err
	}
	return &Error{Text: b.text, Pos: pos, Msg: err.Error(), err: err}
}

// any binds what may be of any type.
func (b *binder) any(n Node) (*bound, error) {
	x, err := b.node(n)
	if err != nil {
		return nil, b.at(n.Pos(), err)
	}
	return x, nil
}

// whole binds what may be of any type that a column may have: a whole expression, and what is asked
// whether it is NULL.
func (b *binder) whole(n Node) (*bound, error) {
	x, err := b.any(n)
	if err == nil && x.kind == boundInterval {
		return joinInterval(x, n), nil
	}
	return x, err
}

// bind binds an operand that is no interval.
func (b *binder) bind(n Node) (*bound, error) {
	x, err := b.operand(n)
	if err == nil && x.kind == boundInterval {
		return nil, b.at(n.Pos(), errInterval)
	}
	return x, err
}

// operand binds an operand, which may be an interval. No operation takes lists or maps: they are
// refused here, so the rules of types below may look at kinds alone.
func (b *binder) operand(n Node) (*bound, error) {
	x, err := b.any(n)
	if err != nil {
		return nil, err
	}
	if x.kind != boundInterval && x.typ == intervalType {
		return splitInterval(x, n), nil
	}
	if x.typ.IsNested() {
		return nil, b.at(n.Pos(), typeErrorf("nothing can be computed with %s: it can only be put out, ordered by, tested with is null, or taken apart by functions of lists", x.typ))
	}
	return x, nil
}

func (b *binder) bindAll(nodes ...Node) ([]*bound, error) { return bindEach(b.bind, nodes) }

func (b *binder) operands(nodes ...Node) ([]*bound, error) { return bindEach(b.operand, nodes) }

func bindEach(bind func(Node) (*bound, error), nodes []Node) ([]*bound, error) {
	var out []*bound
	for _, n := range nodes {
		x, err := bind(n)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

// node binds n, or returns what was bound for it before. The bound node depends on the text of n
// and the columns alone: what the parent makes of it is another node.
func (b *binder) node(n Node) (*bound, error) {
	if b.nodes == nil {
		return b.anew(n)
	}
	text := n.String()
	if x := b.nodes[text]; x != nil {
		return x, nil
	}
	x, err := b.anew(n)
	if err == nil {
		b.nodes[text] = x
	}
	return x, err
}

func (b *binder) anew(n Node) (*bound, error) {
	switch n := n.(type) {
	case *Column:
		col, t, err := b.lookup(n.Name)
		if err != nil {
			return nil, err
		}
		return newColumn(col, t), nil
	case *Literal:
		return newConst(n.Value), nil
	case *Interval:
		return constantInterval(n.Span), nil
	case *Param:
		return nil, typeErrorf("%s stands for a value that is given beside the text, and there is none here", n)
	case *Unary:
		return b.unary(n)
	case *Binary:
		return b.binary(n)
	case *IsNull:
		x, err := b.whole(n.X)
		if err != nil {
			return nil, err
		}
		return isNullOf(x, n.Not), nil
	case *In:
		return b.in(n)
	case *Between:
		return b.between(n)
	case *Like:
		return b.like(n)
	case *Cast:
		x, err := b.operand(n.X)
		if err != nil {
			return nil, err
		}
		if n.To == intervalType || x.kind == boundInterval {
			return intervalOf(x, n)
		}
		if n.Try {
			return castOrNull(x, n.To, n)
		}
		return explicitCast(x, n.To, n)
	case *Case:
		return b.caseWhen(n)
	case *Call:
		return b.call(n)
	case *Pack:
		return b.pack(n)
	case *List:
		return nil, typeErrorf("a list of values stands only behind the argument of quantile and quantile_disc")
	}
	return nil, typeErrorf("cannot evaluate %s", n)
}

func (b *binder) unary(n *Unary) (*bound, error) {
	x, err := b.operand(n.X)
	if err != nil {
		return nil, err
	}
	if x.kind == boundInterval && n.Op == "-" {
		return minusInterval(x, n), nil
	}
	if n.Op == "not" {
		if x, err = asBool(x, "not"); err != nil {
			return nil, err
		}
		return not(x, n), nil
	}
	if n.Op == "~" {
		return complement(x, n)
	}
	return negate(x, n)
}

func (b *binder) binary(n *Binary) (*bound, error) {
	args, err := b.operands(n.L, n.R)
	if err != nil {
		return nil, err
	}
	l, r := args[0], args[1]
	if op, ok := compareOps[n.Op]; ok {
		return b.compare(op, l, r, n.L, n.R, n)
	}
	switch n.Op {
	case "and", "or":
		return logic(n.Op, l, r)
	case "||":
		if l.kind != boundInterval && r.kind != boundInterval {
			return concat(l, r, n)
		}
	}
	if bitVerbs[n.Op] != "" {
		return bitwise(n.Op, l, r, n)
	}
	if x, err := intervalArithmetic(n.Op, l, r, n); x != nil || err != nil {
		return x, err
	}
	return arithmetic(n.Op, l, r, n)
}

func (b *binder) between(n *Between) (*bound, error) {
	args, err := b.operands(n.X, n.Lo, n.Hi)
	if err != nil {
		return nil, err
	}
	lo, err := b.compare(opGE, args[0], args[1], n.X, n.Lo, n)
	if err != nil {
		return nil, err
	}
	hi, err := b.compare(opLE, args[0], args[2], n.X, n.Hi, n)
	if err != nil {
		return nil, err
	}
	x, err := logic("and", lo, hi)
	if err == nil && n.Not {
		x = not(x, n)
	}
	return x, err
}

func isNullOf(x *bound, negate bool) *bound {
	n := &bound{kind: boundIsNull, typ: boolType, args: []*bound{x}, negate: negate}
	return n.finish()
}
