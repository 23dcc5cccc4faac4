package query

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/expr"
)

// This file resolves By. What is grouped by are the keys that no others tell: of k, k + 1 and 'a'
// just k. The others follow, and are computed of the groups as outputs are.
//
// KEYS-FOLLOW: a key follows if all that it is computed from are other keys and constants, so that
// it has one value in a group. Equal keys have to be the same value for that: floats are not, of
// which 0.0 and -0.0 are one key. Each group has a row, so a value that cannot be computed fails of
// the groups as it does of the rows.
//
// KEYS-TOLD: rows are grouped by the first time of the day in place of dayname(t), and by that of
// the month in place of strftime(t, '%Y-%m'), say (expr.Expr.Told). The text is computed of the
// groups.

// Following is a key that is computed of the groups.
type Following struct {
	Text string
	Expr *expr.Expr
}

// keyed is an element of By while what is grouped by is chosen.
type keyed struct {
	node  expr.Node
	text  string // the text that it is from
	expr  *expr.Expr
	steps int // of computing it

	// of a call that is a text of a time: expr is a time that stands for it, in place of argument
	// number arg (KEYS-TOLD)
	told *expr.Call
	arg  int
}

func (c *compiler) keys() error {
	var all []keyed
	sets, err := c.listedSets()
	if err != nil {
		return err
	}
	if len(c.q.By) == 0 {
		for _, it := range keysOfSets(sets) {
			k, err := c.key(c.q.Sets, it)
			if err != nil {
				return err
			}
			all = append(all, k)
		}
	}
	for i, list := range c.q.By {
		items, err := expr.ParseKeys(list)
		if err != nil {
			return err
		}
		for _, it := range items {
			it.Expr = c.params.fill(it.Expr, "by", i)
			k, err := c.key(list, it)
			if err != nil {
				return err
			}
			all = append(all, k)
		}
	}
	if c.q.hasSets() {
		return c.groupBySets(all, sets)
	}
	c.groupBy(all)
	return nil
}

func (c *compiler) key(list string, it expr.Item) (keyed, error) {
	it.Expr = c.atNow(it.Expr)
	if call := findAggregate(it.Expr); call != nil {
		return keyed{}, &expr.Error{Text: list, Pos: call.Pos(), Msg: fmt.Sprintf("the aggregate %s cannot be a key; list it with the aggregates", call.Name)}
	}
	e, err := c.rows.Bind(it.Expr, list)
	if err != nil {
		return keyed{}, err
	}
	c.items = append(c.items, outputItem{c.nameOf(it), it.Expr, list})
	k := keyed{node: it.Expr, text: list, expr: e}
	expr.Walk(it.Expr, func(expr.Node) bool {
		k.steps++
		return true
	})
	return k, nil
}

// tell has rows grouped by a time that stands for the text that k is (KEYS-TOLD). States have keys
// as they are asked for.
func (c *compiler) tell(k *keyed) {
	call, ok := k.node.(*expr.Call)
	if !ok || c.q.Mode != Whole {
		return
	}
	varies := -1
	for i, a := range call.Args {
		switch {
		case constant(a):
		case varies >= 0:
			return
		default:
			varies = i
		}
	}
	if time, ok := k.expr.Told(); ok && varies >= 0 {
		k.expr, k.told, k.arg = time, call, varies
	}
}

// toldKeys binds what is computed of the groups for keys that times stand for.
func (c *compiler) toldKeys() error {
	for i, k := range c.told {
		if k.told == nil {
			c.out.told = append(c.out.told, nil)
			continue
		}
		e, err := expr.Bind(c.keyColumn(i, k.node), k.text, c.resultColumn)
		if err != nil {
			return err
		}
		c.out.told = append(c.out.told, e)
	}
	return nil
}

