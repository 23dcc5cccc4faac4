package expr

import (
	"unicode"

	"github.com/gagg-dev/gagg/internal/column"
)

// The classes of arguments.
var (
	aValue    = class{"a value", func(column.Type) bool { return true }}
	aNumber   = class{"a number", column.Type.IsNumeric}
	anInteger = class{"an integer", column.Type.IsInteger}
	aString   = class{"a string", func(t column.Type) bool { return t.Kind == column.String }}
	someBytes = class{"a string", func(t column.Type) bool { return t.Rep() == column.RepBytes }}
	aDay      = class{"a date or a timestamp", func(t column.Type) bool { return familyOf(t) == familyDay }}
	aClock    = class{"a date, a time or a timestamp", func(t column.Type) bool { return familyOf(t) == familyDay || familyOf(t) == familyClock }}
)

// arg is an argument that may vary by row, fixed one that may not.
func arg(name string, takes class) param { return param{name: name, takes: takes} }

func fixed(name string, takes class) param { return param{name: name, takes: takes, constant: true} }

// functionTable is the table of scalar functions, by section and name. Types,
// NULL and results are those of DuckDB but for what docs/semantics.md lists;
// testdata/functions.txt holds what DuckDB gives.
var functionTable = append([]function{
	{
		name: "coalesce", section: sectionAny, params: []param{arg("a", aValue)}, more: true,
		result: result{"their type", giveType.of}, nulls: skipNulls, bind: coalesce, doc: "the first that is not NULL",
	},
	{
		name: "nullif", section: sectionAny, params: []param{arg("a", aValue), arg("b", aValue)},
		result: giveType, nulls: ownNulls, bind: nullIf, doc: "NULL where a = b, else a",
	},

	{
		name: "abs", section: sectionNumber, params: []param{arg("x", aNumber)},
		result: result{"its type; of integers int64", absoluteType}, bind: absolute, doc: "without its sign",
	},

	{
		name: "length", section: sectionText, params: []param{arg("s", someBytes)},
		result: gives(int64Type), bind: length, doc: "characters; bytes of a binary",
	},
	{
		name: "lower", section: sectionText, params: []param{arg("s", aString)},
		result: gives(stringType), bind: mapLetters(unicode.ToLower), doc: "small letters, character by character",
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
		name: "strlen", section: sectionText, params: []param{arg("s", someBytes)},
		result: gives(int64Type), bind: byteLength, doc: "bytes",
	},
	{
		name: "upper", section: sectionText, params: []param{arg("s", aString)},
		result: gives(stringType), bind: mapLetters(capital), doc: "capital letters, character by character",
	},

	{
		name: "date_part", also: []string{"datepart"}, section: sectionDate,
		params: []param{fixed("part", aString), arg("t", aClock)},
		result: result{"as of that part", partType}, bind: datePartOf,
		doc: "the part of that name, one of those below; `extract(part from t)` is the same",
	},
	{
		name: "date_trunc", also: []string{"datetrunc"}, section: sectionDate,
		params: []param{fixed("part", aString), arg("t", aDay)},
		result: result{"timestamp[us]", truncatedType}, bind: dateTrunc,
		doc: "the beginning of the hour, day, month … that t lies in",
	},
}, partFunctions()...)
