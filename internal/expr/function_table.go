package expr

import (
	"slices"

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
	bitsOrBytes   = class{name: "an integer, a string or a binary", holds: hexable}
	anInterval    = class{name: "an interval", holds: aString.holds, intervals: true}
	anOrigin      = class{name: "a date, a timestamp, an interval or the name of a time zone", holds: func(t column.Type) bool { return aDay.holds(t) || aString.holds(t) }, intervals: true}
)

// arg is an argument that may vary by row, fixed one that may not.
func arg(name string, takes class) param { return param{name: name, takes: takes} }

func fixed(name string, takes class) param { return param{name: name, takes: takes, constant: true} }

// functionTable is the table of scalar functions, by section and name. Types,
// NULL and results are those of DuckDB but for what docs/semantics.md lists;
// testdata/functions.txt holds what DuckDB gives.
var functionTable = slices.Concat(anyFunctions, numberFunctions, textFunctions, jsonFunctions, listFunctions, dateFunctions, momentFunctions, partFunctions())

// anyFunctions are the functions of all types.
var anyFunctions = []function{
	{
		name: "coalesce", also: []string{"ifnull"}, section: sectionAny, params: []param{arg("a", aValue)}, more: true,
		result: result{"their type", giveType.of}, nulls: ownNulls, bind: coalesce, doc: "the first that is not NULL",
	},
	{
		name: "greatest", section: sectionAny, params: []param{arg("a", aValue)}, more: true,
		result: result{"their type", giveType.of}, nulls: skipNulls, bind: extreme(1), doc: "the greatest",
	},
	{
		name: "hash", section: sectionAny, params: []param{arg("a", aValue)}, more: true,
		result: gives(uint64Type), nulls: ownNulls, bind: hashed, doc: "a number of 64 bits made of the values, by XXH3; of NULL 0",
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
		name: "typeof", section: sectionAny, params: []param{arg("a", aValue)},
		result: gives(stringType), nulls: ownNulls, bind: typeName, doc: "the name of its type, as `--schema` has it",
	},
}
