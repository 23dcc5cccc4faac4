package main

import (
	"fmt"
	"strings"
)

// question is a query of db-benchmark's group-by task.
type question struct {
	name string
	by   []string
	aggs []term
}

// term is an aggregate: a function by the name that peer.mjs knows, and its
// columns.
type term []string

// The questions that gagg answers; q6 (median, standard deviation) and q8
// (the two largest values of each group) wait for these aggregates.
var questions = []question{
	{"q1", []string{"id1"}, []term{{"sum", "v1"}}},
	{"q2", []string{"id1", "id2"}, []term{{"sum", "v1"}}},
	{"q3", []string{"id3"}, []term{{"sum", "v1"}, {"avg", "v3"}}},
	{"q4", []string{"id4"}, []term{{"avg", "v1"}, {"avg", "v2"}, {"avg", "v3"}}},
	{"q5", []string{"id6"}, []term{{"sum", "v1"}, {"sum", "v2"}, {"sum", "v3"}}},
	{"q7", []string{"id3"}, []term{{"range", "v1", "v2"}}},
	{"q9", []string{"id2", "id4"}, []term{{"corr", "v1", "v2"}}},
	{"q10", []string{"id1", "id2", "id3", "id4", "id5", "id6"}, []term{{"sum", "v3"}, {"count"}}},
}

// expression is the term in the SQL that all engines share.
func (t term) expression() string {
	switch t[0] {
	case "count":
		return "count(*)"
	case "range":
		return fmt.Sprintf("max(%s) - min(%s)", t[1], t[2])
	}
	return fmt.Sprintf("%s(%s)", t[0], strings.Join(t[1:], ", "))
}

// columns is the aggregates named a0, a1, … for a SELECT or for gagg -a.
func (q question) columns() string {
	var list []string
	for i, t := range q.aggs {
		list = append(list, fmt.Sprintf("%s as a%d", t.expression(), i))
	}
	return strings.Join(list, ", ")
}

// sql selects from {table}.
func (q question) sql() string {
	by := strings.Join(q.by, ", ")
	return fmt.Sprintf("select %s, %s from {table} group by %s", by, q.columns(), by)
}

// pick returns the questions named in a list, all for an empty one.
func pick(list string) ([]question, error) {
	if list == "" {
		return questions, nil
	}
	var out []question
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
