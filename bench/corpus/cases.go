package main

import (
	"fmt"
	"path"
	"strings"

	"github.com/gagg-dev/gagg/internal/corpus"
)

const some = "count(*)"

// asked is queries by file. Files that are not here are asked for every column alone.
var asked = map[string][]corpus.Case{
	"duckdb_types": {
		{Keys: []string{"bool", "level"}, Aggs: []string{some, "sum(i64)", "sum(d18)", "avg(f64)", "sum(f32)", "max(ts_us)", "min(uuid)", "avg(d9)", "sum(u64)"}},
		{Keys: []string{"text"}, Aggs: []string{some, "sum(i16)"}, WhereParts: []corpus.Part{{Col: "day", Op: ">=", Value: "1970-02-01"}, {Col: "u8", Op: "<", Value: 200}}},
		{Keys: []string{"uuid"}, Aggs: []string{"min(tz)"}, WhereParts: []corpus.Part{{Col: "level", Op: "=", Value: "low"}}},
		{Keys: []string{"no such column"}, Aggs: []string{some}, Expect: "error"},
		{Keys: []string{"id"}, Aggs: []string{"sum(text)"}, Expect: "error"},
	},
	"duckdb_nulls": {
		{Keys: []string{"k"}, Aggs: []string{some, "count(rare)", "sum(rare)", "min(never)", "sum(never)", "max(no_text)", "avg(half)"}},
		{Keys: []string{"never", "no_text"}, Aggs: []string{some, "sum(half)"}},
		{Keys: []string{"late"}, Aggs: []string{some}, WhereParts: []corpus.Part{{Col: "half", Op: "IS NULL"}, {Col: "k", Op: "IS NOT NULL"}}},
	},
	"duckdb_keys":      {{Keys: []string{"k"}, Aggs: []string{some, "sum(v)", "min(v)"}}, {Keys: []string{"k", "v"}, Aggs: []string{some}}},
	"duckdb_text_keys": {{Keys: []string{"k"}, Aggs: []string{some, "sum(v)"}}},
	"duckdb_long_texts": {
		{Keys: []string{"k"}, Aggs: []string{some, "sum(n)"}, Mode: "sample"},
		{Aggs: []string{"count(k)", "min(k)", "min(v)", "count(v)"}},
	},
	"duckdb_one_value": {{Keys: []string{"k", "v"}, Aggs: []string{some, "sum(k)"}}},
	"duckdb_groups": {
		{Keys: []string{"k"}, Aggs: []string{some, "sum(v)", "max(name)"}},
		{Keys: []string{"name"}, Aggs: []string{some}, WhereParts: []corpus.Part{{Col: "name", Op: "=", Value: "name 13"}}},
		{Keys: []string{"name"}, Aggs: []string{some}, WhereParts: []corpus.Part{{Col: "name", Op: "=", Value: "no name"}}},
	},
	"duckdb_nested": {
		{Keys: []string{"k", "s.a"}, Aggs: []string{some, "max(s.in.b)", "sum(s.in.c)", "sum(last)"}},
		{Keys: []string{"l"}, Aggs: []string{some}, Expect: "error", Note: "a list is no key"},
		{Keys: []string{"s"}, Aggs: []string{some}, Expect: "error", Note: "nor is a struct"},
	},
	"duckdb_empty": {{Keys: []string{"k"}, Aggs: []string{some}}, {Aggs: []string{some, "min(v)"}}},
	"duckdb_special": {
		{Keys: []string{"d"}, Aggs: []string{some, "min(f)"}},
		{Keys: []string{"f", "s"}, Aggs: []string{some}},
		{Aggs: []string{"min(d)", "max(d)", "min(f)", "max(f)", "min(i)", "max(i)"}},
		{Keys: []string{"s"}, Aggs: []string{"sum(i)"}, Expect: "error_or_exact", Note: "a sum near the ends of int64: exact, or an error"},
		{Keys: []string{"id"}, Aggs: []string{"sum(i)"}, WhereParts: []corpus.Part{{Col: "i", Op: ">", Value: 9007199254740992}}},
	},
	"duckdb_union/": {
		{Keys: []string{"b"}, Aggs: []string{some, "sum(a)", "sum(c)", "min(id)"}, UnionByName: true},
		{Keys: []string{"a"}, Aggs: []string{some, "max(c)"}, UnionByName: true},
		{Keys: []string{"b"}, Aggs: []string{some, "sum(id)"}},
		{Keys: []string{"a"}, Aggs: []string{some}, Expect: "error", Note: "a column that a file lacks, without union by name"},
	},
	"duckdb_disagree/": {{Keys: []string{"v"}, Aggs: []string{some}, Expect: "error"}, {Keys: []string{"k"}, Aggs: []string{some}, Note: "types of columns that nobody asks for"}},
	"duckdb_hive/": {
		{Keys: []string{"day", "town"}, Aggs: []string{some, "sum(v)"}, Hive: true},
		{Keys: []string{"v"}, Aggs: []string{some, "min(town)", "max(day)"}, Hive: true},
		{Keys: []string{"town"}, Aggs: []string{some}, Hive: true, WhereParts: []corpus.Part{{Col: "day", Op: "=", Value: "2024-02-29"}}},
	},
	"clickhouse_nested": {{Keys: []string{"k", "t.a"}, Aggs: []string{some, "max(t.b)", "sum(n)"}}, {Keys: []string{"list"}, Aggs: []string{some}, Expect: "error"}},
	"arrowrs_nested":    {{Keys: []string{"s.in.b"}, Aggs: []string{some, "sum(s.a)", "sum(last)"}}},
	"odd_names_by_case": {{Keys: []string{"KEY"}, Aggs: []string{some, "sum(Key)"}}, {Keys: []string{"other"}, Aggs: []string{"sum(Key)", "sum(KEY)"}}},
	"odd_same_names":    {{Keys: []string{"Key"}, Aggs: []string{some}, Expect: "error"}, {Keys: []string{"other"}, Aggs: []string{some}}},
	"odd_decimals":      {{Keys: []string{"k"}, Aggs: []string{"sum(small)", "sum(middle)", "sum(few)", "sum(wide)", "sum(bytes)", "sum(wide_bytes)", "avg(bytes)"}}},
	"odd_empty_groups":  {{Keys: []string{"k"}, Aggs: []string{some, "sum(v)"}}},
}

