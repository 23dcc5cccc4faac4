package query

import (
	"fmt"
	"slices"

	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/expr"
)

// This file is aggregates with an order: list(x order by y), string_agg(x, sep order by y),
// arg_min(a, b, n) and arg_max(a, b, n). Their values come packed behind what they are ordered by,
// as binaries (expr.Pack), which are sorted. first(x order by y) is arg_min(x, y).

var (
	firsts = []string{"first", "any_value", "arbitrary"}
	lists  = []string{"list", "array_agg"}
	leasts = []string{"arg_min", "argmin", "min_by"}
	mosts  = []string{"arg_max", "argmax", "max_by"}
)

// withoutOrder says first(x order by y) as arg_min(x, y).
func withoutOrder(n *expr.Call, text string) (*expr.Call, error) {
	first := slices.Contains(firsts, n.Name)
	switch {
	case n.Order == nil, slices.Contains(lists, n.Name), joinsText(n.Name):
		return n, nil
	case !first && n.Name != "last":
		return nil, &expr.Error{Text: text, Pos: n.Pos(), Msg: "order by stands in list, string_agg, first, any_value and last, not in " + n.Name}
	case len(n.Order) > 1 || n.Order[0].Nulls != expr.NullsDefault || n.Distinct || len(n.Args) != 1:
		return nil, &expr.Error{Text: text, Pos: n.Pos(), Msg: fmt.Sprintf("%s takes one argument and one order, without distinct and nulls first or last", n.Name)}
	}
	said := *n
	said.Order, said.Args = nil, []expr.Node{n.Args[0], n.Order[0].Expr}
	said.Name = "arg_min"
	if n.Order[0].Desc == first {
		said.Name = "arg_max"
	}
	return &said, nil
}

// ownOrder gives different values that are put in a row, of which nobody said in which order, their
// own one: list(distinct x) is list(distinct x order by x).
func ownOrder(n *expr.Call) *expr.Call {
	if !n.Distinct || n.Order != nil || len(n.Args) == 0 || !slices.Contains(lists, n.Name) && !joinsText(n.Name) {
		return n
	}
	said := *n
	said.Order = []expr.Item{{Expr: n.Args[0], Pos: n.Args[0].Pos()}}
	return &said
}

// packs reports whether the values of a call come packed.
func packs(n *expr.Call) bool { return n.Order != nil || takesBest(n) }

// takesBest reports whether n is arg_min(a, b, n) or arg_max(a, b, n).
func takesBest(n *expr.Call) bool {
	return len(n.Args) == 3 && (slices.Contains(leasts, n.Name) || slices.Contains(mosts, n.Name))
}

// packedName is the name by which package agg knows the aggregate of a call whose values come
// packed.
func packedName(n *expr.Call) string {
	switch {
	case takesBest(n):
		return "min" + agg.OrderSuffix
	case joinsText(n.Name):
		return "string_agg" + agg.OrderSuffix
	}
	return "list" + agg.OrderSuffix
}

// packedArguments is callArguments for a call whose values come packed.
func (c *compiler) packedArguments(n *expr.Call, text string, call *agg.Call) error {
	value, err := c.asText(n, n.Args[0], text)
	if err != nil {
		return err
	}
	pack := &expr.Pack{Keys: n.Order, Value: filtered(value, n.Filter)}
	var params []column.Value
	if takesBest(n) {
		pack.Strict = true
		pack.Keys = []expr.Item{{Expr: n.Args[1], Desc: slices.Contains(mosts, n.Name)}}
		count, err := parameterBy(listedRule, "third", n.Name, n.Args[2], text)
		if err != nil {
			return err
		}
		params = []column.Value{count}
	} else if params, err = orderedParams(n, text); err != nil {
		return err
	}
	e, err := c.rows.Bind(value, text)
	if err != nil {
		return err
	}
	if e.Type().Kind == column.Null {
		return &expr.Error{Text: text, Pos: n.Pos(), Msg: n.Name + " with an order needs values of a type; cast NULL to one"}
	}
	call.Params = append([]column.Value{{Type: e.Type(), Null: true}}, params...)
	return c.callArgument(pack, text, call)
}

// orderedParams is whether each different value counts once, and the separator.
func orderedParams(n *expr.Call, text string) ([]column.Value, error) {
	once := column.Value{Type: column.Type{Kind: column.Bool}}
	if n.Distinct {
		once.Int = 1
		if len(n.Order) > 1 || n.Order[0].Expr.String() != n.Args[0].String() {
			return nil, &expr.Error{Text: text, Pos: n.Pos(), Msg: n.Name + " with distinct can only be ordered by its argument"}
		}
	}
	switch {
	case !joinsText(n.Name) && len(n.Args) == 1:
		return []column.Value{once}, nil
	case joinsText(n.Name) && len(n.Args) == 1:
		return []column.Value{once, comma}, nil
	case joinsText(n.Name) && len(n.Args) == 2:
		sep, err := parameter(n.Name, n.Args[1], text)
		return []column.Value{once, sep}, err
	}
	return nil, &expr.Error{Text: text, Pos: n.Pos(), Msg: fmt.Sprintf("%s takes 1 argument, not %d", n.Name, len(n.Args))}
}
