package query

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/expr"
)

// This file is grouping sets, which the query gives as Sets: "rollup", "cube", or a list of sets
// such as "(a, b), (a), ()". The rows are grouped by each set of the keys, and what a set leaves
// out is NULL in its groups. Then Compiled.Keys has one more key, the number of the set, which
// tells the groups of different sets apart, and tells a NULL that stands for all values from one
// that is a value: grouping(key).
//
// With sets every key is grouped by, since one that follows from others (KEYS-FOLLOW) is in sets
// that these are not in.

// Sets that have a name.
const (
	Rollup = "rollup" // of keys a, b: (a, b), (a), ()
	Cube   = "cube"   // of keys a, b: (a, b), (a), (b), ()
)

// maxGroupings is the most sets: each has a table in each thread.
const maxGroupings = 256

// setType is the type of the number of a set.
var setType = column.Type{Kind: column.Uint8}

// hasSets reports whether there are grouping sets.
func (q *Query) hasSets() bool { return strings.TrimSpace(q.Sets) != "" || q.Totals }

// listedSets is the sets that the query lists; nil: it names them, or has none.
func (c *compiler) listedSets() ([][]expr.Item, error) {
	switch name := strings.ToLower(strings.TrimSpace(c.q.Sets)); name {
	case "", Rollup, Cube:
		return nil, nil
	}
	return expr.ParseSets(c.q.Sets)
}

// keysOfSets is the keys of a query that names them in its sets alone.
func keysOfSets(sets [][]expr.Item) (keys []expr.Item) {
	for _, set := range sets {
		for _, it := range set {
			if !slices.ContainsFunc(keys, func(k expr.Item) bool { return k.Expr.String() == it.Expr.String() }) {
				keys = append(keys, it)
			}
		}
	}
	return keys
}

// groupBySets groups by all keys, each once, and by the number of the set. columns is which of
// Compiled.Keys each element of By is.
func (c *compiler) groupBySets(all []keyed, listed [][]expr.Item) error {
	if len(all) == 0 {
		return usagef("%s: there are no keys to leave out: name some to group by", c.setsName())
	}
	columns := make([]int, len(all))
	for i, k := range all {
		n, same := c.grouped.byText[k.node.String()]
		if !same {
			n, same = c.keyOf(k.node)
		}
		if !same {
			n = len(c.out.Keys)
			c.grouped.add(k, n)
			c.out.Keys, c.out.KeyTexts = append(c.out.Keys, k.expr), append(c.out.KeyTexts, k.node.String())
		}
		columns[i] = n
	}
	c.keyItems = columns
	if err := c.chooseSets(columns, listed); err != nil {
		return err
	}
	if c.out.Totals = -1; c.q.Totals {
		c.out.Totals = len(c.out.Groupings)
		c.out.Groupings = append(c.out.Groupings, make([]bool, len(c.out.Keys)))
	}
	if n := len(c.out.Groupings); n > maxGroupings {
		return usagef("%s: there are %d grouping sets, and %d at most: list fewer, as in (a, b), (a), ()", c.setsName(), n, maxGroupings)
	}
	number, err := expr.Bind(&expr.Cast{X: integerNode(0, 0), To: setType}, "", nil)
	if err != nil {
		return err
	}
	c.out.Keys, c.out.KeyTexts = append(c.out.Keys, number), append(c.out.KeyTexts, "the number of the grouping set")
	return nil
}

// setsName is what asks for sets, for errors.
func (c *compiler) setsName() string {
	if strings.TrimSpace(c.q.Sets) == "" {
		return "totals"
	}
	return "sets"
}

// chooseSets fills in the sets, by element of By.
func (c *compiler) chooseSets(columns []int, listed [][]expr.Item) error {
	add := func(in func(element int) bool) {
		has := make([]bool, len(c.out.Keys))
		for i, k := range columns {
			has[k] = has[k] || in(i)
		}
		c.out.Groupings = append(c.out.Groupings, has)
	}
	all := len(columns)
	switch name := strings.ToLower(strings.TrimSpace(c.q.Sets)); {
	case name == "":
		add(func(int) bool { return true })
	case name == Rollup:
		for n := all; n >= 0; n-- {
			add(func(i int) bool { return i < n })
		}
	case name == Cube && all > 8:
		return usagef("sets: a cube of %d keys has %d grouping sets, and there may be %d: list fewer, as in (a, b), (a), ()", all, int64(1)<<min(all, 62), maxGroupings)
	case name == Cube:
		for left := range 1 << all { // the first key is the last to be left out
			add(func(i int) bool { return left>>(all-1-i)&1 == 0 })
		}
	default:
		return c.addListed(listed)
	}
	return nil
}

