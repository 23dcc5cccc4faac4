package main

import (
	"slices"
	"strings"
)

// rule is how a value of gagg's is compared with DuckDB's.
type rule int

const (
	exactly    rule = iota // floats to oracle.Tolerance of the magnitude, the rest exactly
	squared                // the squares are: standard deviations
	scaled                 // gagg's, times a power of ten, is DuckDB's whole number
	counted                // to 5 %
	between256             // between DuckDB's value and the second, or 1/256 beside
)

// aggregate is an aggregate function. In texts, $0 and $1 are its arguments, $F DuckDB's filter,
// $N that filter with "$0 is not NULL" added, and $P a parameter. To add one, add a line.
type aggregate struct {
	name  string // as `gagg --help` has it
	takes []string
	gagg  string
	duck  string // "": the same, with $F
	// what the error of a float is relative to: SQL; "": itself
	large string
	other string                         // a second value that rule needs: SQL
	gives kind                           // anything: that of $0; 0: of no use inside of expressions
	rule  rule                           // see there
	fits  func(*generator, []*expr) bool // nil: always
	param func(*generator, *output)      // fills in $P and what hangs together with it
	why   difference                     // where duck says something else
}

const (
	numbers  = "iudfD"
	temporal = "asTzn"
)

const (
	sumOfAbsolutes = "sum(abs($0::double)) filter (where isfinite($0::double) and $C)"
	meanAbsolute   = "avg(abs($0::double)) filter (where isfinite($0::double) and $C)"
	largest        = "max(abs($0::double)) filter (where isfinite($0::double) and $C)"
	meanSquare     = "2 * avg($0::double * $0::double) filter (where isfinite($0::double) and $C)"
	finite         = "case when bool_or(not isfinite($0::double)) $F then 'nan'::double else NAME($0::double) filter (where isfinite($0::double) and $C) end"
	both           = "$0 is not null and $1 is not null and $C"
	spread         = "sqrt(avg($0::double ** 2) filter (where " + both + ") * avg($1::double ** 2) filter (where " + both + "))"
)

// conditioned is what the error of a number around 1 is relative to; infinite if no digit of the
// number is sure.
func conditioned(by string) string {
	return "case when " + by + " >= 1e9 then 'inf' else " + by + " end"
}

// moment is a moment of one argument: an infinity makes it NaN, where DuckDB fails.
func moment(name string, r rule) aggregate {
	duck := strings.ReplaceAll(finite, "NAME", name)
	duck = "case when count($0) $F > 1 then " + duck + " else " + name + "(0 * ($0 is null)::int) filter (where $0 is not null and $C) end"
	return aggregate{name: name, takes: []string{numbers}, gagg: name + "($0)", duck: duck, large: meanSquare, rule: r, fits: below(1e100), why: momentsOfInfinities}
}

// varianceX is that of $1, and steepness by how much rounding of its values grows in it.
const (
	varianceX = "var_pop($1::double) filter (where " + both + ")"
	steepness = "(avg($1::double ** 2) filter (where " + both + ") / " + varianceX + ")"
)

// regression is a parameter of the line through points. Where all are above each other it is NULL.
func regression(signature, large string) aggregate {
	name, _, _ := strings.Cut(signature, "(")
	return aggregate{
		name: signature, takes: []string{"iu", "iu"}, gagg: name + "($0, $1)", fits: plainNumbers, why: slopeOfNothing,
		duck:  "case when count(distinct $1) filter (where " + both + ") > 1 then " + name + "($0, $1) $F end",
		large: "case when count(distinct $1) filter (where " + both + ") > 1 then " + large + " else 1 end",
	}
}

