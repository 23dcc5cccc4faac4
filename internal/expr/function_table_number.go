package expr

import (
	"math"

	"github.com/gagg-dev/gagg/internal/column"
)

// numberFunctions are the functions of numbers.
var numberFunctions = []function{
	{
		name: "abs", section: sectionNumber, params: []param{arg("x", aNumber)},
		result: result{"its type; of signed integers int64", absoluteType}, bind: absolute, doc: "without its sign",
	},
	{
		name: "acos", section: sectionNumber, params: []param{arg("x", aNumber)},
		result: gives(doubleType), bind: ofDoubles(math.Acos, beyondOne("arc cosine")), doc: "the angle of that cosine, in radians",
	},
	{
		name: "asin", section: sectionNumber, params: []param{arg("x", aNumber)},
		result: gives(doubleType), bind: ofDoubles(math.Asin, beyondOne("arc sine")), doc: "the angle of that sine",
	},
	{
		name: "atan", section: sectionNumber, params: []param{arg("x", aNumber)},
		result: gives(doubleType), bind: ofDoubles(math.Atan, nil), doc: "the angle of that tangent",
	},
	{
		name: "atan2", section: sectionNumber, params: []param{arg("y", aNumber), arg("x", aNumber)},
		result: gives(doubleType), bind: ofTwoDoubles(math.Atan2), doc: "the angle from the x axis to that point",
	},
	{
		name: "bit_count", section: sectionNumber, params: []param{arg("x", anInteger)},
		result: gives(column.Type{Kind: column.Int8}), bind: bitCount, doc: "how many bits are 1, of as many as its type has",
	},
	{
		name: "cbrt", section: sectionNumber, params: []param{arg("x", aNumber)},
		result: gives(doubleType), bind: ofDoubles(math.Cbrt, nil), doc: "the cube root",
	},
	{
		name: "ceil", also: []string{"ceiling"}, section: sectionNumber, params: []param{arg("x", aNumber)},
		result: roundedType, bind: rounded(roundUp), doc: "the next whole number from x on",
	},
	{
		name: "cos", section: sectionNumber, params: []param{arg("x", aNumber)},
		result: gives(doubleType), bind: ofDoubles(math.Cos, infiniteArgument("cosine")), doc: "the cosine of an angle in radians",
	},
	{
		name: "cot", section: sectionNumber, params: []param{arg("x", aNumber)},
		result: gives(doubleType), bind: ofDoubles(func(x float64) float64 { return 1 / math.Tan(x) }, noCotangent), doc: "the cotangent",
	},
	{
		name: "degrees", section: sectionNumber, params: []param{arg("x", aNumber)},
		result: gives(doubleType), bind: ofDoubles(degrees, nil), doc: "radians as degrees",
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
		name: "gcd", also: []string{"greatest_common_divisor"}, section: sectionNumber, params: []param{arg("a", aCount), arg("b", aCount)},
		result: gives(int64Type), bind: commonDivisor(false), doc: "the greatest common divisor",
	},
	{
		name: "isfinite", section: sectionNumber, params: []param{arg("x", aNumber)},
		result: gives(boolType), bind: testDouble(func(x float64) bool { return x-x == 0 }), doc: "whether it is neither NaN nor an infinity",
	},
	{
		name: "isinf", section: sectionNumber, params: []param{arg("x", aNumber)},
		result: gives(boolType), bind: testDouble(func(x float64) bool { return math.IsInf(x, 0) }), doc: "whether it is an infinity",
	},
	{
		name: "isnan", section: sectionNumber, params: []param{arg("x", aNumber)},
		result: gives(boolType), bind: testDouble(math.IsNaN), doc: "whether it is NaN",
	},
	{
		name: "lcm", also: []string{"least_common_multiple"}, section: sectionNumber, params: []param{arg("a", aCount), arg("b", aCount)},
		result: gives(int64Type), bind: commonDivisor(true), doc: "the least common multiple",
	},
	{
		name: "ln", section: sectionNumber, params: []param{arg("x", aNumber)},
		result: gives(doubleType), bind: ofDoubles(ln, notPositive), doc: "the natural logarithm; of 0 and less an error",
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
		name: "mod", section: sectionNumber, params: []param{arg("x", aNumber), arg("y", aNumber)},
		result: result{"as of x % y", remainderType}, bind: remainder, doc: "x % y",
	},
	{
		name: "pi", section: sectionNumber, params: []param{},
		result: gives(doubleType), bind: func(*call) (*bound, error) { return newConst(doubleValue(math.Pi)), nil }, doc: "3.141592653589793",
	},
	{
		name: "power", also: []string{"pow"}, section: sectionNumber, params: []param{arg("x", aNumber), arg("y", aNumber)},
		result: gives(doubleType), bind: ofTwoDoubles(math.Pow), doc: "x to the power of y",
	},
	{
		name: "radians", section: sectionNumber, params: []param{arg("x", aNumber)},
		result: gives(doubleType), bind: ofDoubles(radians, nil), doc: "degrees as radians",
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
		name: "sin", section: sectionNumber, params: []param{arg("x", aNumber)},
		result: gives(doubleType), bind: ofDoubles(math.Sin, infiniteArgument("sine")), doc: "the sine of an angle in radians",
	},
	{
		name: "sqrt", section: sectionNumber, params: []param{arg("x", aNumber)},
		result: gives(doubleType), bind: ofDoubles(math.Sqrt, negative), doc: "the square root; of less than 0 an error",
	},
	{
		name: "tan", section: sectionNumber, params: []param{arg("x", aNumber)},
		result: gives(doubleType), bind: ofDoubles(math.Tan, infiniteArgument("tangent")), doc: "the tangent",
	},
	{
		name: "trunc", section: sectionNumber, params: []param{arg("x", aNumber), fixed("digits", anInteger)}, least: 1,
		result: roundedType, bind: rounded(roundTrunc), doc: "as `round`, but towards zero",
	},
	{
		name: "xor", section: sectionNumber, params: []param{arg("a", anInteger), arg("b", anInteger)},
		result: result{"int64; of uint64 that", xorType}, bind: xor, doc: "the bits in which they differ",
	},
}
