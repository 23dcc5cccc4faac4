package corpus

import (
	"fmt"
	"strings"
)

// Case is a query on a file, or on a folder of files, and what a correct
// engine says. Names are as in the file, not quoted.
type Case struct {
	ID   string   `json:"id"`
	File string   `json:"file"` // from the corpus's folder
	Keys []string `json:"keys"` // none: one group
	// such as sum(c): c is all between the first and the last bracket
	Aggs        []string `json:"aggs"`
	WhereParts  []Part   `json:"where_parts,omitempty"`
	Multi       bool     `json:"multi_file,omitempty"`
	Hive        bool     `json:"hive,omitempty"`
	UnionByName bool     `json:"union_by_name,omitempty"`

	// exact, error, error_or_exact, any_but_crash or resource
	Expect string `json:"expect"`
	// from the corpus's folder; none: no answer is known
	ExpectedCSV string `json:"expected_csv,omitempty"`
	// full, or sample: the CSV has not all groups
	Mode     string   `json:"mode,omitempty"`
	KeyTypes []string `json:"key_types,omitempty"` // DuckDB's
	AggTypes []string `json:"agg_types,omitempty"`
	Groups   int      `json:"groups,omitempty"`
	RowsIn   int64    `json:"rows_in,omitempty"`
	// of a sample, by aggregate: its sum over all groups
	Totals map[string]string `json:"totals,omitempty"`
	Note   string            `json:"note,omitempty"`
}

// Part is a comparison; a row has to meet all of them.
type Part struct {
	Col   string `json:"col"`
	Op    string `json:"op"`
	Value any    `json:"value"` // a string, a json.Number, a bool; nil: the operator needs none
}

// By returns the keys as gagg reads them.
func (c *Case) By() []string {
	by := make([]string, len(c.Keys))
	for i, k := range c.Keys {
		by[i] = quoted(k)
	}
	return by
}

// Calls returns the aggregates as gagg reads them.
func (c *Case) Calls() []string {
	calls := make([]string, len(c.Aggs))
	for i, a := range c.Aggs {
		name, column := Argument(a)
		if column != "*" {
			column = quoted(column)
		}
		calls[i] = name + "(" + column + ")"
	}
	return calls
}

// Where returns the condition as gagg reads it; empty: there is none.
func (c *Case) Where() string {
	terms := make([]string, len(c.WhereParts))
	for i, p := range c.WhereParts {
		terms[i] = quoted(p.Col) + " " + p.Op
		switch v := p.Value.(type) {
		case nil:
		case string:
			terms[i] += " '" + strings.ReplaceAll(v, "'", "''") + "'"
		default:
			terms[i] += fmt.Sprint(" ", v)
		}
	}
	return strings.Join(terms, " and ")
}

// Argument takes an aggregate apart: sum and c of sum(c).
func Argument(call string) (name, column string) {
	name, rest, _ := strings.Cut(call, "(")
	return name, strings.TrimSuffix(rest, ")")
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
