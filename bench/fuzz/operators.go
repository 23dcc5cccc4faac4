package main

import (
	"fmt"
	"math"
	"strings"
)

// operator is an operator or a function. To add one, add a line: the fuzzer uses it from then on.
type operator struct {
	name  string // as `gagg --help` has it
	gives kind
	takes string // kinds of the operands
	gagg  string
	duck  string // "": the same
	// sets the range of the result; false: not with these operands
	bound func(*expr) bool
	draw  func(*generator, *expr) bool // fills in what is drawn: patterns, lists
	why   difference                   // where duck says something else
}

// basics is the operators and the functions that are as old as gagg.
var basics = []operator{
	{name: "+", gives: integer, takes: "ii", gagg: "($0 + $1)", duck: "($0::bigint + $1::bigint)", bound: sum, why: narrowIntegers},
	{name: "-", gives: integer, takes: "ii", gagg: "($0 - $1)", duck: "($0::bigint - $1::bigint)", bound: subtraction, why: narrowIntegers},
	{name: "*", gives: integer, takes: "ii", gagg: "($0 * $1)", duck: "($0::bigint * $1::bigint)", bound: multiplication, why: narrowIntegers},
	{name: "%", gives: integer, takes: "ii", gagg: "($0 % $1)", duck: "($0::bigint % nullif($1::bigint, 0))", bound: remainder, why: divisionByZero},
	{name: "//", gives: integer, takes: "ii", gagg: "($0 // $1)", duck: "($0::bigint // nullif($1::bigint, 0))", bound: wholeQuotient, why: divisionByZero},
	{name: "-", gives: integer, takes: "i", gagg: "(- $0)", duck: "(- $0::bigint)", bound: negation, why: negatedUnsigned},
	{name: "abs", gives: integer, takes: "i", gagg: "abs($0)", duck: "abs($0::bigint)", bound: absolute, why: narrowIntegers},
	{name: "+", gives: unsigned, takes: "uu", gagg: "($0 + $1)", bound: sum},
	{name: "*", gives: unsigned, takes: "uu", gagg: "($0 * $1)", bound: multiplication},
	{name: "+", gives: decimals, takes: "dd", gagg: "($0 + $1)", duck: "($0::$W + $1::$X)", bound: decimalSum, why: wideDecimals},
	{name: "-", gives: decimals, takes: "dd", gagg: "($0 - $1)", duck: "($0::$W - $1::$X)", bound: decimalSubtraction, why: wideDecimals},
	{name: "*", gives: decimals, takes: "dd", gagg: "($0 * $1)", duck: "($0::$W * $1)", bound: decimalProduct, why: wideDecimals},
	{name: "+", gives: double, takes: "DD", gagg: "($0 + $1)", bound: sum},
	{name: "-", gives: double, takes: "DD", gagg: "($0 - $1)", bound: subtraction},
	{name: "*", gives: double, takes: "DD", gagg: "($0 * $1)", bound: multiplication},
	{name: "/", gives: double, takes: "DD", gagg: "($0 / $1)", duck: "($0 / nullif($1, 0))", bound: quotient, why: divisionByZero},
	{name: "/", gives: double, takes: "ii", gagg: "($0 / $1)", duck: "($0::bigint / nullif($1::bigint, 0))", bound: quotient, why: divisionByZero},
	{name: "/", gives: double, takes: "di", gagg: "($0 / $1)", duck: "($0 / nullif($1::bigint, 0))", bound: quotient, why: divisionByZero},
	{name: "abs", gives: double, takes: "D", gagg: "abs($0)", bound: absolute},
	{name: "+", gives: single, takes: "ff", gagg: "($0 + $1)", bound: sum},
	{name: "*", gives: single, takes: "ff", gagg: "($0 * $1)", bound: multiplication},
	{name: "*", gives: double, takes: "Di", gagg: "($0 * $1)", bound: multiplication},
	{name: "||", gives: text, takes: "tt", gagg: "($0 || $1)"},
	{name: "lower", gives: text, takes: "t", gagg: "lower($0)"},
	{name: "upper", gives: text, takes: "t", gagg: "upper($0)"},
	{name: "length", gives: integer, takes: "t", gagg: "length($0)", bound: within(0, 1e6)},
	{name: "length", gives: integer, takes: "B", gagg: "length($0)", duck: "octet_length($0)", bound: within(0, 1e6), why: lengthOfBinary},
	{name: "+", gives: date, takes: "a", gagg: "($0 + $P)", draw: smallNumber},
	{name: "-", gives: date, takes: "a", gagg: "($0 - $P)", draw: smallNumber},
	{name: "-", gives: integer, takes: "aa", gagg: "($0 - $1)", bound: within(-1e7, 1e7)},

	{name: "=", gives: boolean, takes: "xx", gagg: "($0 = $1)", bound: oneDecimalType, why: comparedDecimals},
	{name: "<>", gives: boolean, takes: "xx", gagg: "($0 <> $1)", bound: oneDecimalType, why: comparedDecimals},
	{name: "<", gives: boolean, takes: "xx", gagg: "($0 < $1)", bound: oneDecimalType, why: comparedDecimals},
	{name: "<=", gives: boolean, takes: "xx", gagg: "($0 <= $1)", bound: oneDecimalType, why: comparedDecimals},
	{name: ">", gives: boolean, takes: "xx", gagg: "($0 > $1)", bound: oneDecimalType, why: comparedDecimals},
	{name: ">=", gives: boolean, takes: "xx", gagg: "($0 >= $1)", bound: oneDecimalType, why: comparedDecimals},
	{name: "<", gives: boolean, takes: "iD", gagg: "($0 < $1)", bound: exactInDouble},
	{name: ">=", gives: boolean, takes: "Di", gagg: "($0 >= $1)", bound: exactInDouble},
	{name: "<", gives: boolean, takes: "di", gagg: "($0 < $1)", bound: smallDecimals},
	{name: "like", gives: boolean, takes: "t", gagg: "($0 like $P)", draw: pattern},
	{name: "ilike", gives: boolean, takes: "t", gagg: "($0 not ilike $P)", draw: pattern},
	{name: "between", gives: boolean, takes: "xxx", gagg: "($0 between $1 and $2)", bound: oneDecimalType, why: comparedDecimals},
	{name: "in", gives: boolean, takes: "xxx", gagg: "($0 in ($1, $2))", bound: oneDecimalType, why: comparedDecimals},
	{name: "in", gives: boolean, takes: "xx", gagg: "($0 not in ($1, null))", bound: oneDecimalType, why: comparedDecimals},
	{name: "is null", gives: boolean, takes: "x", gagg: "($0 is null)"},
	{name: "is null", gives: boolean, takes: "x", gagg: "($0 is not null)"},
	{name: "not", gives: boolean, takes: "b", gagg: "(not $0)"},
	{name: "and", gives: boolean, takes: "bb", gagg: "($0 and $1)"},
	{name: "or", gives: boolean, takes: "bb", gagg: "($0 or $1)"},

	{name: "coalesce", gives: anything, takes: "xx", gagg: "coalesce($0, $1)", bound: fewDigits},
	{name: "nullif", gives: anything, takes: "xx", gagg: "nullif($0, $1)", bound: fewDigits},
	{name: "case", gives: anything, takes: "bxx", gagg: "case when $0 then $1 else $2 end", bound: fewDigits},
	{name: "case", gives: anything, takes: "bx", gagg: "case when $0 then $1 end"},

	{name: "cast", gives: double, takes: "i", gagg: "cast($0 as double)", bound: sameRange},
	{name: "cast", gives: double, takes: "d", gagg: "($0::double)", bound: exactDecimal, why: decimalToFloat},
	{name: "cast", gives: double, takes: "f", gagg: "cast($0 as double)", bound: sameRange},
	{name: "cast", gives: integer, takes: "b", gagg: "cast($0 as bigint)", bound: within(0, 1)},
	{name: "cast", gives: integer, takes: "D", gagg: "cast($0 as bigint)", bound: smallFloats},
	{name: "cast", gives: integer, takes: "d", gagg: "cast($0 as bigint)", bound: smallDecimals},
	{name: "cast", gives: decimals, takes: "i", gagg: "cast($0 as decimal(18,2))", bound: toDecimal},
	{name: "cast", gives: text, takes: "i", gagg: "cast($0 as varchar)"},
	{name: "cast", gives: text, takes: "d", gagg: "($0::varchar)", bound: wholeDigits, why: decimalText},
	{name: "cast", gives: text, takes: "b", gagg: "cast($0 as varchar)"},
	{name: "cast", gives: text, takes: "a", gagg: "cast($0 as varchar)"},
	{name: "cast", gives: instant, takes: "a", gagg: "cast($0 as timestamp)"},
	{name: "cast", gives: date, takes: "s", gagg: "cast($0 as date)"},
}

