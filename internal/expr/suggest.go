package expr

import (
	"slices"
	"strings"

	"github.com/gagg-dev/gagg/internal/spelling"
)

// elsewhere is functions and aggregates as other systems call them, in lower case: SQL engines,
// pandas, Spark, ClickHouse. Beside each stands what to write here, a name or a text with
// arguments.
var elsewhere = map[string]string{
	"any": "any_value", "anylast": "last", "approx_distinct": "approx_count_distinct", "average": "avg", "charindex": "strpos",
	"collect_list": "list", "concat_agg": "string_agg", "date_format": "strftime", "dateadd": "date_add", "every": "bool_and",
	"first_value": "first", "format_datetime": "strftime", "formatdatetime": "strftime", "from_unixtime": "to_timestamp",
	"get_json_object": "json_extract_string", "grouparray": "list", "json_query": "json_extract", "json_value": "json_extract_string",
	"last_value": "last", "mean_value": "avg", "mid": "substring", "ndv": "approx_count_distinct", "nunique": "approx_count_distinct",
	"nvl": "coalesce", "parse_datetime": "strptime", "parsedatetime": "strptime", "percentile": "quantile",
	"percentile_approx": "approx_quantile", "pos": "strpos", "quantileexact": "quantile", "regexp_like": "regexp_matches",
	"rlike": "regexp_matches", "some": "bool_or", "std": "stddev", "startswith": "starts_with", "endswith": "ends_with",
	"to_char": "strftime", "to_date": "strptime", "topk": "approx_top_k", "total": "sum", "tounixtimestamp": "epoch",
	"uniq": "approx_count_distinct", "unix_timestamp": "epoch", "var": "var_samp", "varp": "var_pop", "stdev": "stddev", "stdevp": "stddev_pop",
	"maximum": "max", "minimum": "min", "tolower": "lower", "toupper": "upper", "totimestamp": "to_timestamp", "lengthb": "octet_length",

	"iff": "if(c, a, b)", "iif": "if(c, a, b)", "decode": "case x when a then b … else c end", "nvl2": "case when x is not null then a else b end",
	"isna": "x is null", "is_null": "x is null", "isnull": "x is null", "notna": "x is not null", "is_not_null": "x is not null", "isnotnull": "x is not null",
	"locate": "strpos(s, part), with the part behind the text", "initcap": "upper(left(s, 1)) || lower(substr(s, 2))",
	"toyear": "year(t)", "tomonth": "month(t)", "tohour": "hour(t)", "todate": "x::date", "todatetime": "x::timestamp", "tostring": "x::string",
	"toint32": "x::int32", "toint64": "x::int64", "tofloat64": "x::double", "str": "x::string", "convert": "cast(x as type)",
	"to_number": "x::double", "to_varchar": "x::string", "safe_cast": "try_cast(x as type)", "safe_divide": "x / y, which is NULL for y = 0",
	"tostartofhour": "date_trunc('hour', t)", "tostartofday": "date_trunc('day', t)", "tostartofweek": "date_trunc('week', t)",
	"tostartofmonth": "date_trunc('month', t)", "tostartofyear": "date_trunc('year', t)", "timestamp_trunc": "date_trunc('hour', t)",
	"toyyyymm": "strftime(t, '%Y%m')", "toyyyymmdd": "strftime(t, '%Y%m%d')", "timestampdiff": "date_diff('day', a, b)",

	"size": "count(*) of rows, len(l) of a list", "len_distinct": "count(distinct x)", "cardinality": "len(l) of a list, count(distinct x) of a group",
	"uniqexact": "count(distinct x)", "countdistinct": "count(distinct x)", "n_distinct": "count(distinct x)",
	"collect_set": "list(distinct x order by x)", "groupuniqarray": "list(distinct x order by x)", "unique": "list(distinct x order by x)",
	"sumif": "sum(x) filter (where c)", "avgif": "avg(x) filter (where c)", "minif": "min(x) filter (where c)", "maxif": "max(x) filter (where c)",
	"uniqif": "count(distinct x) filter (where c)", "sum_if": "sum(x) filter (where c)",
	"value_counts": "histogram(x)", "nth_value": "list(x order by y)[n]", "describe": "--summarize, a flag",
	"row_number": noWindows, "rank": noWindows, "dense_rank": noWindows, "percent_rank": noWindows, "ntile": noWindows,
	"lag": noWindows, "lead": noWindows, "cumsum": noWindows, "cume_dist": noWindows,
}

// noWindows is what there is in place of functions of windows.
const noWindows = "no window functions: list(x order by y), arg_max(a, b, n), or --order-by and --limit"

// Meant is which of the names of functions an unknown one may stand for; "": none.
func Meant(name string, names []string) string {
	if other, known := elsewhere[name]; known {
		if slices.Contains(names, other) {
			return other
		}
		return ""
	}
	return spelling.Nearest(name, names)
}

// Instead is what to write for what other systems call so, as a text; "": there is none, or it
// calls what is not among names.
func Instead(name string, names []string) string {
	text := elsewhere[name]
	called, _, calls := strings.Cut(text, "(")
	switch {
	case plainName(text), text == "":
		return ""
	case calls && plainName(called) && !slices.Contains(names, called) && called != "if" && called != "cast" && called != "try_cast":
		return ""
	}
	return text
}

// Elsewhere is the names of functions and aggregates in other systems, and what to write here for
// each.
func Elsewhere() map[string]string { return elsewhere }

// Hint is the end of a message about an unknown name of a function: what may be meant.
func Hint(name string, names []string) string {
	if text := Instead(name, names); text == noWindows {
		return "; there are " + text
	} else if text != "" {
		return "; here it is " + text
	}
	return didYouMean(name, names)
}

// didYouMean is the end of a message about an unknown name.
func didYouMean(name string, candidates []string) string {
	if near := Meant(name, candidates); near != "" {
		return " (did you mean \"" + near + "\"?)"
	}
	return ""
}
