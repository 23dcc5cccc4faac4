package expr

import (
	"cmp"
	"slices"
	"strings"
)

// operator is a row of the table of operators, from which the lexer's symbols, the levels of the
// parser and of the printer, the help and the documentation are made.
type operator struct {
	name  string   // as it is printed
	also  []string // other ways to write it
	level level
	infix bool // stands between two operands, and is known by its name alone
	shown string
	gives string
	doc   string
}

// operatorTable is the operators, in falling precedence. NULL in an operand gives NULL, where doc
// says nothing else.
var operatorTable = []operator{
	{name: "::", level: levelCast, shown: "x::type", gives: "the type", doc: "`cast(x as type)`"},
	{name: "[", level: levelCast, shown: "l[i]", gives: "type of an element", doc: "`list_extract(l, i)`; NULL if there is none"},
	{name: "at time zone", level: levelZone, shown: "t at time zone 'Asia/Tokyo'", gives: "timestamp[us, UTC]; of an instant timestamp[us]", doc: "`timezone('Asia/Tokyo', t)`"},
	{name: "-x", level: levelMinus, shown: "-x", gives: "its type; of integers int64, of uint64 that; an interval", doc: "the negative; `+x` is x"},
	{name: "~x", level: levelMinus, shown: "~x", gives: "int64; of unsigned integers their type", doc: "the other bits"},
	{name: "**", also: []string{"^"}, level: levelPower, infix: true, shown: "x ** y", gives: "double", doc: "`power(x, y)`"},
	{name: "*", level: levelProduct, infix: true, shown: "x * y", gives: "int64, uint64, a decimal, float or double; an interval", doc: "the product"},
	{name: "/", level: levelProduct, infix: true, shown: "x / y", gives: "double", doc: "the quotient; NULL for y = 0"},
	{name: "//", level: levelProduct, infix: true, shown: "x // y", gives: "of integers int64, of uint64 that, else double", doc: "of integers the whole part of the quotient, of others `x / y`; NULL for y = 0"},
	{name: "%", level: levelProduct, infix: true, shown: "x % y", gives: "int64, uint64, a decimal, float or double", doc: "the remainder, with the sign of x; NULL for y = 0"},
	{name: "+", level: levelSum, infix: true, shown: "x + y", gives: "int64, uint64, a decimal, float or double; a date, time, timestamp or interval", doc: "the sum"},
	{name: "-", level: levelSum, infix: true, shown: "x - y", gives: "likewise; of dates int64, of timestamps an interval", doc: "the difference"},
	{name: "||", level: levelConcat, infix: true, shown: "s || t", gives: "string", doc: "one text behind the other, values of other types as text"},
	{name: "&", level: levelConcat, infix: true, shown: "x & y", gives: "int64; of uint64 that", doc: "the bits that both have"},
	{name: "|", level: levelConcat, infix: true, shown: "x | y", gives: "likewise", doc: "the bits that one has"},
	{name: "<<", level: levelConcat, infix: true, shown: "x << n", gives: "likewise", doc: "the bits moved up"},
	{name: ">>", level: levelConcat, infix: true, shown: "x >> n", gives: "likewise", doc: "the bits moved down"},
	{name: "~", level: levelConcat, infix: true, shown: "s ~ 'pattern'", gives: "boolean", doc: "`regexp_full_match(s, 'pattern')`"},
	{name: "!~", level: levelConcat, infix: true, shown: "s !~ 'pattern'", gives: "boolean", doc: "not so"},
	{name: "^@", level: levelConcat, infix: true, shown: "s ^@ t", gives: "boolean", doc: "`starts_with(s, t)`"},
	{name: "->", level: levelConcat, infix: true, shown: "j -> '$.a'", gives: "string", doc: "`json_extract(j, '$.a')`"},
	{name: "->>", level: levelConcat, infix: true, shown: "j ->> '$.a'", gives: "string", doc: "`json_extract_string(j, '$.a')`"},
	{name: "in", level: levelIn, shown: "x [not] in (a, …)", gives: "boolean", doc: "whether x equals one of them; NULL if none does and one is NULL"},
	{name: "between", level: levelIn, shown: "x [not] between a and b", gives: "boolean", doc: "`x >= a and x <= b`"},
	{name: "like", level: levelIn, shown: "s [not] like 'a%' [escape '!']", gives: "boolean", doc: "`%` is any characters, `_` one"},
	{name: "ilike", level: levelIn, shown: "s [not] ilike 'a%'", gives: "boolean", doc: "likewise, in any letter case"},
	{name: "similar to", level: levelIn, shown: "s [not] similar to 'pattern'", gives: "boolean", doc: "`regexp_full_match(s, 'pattern')`"},
	{name: "=", also: []string{"=="}, level: levelCompare, infix: true, shown: "x = y", gives: "boolean", doc: "comparisons do not chain"},
	{name: "<>", also: []string{"!="}, level: levelCompare, infix: true, shown: "x <> y", gives: "boolean", doc: "x is another value"},
	{name: "<", level: levelCompare, infix: true, shown: "x < y", gives: "boolean", doc: "x is less"},
	{name: "<=", level: levelCompare, infix: true, shown: "x <= y", gives: "boolean", doc: "x is less or equal"},
	{name: ">", level: levelCompare, infix: true, shown: "x > y", gives: "boolean", doc: "x is greater"},
	{name: ">=", level: levelCompare, infix: true, shown: "x >= y", gives: "boolean", doc: "x is greater or equal"},
	{name: "is", also: []string{"isnull", "notnull"}, level: levelIs, shown: "x is [not] null", gives: "boolean", doc: "never NULL; also `is [not] true`, `false`, `unknown`"},
	{name: "is distinct from", level: levelIs, shown: "x is [not] distinct from y", gives: "boolean", doc: "`<>` or `=` to which NULL equals NULL; never NULL"},
	{name: "not", level: levelNot, shown: "not c", gives: "boolean", doc: "whether c is false"},
	{name: "and", level: levelAnd, infix: true, shown: "c and d", gives: "boolean", doc: "false if one is false, else NULL if one is NULL"},
	{name: "or", level: levelOr, infix: true, shown: "c or d", gives: "boolean", doc: "true if one is true, else NULL if one is NULL"},
}

