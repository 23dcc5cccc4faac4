package expr

import (
	"cmp"
	"slices"

	"github.com/gagg-dev/gagg/internal/column"
)

// A filter is taken apart at its ands. Its operands are evaluated one after the other, each on
// the rows that the ones before have left: all that cannot fail come first, the cheap and
// selective ones before the others, and the rest as they were written. Of a column with a
// dictionary those that take little time a row are evaluated at once, on entries.

// conjunct is an operand of the ands at the root of a filter.
type conjunct struct {
	eval *Eval
	cols []int
	safe bool // it cannot fail, and takes little time a row

	selected selector
	whole    []*conjunct // itself
	// the same, one after the other, for a column without a dictionary; nil: whole
	parts []*conjunct

	batch column.Batch // of the rows that are left
	bufs  []column.Buffer
	hits  []int32
}

// rank is the place of a conjunct among the others: low ones come first.
type rank uint8

const (
	rankEqual rank = iota // a column equals a constant
	rankIn
	rankRange
	rankUnequal
	rankText // a comparison of strings that is none of these, or a pattern
	rankAny  // what may fail, or take long
)

// operands appends the operands of and below n, or n itself.
func (n *bound) operands(list []*bound) []*bound {
	if n.kind != boundAnd {
		return append(list, n)
	}
	for _, a := range n.args {
		list = a.operands(list)
	}
	return list
}

// ranked is the operands of the ands at the root of n in the order in which a filter takes them.
func (n *bound) ranked() []*bound {
	list := n.operands(nil)
	slices.SortStableFunc(list, func(a, b *bound) int { return cmp.Compare(a.rank(), b.rank()) })
	return list
}

// rank tells when a filter takes n. What is not known to be cheap, and never to fail, is rankAny.
func (n *bound) rank() rank {
	switch n.kind {
	case boundColumn, boundConst:
		return rankUnequal
	case boundIsNull, boundOr, boundAnd:
		return n.rankOfArgs()
	case boundChoose:
		return rankAny
	}
	if len(n.args) == 1 && n.args[0].kind != boundColumn && n.args[0].typ == boolType {
		return n.rankNot()
	}
	for _, a := range n.args {
		if a.kind != boundColumn && a.kind != boundConst {
			return rankAny
		}
	}
	switch src := n.src.(type) {
	case *Binary:
		return n.rankCompared(src.Op)
	case *Between:
		return rankRange
	case *In:
		return rankIn
	case *Like:
		return rankText
	case *Unary:
		if src.Op == "not" {
			return rankUnequal
		}
	}
	return rankAny
}

// rankOfArgs is the last of the arguments' ranks.
func (n *bound) rankOfArgs() rank {
	r := rankEqual
	for _, a := range n.args {
		r = max(r, a.rank())
	}
	return r
}

// rankNot is the rank of a negation, or of what looks like one.
func (n *bound) rankNot() rank {
	switch n.src.(type) {
	case *Unary, *Like, *In, *Between:
		return max(rankUnequal, n.args[0].rank())
	}
	return rankAny
}

func (n *bound) rankCompared(op string) rank {
	compared, ok := compareOps[op]
	switch {
	case !ok:
		return rankAny
	case compared == opEQ:
		return rankEqual
	case compared == opNE:
		return rankUnequal
	case n.kind == boundStrict && n.args[0].typ.Rep() == column.RepBytes:
		return rankText
	}
	return rankRange
}

// Split takes a filter apart: first is what is to be evaluated before the others, all of which
// uses the same columns, and residual is the others; nil: there is none.
func (e *Expr) Split() (first, residual *Expr) {
	list := e.root.ranked()
	cols := list[0].columns()
	var head, tail []*bound
	for _, n := range list {
		if slices.Equal(n.columns(), cols) && (len(tail) == 0 || n.rank() < rankAny) {
			head = append(head, n)
		} else {
			tail = append(tail, n)
		}
	}
	if len(tail) > 0 {
		residual = &Expr{root: allOf(tail)}
	}
	return &Expr{root: allOf(head)}, residual
}

// allOf is the and of the nodes, of which there is one at least.
func allOf(list []*bound) *bound {
	n := list[0]
	for _, next := range list[1:] {
		n = newAnd(n, next)
	}
	return n
}

