package main

import (
	"fmt"
	"strconv"
	"strings"
)

// clauses is a question in the words that gagg's flags and SQL share.
type clauses struct {
	keys, aggs []string // each with "as name", but for keys that are columns
	where      string
	having     string
	order      string // names of keys and aggs, each with " desc" if wanted
	limit      int    // 0: all
	offset     int
}

// dialects is how engines write what gagg and DuckDB write otherwise. In ClickHouse
// a backslash in a text stands for itself only if doubled, and the sum behind an
// average overflows silently. Polars rounds products of decimals to the places
// of their factors.
var dialects = map[string]*strings.Replacer{
	"clickhouse": strings.NewReplacer("strlen(", "length(", `\`, `\\`, "avg(UserID)", "avg(toFloat64(UserID))"),
	"polars": strings.NewReplacer("strlen(", "octet_length(",
		"l_extendedprice * l_discount", "l_extendedprice::double * l_discount::double", "l_extendedprice * ", "l_extendedprice::double * ",
		"(1 - l_discount)", "(1 - l_discount::double)", "(1 + l_tax)", "(1 + l_tax::double)"),
}

// flags is what gagg is asked.
func (c *clauses) flags() []string {
	var flags []string
	add := func(name, value string) {
		if value != "" && value != "0" {
			flags = append(flags, name, value)
		}
	}
	add("-k", strings.Join(c.keys, ", "))
	add("-a", strings.Join(c.aggs, ", "))
	add("--where", c.where)
	add("--having", c.having)
	add("--order-by", c.order)
	add("--limit", strconv.Itoa(c.limit))
	add("--offset", strconv.Itoa(c.offset))
	return flags
}

// sql selects from {table}. Keys are grouped by their places: an expression
// need not be written twice.
func (c *clauses) sql(engine string) string {
	columns := strings.Join(append(append([]string{}, c.keys...), c.aggs...), ", ")
	sql := "select " + columns + " from {table}"
	add := func(word, value string) {
		if value != "" && value != "0" {
			sql += " " + word + " " + value
		}
	}
	var places []string
	for i := range c.keys {
		places = append(places, strconv.Itoa(i+1))
	}
	add("where", c.where)
	add("group by", strings.Join(places, ", "))
	add("having", c.having)
	add("order by", c.order)
	add("limit", strconv.Itoa(c.limit))
	add("offset", strconv.Itoa(c.offset))
	if dialect := dialects[engine]; dialect != nil {
		return dialect.Replace(sql)
	}
	return sql
}

// settled is the question with one answer in one order: where equals come in
// any order, or a limit cuts what has none, the keys decide.
func (c *clauses) settled() *clauses {
	if c.order == "" && c.limit == 0 {
		return c
	}
	s := *c
	for _, key := range c.keys {
		if s.order != "" {
			s.order += ", "
		}
		s.order += nameOf(key)
	}
	return &s
}

// command is the question as it is typed.
func (c *clauses) command(file string) string {
	words := []string{"gagg"}
	for _, flag := range append(c.flags(), file) {
		if strings.ContainsAny(flag, " '*()<>%$\\") {
			flag = "'" + strings.ReplaceAll(flag, "'", `'\''`) + "'"
		}
		words = append(words, flag)
	}
	return strings.Join(words, " ")
}

// nameOf is what a key or aggregate is called in the answer.
func nameOf(term string) string {
	if at := strings.LastIndex(term, " as "); at >= 0 {
		return term[at+len(" as "):]
	}
	return term
}

// fingerprintSQL is what DuckDB is asked about the answer in a file: see
// fingerprint. A value that is no number counts by its hash. Where rows have an
// order, their places are summed up too.
func (c *clauses) fingerprintSQL(path string) string {
	keys := []string{"0"}
	for _, key := range c.keys {
		keys = append(keys, nameOf(key)+"::varchar")
	}
	hash := "hash(" + strings.Join(keys, ", ") + ")"
	sql := "select count(*)::varchar, bit_xor(" + hash + ")::varchar"
	values := []string{}
	for _, agg := range c.aggs {
		name := nameOf(agg)
		values = append(values, fmt.Sprintf("coalesce(try_cast(%[1]s::varchar as double), (hash(%[1]s::varchar) %% 100003)::double)", name))
	}
	if c.order != "" {
		values = append(values, "file_row_number::double")
	}
	for _, value := range values {
		weighted := fmt.Sprintf("%s * (1 + %s %% 1009)", value, hash)
		for _, sum := range []string{value, weighted, "abs(" + value + ")", "abs(" + weighted + ")"} {
			sql += ", coalesce(sum(" + sum + "), 0)" // there may be no rows
		}
	}
	return sql + " from read_parquet('" + path + "', file_row_number = true)"
}
