package query

import (
	"slices"
	"strings"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/expr"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// ByFolders is what Where says of columns whose values folders are named after, while the others
// are not known yet: operands of and at its root that have no other columns. A column is meant only
// by its exact name, and what cannot be computed rules nothing out. nil: nothing is ruled out. A
// sample counts rows that Where rules out, and states tell by all files whether they have the same
// rows.
func ByFolders(q Query) parquetio.Bind {
	if strings.TrimSpace(q.Where) == "" || q.Sample.Percent != 0 || q.Mode.Writes() {
		return nil
	}
	params, err := q.params()
	if err != nil {
		return nil
	}
	where, err := expr.Parse(q.Where)
	if err != nil || findAggregate(where) != nil {
		return nil
	}
	operands := andOperands(params.fill(where, "where", 0), nil)
	return func(fields []column.Field) (func(one *column.Batch) bool, []bool) {
		var tests []*expr.Eval
		used := make([]bool, len(fields))
		for _, n := range operands {
			if e := bindTo(n, fields, q); e != nil {
				tests = append(tests, e.NewEval())
				for _, i := range e.Columns() {
					used[i] = true
				}
			}
		}
		if len(tests) == 0 {
			return nil, nil
		}
		return func(one *column.Batch) bool {
			return !slices.ContainsFunc(tests, func(e *expr.Eval) bool {
				left, err := e.Filter(one, nil)
				return err == nil && len(left) == 0
			})
		}, used
	}
}

// andOperands appends the operands of and at the root of n.
func andOperands(n expr.Node, all []expr.Node) []expr.Node {
	if and, ok := n.(*expr.Binary); ok && and.Op == "and" {
		return andOperands(and.R, andOperands(and.L, all))
	}
	return append(all, n)
}

// bindTo binds an operand to fields; nil: it has other columns, or none, or makes no sense.
func bindTo(n expr.Node, fields []column.Field, q Query) *expr.Expr {
	place := func(name string) int {
		return slices.IndexFunc(fields, func(f column.Field) bool { return f.Name == name && !strings.HasPrefix(name, "#") })
	}
	used, others := 0, false
	expr.Walk(n, func(n expr.Node) bool {
		if c, ok := n.(*expr.Column); ok {
			used++
			others = others || place(c.Name) < 0
		}
		return true
	})
	if used == 0 || others {
		return nil
	}
	n, _ = expr.AtMoment(n, q.Now, func(name string) bool { return place(name) >= 0 })
	e, err := expr.BindFilter(n, q.Where, func(name string) (int, column.Type, error) {
		i := place(name)
		return i, fields[i].Type, nil
	})
	if err != nil {
		return nil
	}
	return e
}
