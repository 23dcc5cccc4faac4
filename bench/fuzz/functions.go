package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
)

// operators is the language of expressions.
var operators = slices.Concat(basics, texts, roundings, regularExpressions, partsOfDates(), truncations(), intervals(), codes)

// texts is functions of texts beside those of basics.
var texts = []operator{
	{name: "concat", gives: text, takes: "tti", gagg: "concat($0, '-', $1, $2)"},
	{name: "contains", gives: boolean, takes: "t", gagg: "contains($0, $P)", draw: piece},
	{name: "contains", gives: boolean, takes: "tt", gagg: "contains($0, $1)"},
	{name: "starts_with", gives: boolean, takes: "t", gagg: "starts_with($0, $P)", draw: piece},
	{name: "ends_with", gives: boolean, takes: "t", gagg: "ends_with($0, $P)", draw: piece},
	{name: "left", gives: text, takes: "t", gagg: "left($0, $P)", draw: place},
	{name: "right", gives: text, takes: "t", gagg: "right($0, $P)", draw: place},
	{name: "substring", gives: text, takes: "t", gagg: "substring($0, $P)", draw: place},
	{name: "substring", gives: text, takes: "t", gagg: "substring($0, 2, $P)", draw: place},
	{name: "split_part", gives: text, takes: "t", gagg: "split_part($0, '=', $P)", draw: place},
	{name: "ltrim", gives: text, takes: "t", gagg: "ltrim($0, 'abc')"},
	{name: "rtrim", gives: text, takes: "t", gagg: "rtrim($0, '=')"},
	{name: "trim", gives: text, takes: "t", gagg: "trim($0)"},
	{name: "trim", gives: text, takes: "t", gagg: "trim($0, 'a= ')"},
	{name: "replace", gives: text, takes: "t", gagg: "replace($0, $P, 'é')", draw: piece},
	{name: "reverse", gives: text, takes: "t", gagg: "reverse($0)"},
	{name: "lpad", gives: text, takes: "t", gagg: "lpad($0, 4, 'éa')"},
	{name: "rpad", gives: text, takes: "t", gagg: "rpad($0, 7, '=')"},
	{name: "strpos", gives: integer, takes: "t", gagg: "strpos($0, $P)", draw: piece, bound: within(0, 1e6)},
	{name: "greatest", gives: anything, takes: "xx", gagg: "greatest($0, $1)", bound: fewDigits},
	{name: "least", gives: anything, takes: "xx", gagg: "least($0, $1)", bound: fewDigits},
}

func piece(g *generator, e *expr) bool {
	e.fill("$P", quote(pick(g.rng, "a", "b", "=", "ab", "é", "", "c=")))
	return true
}

func place(g *generator, e *expr) bool {
	e.fill("$P", pick(g.rng, "0", "1", "2", "5", "1000", "(-1)", "(-3)"))
	return true
}

// roundings is functions of numbers. Functions of libm may differ in their last bit, and are
// rounded to some places.
var roundings = []operator{
	{name: "ceil", gives: double, takes: "D", gagg: "ceil($0)"},
	{name: "floor", gives: double, takes: "D", gagg: "floor($0)"},
	{name: "trunc", gives: double, takes: "D", gagg: "trunc($0)"},
	{name: "round", gives: double, takes: "D", gagg: "round($0)"},
	{name: "ceil", gives: integer, takes: "i", gagg: "ceil($0)", duck: "$0::bigint", why: wholeOfIntegers},
	{name: "floor", gives: integer, takes: "i", gagg: "floor($0)", duck: "$0::bigint", why: wholeOfIntegers},
	{name: "round", gives: integer, takes: "i", gagg: "round($0, -1)", duck: "round($0::bigint, -1)", bound: rounded, why: roundOfIntegers},
	{name: "ceil", gives: decimals, takes: "d", gagg: "ceil($0)", bound: wholeDecimal},
	{name: "floor", gives: decimals, takes: "d", gagg: "floor($0)", bound: wholeDecimal},
	{name: "round", gives: decimals, takes: "d", gagg: "round($0)", bound: wholeDecimal},
	{name: "sign", gives: integer, takes: "i", gagg: "sign($0)", bound: within(-1, 1)},
	{name: "sign", gives: integer, takes: "D", gagg: "sign($0)", bound: within(-1, 1)},
	{name: "sqrt", gives: double, takes: "D", gagg: "sqrt(abs($0))", bound: ordinary},
	{name: "ln", gives: double, takes: "D", gagg: "round(ln(abs($0) + 1e0), 6)", bound: ordinary},
	{name: "log", gives: double, takes: "D", gagg: "round(log(abs($0) + 1e0), 6)", bound: ordinary},
	{name: "log10", gives: double, takes: "D", gagg: "round(log10(abs($0) + 1e0), 6)", bound: ordinary},
	{name: "log2", gives: double, takes: "i", gagg: "round(log2(abs($0 / 2) + 1e0), 6)", bound: ordinary},
	{name: "exp", gives: double, takes: "D", gagg: "round(exp($0), 3)", bound: smallExponent},
	{name: "power", gives: double, takes: "D", gagg: "round(power($0, 2), 3)", bound: smallExponent},
}

