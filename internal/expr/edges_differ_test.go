package expr

import (
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// liftedShare: of so many edge cases one is computed with columns too.
const liftedShare = 7

// disagreement is an answer that is not DuckDB's. A type ERROR is an error.
type disagreement struct {
	text         string
	typ, want    string // DuckDB's, in gagg's text form
	gotType, got string
}

// reason says which disagreements a row of docs/semantics.md explains, named by its first
// column.
type reason struct {
	row  string
	says func(d *disagreement) bool
}

// explained is the first of reasons that explains d, or -1.
func (d *disagreement) explained() int {
	return slices.IndexFunc(reasons, func(e reason) bool { return e.says(d) })
}

var narrowCast = regexp.MustCompile(`tinyint|smallint|integer|uinteger`)

// reasons are in the order in which they are asked.
var reasons = []reason{
	{"types of integers", func(d *disagreement) bool { return d.sameWhole() }},
	{"the type of JSON", func(d *disagreement) bool { return d.typ == "JSON" && d.gotType == "VARCHAR" && d.got == d.want }},
	{"numbers and escapes in JSON", func(d *disagreement) bool {
		return d.calls("1.50", "u00e9") && (d.typ == "JSON" || d.typ == "VARCHAR") && d.gotType == "VARCHAR" && d.got != "NULL"
	}},
	{"JSON with a comma behind the last member", func(d *disagreement) bool { return d.calls("{\"a\": 1,}") }},
	{"JSON paths to several values (`'$.a[*]'`)", func(d *disagreement) bool { return d.typ == "JSON[]" && d.gotType == "ERROR" }},
	{"digits of decimals", func(d *disagreement) bool { return d.sameDecimal() }},
	{"the type of a constant NULL", func(d *disagreement) bool { return d.want == "NULL" && d.got == "NULL" }},
	{"integers narrower than 64 bits", func(d *disagreement) bool {
		return (d.gotType == "BIGINT" || d.calls("bit_count(")) && narrowCast.MatchString(d.text) && d.typ != "DOUBLE"
	}},
	{"`-x` of an unsigned column", func(d *disagreement) bool {
		return strings.HasPrefix(d.text, "-") && strings.Contains(d.text, "::u")
	}},
	{"division by zero, `%` of doubles by zero", func(d *disagreement) bool {
		return d.got == "NULL" && slices.Contains([]string{"Infinity", "-Infinity", "NaN"}, d.want) && d.calls("/", "//", "%", "mod(")
	}},
	{"`/`, `//` of floats and decimals", func(d *disagreement) bool {
		return d.typ == "FLOAT" && d.gotType == "DOUBLE" && d.calls("/", "//") && (d.near(1e-6) || d.calls("3.4e38"))
	}},
	{"`a % b` of decimals with more than 38 digits between them", func(d *disagreement) bool {
		return d.typ == "DOUBLE" && strings.HasPrefix(d.gotType, "DECIMAL(38,") && d.calls("%", "mod(")
	}},
	{"integers beyond 64 bits: a uint64 and a negative number or a sum", func(d *disagreement) bool {
		return d.typ == "HUGEINT" && d.gotType == "ERROR" && strings.Contains(d.text, "ubigint")
	}},
	{"comparing decimals that have no common type of 38 digits", func(d *disagreement) bool {
		return d.typ == "ERROR" && d.gotType != "ERROR" && d.calls("decimal(38,")
	}},
	{"branches of decimals that have no common type of 38 digits", func(d *disagreement) bool {
		return strings.HasPrefix(d.gotType, "DECIMAL(39,") && d.calls("decimal(38,")
	}},
	{"`decimal + NULL`, where the decimal does not fit the digits of both", func(d *disagreement) bool {
		return d.want == "NULL" && d.gotType == "ERROR" && d.calls("decimal(38,") && strings.Contains(d.text, "null::decimal")
	}},
	{"comparing integers and doubles beyond 2^53", func(d *disagreement) bool {
		return d.gotType == "BOOLEAN" && strings.Contains(d.text, "9223372036854775807::bigint") && strings.Contains(d.text, "::double")
	}},
	{"`floor`, `ceil` of integers", func(d *disagreement) bool {
		return d.typ == "DOUBLE" && (d.gotType == "BIGINT" || d.gotType == "UBIGINT") && d.calls("floor(", "ceil(", "ceiling(")
	}},
	{"`round` of integers that leaves their range", func(d *disagreement) bool {
		return d.calls("round(") && strings.HasSuffix(d.typ, "INT") && !strings.Contains(d.text, "decimal")
	}},
	{"`round` of decimals beyond their digits", func(d *disagreement) bool {
		return d.calls("round(") && strings.HasPrefix(d.typ, "DECIMAL") && d.gotType == "ERROR"
	}},
	{"`decimal * decimal` beyond 18 digits", func(d *disagreement) bool {
		return d.typ == "ERROR" && strings.HasPrefix(d.gotType, "DECIMAL(") && d.calls(" * ") && strings.Contains(d.text, "decimal(18,3)")
	}},
	{"NaN, infinities as text", func(d *disagreement) bool {
		return d.typ == "VARCHAR" && slices.Contains([]string{"nan NaN", "inf Infinity", "-inf -Infinity"}, d.want+" "+d.got)
	}},
	{"years before 1 in text", func(d *disagreement) bool { return d.typ == "VARCHAR" && strings.Contains(d.want, "(BC)") }},
	{"float to decimal", func(d *disagreement) bool { return d.calls("::float::decimal", "::float as decimal") }},
	{"texts beyond the range of float, double: `'1e39'`, `'1e400'`", func(d *disagreement) bool {
		return strings.HasSuffix(d.want, "Infinity") && (d.gotType == "ERROR" || d.got == "NULL")
	}},
	{"blanks around a text that becomes a boolean or a timestamp", func(d *disagreement) bool { return d.calls("' 2024-01-31 '", "' true '") }},
	{"texts that casts take", func(d *disagreement) bool {
		return d.calls("'12:34:56.'::interval") || !d.calls("time_bucket(") && d.calls("cast('", "'::date", "'::time") && (d.gotType == "ERROR" || d.got == "NULL") && d.typ != "ERROR" || d.calls("24:00:00' as date")
	}},
	{"timestamps to coarser units", func(d *disagreement) bool {
		return strings.HasPrefix(d.gotType, "TIMESTAMP") && (d.typ == d.gotType || d.typ == "ERROR") && d.cuts() || d.calls(".999' as timestamp_s)")
	}},
	{"parts of timestamps in nanoseconds before 1970", func(d *disagreement) bool { return d.calls("'1969-12-31 23:59:59.999999999'") }},
	{"timestamps and times in nanoseconds and in UTC", func(d *disagreement) bool {
		return d.typ == "TIMESTAMP" && (d.gotType == "TIMESTAMP_NS" || d.gotType == "ERROR" && d.calls("'2262-04-11 23:47:16.854775806'"))
	}},
	{"timestamps and dates at the ends of their ranges", func(d *disagreement) bool {
		return d.typ == "ERROR" && d.gotType != "ERROR" && d.calls("290309-12-22", "106751991 days 4 hours", "5877642-06-25", "5874897-12-31", "5881580-07-10", "29424", "1677-09-21", "9223372036854775807", "9223372036854775808", "1582-10-15 06")
	}},
	{"`time_bucket` of dates beyond the range of timestamps", func(d *disagreement) bool { return d.gotType == "ERROR" && d.calls("time_bucket(") }},
	{"`time_bucket` of days in a zone that has passed over one", func(d *disagreement) bool {
		return d.calls("time_bucket(interval '7 days'") && d.calls("'Pacific/Apia')")
	}},
	{"a timestamp in UTC to time", func(d *disagreement) bool { return d.calls("::timestamptz::time") }},
	{"NULL of a time to date, of a date to time", func(d *disagreement) bool { return d.calls("null::time::", "null::date::time") }},
	{"`length`, `strlen` of a binary", func(d *disagreement) bool { return d.calls("length(", "strlen(") && d.typ == "ERROR" }},
	{"`reverse` of characters that are joined", func(d *disagreement) bool { return d.calls("reverse(") }},
	{"`ilike` of texts with a zero byte", func(d *disagreement) bool { return d.calls("ilike") && d.calls("chr(0)") }},
	{"`date_sub` of `isoyear`", func(d *disagreement) bool { return d.calls("date_sub('isoyear'", "datesub('isoyear'") }},
	{"`epoch` of an instant", func(d *disagreement) bool { return d.calls("epoch") && d.calls("timestamptz") && d.near(1e-9) }},
	{"`round` of NaN, infinities and large doubles to powers of ten", func(d *disagreement) bool { return d.calls("round(") && d.typ == d.gotType }},
	{"infinite dates and timestamps", func(d *disagreement) bool { return d.calls("inf'::", "infinity'::", "'5881580-07-11'::date") }},
	{"a text with a zone to timestamp", func(d *disagreement) bool {
		return d.calls("+02'::timestamp", "+02:30'::timestamp", "+0230'::timestamp", "+02:30:15'::timestamp", " +02'::timestamp")
	}},
	{"characters beyond ASCII in text to binary", func(d *disagreement) bool { return d.text == "'é'::blob" }},
	{"`regexp_replace` with a group that there is not, or with `\\` before a letter", func(d *disagreement) bool { return d.calls("regexp_replace(") && d.gotType == "ERROR" }},
	{"NULL without a type", func(d *disagreement) bool { return d.got == "NULL" && d.calls("null)", "null + ") }},
	{"`substring`, `left` with numbers beyond 2^32", func(d *disagreement) bool { return d.typ == "ERROR" && d.calls("substr(") }},
	{"`interval '1.5' hour`", func(d *disagreement) bool { return d.calls("(interval '1.5' ") }},
	{"parts of months in intervals (`'0.5 month'`), intervals times fractions, divided", func(d *disagreement) bool {
		return d.calls("interval '", "::interval") && d.calls("'0.5 month'", "'0.5 months'", "'1.7 years'", " * 1.5", " / 2")
	}},
	{"intervals times integers from 2^31 on", func(d *disagreement) bool {
		return d.calls("interval '") && d.calls("(2147483648)") && d.typ == "ERROR"
	}},
	{"`date_trunc` of intervals", func(d *disagreement) bool {
		return d.calls("date_trunc('") && d.calls("', interval '") && d.gotType == "ERROR"
	}},
	{"differences of instants with parts of milliseconds before 1970", func(d *disagreement) bool {
		return d.calls(" - ") && d.calls("'1969-12-31 23:59:59.999999+00'::timestamptz")
	}},
	{"intervals joined with text; in `coalesce`, `greatest`, `hash` and others", func(d *disagreement) bool { return d.calls("interval '1 day' ||") }},
	{"`strftime(format, t)`", func(d *disagreement) bool { return d.calls("strftime('%") }},
	{"`strftime` of years beyond 4 digits by ISO 8601 (`%G`), of nanoseconds (`%n`)", func(d *disagreement) bool { return d.calls("strftime(") && d.calls("%G") }},
	{"a pattern of `like … escape` that ends with the escape character", func(d *disagreement) bool { return d.calls("escape") && d.gotType == "ERROR" }},
	{"the last bit of `cbrt`, `sin`, `tan` and other functions", func(d *disagreement) bool {
		return d.typ == "DOUBLE" && d.gotType == "DOUBLE" && d.calls("(", "**") && d.near(1e-12)
	}},
}

// sameWhole reports whether both are the same whole number.
func (d *disagreement) sameWhole() bool {
	whole := func(typ string) bool {
		return strings.HasSuffix(typ, "INT") || strings.HasSuffix(typ, "INTEGER") || strings.HasSuffix(typ, ",0)")
	}
	return whole(d.typ) && whole(d.gotType) && d.typ != d.gotType && d.got == d.want
}

// sameDecimal reports whether both are the same number.
func (d *disagreement) sameDecimal() bool {
	exact := func(typ string) bool { return strings.HasPrefix(typ, "DECIMAL") || strings.HasSuffix(typ, "INT") }
	if !exact(d.typ) || !exact(d.gotType) {
		return false
	}
	a, ok := new(big.Rat).SetString(d.want)
	b, also := new(big.Rat).SetString(d.got)
	return ok && also && a.Cmp(b) == 0
}

// cuts reports whether a timestamp or a text becomes a timestamp of seconds or milliseconds.
func (d *disagreement) cuts() bool {
	return d.calls("::timestamp_s", "::timestamp_ms", "as timestamp_s", "as timestamp_ms")
}

// near reports whether both are the same double but for such a part.
func (d *disagreement) near(part float64) bool {
	a, err := strconv.ParseFloat(d.want, 64)
	b, err2 := strconv.ParseFloat(d.got, 64)
	return err == nil && err2 == nil && (a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= part*math.Abs(a))
}

// calls reports whether one of these is in the expression.
func (d *disagreement) calls(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(d.text, name) })
}
