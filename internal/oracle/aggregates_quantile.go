package oracle

import (
	"math"
	"math/big"
	"slices"

	"github.com/gagg-dev/gagg/internal/column"
)

var half = big.NewRat(1, 2)

// quantile interpolates between the two values around the place p·(n-1) of
// the sorted ones. Types that have nothing in between take quantileDisc.
func quantile(p *big.Rat) function {
	return func(args [][]column.Value, t column.Type) (Cell, error) {
		switch {
		case len(args) == 0:
			return Cell{}, nil
		case !interpolates(t):
			return quantileDisc(p)(args, t)
		}
		lo, hi, d := around(sortedValues(args), p)
		switch {
		case t.IsFloat():
			c := narrowed(betweenFloats(lo.Float, hi.Float, d), t)
			c.Magnitude = max(c.Magnitude, math.Abs(lo.Float)/2+math.Abs(hi.Float)/2)
			return c, nil
		case t.IsInteger():
			c := float(ratToDouble(between(exactOf(lo), exactOf(hi), d)))
			c.Magnitude = absolute(exactOf(lo)) + absolute(exactOf(hi))
			return c, nil
		}
		return Cell{Kind: Exact, Exact: inSteps(between(steps(lo), steps(hi), d), t)}, nil
	}
}

func interpolates(t column.Type) bool {
	return t.IsNumeric() || t.Kind == column.Date || t.Kind == column.Time || t.Kind == column.Timestamp
}

// quantileDisc is the first of the sorted values with at least a share p of
// them up to it.
func quantileDisc(p *big.Rat) function {
	return func(args [][]column.Value, _ column.Type) (Cell, error) {
		if len(args) == 0 {
			return Cell{}, nil
		}
		share := new(big.Rat).Mul(p, new(big.Rat).SetInt64(int64(len(args))))
		i := 0
		for share.Cmp(new(big.Rat).SetInt64(int64(i+1))) > 0 {
			i++
		}
		return CellOf(sortedValues(args)[i]), nil
	}
}

// medianDeviation is the median of the distances from the median.
func medianDeviation(args [][]column.Value, t column.Type) (Cell, error) {
	if len(args) == 0 {
		return Cell{}, nil
	}
	if t.IsFloat() {
		return floatDeviation(args, t), nil
	}
	distances, largest := []*big.Rat{}, 0.0
	lo, hi, d := around(sortedValues(args), half)
	median := between(exactOf(lo), exactOf(hi), d)
	if t.Kind == column.Decimal {
		median = inSteps(between(steps(lo), steps(hi), d), t)
	}
	for _, row := range args {
		x := exactOf(row[0])
		distances = append(distances, x.Sub(x, median).Abs(x))
		largest = max(largest, absolute(exactOf(row[0])))
	}
	slices.SortFunc(distances, (*big.Rat).Cmp)
	i, j, d := place(len(distances), half)
	deviation := between(distances[i], distances[j], d)
	if t.Kind != column.Decimal {
		return Cell{Kind: Float, Float: ratToDouble(deviation), Magnitude: largest}, nil
	}
	deviation.Mul(deviation, new(big.Rat).SetInt(powerOfTen(int(t.Scale))))
	return Cell{Kind: Exact, Exact: inSteps(deviation, t)}, nil
}

// floatDeviation lets infinities and NaN go the way of IEEE 754.
func floatDeviation(args [][]column.Value, t column.Type) Cell {
	sorted := sortedValues(args)
	lo, hi, d := around(sorted, half)
	median, largest := betweenFloats(lo.Float, hi.Float, d), 0.0
	distances := make([]float64, len(sorted))
	for i, v := range sorted {
		distances[i] = math.Abs(v.Float - median)
		if !math.IsInf(v.Float, 0) && !math.IsNaN(v.Float) {
			largest = max(largest, math.Abs(v.Float))
		}
	}
	slices.SortFunc(distances, compareFloats)
	i, j, d := place(len(distances), half)
	c := narrowed(betweenFloats(distances[i], distances[j], d), t)
	c.Magnitude = max(c.Magnitude, largest)
	return c
}

// place is where p lies among n sorted values: between i and j, which follow
// each other or are the same, and how far behind i.
func place(n int, p *big.Rat) (i, j int, behind *big.Rat) {
	at := new(big.Rat).Mul(p, new(big.Rat).SetInt64(int64(n-1)))
	i = int(new(big.Int).Quo(at.Num(), at.Denom()).Int64())
	behind = at.Sub(at, new(big.Rat).SetInt64(int64(i)))
	if behind.Sign() == 0 {
		return i, i, behind
	}
	return i, i + 1, behind
}

func around(sorted []column.Value, p *big.Rat) (lo, hi column.Value, behind *big.Rat) {
	i, j, behind := place(len(sorted), p)
	return sorted[i], sorted[j], behind
}

// sortedValues is the first arguments in ascending order, NaN last.
func sortedValues(args [][]column.Value) []column.Value {
	sorted := make([]column.Value, len(args))
	for i, row := range args {
		sorted[i] = row[0]
	}
	slices.SortStableFunc(sorted, compare)
	return sorted
}

func between(lo, hi, d *big.Rat) *big.Rat {
	width := new(big.Rat).Sub(hi, lo)
	return width.Add(width.Mul(width, d), lo)
}

// betweenFloats is exact but for one rounding where both are finite.
func betweenFloats(lo, hi float64, d *big.Rat) float64 {
	if compareFloats(lo, hi) == 0 {
		return lo
	}
	l, h := new(big.Rat).SetFloat64(lo), new(big.Rat).SetFloat64(hi)
	if l == nil || h == nil {
		far := ratToDouble(d)
		return lo*(1-far) + hi*far
	}
	return ratToDouble(between(l, h, d))
}

// steps counts v, which is no float, in the smallest steps of the type that
// quantiles of its type have: microseconds for a date.
func steps(v column.Value) *big.Rat {
	x := exactOf(v)
	switch v.Type.Kind {
	case column.Decimal:
		x.Mul(x, new(big.Rat).SetInt(powerOfTen(int(v.Type.Scale))))
	case column.Date:
		x.Mul(x, new(big.Rat).SetInt64(24*3600*1e6))
	}
	return x
}

// inSteps rounds what steps are counted in, decimals downwards, times to the
// nearest and halves away from zero, and gives the number that a cell of
// type t shows.
func inSteps(x *big.Rat, t column.Type) *big.Rat {
	if t.Kind == column.Decimal {
		n := new(big.Int).Div(x.Num(), x.Denom()) // Euclid's: down, as the divisor is positive
		return new(big.Rat).SetFrac(n, powerOfTen(int(t.Scale)))
	}
	whole, _ := new(big.Rat).SetString(x.FloatString(0)) // which rounds like that
	return whole
}

// narrowed is a result over floats of type t. What is narrower than a double
// becomes a float, whose last digit may go either way.
func narrowed(x float64, t column.Type) Cell {
	c := float(x)
	if t.Kind != column.Float64 {
		c = float(float64(float32(x)))
		c.Magnitude = (math.Abs(x)*0x1p-23 + math.SmallestNonzeroFloat32) / Tolerance
	}
	return c
}

func ratToDouble(x *big.Rat) float64 {
	f, _ := x.Float64()
	return f
}

func absolute(x *big.Rat) float64 { return math.Abs(ratToDouble(x)) }