// most is what whole numbers stay below, so that nothing overflows on the way.
const most = 4e18

func (e *expr) bounds(lo, hi float64) bool {
	limit := map[kind]float64{integer: most, unsigned: most, decimals: 1e17, single: 1e30, double: 1e290}[e.kind]
	e.lo, e.hi = lo, hi
	return lo >= -limit && hi <= limit && (e.kind != unsigned || lo >= 0)
}

func sum(e *expr) bool {
	return e.bounds(e.kids[0].lo+e.kids[1].lo, e.kids[0].hi+e.kids[1].hi)
}

func subtraction(e *expr) bool {
	return e.bounds(e.kids[0].lo-e.kids[1].hi, e.kids[0].hi-e.kids[1].lo)
}

func multiplication(e *expr) bool {
	a, b := e.kids[0], e.kids[1]
	e.special = a.special || b.special
	return e.bounds(min(a.lo*b.lo, a.lo*b.hi, a.hi*b.lo, a.hi*b.hi), max(a.lo*b.lo, a.lo*b.hi, a.hi*b.lo, a.hi*b.hi))
}

func remainder(e *expr) bool {
	return e.bounds(min(e.kids[0].lo, 0), max(e.kids[0].hi, 0))
}

func wholeQuotient(e *expr) bool {
	m := e.kids[0].magnitude()
	return e.bounds(-m, m)
}

