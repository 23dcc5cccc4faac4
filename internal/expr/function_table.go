package expr

import (
	"bytes"
	"math"
	"unicode"

	"github.com/gagg-dev/gagg/internal/column"
)

// The classes of arguments.
var (
	aValue        = class{name: "a value", holds: func(column.Type) bool { return true }}
	aNumber       = class{name: "a number", holds: column.Type.IsNumeric}
	anInteger     = class{name: "an integer", holds: column.Type.IsInteger}
	aCount        = class{name: "an integer", holds: func(t column.Type) bool { return t.IsInteger() && t.Kind != column.Uint64 }}
	aString       = class{name: "a string", holds: func(t column.Type) bool { return t.Kind == column.String }}
	someBytes     = class{name: "a string", holds: func(t column.Type) bool { return t.Rep() == column.RepBytes }}
	aDay          = class{name: "a date or a timestamp", holds: func(t column.Type) bool { return familyOf(t) == familyDay }}
	aClock        = class{name: "a date, a time or a timestamp", holds: func(t column.Type) bool { return familyOf(t) == familyDay || familyOf(t) == familyClock }}
	aClockOrSpan  = class{name: "a date, a time, a timestamp or an interval", holds: aClock.holds, intervals: true}
	aClockOrCount = class{name: aClock.name, holds: func(t column.Type) bool { return aClock.holds(t) || aCount.holds(t) }, intervals: true}
	anInterval    = class{name: "an interval", holds: aString.holds, intervals: true}
	anOrigin      = class{name: "a date, a timestamp, an interval or the name of a time zone", holds: func(t column.Type) bool { return aDay.holds(t) || aString.holds(t) }, intervals: true}
)

// arg is an argument that may vary by row, fixed one that may not.
func arg(name string, takes class) param { return param{name: name, takes: takes} }

func fixed(name string, takes class) param { return param{name: name, takes: takes, constant: true} }