// groupBy chooses the keys that are grouped by, in the order that they have in the query.
func (c *compiler) groupBy(all []keyed) {
	if len(all) == 0 {
		return
	}
	// A key that others are computed from takes fewer steps than these, and is seen before them.
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[a].steps, all[b].steps) })
	grouped := make([]bool, len(all))
	for _, i := range order {
		if grouped[i] = !c.follows(all[i], all); grouped[i] {
			c.grouped.add(all[i], i)
		}
	}
	if !slices.Contains(grouped, true) {
		grouped[0] = true // of no rows there is no group, but without any keys there is one
	}
	c.grouped = keySet{}
	for i, k := range all {
		if !grouped[i] {
			c.following = append(c.following, i)
			continue
		}
		c.grouped.add(k, len(c.out.Keys)) // as it was asked for: what stands for it may be a column
		c.tell(&k)
		c.told = append(c.told, k)
		c.out.Keys = append(c.out.Keys, k.expr)
		c.out.KeyTexts = append(c.out.KeyTexts, k.node.String())
	}
}

// follows reports whether keys that are grouped by, which c.grouped numbers as in all, tell k
// (KEYS-FOLLOW). A text may be longer than the one that it is computed from, for which alone memory
// is set aside. A float that is a key comes out as 0.0, never as -0.0.
func (c *compiler) follows(k keyed, all []keyed) bool {
	if _, same := c.keyOf(k.node); same || constant(k.node) {
		return c.failsInTime(k.expr)
	}
	isText, known := k.expr.Type().Rep() == column.RepBytes, true
	expr.Walk(k.node, func(n expr.Node) bool {
		if i, ok := c.keyOf(n); ok {
			t := all[i].expr.Type()
			known = known && !t.IsFloat() && !(isText && t.Rep() == column.RepBytes)
			return false
		}
		_, column := n.(*expr.Column)
		known = known && !column
		return known
	})
	return known && !k.expr.Type().IsFloat() && c.failsInTime(k.expr)
}

// failsInTime reports whether e is computed of all groups if it may fail. A limit without an order
// leaves groups out.
func (c *compiler) failsInTime(e *expr.Expr) bool {
	return !e.MayFail() || c.q.Mode.Takes() || c.q.Limit == 0 || c.q.Limit > 0 && len(c.q.OrderBy) > 0
}

// keySet finds keys.
type keySet struct {
	byText map[string]int // by canonical text
	byCol  map[int]int    // those that are just a column of the batch
}

func (s *keySet) add(k keyed, number int) {
	if s.byText == nil {
		s.byText, s.byCol = map[string]int{}, map[int]int{}
	}
	s.byText[k.node.String()] = number
	if col, plain := k.expr.Column(); plain {
		s.byCol[col] = number
	}
}

// keyOf is the number of the key that n is. A constant is none: it may stand in an expression as
// what has to be a constant there: digits, a pattern, the name of a part.
func (c *compiler) keyOf(n expr.Node) (int, bool) {
	if i, ok := c.grouped.byText[n.String()]; ok {
		return i, !constant(n)
	}
	col, ok := n.(*expr.Column)
	if !ok {
		return 0, false
	}
	field, err := c.in.Find(col.Name)
	if err != nil {
		return 0, false
	}
	b, ok := c.batchCol[field]
	if !ok {
		return 0, false
	}
	i, ok := c.grouped.byCol[b]
	return i, ok
}

// constant reports whether n names no column.
func constant(n expr.Node) bool {
	is := true
	expr.Walk(n, func(n expr.Node) bool {
		_, column := n.(*expr.Column)
		is = is && !column
		return is
	})
	return is
}

// follow keeps what computes the keys that follow: the first outputs are the keys.
func (c *compiler) follow() error {
	for _, i := range c.following {
		item := c.items[i]
		if _, same := c.keyOf(item.node); !same {
			c.out.Follow = append(c.out.Follow, Following{item.node.String(), c.out.Out[i].Expr})
		}
	}
	return nil
}