// Filter appends to sel the rows of b for which the expression, a boolean,
// is true, ascending. An operand of and is evaluated only on rows for which those before it
// are true, unless it cannot fail.
func (v *Eval) Filter(b *column.Batch, sel []int32) ([]int32, error) {
	if v.conjuncts == nil {
		v.conjuncts = conjunctsOf(v.root.node.ranked())
	}
	start, first := len(sel), true
	for _, c := range v.conjuncts {
		for _, part := range c.on(b) {
			var err error
			if first {
				sel, err = part.all(b, sel)
			} else {
				sel, err = part.among(b, sel, start)
			}
			if err != nil {
				return sel[:start], err
			}
			if len(sel) == start {
				return sel, nil
			}
			first = false
		}
	}
	return sel, nil
}

// conjunctsOf makes conjuncts of operands in their order, but for those of one column that take
// little time: they are one, where the first of them is.
func conjunctsOf(list []*bound) (all []*conjunct) {
	byColumn := map[int]*conjunct{}
	for _, n := range list {
		c := newConjunct(n)
		first := byColumn[n.single]
		switch {
		case n.rank() >= rankText || n.single < 0:
			all = append(all, c)
		case first == nil:
			byColumn[n.single] = c
			all = append(all, c)
		default:
			first.join(c)
		}
	}
	return all
}

func newConjunct(n *bound) *conjunct {
	c := &conjunct{eval: newEval(n), cols: n.columns(), safe: n.rank() < rankAny}
	c.whole = []*conjunct{c}
	return c
}

// join has c evaluate next as well, both of the same column.
func (c *conjunct) join(next *conjunct) {
	if c.parts == nil {
		c.parts = []*conjunct{newConjunct(c.eval.root.node)}
	}
	c.parts = append(c.parts, next)
	c.eval = newEval(newAnd(c.eval.root.node, next.eval.root.node))
}

// on is what to evaluate one after the other on b for c.
func (c *conjunct) on(b *column.Batch) []*conjunct {
	if c.parts == nil || b.Cols[c.cols[0]].Dict != nil {
		return c.whole
	}
	return c.parts
}

// all appends the rows of b for which c is true.
func (c *conjunct) all(b *column.Batch, sel []int32) ([]int32, error) {
	c.eval.begin(b)
	r, err := c.eval.root.run()
	if err != nil {
		return sel, err
	}
	return c.selected.appendTrue(sel, r), nil
}

// among keeps of sel, from start, the rows for which c is true.
func (c *conjunct) among(b *column.Batch, sel []int32, start int) ([]int32, error) {
	left := sel[start:]
	if len(left) == b.Rows {
		return c.all(b, sel[:start])
	}
	if c.safe && len(left) > b.Rows/2 {
		c.eval.begin(b)
		r, err := c.eval.root.run()
		if err != nil {
			return sel, err
		}
		return keepTrue(sel, start, r), nil
	}
	var err error
	if c.hits, err = c.all(c.gather(b, left), c.hits[:0]); err != nil {
		return sel, err
	}
	for i, hit := range c.hits {
		left[i] = left[hit]
	}
	return sel[:start+len(c.hits)], nil
}

// gather makes a batch of some rows of b, with the columns of c in it.
func (c *conjunct) gather(b *column.Batch, rows []int32) *column.Batch {
	if len(c.batch.Cols) < len(b.Cols) {
		c.batch.Cols, c.bufs = make([]column.Vector, len(b.Cols)), make([]column.Buffer, len(b.Cols))
	}
	for _, col := range c.cols {
		c.batch.Cols[col] = column.Gather(&b.Cols[col], rows, &c.bufs[col])
	}
	c.batch.Rows = len(rows)
	return &c.batch
}

// keepTrue keeps of sel, from start, the rows that are true. As in select.go there is no branch to
// mispredict.
func keepTrue(sel []int32, start int, v *column.Vector) []int32 {
	k := start
	switch {
	case v.Null != nil:
		for _, i := range sel[start:] {
			sel[k] = i
			k += int(trueAt(v, int(i)))
		}
	case v.Dict != nil:
		is, codes := v.Dict.Values.Int, v.Codes
		for _, i := range sel[start:] {
			sel[k] = i
			k += int(is[codes[i]] & 1)
		}
	default:
		for _, i := range sel[start:] {
			sel[k] = i
			k += int(v.Int[i] & 1)
		}
	}
	return sel[:k]
}

func trueAt(v *column.Vector, i int) int64 {
	if v.Null != nil && v.Null[i] {
		return 0
	}
	if v.Dict != nil {
		return v.Dict.Values.Int[v.Codes[i]] & 1
	}
	return v.Int[i] & 1
}