// quotient is of any size, since divisors are: what is computed of it may overflow.
func quotient(e *expr) bool {
	e.special, e.lo, e.hi = true, -math.MaxFloat64, math.MaxFloat64
	return !e.kids[0].special && e.kids[0].magnitude() < 1e100 && (e.kids[0].kind != decimals || e.kids[0].digits <= 15)
}

func negation(e *expr) bool { return e.bounds(-e.kids[0].hi, -e.kids[0].lo) }

func absolute(e *expr) bool { return e.bounds(0, e.magnitude()) }

// magnitude is what no value exceeds.
func (e *expr) magnitude() float64 { return max(math.Abs(e.lo), math.Abs(e.hi)) }

func within(lo, hi float64) func(*expr) bool {
	return func(e *expr) bool { return e.bounds(lo, hi) }
}

// exactInDouble is whole numbers that DuckDB, which compares them with doubles as doubles, does
// not round.
func exactInDouble(e *expr) bool { return e.kids[0].kind == double || e.kids[0].magnitude() < 1<<53 }

func smallDecimals(e *expr) bool {
	return e.kids[0].digits <= 18 && e.bounds(e.kids[0].lo-1, e.kids[0].hi+1)
}

// oneDecimalType is operands that DuckDB has a common type for, if they are decimals.
func oneDecimalType(e *expr) bool {
	whole, scale := 0, 0
	for _, kid := range e.kids {
		whole, scale = max(whole, kid.digits-kid.scale), max(scale, kid.scale)
	}
	return whole+scale <= 38
}

func fewDigits(e *expr) bool { return e.digits <= 18 }

func exactDecimal(e *expr) bool {
	e.lo, e.hi = e.kids[0].lo, e.kids[0].hi
	return e.kids[0].digits <= 15
}

func wholeDigits(e *expr) bool { return e.kids[0].digits > e.kids[0].scale }

func smallFloats(e *expr) bool {
	return !e.kids[0].special && e.kids[0].magnitude() < 1e15 && e.bounds(e.kids[0].lo-1, e.kids[0].hi+1)
}

func toDecimal(e *expr) bool {
	e.digits, e.scale = 18, 2
	return e.kids[0].magnitude() < 1e15 && e.bounds(e.kids[0].lo, e.kids[0].hi)
}

// wide fills in decimal types of 38 digits for the operands of a sum, whose own would be too
// narrow.
func (e *expr) wide(digits int) {
	e.duck = strings.NewReplacer("$W", fmt.Sprintf("decimal(%d,%d)", digits, e.kids[0].scale),
		"$X", fmt.Sprintf("decimal(%d,%d)", digits, e.kids[1].scale)).Replace(e.duck)
}

func decimalSum(e *expr) bool         { return e.decimalAdd() && sum(e) }
func decimalSubtraction(e *expr) bool { return e.decimalAdd() && subtraction(e) }

func (e *expr) decimalAdd() bool {
	a, b := e.kids[0], e.kids[1]
	e.scale = max(a.scale, b.scale)
	e.digits = max(a.digits-a.scale, b.digits-b.scale) + e.scale + 1
	e.wide(30)
	return a.digits <= 18 && b.digits <= 18 && e.scale <= 10
}

func decimalProduct(e *expr) bool {
	a, b := e.kids[0], e.kids[1]
	e.scale, e.digits = a.scale+b.scale, a.digits+b.digits
	e.wide(max(19, a.digits))
	return a.digits <= 18 && b.digits <= 18 && e.scale <= 18 && multiplication(e)
}

func smallNumber(g *generator, e *expr) bool {
	e.fill("$P", fmt.Sprint(g.rng.IntN(1000)))
	return true
}

func pattern(g *generator, e *expr) bool {
	letter := func() string { return pick(g.rng, "a", "b", "c", "=", "_", "%", "é", "A") }
	e.fill("$P", quote(pick(g.rng, "%", "", "_")+letter()+pick(g.rng, "%", "", letter())+pick(g.rng, "%", "")))
	return true
}

func (e *expr) fill(mark, with string) {
	e.gagg, e.duck = strings.ReplaceAll(e.gagg, mark, with), strings.ReplaceAll(e.duck, mark, with)
}

// sameRange is a number in another type.
func sameRange(e *expr) bool {
	e.lo, e.hi, e.special = e.kids[0].lo, e.kids[0].hi, e.kids[0].special
	return true
}
