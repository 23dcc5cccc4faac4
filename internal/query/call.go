package query

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/expr"
)

// call returns the index of an aggregate, resolving it if it is new.
func (c *compiler) call(asked *expr.Call, text string) (int, error) {
	n, err := withoutOrder(ownOrder(asked), text)
	if err != nil {
		return 0, err
	}
	distinct := false
	if !packs(n) {
		if n, distinct, err = withoutDistinct(n, text); err != nil {
			return 0, err
		}
	}
	name := n.String()
	if i, ok := c.callIndex[name]; ok {
		return i, nil
	}
	for _, a := range inside(n) {
		if inner := findAggregate(a); inner != nil {
			return 0, &expr.Error{Text: text, Pos: inner.Pos(), Msg: fmt.Sprintf("the aggregate %s cannot be inside the aggregate %s", inner.Name, n.Name)}
		}
	}
	if n.Filter != nil {
		if inner := findAggregate(n.Filter); inner != nil {
			why := "the filter of an aggregate sees rows, and %s is of groups: use having, or case around the aggregate"
			return 0, &expr.Error{Text: text, Pos: inner.Pos(), Msg: fmt.Sprintf(why, inner.Name)}
		}
	}
	var call agg.Call
	if err := c.callArguments(n, text, &call); err != nil {
		return 0, err
	}
	f, t, err := agg.Resolve(resolved(n), call.Types, call.Params)
	if err != nil {
		return 0, &expr.Error{Text: text, Pos: n.Pos(), Msg: err.Error()}
	}
	call.Func = f
	if distinct {
		if !f.TakesSets() {
			return 0, &expr.Error{Text: text, Pos: n.Pos(), Msg: "distinct is not supported in " + n.Name + noSets(n)}
		}
		c.takeOnce(&call)
	}
	c.callIndex[name] = len(c.out.Calls)
	c.out.Calls = append(c.out.Calls, call)
	c.out.CallTexts = append(c.out.CallTexts, strings.ToLower(name))
	c.out.asked = append(c.out.asked, askedCall{asked, text, t})
	c.callForms = append(c.callForms, c.callForm(n.Name, &call, t))
	return len(c.out.Calls) - 1, nil
}

// callForm is the form of the results of an aggregate of a type: that of its argument, if they are
// values of it.
func (c *compiler) callForm(name string, call *agg.Call, t column.Type) column.Form {
	if len(call.Args) == 0 || call.Types[0] != t || joinsText(name) {
		return column.NoForm
	}
	return c.formOf(c.out.Args[call.Args[0]])
}

// formOf is the form of an expression over the input: that of the column that it is.
func (c *compiler) formOf(e *expr.Expr) column.Form {
	if i, ok := e.Column(); ok {
		return c.in.Schema().Fields[c.out.Cols[i]].Type.Form
	}
	return column.NoForm
}

// inside is what is computed for the rows of a call.
func inside(n *expr.Call) []expr.Node {
	nodes := slices.Clone(n.Args)
	for _, o := range n.Order {
		nodes = append(nodes, o.Expr)
	}
	return nodes
}

// sameOverDistinct are the aggregates to which it is all one how often a
// value occurs.
var sameOverDistinct = []string{"min", "max", "any_value", "first", "bool_and", "bool_or", "bit_and", "bit_or", "count_distinct", "approx_count_distinct"}

// withoutDistinct says count(distinct x) as count_distinct(x), and min(distinct x) as min(x).
// distinct: the call takes each different value once.
func withoutDistinct(n *expr.Call, text string) (_ *expr.Call, distinct bool, err error) {
	plain := *n
	plain.Distinct = false
	switch {
	case !n.Distinct:
		return n, n.Name == "count_distinct", nil
	case n.Name == "count" && len(n.Args) == 1:
		plain.Name = "count_distinct"
	case n.Name == "count":
		return nil, false, &expr.Error{Text: text, Pos: n.Pos(), Msg: "count(distinct x) takes 1 argument"}
	case !slices.Contains(sameOverDistinct, n.Name):
		return n, true, nil
	}
	return &plain, plain.Name == "count_distinct", nil
}

// noSets is why an aggregate does not take each different value once, and what does.
func noSets(n *expr.Call) string {
	switch {
	case len(n.Args) > 1:
		return ", which has several arguments"
	}
	return ", whose result depends on the order of rows"
}