// Operator is what users are told of an operator.
type Operator struct {
	Name   string
	Also   []string // other ways to write it
	Shown  string   // with its operands
	Result string   // type of the result
	Doc    string
}

// Operators describes the operators, in falling precedence.
func Operators() []Operator {
	var list []Operator
	for _, o := range operatorTable {
		list = append(list, Operator{Name: o.name, Also: o.also, Shown: o.shown, Result: o.gives, Doc: o.doc})
	}
	return list
}

// binaryLevels is the levels of the operators that stand between two operands, by name.
var binaryLevels = func() map[string]level {
	levels := map[string]level{}
	for _, o := range operatorTable {
		if o.infix {
			for _, name := range append([]string{o.name}, o.also...) {
				levels[name] = o.level
			}
		}
	}
	return levels
}()

// symbol is an operator, or punctuation, that is no word.
type symbol struct{ text, canonical string }

// symbols are tried in this order: longer ones first.
var symbols = func() (list []symbol) {
	for _, text := range []string{"(", ")", ",", ".", "]", "~"} {
		list = append(list, symbol{text, text})
	}
	for _, o := range operatorTable {
		for _, name := range append([]string{o.name}, o.also...) {
			switch {
			case strings.ContainsAny(name, "abcdefghijklmnopqrstuvwxyz"):
			case o.level == levelCompare: // == is =
				list = append(list, symbol{name, o.name})
			default:
				list = append(list, symbol{name, name})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b symbol) int { return cmp.Compare(len(b.text), len(a.text)) })
	return list
}()