// rounded is a number that may become larger by a rounding to tens.
func rounded(e *expr) bool { return e.bounds(e.kids[0].lo-10, e.kids[0].hi+10) }

func wholeDecimal(e *expr) bool {
	e.scale = 0
	return e.kids[0].digits <= 18 && e.digits > e.kids[0].scale && e.bounds(e.kids[0].lo-1, e.kids[0].hi+1)
}

// ordinary is neither NaN nor an infinity, nor near their range.
func ordinary(e *expr) bool {
	return !e.kids[0].special && e.kids[0].magnitude() < 1e100 && e.bounds(0, 1e60)
}

func smallExponent(e *expr) bool {
	return !e.kids[0].special && e.kids[0].magnitude() < 15 && e.bounds(0, 1e7)
}

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

// inMicroseconds makes DuckDB take parts of the microsecond that a timestamp in nanoseconds lies
// in.
const inMicroseconds = "(make_timestamp(epoch_ns($0) // 1000 - (epoch_ns($0) % 1000 < 0)::int))"

// partsOfDates is the functions that give a part of a date, each for all kinds that have it.
func partsOfDates() (out []operator) {
	add := func(kinds string, names ...string) {
		for _, name := range names {
			for _, k := range kinds {
				o := operator{name: name, gives: integer, takes: string(k), gagg: name + "($0)", bound: within(-1e18, 1e18)}
				if kind(k) == instantNs && !strings.HasPrefix(name, "epoch_") && name != "nanosecond" {
					o.duck, o.why = name+inMicroseconds, partsOfNanoseconds
				}
				out = append(out, o)
			}
		}
	}
	add("aszn", "century", "day", "dayofmonth", "dayofweek", "dayofyear", "decade", "era", "isodow", "isoyear", "millennium", "month", "quarter",
		"week", "weekofyear", "year", "yearweek", "weekday")
	add("szn", "epoch_ms", "epoch_us")
	add("n", "epoch_ns") // of other timestamps DuckDB's fails before 1677 and after 2262
	add("sn", "nanosecond")
	add("sznT", "hour", "microsecond", "millisecond", "minute", "second")
	for _, k := range "asz" {
		out = append(out,
			operator{name: "date_part", gives: integer, takes: string(k), gagg: "date_part($P, $0)", draw: part, bound: within(-1e17, 1e17)},
			operator{name: "extract", gives: integer, takes: string(k), gagg: "extract(dow from $0)", bound: within(0, 6)})
	}
	for _, k := range "as" { // DuckDB's of a timestamp in UTC is not always the nearest double
		out = append(out, operator{name: "epoch", gives: double, takes: string(k), gagg: "epoch($0)", bound: within(-1e12, 1e12)})
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

// ownResults are functions whose results are gagg's own.
var ownResults = []string{"hash", "typeof", "now", "today"}

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
		if !slices.Contains(ownResults, m[1]) && !slices.ContainsFunc(operators, func(o operator) bool { return o.name == m[1] }) {
			out = append(out, m[1])
		}
	}
	return out, nil
}