// takeOnce has a call take each different value of its argument once.
func (c *compiler) takeOnce(call *agg.Call) {
	if call.Types[0].Kind == column.Null {
		return // there are none
	}
	part := slices.Index(c.out.Distinct, call.Args[0])
	if part < 0 {
		part = len(c.out.Distinct)
		c.out.Distinct = append(c.out.Distinct, call.Args[0])
	}
	call.Part = part + 1
}

// callArguments fills in the arguments of a call, which are computed for
// each row, and its parameters, which are the same for all.
func (c *compiler) callArguments(n *expr.Call, text string, call *agg.Call) error {
	if packs(n) {
		return c.packedArguments(n, text, call)
	}
	if done, err := c.linearArgument(n, text, call); done || err != nil {
		return err
	}
	values := agg.ValueArgs(n.Name, len(n.Args))
	for _, a := range n.Args[:values] {
		a, err := c.asText(n, a, text)
		if err != nil {
			return err
		}
		if err := c.callArgument(filtered(a, n.Filter), text, call); err != nil {
			return err
		}
	}
	if len(n.Args) == 0 && n.Filter != nil {
		if err := c.callArgument(filtered(&expr.Literal{At: n.Pos(), Value: one}, n.Filter), text, call); err != nil {
			return err
		}
	}
	for _, a := range parameters(n, n.Args[values:]) {
		p, err := parameter(n.Name, a, text)
		if err != nil {
			return err
		}
		call.Params = append(call.Params, p)
	}
	if joinsText(n.Name) && len(n.Args) == 1 {
		call.Params = append(call.Params, comma)
	}
	return nil
}

// listing are the aggregates that take a list of parameters.
var listing = []string{"quantile", "quantile_cont", "quantile_disc"}

// paramList is the list behind the argument of an aggregate that takes one; nil: there is none.
func paramList(n *expr.Call) *expr.List {
	if len(n.Args) == 2 && slices.Contains(listing, n.Name) {
		list, _ := n.Args[1].(*expr.List)
		return list
	}
	return nil
}

// resolved is the name by which package agg knows the aggregate of a call.
func resolved(n *expr.Call) string {
	if packs(n) {
		return packedName(n)
	}
	if paramList(n) != nil {
		return n.Name + agg.ListSuffix
	}
	return n.Name
}

// parameters is the nodes of the parameters of n, those of a list one by one.
func parameters(n *expr.Call, params []expr.Node) []expr.Node {
	if list := paramList(n); list != nil {
		return list.Items
	}
	return params
}

func (c *compiler) callArgument(n expr.Node, text string, call *agg.Call) error {
	i, err := c.argument(n, text)
	if err != nil {
		return err
	}
	call.Args = append(call.Args, i)
	call.Types = append(call.Types, c.out.Args[i].Type())
	return nil
}

func joinsText(name string) bool {
	return name == "string_agg" || name == "group_concat" || name == "listagg"
}

// asText is the argument a of n, as text if n joins texts and it is none.
func (c *compiler) asText(n *expr.Call, a expr.Node, text string) (expr.Node, error) {
	if !joinsText(n.Name) {
		return a, nil
	}
	e, err := c.rows.Bind(a, text)
	if err != nil || e.Type().Kind == column.String {
		return a, err
	}
	return &expr.Cast{At: a.Pos(), X: a, To: column.Type{Kind: column.String}}, nil
}

var one = column.Value{Type: column.Type{Kind: column.Int64}, Int: 1}

// filtered is arg where the filter is true, else NULL, which aggregates pass
// over.
func filtered(arg, filter expr.Node) expr.Node {
	if filter == nil {
		return arg
	}
	return &expr.Case{At: filter.Pos(), Whens: []expr.When{{If: filter, Then: arg}}}
}

func (c *compiler) argument(n expr.Node, text string) (int, error) {
	key := n.String()
	if i, ok := c.argIndex[key]; ok {
		return i, nil
	}
	e, err := c.rows.Bind(n, text)
	if err != nil {
		return 0, err
	}
	c.argIndex[key] = len(c.out.Args)
	c.out.Args = append(c.out.Args, e)
	c.out.ArgTexts = append(c.out.ArgTexts, strings.ToLower(key))
	return len(c.out.Args) - 1, nil
}
