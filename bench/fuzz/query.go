package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// query is a question in both languages.
type query struct {
	table  *table
	keys   []*expr
	sets   string // of the keys: rollup, cube, list; "": one
	listed []int  // by set: the bits of its keys
	items  []item // behind the keys
	where  *expr
	having *expr // over aggregates
	order  []term
	limit  int // -1: none
}

// item is an aggregate, or an expression over some.
type item struct {
	agg  *output
	over *expr // nil: agg itself
}

// term is a term of an order. What it orders by is a column of the answer.
type term struct {
	column     int // keys first
	descending bool
	nullsFirst bool
	number     bool // written as the number of the column
}

// newQuery draws a query.
func newQuery(rng *rand.Rand, t *table, device bool) *query {
	g := newGenerator(rng, t)
	q := &query{table: t, limit: -1}
	g.device, g.lists = device && rng.IntN(8) > 0, rng.IntN(6) == 0
	if g.device && len(g.leaves) > 0 {
		q.keys = append(q.keys, g.leaves[0])
	}
	more := pick(rng, 0, 1, 1, 1, 2, 2, 3)
	if g.device {
		more = pick(rng, 0, 0, 0, 1)
	}
	for range more {
		key := g.column(everyKind)
		if rng.IntN(4) == 0 {
			key = g.any(everyKind, 2)
		}
		if key != nil {
			q.keys = append(q.keys, key)
		}
	}
	q.addFollowing(rng)
	q.addSets(rng, device)
	for range pick(rng, 0, 1, 2, 3, 5) {
		if o := g.output(); o != nil {
			q.items = append(q.items, item{agg: o})
		}
	}
	if len(q.keys)+len(q.items) == 0 {
		q.items = append(q.items, item{agg: &output{of: &aggregates[0], gagg: "count(*)", duck: "count(*) $F"}})
	}
	if rng.IntN(3) == 0 && (!g.device || rng.IntN(3) == 0) {
		q.where = g.expr(boolean, 1+rng.IntN(3))
	}
	q.finish(rng, g)
	return q
}

// addFollowing draws, now and then, a key that follows from the others.
func (q *query) addFollowing(rng *rand.Rand) {
	if len(q.keys) == 0 || rng.IntN(5) > 0 {
		return
	}
	g := &generator{rng: rng, table: q.table, leaves: q.keys}
	if key := g.any(everyKind, 1+rng.IntN(2)); key != nil {
		q.keys = slices.Insert(q.keys, rng.IntN(len(q.keys)+1), key)
	}
}

// finish draws what is computed of the groups.
func (q *query) finish(rng *rand.Rand, rows *generator) {
	g := &generator{rng: rng, table: q.table, leaves: q.aggregated(rows)}
	if rng.IntN(4) == 0 {
		if e := g.any("iDbtd", 2); e != nil && len(e.kids) > 0 {
			q.items = append(q.items, item{over: e})
		}
	}
	if rng.IntN(3) == 0 {
		q.having = g.expr(boolean, 2)
	}
	// most filters on groups stand beside an order and a limit
	if rng.IntN(3) == 0 && q.having == nil {
		return
	}
	for range pick(rng, 0, 1, 1, 2, 3) {
		if c := rng.IntN(len(q.keys) + len(q.items)); q.ordered(c) {
			q.order = append(q.order, term{column: c, descending: rng.IntN(2) == 0, nullsFirst: rng.IntN(3) == 0, number: rng.IntN(4) == 0})
		}
	}
	q.limit = pick(rng, -1, -1, 0, 1, 3, 10, 1000)
}

// aggregated is some aggregates, whose values are exact and never lists, as leaves of expressions.
func (q *query) aggregated(rows *generator) (leaves []*expr) {
	for range tries {
		o := rows.output()
		if o == nil || o.of.gives == 0 || len(leaves) == 4 {
			continue
		}
		leaf := &expr{kind: o.of.gives, gagg: o.inGagg(), duck: "(" + o.inDuck(o.duck) + ")", lo: 0, hi: float64(q.table.rows)}
		if o.of.gives == anything {
			arg := o.args[0]
			leaf.kind, leaf.lo, leaf.hi, leaf.digits, leaf.scale = arg.kind, arg.lo, arg.hi, arg.digits, arg.scale
			leaf.special, leaf.perUnit = arg.special, arg.perUnit
		}
		leaves = append(leaves, leaf)
	}
	return leaves
}

