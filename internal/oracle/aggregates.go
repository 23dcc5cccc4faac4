package oracle

import (
	"math"
	"math/big"

	"github.com/gagg-dev/gagg/internal/column"
)

// function computes an aggregate from the arguments of the rows that count:
// none of them is NULL. t is the type of the first argument.
type function func(args [][]column.Value, t column.Type) (Cell, error)

var functions = map[string]function{
	"count": func(args [][]column.Value, _ column.Type) (Cell, error) {
		return integer(int64(len(args))), nil
	},
	"sum":         sumOf,
	"min":         pick(0, func(c int) bool { return c < 0 }),
	"max":         pick(0, func(c int) bool { return c > 0 }),
	"arg_min":     pick(1, func(c int) bool { return c < 0 }),
	"arg_max":     pick(1, func(c int) bool { return c > 0 }),
	"any_value":   pick(0, func(int) bool { return false }),
	"first":       pick(0, func(int) bool { return false }),
	"last":        pick(0, func(int) bool { return true }),
	"mean":        meanOf,
	"avg":         meanOf,
	"var_pop":     variance(0, false),
	"var_samp":    variance(1, false),
	"stddev_pop":  variance(0, true),
	"stddev_samp": variance(1, true),
	"stddev":      variance(1, true),
	"covar_pop":   covariance(0),
	"covar_samp":  covariance(1),
	"corr":        correlation,
	"product":     product,
	"bool_and":    fold(func(a, b int64) int64 { return a & b }),
	"bool_or":     fold(func(a, b int64) int64 { return a | b }),
	"bit_and":     fold(func(a, b int64) int64 { return a & b }),
	"bit_or":      fold(func(a, b int64) int64 { return a | b }),
	"bit_xor":     fold(func(a, b int64) int64 { return a ^ b }),

	"median":         quantile(half),
	"mad":            medianDeviation,
	"mode":           mode,
	"entropy":        entropy,
	"count_distinct": countDistinct,
	"histogram":      histogram,
	"list":           list,
}

func sumOf(args [][]column.Value, t column.Type) (Cell, error) {
	if len(args) == 0 {
		return Cell{}, nil
	}
	if t.IsFloat() {
		all, special, ok := numbers(args, 0)
		if !ok {
			return float(special), nil
		}
		c := float(double(sum(all)))
		c.Magnitude = sumOfAbsolutes(all)
		return c, nil
	}
	total := new(big.Rat)
	for _, row := range args {
		total.Add(total, exactOf(row[0]))
	}
	if !fits(total, t) {
		return Cell{}, ErrOverflow
	}
	return Cell{Kind: Exact, Exact: total}, nil
}

// fits reports whether a sum over values of type t is within the type that
// sum gives: int64, or decimals of 38 or 76 digits.
func fits(total *big.Rat, t column.Type) bool {
	digits := 38
	if t.Kind == column.Decimal && t.Precision > 38 {
		digits = 76
	}
	unscaled := new(big.Rat).Mul(total, new(big.Rat).SetInt(powerOfTen(int(t.Scale)))).Num()
	if t.Kind != column.Decimal && t.Kind != column.Int64 && t.Kind != column.Uint64 {
		return unscaled.IsInt64()
	}
	return unscaled.CmpAbs(powerOfTen(digits)) < 0
}

// pick returns the first argument of one row: the first row, replaced by a
// later one where better says so of comparing its argument by with that of
// the row held so far.
func pick(by int, better func(comparison int) bool) function {
	return func(args [][]column.Value, _ column.Type) (Cell, error) {
		if len(args) == 0 {
			return Cell{}, nil
		}
		held := args[0]
		for _, row := range args[1:] {
			if better(compare(row[by], held[by])) {
				held = row
			}
		}
		return CellOf(held[0]), nil
	}
}

func meanOf(args [][]column.Value, _ column.Type) (Cell, error) {
	if len(args) == 0 {
		return Cell{}, nil
	}
	all, special, ok := numbers(args, 0)
	if !ok {
		return float(special), nil
	}
	c := float(double(mean(all)))
	c.Magnitude = sumOfAbsolutes(all) / float64(len(all))
	return c, nil
}

// variance divides by n - less. It is NULL if there is nothing to divide by,
// and NaN over infinities and NaN.
func variance(less int, root bool) function {
	return func(args [][]column.Value, _ column.Type) (Cell, error) {
		if len(args) <= less {
			return Cell{}, nil
		}
		all, _, ok := numbers(args, 0)
		if !ok {
			return float(math.NaN()), nil
		}
		v := double(quotient(comoment(all, all), float64(len(all)-less)))
		m := math.Abs(double(mean(all)))
		// Rounding of the inputs' own size: d(x²) = 2x·dx.
		c := Cell{Kind: Float, Float: v, Magnitude: max(v, m*math.Sqrt(v))}
		if root {
			c = Cell{Kind: Float, Float: math.Sqrt(v), Magnitude: max(math.Sqrt(v), m)}
		}
		return c, nil
	}
}

func covariance(less int) function {
	return func(args [][]column.Value, _ column.Type) (Cell, error) {
		if len(args) <= less {
			return Cell{}, nil
		}
		xs, _, okX := numbers(args, 0)
		ys, _, okY := numbers(args, 1)
		if !okX || !okY {
			return float(math.NaN()), nil
		}
		n := float64(len(xs))
		c := float(double(quotient(comoment(xs, ys), n-float64(less))))
		spreadX := math.Sqrt(double(quotient(comoment(xs, xs), n)))
		spreadY := math.Sqrt(double(quotient(comoment(ys, ys), n)))
		c.Magnitude = spreadX*spreadY + math.Abs(double(mean(xs)))*spreadY + math.Abs(double(mean(ys)))*spreadX
		return c, nil
	}
}

// correlation is NaN where one of the arguments does not vary.
func correlation(args [][]column.Value, _ column.Type) (Cell, error) {
	if len(args) == 0 {
		return Cell{}, nil
	}
	xs, _, okX := numbers(args, 0)
	ys, _, okY := numbers(args, 1)
	if !okX || !okY {
		return float(math.NaN()), nil
	}
	square := new(big.Float).SetPrec(exactBits).Mul(comoment(xs, xs), comoment(ys, ys))
	if square.Sign() == 0 {
		return float(math.NaN()), nil
	}
	c := float(double(new(big.Float).SetPrec(exactBits).Quo(comoment(xs, ys), square.Sqrt(square))))
	c.Magnitude = 1
	return c, nil
}

// product multiplies with more digits and a wider range than doubles have, so
// that only the result may be infinite.
func product(args [][]column.Value, _ column.Type) (Cell, error) {
	if len(args) == 0 {
		return Cell{}, nil
	}
	total, special := new(big.Float).SetPrec(exactBits).SetInt64(1), 1.0
	for _, row := range args {
		exact, notFinite := number(row[0])
		if exact == nil {
			special *= notFinite
			continue
		}
		total.Mul(total, exact)
		special *= float64(exact.Sign())
	}
	if math.IsNaN(special) || math.IsInf(special, 0) {
		return float(special), nil
	}
	result, _ := total.Float64()
	return float(result), nil
}

// fold joins the integers or booleans of the rows. The bits of an unsigned
// or narrow integer stay within its width, because those of all inputs do.
func fold(join func(a, b int64) int64) function {
	return func(args [][]column.Value, _ column.Type) (Cell, error) {
		if len(args) == 0 {
			return Cell{}, nil
		}
		held := args[0][0]
		for _, row := range args[1:] {
			held.Int = join(held.Int, row[0].Int)
		}
		return CellOf(held), nil
	}
}
