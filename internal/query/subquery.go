package query

import (
	"fmt"

	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/expr"
)

// This file divides a query into subqueries: queries over the same rows, with the same keys, each
// with some of the aggregates. Their results are rows of another query, which has a row of each
// subquery in a group, and the value of each aggregate in one of these:
//
//	rows ──┬──▶ subquery: keys, count(*), count(distinct a) ──┐
//	       └──▶ subquery: keys, count(distinct b) ────────────┴──▶ joined: keys, any_value of each; having, order, limit
//
// SUBQUERY-GROUPS: all subqueries have the same groups, which are those of the query.

// askedCall is an aggregate as it was asked for.
type askedCall struct {
	node   *expr.Call
	text   string // that it is from
	result column.Type
}

// Subqueries is which aggregates each subquery has, by their numbers: those of one distinct value,
// or those that need all values of one argument; the others are with the first. Fewer than two: the
// query is not divided, or what its results are does not come back from records as it was.
func (q *Compiled) Subqueries() (subqueries [][]int) {
	if q.Mode != Whole || len(q.Groupings) > 0 || q.Texts.Sample.OfRows() || !q.joins() {
		return nil
	}
	of := map[int]int{} // argument -> subquery
	var plain []int
	for i, c := range q.Calls {
		if len(c.Args) == 0 || c.Part == 0 && !c.Func.Holistic() {
			plain = append(plain, i)
			continue
		}
		n, ok := of[c.Args[0]]
		if !ok {
			n = len(subqueries)
			of[c.Args[0]], subqueries = n, append(subqueries, nil)
		}
		subqueries[n] = append(subqueries[n], i)
	}
	if len(subqueries) > 0 {
		subqueries[0] = append(subqueries[0], plain...)
	}
	return subqueries
}

// joins reports whether all keys and results come back from records as they were.
func (q *Compiled) joins() bool {
	for _, k := range q.Keys {
		if !comesBack(k.Type()) {
			return false
		}
	}
	for _, c := range q.asked {
		if _, t, err := agg.Resolve(anyValue, []column.Type{c.result}, nil); err != nil || t != c.result || !comesBack(t) {
			return false
		}
	}
	return true
}

// anyValue is the aggregate of joined results.
const anyValue = "any_value"

// comesBack reports whether values of a type come back from a record: not as several columns.
func comesBack(t column.Type) bool {
	back, err := column.FromArrowField(column.ArrowField("", t, true))
	return err == nil && !t.IsNested() && back.Plain() == inArrow(t.Plain())
}

// Subquery is the query of a subquery against the query's input. Its output is the keys and its
// aggregates.
func (q *Compiled) Subquery(in Columns, calls []int) (*Compiled, error) {
	c, err := newCompiler(in, q.Texts)
	if err != nil {
		return nil, err
	}
	c.out.Limit, c.out.Offset = 0, 0
	for _, step := range []func() error{c.where, c.keys} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	for _, i := range calls {
		if _, err := c.call(q.asked[i].node, q.asked[i].text); err != nil {
			return nil, err
		}
	}
	for i, t := range c.out.resultTypes() {
		e, err := columnAt(fmt.Sprint(i), i, t)
		if err != nil {
			return nil, err
		}
		c.out.Out = append(c.out.Out, Output{fmt.Sprint(i), e, t})
	}
	return &c.out, nil
}

// resultTypes is the types of the columns of the result step: the keys and the aggregates.
func (q *Compiled) resultTypes() (types []column.Type) {
	for _, k := range q.Keys {
		types = append(types, k.Type())
	}
	for _, a := range q.asked {
		types = append(types, a.result)
	}
	return types
}

// columnAt is column i of batches.
func columnAt(name string, i int, t column.Type) (*expr.Expr, error) {
	return expr.Bind(&expr.Column{Name: name}, "", func(string) (int, column.Type, error) { return i, t, nil })
}

// JoinedFields is the columns of the rows that Joined takes: the keys, and the aggregates of all
// subqueries. In a row of a subquery those of the others are NULL.
func (q *Compiled) JoinedFields() (fields []column.Field) {
	for i, t := range q.resultTypes() {
		fields = append(fields, column.Field{Name: fmt.Sprint(i), Type: t})
	}
	return fields
}

// Joined is the query over the rows of all subqueries.
func (q *Compiled) Joined() (*Compiled, error) {
	out := *q
	out.Where, out.Cols, out.Keys, out.Args, out.ArgTexts, out.Calls, out.Distinct = nil, nil, nil, nil, q.CallTexts, nil, nil
	for i, t := range q.resultTypes() {
		e, err := columnAt(fmt.Sprint(i), i, t)
		if err != nil {
			return nil, err
		}
		out.Cols = append(out.Cols, i)
		if i < len(q.Keys) {
			out.Keys = append(out.Keys, e)
			continue
		}
		f, _, err := agg.Resolve(anyValue, []column.Type{t}, nil)
		if err != nil {
			return nil, err
		}
		out.Calls = append(out.Calls, agg.Call{Func: f, Args: []int{len(out.Args)}, Types: []column.Type{t}})
		out.Args = append(out.Args, e)
	}
	return &out, nil
}