// ordered reports whether the order of a column is the same however sums are rounded.
func (q *query) ordered(c int) bool {
	if c < len(q.keys) {
		return true
	}
	i := q.items[c-len(q.keys)]
	return i.over != nil || i.agg.of.rule == exactly && i.agg.of.large == ""
}

func (q *query) name(column int) string {
	if column < len(q.keys) {
		return fmt.Sprintf("k%d", column)
	}
	return fmt.Sprintf("a%d", column-len(q.keys))
}

// args is the query as gagg's arguments, without inputs and options.
func (q *query) args() (args []string) {
	var keys, aggs, order []string
	for i, k := range q.keys {
		keys = append(keys, k.inGagg()+" as "+q.name(i))
	}
	for i, it := range q.outputs() {
		aggs = append(aggs, it.inGagg()+" as "+q.name(len(q.keys)+i))
	}
	for _, t := range q.order {
		order = append(order, t.inGagg(q))
	}
	add := func(flag string, list []string) {
		if len(list) > 0 {
			args = append(args, flag, strings.Join(list, ", "))
		}
	}
	add("-k", keys)
	args = append(args, q.setsArgs()...)
	add("-a", aggs)
	if q.where != nil {
		args = append(args, "--where", q.where.inGagg())
	}
	if q.having != nil {
		args = append(args, "--having", q.having.inGagg())
	}
	if len(order) > 0 {
		args = append(args, "--order-by="+strings.Join(order, ", "))
	}
	if q.limit >= 0 {
		args = append(args, "--limit", fmt.Sprint(q.limit))
	}
	return args
}

func (it item) inGagg() string {
	if it.over != nil {
		return it.over.inGagg()
	}
	return it.agg.inGagg()
}

func (t term) inGagg(q *query) string {
	name := q.name(t.column)
	if t.number {
		name = fmt.Sprint(t.column + 1)
	}
	switch {
	case t.nullsFirst && t.descending:
		return name + " desc nulls first"
	case t.nullsFirst:
		return name + " nulls first"
	case t.descending && !t.number:
		return "-" + name
	case t.descending:
		return name + " desc"
	}
	return name
}

func (t term) inDuck(q *query) string {
	out := q.name(t.column)
	if t.descending {
		out += " desc"
	}
	if t.nullsFirst {
		return out + " nulls first"
	}
	return out + " nulls last"
}

// sql is the query for DuckDB. Its columns are keys and items; then, for each item, what the
// errors of a float are relative to and a second value (see aggregate); and last the place of the
// row in the order asked for, from 1, the same for rows of which either may come first. The limit
// is left out.
func (q *query) sql() string {
	var inner, outer []string
	add := func(sql, name string, out bool) {
		inner = append(inner, sql+" as "+name)
		if out {
			outer = append(outer, name)
		}
	}
	for i, k := range q.keys {
		add(k.inDuck(), q.name(i), true)
	}
	for i, it := range q.outputs() {
		add(it.inDuck(), q.name(len(q.keys)+i), true)
	}
	for i, it := range q.outputs() {
		large, other := it.beside()
		add(large, fmt.Sprintf("m%d", i), true)
		add(other, fmt.Sprintf("s%d", i), true)
	}
	if q.having != nil {
		add(q.having.inDuck(), "h", false)
	}
	sql := "select " + strings.Join(inner, ", ") + " from " + q.table.from()
	if q.where != nil {
		sql += " where " + q.where.inDuck()
	}
	if len(q.keys) > 0 {
		sql += " group by " + q.groupBy()
	}
	rank := "1"
	if len(q.order) > 0 {
		var terms []string
		for _, t := range q.order {
			terms = append(terms, t.inDuck(q))
		}
		rank = "dense_rank() over (order by " + strings.Join(terms, ", ") + ")"
	}
	sql = "select " + strings.Join(outer, ", ") + ", " + rank + " as place from (" + sql + ")"
	if q.having != nil {
		sql += " where h"
	}
	return sql
}

func (it item) inDuck() string {
	if it.over != nil {
		return it.over.inDuck()
	}
	return it.agg.inDuck(it.agg.duck)
}

func (it item) beside() (large, other string) {
	large, other = "null", "null"
	if it.over != nil {
		return large, other
	}
	if it.agg.large != "" {
		large = it.agg.inDuck("(" + it.agg.large + ")::double")
	}
	if it.agg.other != "" {
		other = it.agg.inDuck(it.agg.other)
	}
	return large, other
}
