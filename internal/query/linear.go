package query

import (
	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/expr"
)

// This file finds sums and means of x + c, c * x and the like, which follow from the sum and count
// of x.

// linear is a node that is x*times + plus.
type linear struct {
	x           expr.Node
	times, plus int64
}

// linearArgument fills in the argument of a sum or mean of x*times + plus, where x is an integer of
// at most 32 bits.
func (c *compiler) linearArgument(n *expr.Call, text string, call *agg.Call) (done bool, err error) {
	if n.Name != "sum" && n.Name != "mean" && n.Name != "avg" || len(n.Args) != 1 || n.Filter != nil || n.Distinct {
		return false, nil
	}
	l, ok := linearOf(n.Args[0])
	if !ok || l.x == n.Args[0] {
		return false, nil
	}
	whole, err := c.rows.Bind(n.Args[0], text)
	if err != nil {
		return false, err
	}
	x, err := c.rows.Bind(l.x, text)
	if err != nil || whole.Type().Kind != column.Int64 || !x.Type().IsInteger() || x.Type().Bits() > 32 {
		return false, err
	}
	if err := c.callArgument(l.x, text, call); err != nil {
		return false, err
	}
	call.Types[0] = whole.Type()
	call.Linear = &agg.Linear{Type: x.Type(), Times: l.times, Plus: l.plus}
	return true, nil
}

// linearOf takes n apart; false: its constants are too large.
func linearOf(n expr.Node) (linear, bool) {
	b, ok := n.(*expr.Binary)
	if !ok {
		return linear{n, 1, 0}, true
	}
	left, lconst := integer(b.L)
	right, rconst := integer(b.R)
	if lconst == rconst {
		return linear{n, 1, 0}, true
	}
	inner := b.L
	if lconst {
		inner = b.R
	}
	l, ok := linearOf(inner)
	if !ok {
		return l, false
	}
	switch {
	case b.Op == "+":
		l.plus += left + right
	case b.Op == "-" && rconst:
		l.plus -= right
	case b.Op == "-":
		l.times, l.plus = -l.times, left-l.plus
	case b.Op == "*":
		l.times, l.plus = l.times*(left+right), l.plus*(left+right)
	default:
		return linear{n, 1, 0}, true
	}
	return l, max(l.times, -l.times, l.plus, -l.plus) <= agg.LinearMost
}

// integer is the value of an integer literal, else 0.
func integer(n expr.Node) (v int64, ok bool) {
	if u, minus := n.(*expr.Unary); minus && u.Op == "-" {
		v, ok = integer(u.X)
		return -v, ok
	}
	l, ok := n.(*expr.Literal)
	if !ok || l.Value.Null || l.Value.Type.Kind != column.Int64 || max(l.Value.Int, -l.Value.Int) > agg.LinearMost {
		return 0, false
	}
	return l.Value.Int, true
}