// tables is how DuckDB says what a column of gagg is where names differ; %s is the file.
var tables = map[string]string{
	"duckdb_nested":     `(select *, s.a as "s.a", s."in".b as "s.in.b", s."in".c as "s.in.c" from %s)`,
	"arrowrs_nested":    `(select *, s.a as "s.a", s."in".b as "s.in.b", s."in".c as "s.in.c" from %s)`,
	"clickhouse_nested": `(select *, t.a as "t.a", t.b as "t.b" from %s)`,
}

// columns is the same of single columns: DuckDB gives a second name like another a number.
var columns = map[string]string{"odd_names_by_case KEY": "KEY_1"}

// cut is the ending of names of columns that nobody asks for: DuckDB cuts their nanoseconds to
// microseconds.
const cut = "[ns, UTC]"

// expectBad is what has to come of a bad file, where that is not an error.
var expectBad = map[string]string{
	"bomb_promised": "resource", "bomb": "error_or_exact", "no_text": "any_but_crash",
}

// stem is the name of a file without folder and extension.
func (f file) stem() string {
	name := strings.TrimPrefix(strings.TrimPrefix(f.name, "valid/"), "bad/")
	return strings.TrimSuffix(name, path.Ext(name))
}

// id is what the nth query on the file is called.
func (f file) id(n int) string {
	if f.isBad() {
		return "bad_" + f.stem()
	}
	return fmt.Sprintf("%s_%d", strings.ReplaceAll(strings.TrimSuffix(f.stem(), "/"), "/", "_"), n+1)
}

func (f file) isBad() bool { return strings.HasPrefix(f.name, "bad/") }