// addListed fills in the sets that the query lists.
func (c *compiler) addListed(listed [][]expr.Item) error {
	used := make([]bool, len(c.out.Keys))
	for _, set := range listed {
		has := make([]bool, len(c.out.Keys))
		for _, it := range set {
			k, ok := c.keyNamed(it)
			if !ok {
				return &expr.Error{Text: c.q.Sets, Pos: it.Pos, Msg: fmt.Sprintf("%s is none of the keys: %s", it.Text, strings.Join(c.out.KeyTexts, ", "))}
			}
			has[k], used[k] = true, true
		}
		c.out.Groupings = append(c.out.Groupings, has)
	}
	if k := slices.Index(used, false); k >= 0 {
		return usagef("sets: the key %s is in none of the grouping sets: drop it, or add it to one", c.out.KeyTexts[k])
	}
	return nil
}

// keyNamed is the key that an element of a set is: by its name, its number among the keys, or as
// the same expression.
func (c *compiler) keyNamed(it expr.Item) (int, bool) {
	n, item := it.Expr, c.outputOf(it, len(c.items))
	switch {
	case item >= 0 && item < len(c.keyItems):
		return c.keyItems[item], true
	case item >= 0:
		n = c.items[item].node
	}
	if k, ok := c.grouped.byText[n.String()]; ok {
		return k, true
	}
	return c.keyOf(n)
}

// isGrouping reports whether a call, in lower case, asks which keys a row's set leaves out.
func isGrouping(name string) bool { return name == "grouping" || name == "grouping_id" }

// groupingToResult is toResult for grouping(a, b): a bit for each argument, that of the last one
// the lowest, set where the row's set leaves the key out.
func (c *compiler) groupingToResult(call *expr.Call, text string) (expr.Node, error) {
	fail := func(format string, args ...any) error {
		return &expr.Error{Text: text, Pos: call.Pos(), Msg: fmt.Sprintf(format, args...)}
	}
	switch {
	case call.Star || call.Distinct || call.Filter != nil || len(call.Args) == 0:
		return nil, fail("%s takes keys, as in %s(a, b)", call.Name, call.Name)
	case len(call.Args) > 32:
		return nil, fail("%s takes 32 keys at most", call.Name)
	}
	keys := make([]int, len(call.Args))
	for i, a := range call.Args {
		it := expr.Item{Expr: a, Text: a.String()}
		if col, ok := a.(*expr.Column); ok {
			it.Text = col.Name
		}
		k, ok := c.keyNamed(it)
		if _, number := a.(*expr.Literal); !ok || number {
			return nil, &expr.Error{Text: text, Pos: a.Pos(), Msg: fmt.Sprintf("%s takes keys, and %s is none", call.Name, a)}
		}
		keys[i] = k
	}
	if len(c.out.Groupings) == 0 {
		return integerNode(call.Pos(), 0), nil
	}
	n := &expr.Case{At: call.Pos(), Operand: &expr.Column{At: call.Pos(), Name: fmt.Sprintf("%s%d", keyPrefix, len(c.out.Keys)-1), Of: call}, Else: integerNode(call.Pos(), 0)}
	for set, has := range c.out.Groupings {
		bits := int64(0)
		for _, k := range keys {
			if bits <<= 1; !has[k] {
				bits |= 1
			}
		}
		if bits > 0 {
			n.Whens = append(n.Whens, expr.When{If: integerNode(call.Pos(), int64(set)), Then: integerNode(call.Pos(), bits)})
		}
	}
	if len(n.Whens) == 0 {
		return integerNode(call.Pos(), 0), nil
	}
	return n, nil
}

// integerNode is a constant.
func integerNode(at int, v int64) expr.Node {
	return &expr.Literal{At: at, Value: column.Value{Type: column.Type{Kind: column.Int64}, Int: v}}
}
