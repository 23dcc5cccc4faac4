package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
)

// operators is the language of expressions.
var operators = slices.Concat(basics, regularExpressions, partsOfDates(), truncations())

// regularExpressions are those on texts; what they take is drawn from patterns that match some.
var regularExpressions = []operator{
	{name: "strlen", gives: integer, takes: "t", gagg: "strlen($0)", bound: within(0, 1e6)},
	{name: "regexp_matches", gives: boolean, takes: "t", gagg: "regexp_matches($0, $P)", draw: expression},
	{name: "regexp_matches", gives: boolean, takes: "t", gagg: "regexp_matches($0, $P, 'i')", draw: expression},
	{name: "regexp_full_match", gives: boolean, takes: "t", gagg: "regexp_full_match($0, $P)", draw: expression},
	{name: "regexp_extract", gives: text, takes: "t", gagg: "regexp_extract($0, $P)", draw: expression},
	{name: "regexp_extract", gives: text, takes: "t", gagg: "regexp_extract($0, '([a-h]+)([^a-h]*)', 2)"},
	{name: "regexp_replace", gives: text, takes: "t", gagg: "regexp_replace($0, $P, '<\\0>', 'g')", draw: expression},
	{name: "regexp_replace", gives: text, takes: "t", gagg: "regexp_replace($0, $P, 'é')", draw: expression},
}

func expression(g *generator, e *expr) bool {
	e.fill("$P", quote(pick(g.rng, "a", "^[a-d]+", "b(c|=)", "=+$", "(?i)A.", "^$", ".*", "[^a]", "é|p", `\w\W`, "x?", "(a|b)*c")))
	return true
}

// partsOfDates is the functions that give a part of a date, each for all kinds that have it.
func partsOfDates() (out []operator) {
	add := func(kinds string, names ...string) {
		for _, name := range names {
			for _, k := range kinds {
				out = append(out, operator{name: name, gives: integer, takes: string(k), gagg: name + "($0)", bound: within(-1e17, 1e17)})
			}
		}
	}
	add("asz", "century", "day", "dayofmonth", "dayofweek", "dayofyear", "decade", "era", "isodow", "isoyear", "millennium", "month", "quarter",
		"week", "weekofyear", "year", "yearweek", "weekday")
	add("sz", "epoch_ms", "epoch_us")
	add("szT", "hour", "microsecond", "millisecond", "minute", "second")
	for _, k := range "asz" {
		out = append(out,
			operator{name: "date_part", gives: integer, takes: string(k), gagg: "date_part($P, $0)", draw: part, bound: within(-1e17, 1e17)},
			operator{name: "extract", gives: integer, takes: string(k), gagg: "extract(dow from $0)", bound: within(0, 6)},
			operator{name: "epoch", gives: double, takes: string(k), gagg: "epoch($0)", bound: within(-1e12, 1e12)})
	}
	return out
}

func part(g *generator, e *expr) bool {
	e.fill("$P", quote(pick(g.rng, "year", "months", "doy", "isoyear", "y", "quarter", "century")))
	return true
}

// truncations is date_trunc, whose result is a timestamp.
func truncations() (out []operator) {
	for _, k := range "as" {
		out = append(out, operator{name: "date_trunc", gives: instant, takes: string(k), gagg: "date_trunc($P, $0)", duck: "date_trunc($P, $0)::timestamp", draw: truncation})
	}
	return append(out, operator{name: "date_trunc", gives: instantUTC, takes: "z", gagg: "date_trunc($P, $0)", draw: truncation})
}

func truncation(g *generator, e *expr) bool {
	e.perUnit = 6
	e.fill("$P", quote(pick(g.rng, "second", "minute", "hour", "day", "week", "month", "quarter", "year", "decade", "century", "isoyear", "millisecond")))
	return true
}

var functionRow = regexp.MustCompile("(?m)^\\| `([a-z_0-9]+)\\(")

// unasked is the functions of docs/semantics.md that no operator has: they are to get a line.
func unasked() ([]string, error) {
	page, err := os.ReadFile("docs/semantics.md")
	if err != nil {
		return nil, err
	}
	_, functions, _ := strings.Cut(string(page), "<!-- functions -->")
	functions, _, _ = strings.Cut(functions, "<!-- end of functions -->")
	var out []string
	for _, m := range functionRow.FindAllStringSubmatch(functions, -1) {
		if !slices.ContainsFunc(operators, func(o operator) bool { return o.name == m[1] }) {
			out = append(out, m[1])
		}
	}
	return out, nil
}
