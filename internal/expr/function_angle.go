package expr

import (
	"math"

	"github.com/gagg-dev/gagg/internal/column"
)

// infiniteArgument says that a function has no value for infinities.
func infiniteArgument(what string) func(float64) string {
	return func(x float64) string {
		if math.IsInf(x, 0) {
			return "there is no " + what + " of"
		}
		return ""
	}
}

// beyondOne says that a function has no value beyond -1 and 1.
func beyondOne(what string) func(float64) string {
	return func(x float64) string {
		if x > 1 || x < -1 {
			return "there is no " + what + " of"
		}
		return ""
	}
}

func noCotangent(x float64) string {
	if x == 0 || math.IsInf(x, 0) {
		return "there is no cotangent of"
	}
	return ""
}

func degrees(x float64) float64 { return x * (180 / math.Pi) }

func radians(x float64) float64 { return x * (math.Pi / 180) }

// testDouble binds a condition on a number.
func testDouble(test func(float64) bool) func(*call) (*bound, error) {
	return func(c *call) (*bound, error) {
		return c.strict(func(f *frame) error {
			for i, x := range f.args[0].Float[:f.n] {
				f.out.Int[i] = truth(test(x))
			}
			return nil
		}, castTo(c.args[0], doubleType, c.n)), nil
	}
}

// remainder binds mod(x, y), which is x % y.
func remainder(c *call) (*bound, error) { return arithmetic("%", c.args[0], c.args[1], c.n) }

// remainderType is the type of mod(x, y) where one is NULL.
func remainderType(args []*bound) column.Type {
	for _, x := range args {
		if x.typ.Kind != column.Null && !x.typ.IsInteger() {
			return x.typ
		}
	}
	return int64Type
}
