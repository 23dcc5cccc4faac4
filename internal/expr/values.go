package expr

import (
	"math"

	"github.com/gagg-dev/gagg/internal/column"
)

// MostValues is how many different values the expression has at most, NULL being one; +Inf: any
// number. ends tells from where to where the values of a column are that are stored as int64.
func (e *Expr) MostValues(ends func(col int) (least, most int64, ok bool)) float64 {
	return e.root.mostValues(ends)
}

func (n *bound) mostValues(ends func(col int) (least, most int64, ok bool)) float64 {
	most := math.Inf(1)
	switch {
	case n.kind == boundConst:
		return 1
	case n.typ.Kind == column.Bool:
		return 3
	case n.kind == boundColumn:
		if least, greatest, ok := ends(n.col); ok {
			most = float64(greatest) - float64(least) + 2
		}
		if n.typ.IsInteger() && n.typ.Bits() <= 16 {
			most = min(most, math.Exp2(float64(n.typ.Bits()))+1)
		}
		return most
	case n.kind == boundChoose:
		all := n.choose.els.mostValues(ends)
		for _, then := range n.choose.thens {
			all += then.mostValues(ends)
		}
		return all
	}
	if n.few > 0 {
		most = float64(n.few) + 1
	}
	if every := max(n.every, n.bucket); every > 0 {
		if x := n.stepped(); x.kind == boundColumn {
			most = min(most, (x.mostValues(ends)-2)/float64(every)+3) // the first and the last may be cut
		}
	}
	product := 1.0
	for _, a := range n.args {
		product *= a.mostValues(ends)
	}
	return min(most, product)
}

// stepped is the argument of which a node's every is steps.
func (n *bound) stepped() *bound {
	x := n.args[0]
	for x.kind == boundStrict && x.every == 1 {
		x = x.args[0]
	}
	return x
}

// ofFew says that a node has so many values at most, beside NULL.
func (n *bound) ofFew(values int64) *bound {
	n.few = values
	return n
}

// changesEvery says that of so many steps of its one argument, from a multiple of as many on, all
// give the same: the argument, or what that is made of by a node that changes with every step.
func (n *bound) changesEvery(steps int64) *bound {
	n.every = steps
	return n
}