var aggregates = []aggregate{
	{name: "count(*)", gagg: "count(*)", gives: integer},
	{name: "count(x)", takes: []string{everyKind}, gagg: "count($0)", gives: integer},
	{name: "sum", takes: []string{"ib"}, gagg: "sum($0)", duck: "sum($0::bigint) $F", why: sumOfIntegers},
	{name: "sum", takes: []string{"u"}, gagg: "sum($0)", duck: "sum($0::hugeint) $F", why: sumOfIntegers},
	{name: "sum", takes: []string{"d"}, gagg: "sum($0)", fits: withinDigits, why: sumBeyondDigits},
	{name: "sum", takes: []string{"fD"}, gagg: "sum($0)", large: sumOfAbsolutes, fits: below(1e290)},
	{name: "sum(distinct x)", takes: []string{"i"}, gagg: "sum(distinct $0)", duck: "sum(distinct $0::bigint) $F", why: sumOfIntegers},
	{name: "sum(distinct x)", takes: []string{"d"}, gagg: "sum(distinct $0)", fits: withinDigits, why: sumBeyondDigits},
	{name: "sum(distinct x)", takes: []string{"fD"}, gagg: "sum(distinct $0)", large: sumOfAbsolutes, fits: below(1e290)},
	{name: "avg(distinct x)", takes: []string{numbers}, gagg: "avg(distinct $0)", large: sumOfAbsolutes, fits: summable, why: meanOfWide},
	{name: "mean", takes: []string{numbers}, gagg: "mean($0)", duck: "avg($0) $F", large: meanAbsolute, fits: summable},
	{name: "avg", takes: []string{numbers}, gagg: "avg($0)", large: meanAbsolute, fits: summable, why: meanOfWide},
	{name: "min", takes: []string{everyKind}, gagg: "min($0)", gives: anything},
	{name: "max", takes: []string{everyKind}, gagg: "max($0)", gives: anything},
	moment("var_samp", exactly), moment("var_pop", exactly), moment("stddev", squared), moment("stddev_samp", squared),
	moment("stddev_pop", squared), moment("variance", exactly),
	{name: "covar_samp(x,y)", takes: []string{numbers, numbers}, gagg: "covar_samp($0, $1)", large: "2 * " + spread, fits: plainNumbers, why: covarianceSteps},
	{name: "covar_pop(x,y)", takes: []string{numbers, numbers}, gagg: "covar_pop($0, $1)", large: spread, fits: plainNumbers, why: covarianceSteps},
	{
		name: "corr(x,y)", takes: []string{numbers, numbers}, gagg: "corr($0, $1)", fits: plainNumbers, why: covarianceSteps,
		large: conditioned(spread + " / stddev_pop($0::double) filter (where " + both + ") / stddev_pop($1::double) filter (where " + both + ")"),
	},
	{
		name: "skewness", takes: []string{numbers}, gagg: "skewness($0)", fits: plainNumbers, why: momentsSteps,
		large: conditioned("avg(abs($0::double) ** 3) $F / stddev_pop($0::double) $F ** 3"),
	},
	{
		name: "kurtosis", takes: []string{numbers}, gagg: "kurtosis($0)", fits: plainNumbers, why: momentsSteps,
		large: conditioned("10 * avg($0::double ** 4) $F / stddev_pop($0::double) $F ** 4"),
	},
	{
		name: "product", takes: []string{numbers}, gagg: "product($0)", duck: "product($0::double) $F", why: productOnTheWay,
		large: "case when sum(abs(log10(nullif(abs($0::double), 0)))) filter (where $C) > 300 then 'inf'::double end", fits: plainNumbers,
	},
	{name: "geomean(x)", takes: []string{"iu"}, gagg: "geomean(abs($0::double) + 1)", duck: "exp(avg(ln(abs($0::double) + 1)) $F)", large: "0", why: macros},
	{
		name: "weighted_avg(x,w)", takes: []string{"i", "u"}, gagg: "weighted_avg($0::double, $1::double + 1)", large: largest, why: macros,
		duck: "sum($0::double * ($1::double + 1)) $F / sum(case when $0 is not null then $1::double + 1 end) $F",
	},
	{name: "count_if(x)", takes: []string{"b"}, gagg: "count_if($0)", duck: "coalesce(count_if($0) $F, 0)", gives: integer, why: countOfNothing},
	{name: "bool_and", takes: []string{"b"}, gagg: "bool_and($0)", gives: boolean},
	{name: "bool_or", takes: []string{"b"}, gagg: "bool_or($0)", gives: boolean},
	{name: "bit_and", takes: []string{"iu"}, gagg: "bit_and($0)"},
	{name: "bit_or", takes: []string{"iu"}, gagg: "bit_or($0)"},
	{name: "bit_xor", takes: []string{"iu"}, gagg: "bit_xor($0)"},
	{name: "first", takes: []string{everyKind}, gagg: "first($0)", duck: "first($0) $N", why: firstPassesOverNull},
	{name: "last", takes: []string{everyKind}, gagg: "last($0)", duck: "last($0) $N", why: firstPassesOverNull},
	{name: "any_value", takes: []string{everyKind}, gagg: "any_value($0)"},
	{name: "arg_min(a,b)", takes: []string{everyKind, everyKind}, gagg: "arg_min($0, $1)"},
	{name: "arg_max(a,b)", takes: []string{everyKind, everyKind}, gagg: "arg_max($0, $1)"},
	{name: "count(distinct x)", takes: []string{everyKind}, gagg: "count(distinct $0)", gives: integer},
	{name: "min", takes: []string{everyKind}, gagg: "min(distinct $0)"},
	{name: "median", takes: []string{"iuD"}, gagg: "median($0)", large: largest, fits: noSpecial},
	{name: "median", takes: []string{"f"}, gagg: "median($0)", duck: "(median($0::double) $F)::float", large: largest, fits: noSpecial, why: quantileOfFloat},
	{name: "median", takes: []string{"d" + temporal}, gagg: "median($0)", duck: "ROUNDED(list_sort(list(WHOLE) $N), 1, 2)", rule: scaled, param: exactPlace, fits: placed, why: exactQuantiles},
	{name: "median", takes: []string{"tBb"}, gagg: "median($0)", duck: "place_disc(list_sort(list($0) $N), 1, 2)", why: exactQuantiles},
	{name: "quantile(x,p)", takes: []string{"iuD"}, gagg: "quantile($0, $P)", duck: "quantile_cont($0, $P) $F", large: largest, fits: noSpecial, param: share, why: quantileInterpolates},
	{name: "quantile(x,p)", takes: []string{"f"}, gagg: "quantile($0, $P)", duck: "(quantile_cont($0::double, $P) $F)::float", large: largest, fits: noSpecial, param: share, why: quantileOfFloat},
	{name: "quantile(x,p)", takes: []string{"d" + temporal}, gagg: "quantile($0, $P)", duck: "ROUNDED(list_sort(list(WHOLE) $N), $T, 100)", rule: scaled, param: exactPlace, fits: placed, why: exactQuantiles},
	{name: "quantile_disc(x,p)", takes: []string{everyKind}, gagg: "quantile_disc($0, $P)", duck: "place_disc(list_sort(list($0) $N), $T, 100)", param: share, why: exactQuantiles},
	{
		name: "quantile_disc(x,p)", takes: []string{everyKind}, gagg: "quantile_disc($0, [0.75, $P])", param: share, why: exactQuantiles,
		duck: "case when count($0) $F > 0 then [place_disc(list_sort(list($0) $N), 75, 100), place_disc(list_sort(list($0) $N), $T, 100)] end",
	},
	{name: "approx_top_k(x,k)", takes: []string{everyKind}, gagg: "approx_top_k($0, 1)", duck: "case when count($0) $F > 0 then [mode($0) $F] end", fits: noSpecial, why: exactTop},
	{name: "sem(x)", takes: []string{"iu"}, gagg: "sem($0)", duck: "sem($0::double) $F", large: meanAbsolute, fits: plainNumbers},
	{name: "fsum(x)", takes: []string{"D"}, gagg: "fsum($0)", large: sumOfAbsolutes, fits: finiteSum, why: kahanOfInfinities},
	{name: "favg(x)", takes: []string{"D"}, gagg: "favg($0)", large: meanAbsolute, fits: finiteSum, why: kahanOfInfinities},
	{name: "regr_count(y,x)", takes: []string{"iuD", "iuD"}, gagg: "regr_count($0, $1)", gives: integer},
	{name: "regr_avgx(y,x)", takes: []string{"iu", "iu"}, gagg: "regr_avgx($0, $1)", large: "avg(abs($1::double)) filter (where " + both + ")"},
	{name: "regr_avgy(y,x)", takes: []string{"iu", "iu"}, gagg: "regr_avgy($0, $1)", large: "avg(abs($0::double)) filter (where " + both + ")"},
	{name: "regr_sxx(y,x)", takes: []string{"iu", "iu"}, gagg: "regr_sxx($0, $1)", large: "sum($1::double ** 2) filter (where " + both + ")"},
	{name: "regr_syy(y,x)", takes: []string{"iu", "iu"}, gagg: "regr_syy($0, $1)", large: "sum($0::double ** 2) filter (where " + both + ")"},
	{name: "regr_sxy(y,x)", takes: []string{"iu", "iu"}, gagg: "regr_sxy($0, $1)", large: "count(*) filter (where " + both + ") * " + spread, fits: plainNumbers, why: covarianceSteps},
	regression("regr_slope(y,x)", spread+" / "+varianceX+" * "+steepness),
	regression("regr_intercept(y,x)", spread+" / "+varianceX+" * "+steepness+" * (1 + avg(abs($1::double)) filter (where "+both+")) + avg(abs($0::double)) filter (where "+both+")"),
	regression("regr_r2(y,x)", conditioned("10 * "+steepness+" * avg($0::double ** 2) filter (where "+both+") / var_pop($0::double) filter (where "+both+")")),
	{name: "mad", takes: []string{"iuD"}, gagg: "mad($0)", duck: "mad($0::double) $F", large: largest, fits: noSpecial, why: madOfNarrow},
	{name: "mode", takes: []string{everyKind}, gagg: "mode($0)", fits: noSpecial, why: histogramOfNaN},
	{name: "entropy", takes: []string{everyKind}, gagg: "entropy($0)", duck: "case when count($0) $F > 0 then entropy($0) $F end", large: "10", fits: noSpecial, why: entropyOfNothing},
	{name: "list", takes: []string{everyKind}, gagg: "list($0)", duck: "list($0) $N", why: listPassesOverNull},
	{name: "list", takes: []string{everyKind}, gagg: "array_agg($0)", duck: "list($0) $N", why: listPassesOverNull},
	{name: "string_agg(x,sep)", takes: []string{"tib"}, gagg: "string_agg($0, $P)", duck: "string_agg($0::varchar, $P) $F", param: separator},
	{name: "list", takes: []string{everyKind, everyKind}, gagg: "list($0 order by $1)", duck: "list($0 order by $1, $0) $N", fits: varying, why: orderOfEqual},
	{name: "list", takes: []string{everyKind, everyKind}, gagg: "list($0 order by $1 desc nulls first)", duck: "list($0 order by $1 desc nulls first, $0) $N", fits: varying, why: orderOfEqual},
	{name: "list", takes: []string{everyKind}, gagg: "list(distinct $0 order by $0 desc)", duck: "list(distinct $0 order by $0 desc) $N", fits: varying, why: listPassesOverNull},
	{name: "string_agg(x,sep)", takes: []string{"tib", everyKind}, gagg: "string_agg($0, $P order by $1 desc)", duck: "string_agg($0::varchar, $P order by $1 desc, $0::varchar) $F", param: separator, fits: varying, why: orderOfEqual},
	{name: "arg_min(a,b)", takes: []string{everyKind, everyKind}, gagg: "arg_min($0, $1, $P)", duck: "(list($0 order by $1, $0) filter (where " + both + "))[1:$P]", param: few, fits: varying, why: orderOfEqual},
	{name: "arg_max(a,b)", takes: []string{everyKind, everyKind}, gagg: "arg_max($0, $1, $P)", duck: "(list($0 order by $1 desc, $0) filter (where " + both + "))[1:$P]", param: few, fits: varying, why: orderOfEqual},
	{name: "min(x,n)", takes: []string{everyKind}, gagg: "min($0, $P)", param: few},
	{name: "max(x,n)", takes: []string{everyKind}, gagg: "max($0, $P)", param: few},
	{name: "histogram", takes: []string{everyKind}, gagg: "histogram($0)", fits: noSpecial, why: histogramOfNaN},
	{name: "approx_count_distinct", takes: []string{everyKind}, gagg: "approx_count_distinct($0)", duck: "count(distinct $0) $F", rule: counted, why: approximate},
	{
		name: "approx_quantile(x,p)", takes: []string{numbers}, gagg: "approx_quantile($0, $P)", rule: between256, fits: noSpecial, param: share, why: approximate,
		duck: "place_below(list_sort(list($0::double) $N), $T, 100)", other: "place_above(list_sort(list($0::double) $N), $T, 100)",
	},
}

// varying is operands none of which is a constant, by which DuckDB does not order.
func varying(g *generator, kids []*expr) bool {
	for _, e := range kids {
		if !e.varies() {
			return false
		}
	}
	return noSpecial(g, kids)
}

// varies reports whether there is a column in e.
func (e *expr) varies() bool {
	return len(e.kids) == 0 && !e.fixed || slices.ContainsFunc(e.kids, (*expr).varies)
}
