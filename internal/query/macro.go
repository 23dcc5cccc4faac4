package query

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/expr"
)

// macro is an aggregate that is said by other aggregates and functions: its call is replaced by a text, with the
// arguments of the call in place of names. A filter of the call is one of every aggregate in the text.
type macro struct {
	params []string
	text   string
}

var macros = map[string]macro{
	"count_if":       {[]string{"x"}, "count(*) filter (where x)"},
	"countif":        {[]string{"x"}, "count(*) filter (where x)"},
	"geomean":        {[]string{"x"}, "exp(avg(ln(x)))"},
	"geometric_mean": {[]string{"x"}, "exp(avg(ln(x)))"},
	"weighted_avg":   {[]string{"x", "w"}, "sum(x * w) / sum(case when x is not null then w end)"},
	"wavg":           {[]string{"x", "w"}, "sum(x * w) / sum(case when x is not null then w end)"},
}

// isAggregate reports whether a name, in lower case, is one of an aggregate.
func isAggregate(name string) bool {
	_, ok := macros[name]
	return ok || isGrouping(name) || agg.IsAggregate(name)
}

// aggregateNames are all that isAggregate knows.
func aggregateNames() []string {
	names := append(agg.Names(), "grouping", "grouping_id")
	for name := range macros {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// macroToResult is toResult for the call of a macro.
func (c *compiler) macroToResult(call *expr.Call, m macro, text string) (expr.Node, error) {
	fail := func(format string, args ...any) error {
		return &expr.Error{Text: text, Pos: call.Pos(), Msg: fmt.Sprintf(format, args...)}
	}
	if call.Distinct {
		return nil, fail("distinct is not supported in %s", call.Name)
	}
	if len(call.Args) != len(m.params) {
		return nil, fail("%s takes %d argument%s, not %d", call.Name, len(m.params), "s"[:min(len(m.params)-1, 1)], len(call.Args))
	}
	for _, a := range call.Args {
		if inner := findAggregate(a); inner != nil {
			return nil, fail("the aggregate %s cannot be inside the aggregate %s", inner.Name, call.Name)
		}
	}
	n, err := m.expand(call)
	if err == nil {
		n, err = c.toResult(n, m.text)
	}
	var e *expr.Error
	if errors.As(err, &e) { // its place is one in the macro
		err = fail("%s is %s: %s", call.Name, m.text, e.Msg)
	}
	return n, err
}

// expand is what a call of the macro says.
func (m macro) expand(call *expr.Call) (expr.Node, error) {
	n, err := expr.Parse(m.text)
	if err != nil {
		return nil, err
	}
	return m.fill(n, call), nil
}

// fill puts the arguments and the filter of a call in place.
func (m macro) fill(n expr.Node, call *expr.Call) expr.Node {
	return expr.Rewrite(n, func(n expr.Node) (expr.Node, bool) {
		switch n := n.(type) {
		case *expr.Column:
			return call.Args[slices.Index(m.params, n.Name)], true
		case *expr.Call:
			if !agg.IsAggregate(n.Name) {
				return n, false
			}
			filled := *n
			filled.Args = nil
			for _, a := range n.Args {
				filled.Args = append(filled.Args, m.fill(a, call))
			}
			if n.Filter != nil {
				filled.Filter = m.fill(n.Filter, call)
			}
			filled.Filter = both(filled.Filter, call.Filter)
			return &filled, true
		}
		return n, false
	})
}

// both is a filter that is true where two are. nil: always.
func both(a, b expr.Node) expr.Node {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return &expr.Binary{At: a.Pos(), Op: "and", L: a, R: b}
}
