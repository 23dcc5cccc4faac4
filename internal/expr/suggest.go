package expr

import (
	"slices"

	"github.com/gagg-dev/gagg/internal/spelling"
)

// elsewhere is functions and aggregates as they are called in other systems, and here.
var elsewhere = map[string]string{
	"any": "any_value", "approx_distinct": "approx_count_distinct", "average": "avg", "charindex": "strpos",
	"collect_list": "list", "date_format": "strftime", "dateadd": "date_add", "first_value": "first",
	"format_datetime": "strftime", "iif": "if", "mid": "substring", "ndv": "approx_count_distinct",
	"nunique": "approx_count_distinct", "nvl": "coalesce", "parse_datetime": "strptime", "percentile": "quantile",
	"regexp_like": "regexp_matches", "rlike": "regexp_matches", "std": "stddev", "to_char": "strftime",
	"to_date": "strptime", "uniq": "approx_count_distinct",
}

// Meant is which of the names of functions an unknown one may stand for; "": none.
func Meant(name string, names []string) string {
	if other := elsewhere[name]; slices.Contains(names, other) {
		return other
	}
	return spelling.Nearest(name, names)
}

// didYouMean is the end of a message about an unknown name.
func didYouMean(name string, candidates []string) string {
	if near := Meant(name, candidates); near != "" {
		return " (did you mean \"" + near + "\"?)"
	}
	return ""
}
