package query

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/expr"
	"github.com/gagg-dev/gagg/internal/parquetio"
	"github.com/gagg-dev/gagg/internal/spelling"
)

// Names of the result step: a character that no column name of a user's
// query can begin with, since it would be found only by quoting it.
const (
	keyPrefix  = "\x00k"
	callPrefix = "\x00a"
)

// toResult rewrites an expression over the input and its aggregates to one
// over the columns of the result step.
func (c *compiler) toResult(n expr.Node, text string) (expr.Node, error) {
	var failed error
	n = expr.Rewrite(n, func(n expr.Node) (expr.Node, bool) {
		if call, ok := n.(*expr.Call); ok && isGrouping(call.Name) {
			made, err := c.groupingToResult(call, text)
			if err != nil && failed == nil {
				failed = err
			}
			return made, true
		}
		if call, ok := n.(*expr.Call); ok && isAggregate(call.Name) {
			if m, ok := macros[call.Name]; ok {
				made, err := c.macroToResult(call, m, text)
				if err != nil && failed == nil {
					failed = err
				}
				return made, true
			}
			i, err := c.call(call, text)
			if err != nil && failed == nil {
				failed = err
			}
			return &expr.Column{At: n.Pos(), Name: fmt.Sprintf("%s%d", callPrefix, i), Of: n}, true
		}
		if i, ok := c.keyOf(n); ok {
			return c.keyColumn(i, n), true
		}
		return n, false
	})
	return n, failed
}

// keyColumn is key i, which is written as n, in the result step.
func (c *compiler) keyColumn(i int, n expr.Node) expr.Node {
	key := &expr.Column{At: n.Pos(), Name: fmt.Sprintf("%s%d", keyPrefix, i), Of: n}
	if i >= len(c.told) || c.told[i].told == nil {
		return key
	}
	call := *c.told[i].told
	call.At, call.Args = n.Pos(), slices.Clone(call.Args)
	key.Of = call.Args[c.told[i].arg]
	call.Args[c.told[i].arg] = key
	return &call
}

// resultColumn is the lookup of the result step.
func (c *compiler) resultColumn(name string) (int, column.Type, error) {
	var i int
	if n, err := fmt.Sscanf(name, keyPrefix+"%d", &i); n == 1 && err == nil {
		return i, c.out.Keys[i].Type(), nil
	}
	if n, err := fmt.Sscanf(name, callPrefix+"%d", &i); n == 1 && err == nil {
		return len(c.out.Keys) + i, c.out.asked[i].result, nil
	}
	if _, err := c.in.Find(name); err != nil {
		if isAggregate(strings.ToLower(name)) {
			err = usagef("%s is an aggregate: give it an argument, as in %s(x)", name, name)
		}
		return 0, column.Type{}, err
	}
	return 0, column.Type{}, usagef("column %q must be a key or inside an aggregate", name)
}

// namedColumn is the lookup of having and order by, which see the columns of the result first: of
// a name that is none it says which there are.
func (c *compiler) namedColumn(name string) (int, column.Type, error) {
	i, t, err := c.resultColumn(name)
	var unknown *parquetio.ColumnError
	if !errors.As(err, &unknown) || unknown.Kind != parquetio.UnknownColumn {
		return i, t, err
	}
	var names []string
	for _, it := range c.items {
		names = append(names, ColumnText(it.name))
	}
	hint := ""
	if near := spelling.Nearest(name, names); near != "" {
		hint = fmt.Sprintf("; did you mean %s?", near)
	} else if len(unknown.Candidates) > 0 {
		hint = "; similar names in the input: " + strings.Join(unknown.Candidates, ", ")
	}
	if len(names) > mostNamed {
		names = append(names[:mostNamed], "…")
	}
	return 0, t, usagef("column %q is not in the result, which has %s%s", name, strings.Join(names, ", "), hint)
}

// mostNamed is how many columns of the result a message names.
const mostNamed = 12

// bindResult binds an expression that may name keys, aggregates and, if
// aliases is set, output columns.
func (c *compiler) bindResult(n expr.Node, text string, aliases bool) (expr.Node, error) {
	if aliases {
		n = expr.Rewrite(n, func(n expr.Node) (expr.Node, bool) {
			if col, ok := n.(*expr.Column); ok {
				if node := c.outputNamed(col.Name); node != nil {
					return node, true
				}
			}
			if call, ok := n.(*expr.Call); ok && isAggregate(call.Name) {
				return n, true
			}
			return n, false
		})
	}
	if err := checkCalls(n, text); err != nil {
		return nil, err
	}
	return c.toResult(n, text)
}

