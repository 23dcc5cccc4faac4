package query

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/expr"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// Columns is what a query is resolved against: the columns of its input.
type Columns interface {
	Schema() column.Schema
	Find(name string) (int, error) // position in the schema
}

// compiler builds a Compiled query.
type compiler struct {
	in  Columns
	q   Query
	out Compiled

	params    *params
	rows      *expr.Binder   // of keys and arguments
	batchCol  map[int]int    // column of the schema -> column of the batch
	argIndex  map[string]int // argument by its canonical text
	callIndex map[string]int // aggregate by its canonical text
	grouped   keySet         // the keys
	following []int          // elements of By that are none
	told      []keyed        // the keys, but for those of grouping sets
	byItems   int            // how many of items are elements of By
	keyItems  []int          // with grouping sets: which key each element of By is
	callForms []column.Form  // of those whose results are values of a column
	items     []outputItem
}

// outputItem is an element of By or Aggs, before it is bound.
type outputItem struct {
	name string
	node expr.Node
	text string
}

// Compile resolves the query.
func Compile(in Columns, q Query) (*Compiled, error) {
	c, err := newCompiler(in, q)
	if err != nil {
		return nil, err
	}
	for _, step := range []func() error{c.where, c.keys, c.countKeys, c.toldKeys, c.aggs, c.having, c.outputs, c.follow, c.orderBy, c.pivot} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if q.Mode.Writes() {
		c.out.Totals = -1 // the group is one of all
	}
	return &c.out, nil
}

func newCompiler(in Columns, q Query) (c *compiler, err error) {
	c = &compiler{
		in: in, q: q, out: Compiled{Texts: q, Mode: q.Mode, Totals: -1, Limit: q.Limit, Offset: q.Offset},
		batchCol: map[int]int{}, argIndex: map[string]int{}, callIndex: map[string]int{},
	}
	if c.params, err = q.params(); err != nil {
		return nil, err
	}
	c.rows = expr.NewBinder(c.inputColumn)
	return c, nil
}

// countKeys notes which items are keys: those so far.
func (c *compiler) countKeys() error {
	c.byItems = len(c.items)
	return nil
}

// inputColumn is the lookup of the scan step.
func (c *compiler) inputColumn(name string) (int, column.Type, error) {
	i, err := c.in.Find(name)
	if err != nil {
		return 0, column.Type{}, err
	}
	t := c.in.Schema().Fields[i].Type.Plain()
	b, ok := c.batchCol[i]
	if !ok {
		b = len(c.out.Cols)
		c.batchCol[i] = b
		c.out.Cols = append(c.out.Cols, i)
	}
	return b, t, nil
}

func (c *compiler) where() (err error) {
	if strings.TrimSpace(c.q.Where) == "" {
		return nil
	}
	n, err := expr.Parse(c.q.Where)
	if err != nil {
		return err
	}
	n = c.constants(n, "where", 0)
	if call := findAggregate(n); call != nil {
		return &expr.Error{Text: c.q.Where, Pos: call.Pos(), Msg: fmt.Sprintf("where cannot use the aggregate %s: use having", call.Name)}
	}
	c.out.Where, err = expr.BindFilter(n, c.q.Where, c.filterColumn)
	return err
}

// constants puts what the query is given in the place of parameters, and of now() and the like, in
// text i of a clause.
func (c *compiler) constants(n expr.Node, clause string, i int) expr.Node {
	return c.atNow(c.params.fill(n, clause, i))
}

// atNow puts the time of the query in the place of now() and the like.
func (c *compiler) atNow(n expr.Node) expr.Node {
	n, used := expr.AtMoment(n, c.q.Now, func(name string) bool {
		_, err := c.in.Find(name)
		return err == nil
	})
	c.out.UsesNow = c.out.UsesNow || used
	return n
}

// filterColumn is the lookup of where. Text in double quotes, or in none,
// is what a name that does not exist most often is there.
func (c *compiler) filterColumn(name string) (int, column.Type, error) {
	i, t, err := c.inputColumn(name)
	var missing *parquetio.ColumnError
	if errors.As(err, &missing) && missing.Kind == parquetio.UnknownColumn {
		err = fmt.Errorf("%w; if it is text, write '%s'", err, name)
	}
	return i, t, err
}

func findAggregate(n expr.Node) (found *expr.Call) {
	expr.Walk(n, func(n expr.Node) bool {
		if call, ok := n.(*expr.Call); ok && found == nil && isAggregate(call.Name) {
			found = call
		}
		return found == nil
	})
	return found
}

// nameOf is the name of an output column: its alias, the column's own name
// for a plain column, else its text in lower case.
func (c *compiler) nameOf(it expr.Item) string {
	if it.Alias != "" {
		return it.Alias
	}
	if col, ok := it.Expr.(*expr.Column); ok {
		if i, err := c.in.Find(col.Name); err == nil {
			return c.in.Schema().Fields[i].Name
		}
	}
	return strings.ToLower(it.Text)
}

func (c *compiler) aggs() error {
	for i, a := range c.q.Aggs {
		items, err := expr.ParseAggs(a.Text)
		if err != nil {
			return err
		}
		if a.Alias != "" && len(items) != 1 {
			return usagef("the name %q is for one aggregate, but %q is %d of them", a.Alias, a.Text, len(items))
		}
		for _, it := range items {
			if a.Alias != "" {
				it.Alias = a.Alias
			}
			c.items = append(c.items, outputItem{c.nameOf(it), c.constants(it.Expr, "aggs", i), a.Text})
		}
	}
	if len(c.items) == 0 {
		return usagef("nothing to do: name keys to group by, aggregates, or both")
	}
	return nil
}
