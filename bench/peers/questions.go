package main

import (
	"fmt"
	"strings"
)

// question is a query of db-benchmark's group-by task, or one about data that
// is hard under a memory limit.
type question struct {
	name string
	data string // kind of bench/shapes; empty: db-benchmark's table
	by   []string
	aggs []term
}

// term is an aggregate: a function by the name that forms and peer.mjs know,
// and its columns.
type term []string

var questions = []question{
	{"q1", "", []string{"id1"}, []term{{"sum", "v1"}}},
	{"q2", "", []string{"id1", "id2"}, []term{{"sum", "v1"}}},
	{"q3", "", []string{"id3"}, []term{{"sum", "v1"}, {"avg", "v3"}}},
	{"q4", "", []string{"id4"}, []term{{"avg", "v1"}, {"avg", "v2"}, {"avg", "v3"}}},
	{"q5", "", []string{"id6"}, []term{{"sum", "v1"}, {"sum", "v2"}, {"sum", "v3"}}},
	{"q6", "", []string{"id4", "id5"}, []term{{"median", "v3"}, {"stddev", "v3"}}},
	{"q7", "", []string{"id3"}, []term{{"range", "v1", "v2"}}},
	{"q8", "", []string{"id6"}, []term{{"largest", "v3"}}},
	{"q9", "", []string{"id2", "id4"}, []term{{"corr", "v1", "v2"}}},
	{"q10", "", []string{"id1", "id2", "id3", "id4", "id5", "id6"}, []term{{"sum", "v3"}, {"count"}}},

	// Only asked by name, and of gagg and DuckDB.
	{"wide", "wide", []string{"k"}, []term{{"sum", "v"}, {"count"}}},
	{"zipf", "zipf", []string{"k"}, []term{{"sum", "v"}, {"count"}}},
	{"one", "one", []string{"k"}, []term{{"sum", "v"}, {"median", "v"}}},
	{"distinct", "distinct", nil, []term{{"distinct", "v"}}},
	{"list", "text", []string{"k"}, []term{{"list", "v"}}},
	{"string_agg", "text", []string{"k"}, []term{{"string_agg", "v"}}},
}

// form is how a term is written, with fmt's verbs for its columns, and what
// of its result is compared, with one for the result's column.
type form struct {
	sql        string
	clickhouse string // where it differs
	value      string // a double in DuckDB's SQL; empty: the result itself
}

// forms are the fastest in each engine for the same answer. ClickHouse's own
// median is a guess from a sample, or the upper one of two values in the
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
	if len(q.by) == 0 {
		return fmt.Sprintf("select %s from {table}", q.columns(engine))
	}
	by := strings.Join(q.by, ", ")
	return fmt.Sprintf("select %s, %s from {table} group by %s", by, q.columns(engine), by)
}

// pick returns the questions named in a list, db-benchmark's for an empty one.
func pick(list string) ([]question, error) {
	var out []question
	if list == "" {
		for _, q := range questions {
			if q.data == "" {
				out = append(out, q)
			}
		}
		return out, nil
	}
names:
	for name := range strings.SplitSeq(list, ",") {
		for _, q := range questions {
			if q.name == name {
				out = append(out, q)
				continue names
			}
		}
		return nil, fmt.Errorf("there is no question %q", name)
	}
	return out, nil
}
