package main

import (
	"fmt"
	"slices"
	"strings"
)

// question is a query of db-benchmark's group-by task, one about data that is
// hard under a memory limit, or one of a set of real queries.
type question struct {
	name string
	// kind of bench/shapes; of a real query its table and data maker; empty: db-benchmark's table
	data string
	by   []string
	aggs []term
	real *clauses // instead of by and aggs
}

// term is an aggregate: a function by the name that forms and peer.mjs know,
// and its columns.
type term []string

var questions = []question{
	{"q1", "", []string{"id1"}, []term{{"sum", "v1"}}, nil},
	{"q2", "", []string{"id1", "id2"}, []term{{"sum", "v1"}}, nil},
	{"q3", "", []string{"id3"}, []term{{"sum", "v1"}, {"avg", "v3"}}, nil},
	{"q4", "", []string{"id4"}, []term{{"avg", "v1"}, {"avg", "v2"}, {"avg", "v3"}}, nil},
	{"q5", "", []string{"id6"}, []term{{"sum", "v1"}, {"sum", "v2"}, {"sum", "v3"}}, nil},
	{"q6", "", []string{"id4", "id5"}, []term{{"median", "v3"}, {"stddev", "v3"}}, nil},
	{"q7", "", []string{"id3"}, []term{{"range", "v1", "v2"}}, nil},
	{"q8", "", []string{"id6"}, []term{{"largest", "v3"}}, nil},
	{"q9", "", []string{"id2", "id4"}, []term{{"corr", "v1", "v2"}}, nil},
	{"q10", "", []string{"id1", "id2", "id3", "id4", "id5", "id6"}, []term{{"sum", "v3"}, {"count"}}, nil},

	// Only asked by name, and of gagg and DuckDB.
	{"wide", "wide", []string{"k"}, []term{{"sum", "v"}, {"count"}}, nil},
	{"zipf", "zipf", []string{"k"}, []term{{"sum", "v"}, {"count"}}, nil},
	{"one", "one", []string{"k"}, []term{{"sum", "v"}, {"median", "v"}}, nil},
	{"distinct", "distinct", nil, []term{{"distinct", "v"}}, nil},
	{"list", "text", []string{"k"}, []term{{"list", "v"}}, nil},
	{"string_agg", "text", []string{"k"}, []term{{"string_agg", "v"}}, nil},
}

// form is how a term is written, with fmt's verbs for its columns, and what
// of its result is compared, with one for the result's column.
type form struct {
	sql        string
	clickhouse string // where it differs
	value      string // a double in DuckDB's SQL; empty: the result itself
}

// forms are the fastest in each engine for the same answer. ClickHouse's own
// median is estimated from a sample, or the upper one of two values in the
// middle. Where the order of a list is left to the engine, the sum of the
// hashes of its elements is compared.
var forms = map[string]form{
	"count":  {sql: "count(*)"},
	"range":  {sql: "max(%s) - min(%s)"},
	"median": {sql: "median(%s)", clickhouse: "quantileExactInclusive(0.5)(%s)"},
	"stddev": {sql: "stddev(%s)", clickhouse: "stddevSamp(%s)"},
	"largest": {
		sql: "max(%s, 2)", clickhouse: "arrayMap(x -> -x, groupArraySorted(2)(-%s))",
		value: "(coalesce(%[1]s[1], 0) + 2 * coalesce(%[1]s[2], 0) + len(%[1]s))",
	},
	"distinct":   {sql: "count(distinct %s)"},
	"list":       {sql: "list(%s)", value: "list_sum(list_transform(%s, lambda x: hash(x) %% 100003))"},
	"string_agg": {sql: "string_agg(%s, '|')", value: "list_sum(list_transform(string_split(%s, '|'), lambda x: hash(x) %% 100003))"},
}

// expression is the term in an engine's SQL.
func (t term) expression(engine string) string {
	f, ok := forms[t[0]]
	switch {
	case !ok:
		return fmt.Sprintf("%s(%s)", t[0], strings.Join(t[1:], ", "))
	case engine == "clickhouse" && f.clickhouse != "":
		f.sql = f.clickhouse
	}
	columns := make([]any, len(t)-1)
	for i, c := range t[1:] {
		columns[i] = c
	}
	return fmt.Sprintf(f.sql, columns...)
}

// value is what is compared of the term's result in a column.
func (t term) value(column string) string {
	if f := forms[t[0]]; f.value != "" {
		column = fmt.Sprintf(f.value, column)
	}
	return column + "::double"
}

// columns is the aggregates named a0, a1, … for a SELECT or for gagg -a.
func (q question) columns(engine string) string {
	var list []string
	for i, t := range q.aggs {
		list = append(list, fmt.Sprintf("%s as a%d", t.expression(engine), i))
	}
	return strings.Join(list, ", ")
}

// sql selects from {table}.
func (q question) sql(engine string) string {
	if q.real != nil {
		return q.real.sql(engine)
	}
	if len(q.by) == 0 {
		return fmt.Sprintf("select %s from {table}", q.columns(engine))
	}
	by := strings.Join(q.by, ", ")
	return fmt.Sprintf("select %s, %s from {table} group by %s", by, q.columns(engine), by)
}

// flags is what gagg is asked.
func (q question) flags() []string {
	if q.real != nil {
		return q.real.flags()
	}
	flags := []string{"-a", q.columns("gagg")}
	if len(q.by) > 0 {
		flags = append(flags, "-k", strings.Join(q.by, ","))
	}
	return flags
}

// settled is the question whose answer is compared.
func (q question) settled() question {
	if q.real != nil {
		q.real = q.real.settled()
	}
	return q
}

// pick returns the questions named in a list, or all of some sets for an empty one.
func pick(sets, list string) ([]question, error) {
	var all, out []question
	for _, set := range []string{"h2o", "clickbench", "tpch", "others", "trips", "payments", "readings", "commits", "functions"} {
		all = append(all, inSet(set)...)
	}
	if list == "" {
		for _, set := range splitList(sets) {
			some := inSet(set)
			if some == nil {
				return nil, fmt.Errorf("there is no set %q; want h2o, clickbench, tpch, others, trips, payments, readings, commits or functions", set)
			}
			out = append(out, some...)
		}
		return out, nil
	}
	all = append(all, questions...)
	for _, name := range splitList(list) {
		at := slices.IndexFunc(all, func(q question) bool { return q.name == name })
		if at < 0 {
			return nil, fmt.Errorf("there is no question %q", name)
		}
		out = append(out, all[at])
	}
	return out, nil
}

// inSet is the questions of a set; nil if there is none.
func inSet(set string) []question {
	switch set {
	case "h2o":
		return slices.DeleteFunc(slices.Clone(questions), func(q question) bool { return q.data != "" })
	case "clickbench":
		return clickbench
	case "tpch":
		return tpch
	case "others":
		return others
	case "trips":
		return trips
	case "payments":
		return payments
	case "readings":
		return readings
	case "commits":
		return commits
	case "functions":
		return functions
	}
	return nil
}