// checkCalls finds a call of what is neither an aggregate nor a function.
func checkCalls(n expr.Node, text string) (err error) {
	expr.Walk(n, func(n expr.Node) bool {
		call, ok := n.(*expr.Call)
		if !ok || err != nil || isAggregate(call.Name) || expr.IsFunction(call.Name) {
			return err == nil
		}
		msg := fmt.Sprintf("there is no aggregate or function %q", call.Name)
		if why := expr.Refusal(call.Name); why != "" {
			msg = why
		} else {
			msg += expr.Hint(call.Name, slices.Concat(aggregateNames(), expr.FunctionNames()))
		}
		err = &expr.Error{Text: text, Pos: call.Pos(), Msg: msg}
		return false
	})
	return err
}

// outputNamed is the expression of the output column of that name; nil if
// there is none.
func (c *compiler) outputNamed(name string) expr.Node {
	if i := c.outputNumber(name); i >= 0 {
		return c.outputAt(i)
	}
	return nil
}

// outputAt is the expression of output column number i.
func (c *compiler) outputAt(i int) expr.Node {
	it := c.items[i]
	if i < len(c.keyItems) { // also a constant is NULL in a set that leaves it out
		return &expr.Column{At: it.node.Pos(), Name: fmt.Sprintf("%s%d", keyPrefix, c.keyItems[i]), Of: it.node}
	}
	return it.node
}

// outputNumber is the number of the output column of that name; -1: there is none.
func (c *compiler) outputNumber(name string) int {
	for _, same := range []func(string) bool{
		func(s string) bool { return s == name },
		func(s string) bool { return strings.EqualFold(s, name) },
	} {
		for i, it := range c.items {
			if same(it.name) {
				return i
			}
		}
	}
	return -1
}

// outputOf is the number of the output column, among the first n, that an element of a list names
// or has the number of; -1: of none.
func (c *compiler) outputOf(it expr.Item, n int) int {
	if i := c.outputNumber(it.Text); i >= 0 && i < n {
		return i
	}
	if lit, ok := it.Expr.(*expr.Literal); ok && lit.Value.Type.Kind == column.Int64 && lit.Value.Int >= 1 && lit.Value.Int <= int64(n) {
		return int(lit.Value.Int - 1)
	}
	return -1
}

func (c *compiler) having() error {
	if strings.TrimSpace(c.q.Having) == "" {
		return nil
	}
	n, err := expr.Parse(c.q.Having)
	if err != nil {
		return err
	}
	if n, err = c.bindResult(c.constants(n, "having", 0), c.q.Having, true); err != nil {
		return err
	}
	c.out.Having, err = expr.BindFilter(n, c.q.Having, c.namedColumn)
	return err
}

func (c *compiler) outputs() error {
	for i, it := range c.items {
		n, err := c.bindResult(c.outputAt(i), it.text, false)
		if err != nil {
			return err
		}
		e, err := expr.Bind(n, it.text, c.resultColumn)
		if err != nil {
			return err
		}
		c.out.Out = append(c.out.Out, Output{it.name, e, c.outputType(e)})
	}
	return nil
}

// outputType is the type of an output column, with the form of the key or the aggregate that it is.
func (c *compiler) outputType(e *expr.Expr) column.Type {
	t := e.Type()
	switch i, ok := e.Column(); {
	case !ok:
	case i < len(c.out.Keys):
		t.Form = c.formOf(c.out.Keys[i])
	default:
		t.Form = c.callForms[i-len(c.out.Keys)]
	}
	return t
}

// ordered is what an element of OrderBy orders by: an output column of that
// name, the n-th output column for a number n, or an expression, for which output is -1.
func (c *compiler) ordered(it expr.Item, list string) (n expr.Node, output int, err error) {
	if i := c.outputOf(it, len(c.items)); i >= 0 {
		return c.outputAt(i), i, nil
	}
	if _, ok := it.Expr.(*expr.Literal); !ok {
		return it.Expr, -1, nil
	}
	return nil, -1, &expr.Error{Text: list, Pos: it.Pos, Msg: fmt.Sprintf(
		"order by %s orders nothing: give a name, an expression, or the number of an output column (1 to %d)", it.Text, len(c.items))}
}

func (c *compiler) orderBy() error {
	for i, list := range c.q.OrderBy {
		items, err := expr.ParseOrder(list)
		if err != nil {
			return err
		}
		for _, it := range items {
			it.Expr = c.constants(it.Expr, "order", i)
			n, output, err := c.ordered(it, list)
			if err != nil {
				return err
			}
			if n, err = c.bindResult(n, list, true); err != nil {
				return err
			}
			e, err := expr.Bind(n, list, c.namedColumn)
			if err != nil {
				return err
			}
			c.out.Order = append(c.out.Order, Term{e, output, it.Desc, it.Nulls == expr.NullsFirst})
		}
	}
	return nil
}
