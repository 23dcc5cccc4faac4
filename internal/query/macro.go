package query

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/expr"
)

// macro is an aggregate defined by other aggregates and functions. Its call is replaced by a text
// in which the call's arguments stand for names. A filter of the call becomes one of every
// aggregate in the text.
type macro struct {
	name   string
	also   []string
	params []string
	text   string

	takes, gives, doc string // for the documentation
}

// macroTable is all macros.
var macroTable = []macro{
	{"count_if", []string{"countif"}, []string{"x"}, "count(*) filter (where x)", "booleans", "int64", "rows where x is true"},
	{"geomean", []string{"geometric_mean"}, []string{"x"}, "exp(avg(ln(x)))", numbers, double, "of a value that is not positive there is no logarithm, exit status 4"},
	{"weighted_avg", []string{"wavg"}, []string{"x", "w"}, "sum(x * w) / sum(case when x is not null then w end)", numbers, double, "the mean of x, each weighing w"},
	{"fsum", []string{"sumkahan", "kahan_sum"}, []string{"x"}, "sum(cast(x as double))", numbers, double, "the sum as a double"},
	{"favg", nil, []string{"x"}, "avg(cast(x as double))", numbers, double, "the mean of doubles"},
	{"sem", nil, []string{"x"}, "stddev_pop(x) / sqrt(count(x))", numbers, double, "the standard error of the mean"},
	{"regr_count", nil, yx, "count(*) filter (where " + bothThere + ")", anything, "int64", "rows where both are there"},
	{"regr_avgx", nil, yx, meanX, numbers, double, "the mean of x in these"},
	{"regr_avgy", nil, yx, "avg(y) filter (where x is not null)", numbers, double, "the mean of y"},
	{"regr_sxx", nil, yx, variance + " * count(*) filter (where " + bothThere + ")", numbers, double, "the sum of squares of x around its mean"},
	{"regr_syy", nil, yx, "var_pop(y) filter (where x is not null) * count(*) filter (where " + bothThere + ")", numbers, double, "that of y"},
	{"regr_sxy", nil, yx, "covar_pop(y, x) * count(*) filter (where " + bothThere + ")", numbers, double, "the sum of their products around their means"},
	{"regr_slope", nil, yx, "covar_pop(y, x) / " + variance, numbers, double, "of the line through the points (x, y) with the least squares; NULL if all x are equal"},
	{
		"regr_intercept", nil, yx, "avg(y) filter (where x is not null) - covar_pop(y, x) / " + variance + " * " + meanX, numbers, double,
		"where that line is at x = 0; NULL likewise",
	},
	{
		"regr_r2", nil, yx, "case when " + variance + " > 0 then case when var_pop(y) filter (where x is not null) = 0 then 1 else power(corr(y, x), 2) end end",
		numbers, double, "the square of their correlation; NULL likewise, and 1 if all y are equal",
	},
}

// Parts of macros.
const (
	anything  = "anything"
	numbers   = "numbers"
	double    = "double"
	bothThere = "y is not null and x is not null"
	variance  = "var_pop(x) filter (where y is not null)"
	meanX     = "avg(x) filter (where y is not null)"
)

var yx = []string{"y", "x"}

// macros is the macros by their names.
var macros = func() map[string]macro {
	m := map[string]macro{}
	for _, x := range macroTable {
		for _, name := range append([]string{x.name}, x.also...) {
			m[name] = x
		}
	}
	return m
}()

// groupingDescription is that of what is no aggregate and stands among them.
var groupingDescription = agg.Description{
	Name: "grouping", Also: []string{"grouping_id"}, Signature: "grouping(key, …)", Takes: "keys", Result: "int64",
	Doc: "1 in rows whose grouping set leaves the key out, else 0; of several keys a bit for each, that of the last one the lowest",
}

// Aggregates describes all aggregates, and grouping.
func Aggregates() []agg.Description {
	list := agg.Describe()
	for _, m := range macroTable {
		list = append(list, agg.Description{
			Name: m.name, Also: m.also, Signature: m.name + "(" + strings.Join(m.params, ",") + ")",
			Takes: m.takes, Result: m.gives, Doc: m.doc + ": `" + m.text + "`",
		})
	}
	return append(list, groupingDescription)
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
	switch {
	case call.Distinct:
		return nil, fail("distinct is not supported in %s", call.Name)
	case call.Order != nil:
		return nil, fail("order by stands in list, string_agg, first, any_value and last, not in %s", call.Name)
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