// functionTable is the table of scalar functions, by section and name. Types,
// NULL and results are those of DuckDB but for what docs/semantics.md lists;
// testdata/functions.txt holds what DuckDB gives.
var functionTable = append([]function{
	{
		name: "coalesce", also: []string{"ifnull"}, section: sectionAny, params: []param{arg("a", aValue)}, more: true,
		result: result{"their type", giveType.of}, nulls: ownNulls, bind: coalesce, doc: "the first that is not NULL",
	},
	{
		name: "greatest", section: sectionAny, params: []param{arg("a", aValue)}, more: true,
		result: result{"their type", giveType.of}, nulls: skipNulls, bind: extreme(1), doc: "the greatest",
	},
	{
		name: "least", section: sectionAny, params: []param{arg("a", aValue)}, more: true,
		result: result{"their type", giveType.of}, nulls: skipNulls, bind: extreme(-1), doc: "the least",
	},
	{
		name: "nullif", section: sectionAny, params: []param{arg("a", aValue), arg("b", aValue)},
		result: giveType, nulls: ownNulls, bind: nullIf, doc: "NULL where a = b, else a",
	},

	{
		name: "abs", section: sectionNumber, params: []param{arg("x", aNumber)},
		result: result{"its type; of signed integers int64", absoluteType}, bind: absolute, doc: "without its sign",
	},
	{
		name: "ceil", also: []string{"ceiling"}, section: sectionNumber, params: []param{arg("x", aNumber)},
		result: roundedType, bind: rounded(roundUp), doc: "the next whole number from x on",
	},
	{
		name: "exp", section: sectionNumber, params: []param{arg("x", aNumber)},
		result: gives(doubleType), bind: ofDoubles(math.Exp, nil), doc: "e to the power of x",
	},
	{
		name: "floor", section: sectionNumber, params: []param{arg("x", aNumber)},
		result: roundedType, bind: rounded(roundDown), doc: "the last whole number up to x",
	},
	{
		name: "ln", section: sectionNumber, params: []param{arg("x", aNumber)},
		result: gives(doubleType), bind: ofDoubles(math.Log, notPositive), doc: "the natural logarithm; of 0 and less an error",
	},
	{
		name: "log", section: sectionNumber, params: []param{arg("base", aNumber), arg("x", aNumber)}, least: 1, shown: "log([base, ]x)",
		result: gives(doubleType), bind: logarithm, doc: "the logarithm to that base (10)",
	},
	{
		name: "log10", section: sectionNumber, params: []param{arg("x", aNumber)},
		result: gives(doubleType), bind: ofDoubles(log10, notPositive), doc: "the logarithm to base 10",
	},
	{
		name: "log2", section: sectionNumber, params: []param{arg("x", aNumber)},
		result: gives(doubleType), bind: ofDoubles(math.Log2, notPositive), doc: "the logarithm to base 2",
	},
	{
		name: "power", also: []string{"pow"}, section: sectionNumber, params: []param{arg("x", aNumber), arg("y", aNumber)},
		result: gives(doubleType), bind: power, doc: "x to the power of y",
	},
	{
		name: "round", section: sectionNumber, params: []param{arg("x", aNumber), fixed("digits", anInteger)}, least: 1,
		result: roundedType, bind: rounded(roundHalf), doc: "to so many digits behind the point (0), before it if negative; halves away from zero",
	},
	{
		name: "sign", section: sectionNumber, params: []param{arg("x", aNumber)},
		result: gives(column.Type{Kind: column.Int8}), bind: sign, doc: "-1, 0 or 1; of NaN 0",
	},
	{
		name: "sqrt", section: sectionNumber, params: []param{arg("x", aNumber)},
		result: gives(doubleType), bind: ofDoubles(math.Sqrt, negative), doc: "the square root; of less than 0 an error",
	},
	{
		name: "trunc", section: sectionNumber, params: []param{arg("x", aNumber), fixed("digits", anInteger)}, least: 1,
		result: roundedType, bind: rounded(roundTrunc), doc: "as `round`, but towards zero",
	},

	{
		name: "concat", section: sectionText, params: []param{arg("a", aValue)}, more: true,
		result: gives(stringType), nulls: skipNulls, bind: concatenation, doc: "all as text, one behind the other; `''` if all are NULL",
	},
	{
		name: "contains", section: sectionText, params: []param{arg("s", aString), arg("part", aString)},
		result: gives(boolType), bind: testTwo(bytes.Contains), doc: "whether the part is in s",
	},
	{
		name: "ends_with", also: []string{"suffix"}, section: sectionText, params: []param{arg("s", aString), arg("end", aString)},
		result: gives(boolType), bind: testTwo(bytes.HasSuffix), doc: "whether s ends so",
	},
	{
		name: "left", section: sectionText, params: []param{arg("s", aString), arg("n", aCount)},
		result: gives(stringType), bind: leftOf, doc: "the first n characters; of a negative n all but the last",
	},
	{
		name: "length", also: []string{"len", "char_length", "character_length"}, section: sectionText, params: []param{arg("s", someBytes)},
		result: gives(int64Type), bind: length, doc: "characters; bytes of a binary",
	},
	{
		name: "lower", also: []string{"lcase"}, section: sectionText, params: []param{arg("s", aString)},
		result: gives(stringType), bind: mapLetters(unicode.ToLower), doc: "small letters, character by character",
	},
	{
		name: "lpad", section: sectionText, params: []param{arg("s", aString), arg("n", aCount), arg("by", aString)},
		result: gives(stringType), bind: padded(false), doc: "n characters: the first ones of s, or s behind as much of `by` as is missing; up to 1048576",
	},
	{
		name: "ltrim", section: sectionText, params: []param{arg("s", aString), fixed("characters", aString)}, least: 1,
		result: gives(stringType), bind: trimmed(true, false), doc: "without blanks, or these characters, in front",
	},
	{
		name: "regexp_extract", section: sectionText, least: 2,
		params: []param{arg("s", aString), fixed("pattern", aString), fixed("group", anInteger), fixed("flags", aString)},
		result: gives(stringType), bind: regexpExtract,
		doc: "the first match, or of it the group of that number (0 to 9); `''` without a match",
	},
	{
		name: "regexp_full_match", section: sectionText, least: 2,
		params: []param{arg("s", aString), fixed("pattern", aString), fixed("flags", aString)},
		result: gives(boolType), bind: regexpFullMatch, doc: "whether the pattern matches the whole text",
	},
	{
		name: "regexp_matches", section: sectionText, least: 2,
		params: []param{arg("s", aString), fixed("pattern", aString), fixed("flags", aString)},
		result: gives(boolType), bind: regexpMatches, doc: "whether the pattern matches a part of the text",
	},
	{
		name: "regexp_replace", section: sectionText, least: 3,
		params: []param{arg("s", aString), fixed("pattern", aString), fixed("replacement", aString), fixed("flags", aString)},
		result: gives(stringType), bind: regexpReplace,
		doc: "with the first match replaced, with flag `g` all",
	},
	{
		name: "replace", section: sectionText, params: []param{arg("s", aString), arg("part", aString), arg("by", aString)},
		result: gives(stringType), bind: replaced, doc: "with the part, wherever it is, replaced",
	},
	{
		name: "reverse", section: sectionText, params: []param{arg("s", aString)},
		result: gives(stringType), bind: reversed, doc: "from the last character to the first",
	},
	{
		name: "right", section: sectionText, params: []param{arg("s", aString), arg("n", aCount)},
		result: gives(stringType), bind: rightOf, doc: "the last n characters; of a negative n all but the first",
	},
	{
		name: "rpad", section: sectionText, params: []param{arg("s", aString), arg("n", aCount), arg("by", aString)},
		result: gives(stringType), bind: padded(true), doc: "likewise, with `by` behind s",
	},
	{
		name: "rtrim", section: sectionText, params: []param{arg("s", aString), fixed("characters", aString)}, least: 1,
		result: gives(stringType), bind: trimmed(false, true), doc: "without blanks, or these characters, at the end",
	},
	{
		name: "split_part", section: sectionText, params: []param{arg("s", aString), arg("separator", aString), arg("n", aCount)},
		result: gives(stringType), bind: splitPart, doc: "the nth of the parts between separators, of a negative n from the end; `''` if there is none",
	},
	{
		name: "starts_with", also: []string{"prefix"}, section: sectionText, params: []param{arg("s", aString), arg("beginning", aString)},
		result: gives(boolType), bind: testTwo(bytes.HasPrefix), doc: "whether s begins so",
	},
	{
		name: "strlen", section: sectionText, params: []param{arg("s", someBytes)},
		result: gives(int64Type), bind: byteLength, doc: "bytes",
	},
	{
		name: "strpos", also: []string{"instr"}, section: sectionText, params: []param{arg("s", aString), arg("part", aString)},
		result: gives(int64Type), bind: position, doc: "where the part begins, in characters from 1; 0 if it is not there; `position(part in s)` is the same",
	},
	{
		name: "substring", also: []string{"substr"}, section: sectionText, params: []param{arg("s", aString), arg("start", aCount), arg("count", aCount)}, least: 2,
		result: gives(stringType), bind: substring,
		doc: "characters from start on, which counts from 1 or, negative, from the end; a negative count goes backwards; also `substring(s from start for count)`",
	},
	{
		name: "trim", section: sectionText, params: []param{arg("s", aString), fixed("characters", aString)}, least: 1,
		result: gives(stringType), bind: trimmed(true, true), doc: "without blanks, or these characters, at both ends",
	},
	{
		name: "upper", also: []string{"ucase"}, section: sectionText, params: []param{arg("s", aString)},
		result: gives(stringType), bind: mapLetters(capital), doc: "capital letters, character by character",
	},

	{
		name: "date_add", section: sectionDate, params: []param{arg("t", aClock), arg("by", anInterval)},
		result: result{"as of t + by", addedType}, bind: dateAdd, doc: "t + by, an interval",
	},
	{
		name: "date_diff", also: []string{"datediff"}, section: sectionDate, alike: true,
		params: []param{fixed("unit", aString), arg("a", aClock), arg("b", aClock)},
		result: gives(int64Type), bind: dateDiff,
		doc: "how many units begin between a and b: hours, days, months …; weeks are counted as seven days from a on",
	},
	{
		name: "date_part", also: []string{"datepart"}, section: sectionDate,
		params: []param{fixed("part", aString), arg("t", aClockOrSpan)},
		result: result{"as of that part", partType}, bind: datePartOf,
		doc: "the part of that name, one of those below; `extract(part from t)` is the same",
	},
	{
		name: "date_sub", also: []string{"datesub"}, section: sectionDate, alike: true,
		params: []param{fixed("unit", aString), arg("a", aClock), arg("b", aClock)},
		result: gives(int64Type), bind: dateSub, doc: "how many whole units lie between a and b",
	},
	{
		name: "date_trunc", also: []string{"datetrunc"}, section: sectionDate,
		params: []param{fixed("part", aString), arg("t", aDay)},
		result: result{"timestamp[us]", truncatedType}, bind: dateTrunc,
		doc: "the beginning of the hour, day, month … that t lies in",
	},
	{
		name: "dayname", section: sectionDate, params: []param{arg("t", aDay)},
		result: gives(stringType), bind: named(func(m *moment) string { return dayNames[isoWeekday(m.days)%7] }), doc: "Monday to Sunday",
	},
	{
		name: "last_day", section: sectionDate, params: []param{arg("t", aDay)},
		result: gives(dateType), bind: lastDay, doc: "the last day of the month",
	},
	{
		name: "make_date", section: sectionDate, params: []param{arg("year", aCount), arg("month", aCount), arg("day", aCount)}, least: 1,
		shown:  "make_date(year, month, day)",
		result: gives(dateType), bind: makeDate, doc: "the date; of one integer the day so many days after 1970-01-01",
	},
	{
		name: "make_time", section: sectionDate, params: []param{arg("hour", aCount), arg("minute", aCount), arg("second", aNumber)},
		result: gives(timeType), bind: makeTime, doc: "the time of day; seconds may have a fraction",
	},
	{
		name: "make_timestamp", section: sectionDate, least: 1, shown: "make_timestamp(year, month, day, hour, minute, second)",
		params: []param{arg("year", aCount), arg("month", aCount), arg("day", aCount), arg("hour", aCount), arg("minute", aCount), arg("second", aNumber)},
		result: gives(timestampType), bind: makeTimestamp, doc: "the timestamp; of one integer that of so many microseconds after 1970-01-01",
	},
	{
		name: "make_timestamp_ms", section: sectionDate, params: []param{arg("n", aCount)},
		result: gives(timestampType), bind: makeTimestampMillis, doc: "the timestamp n milliseconds after 1970-01-01",
	},
	{
		name: "make_timestamp_ns", section: sectionDate, params: []param{arg("n", aCount)},
		result: gives(column.TimestampType(column.Nano, false)),
		bind:   func(c *call) (*bound, error) { return c.strict(retype, c.args[0]), nil }, doc: "the timestamp n nanoseconds after 1970-01-01",
	},
	{
		name: "monthname", section: sectionDate, params: []param{arg("t", aDay)},
		result: gives(stringType), bind: named(func(m *moment) string { return monthNames[m.month-1] }), doc: "January to December",
	},
	{
		name: "strftime", section: sectionDate, params: []param{arg("t", aDay), fixed("format", aString)},
		result: gives(stringType), bind: strftime, doc: "t as text, by a format such as `'%Y-%m-%d %H:%M:%S'`, see below",
	},
	{
		name: "strptime", section: sectionDate, params: []param{arg("s", aString), fixed("format", aString)},
		result: result{"timestamp[us]; with `%z` in UTC", readType}, bind: strptime(false), doc: "the timestamp that a text says, read by a format; an error if it is not so",
	},
	{
		name: "time_bucket", section: sectionDate, params: []param{arg("width", anInterval), arg("t", aDay), arg("origin", anOrigin)}, least: 2,
		result: result{"timestamp[us]; of a date that", bucketType}, bind: timeBucket,
		doc: "the beginning of the interval that t lies in, of intervals of that width from 2000-01-03 or, of months, 2000-01-01 on, or from an origin, or moved by an interval; the name of a time zone: of its days and months",
	},
	{
		name: "timezone", section: sectionDate, params: []param{fixed("zone", aString), arg("t", aDay)},
		result: result{"timestamp[us, UTC]; of an instant timestamp[us]", zonedType}, bind: timezone,
		doc: "the instant at which clocks of the zone show t, or what they show at that instant; `t at time zone 'Europe/Berlin'` is the same",
	},
	{
		name: "to_timestamp", section: sectionDate, params: []param{arg("seconds", aNumber)},
		result: gives(timestamptzType), bind: toTimestamp, doc: "the instant so many seconds after 1970-01-01, to the microsecond",
	},
	{
		name: "try_strptime", section: sectionDate, params: []param{arg("s", aString), fixed("format", aString)},
		result: result{"likewise", readType}, bind: strptime(true), doc: "likewise, NULL where it is not so",
	},
}, partFunctions()...)
