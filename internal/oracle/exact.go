package oracle

import (
	"math"
	"math/big"

	"github.com/gagg-dev/gagg/internal/column"
)

// exactBits is a precision in which sums of doubles do not round: doubles
// span 2^-1074 to 2^1023, their products twice as much.
const exactBits = 4400

// bigFloat is x in a precision in which sums and products stay exact.
func bigFloat(x float64) *big.Float {
	return new(big.Float).SetPrec(exactBits).SetFloat64(x)
}

// number is the value of v, which is any number, without rounding, or the
// double itself where it is not finite.
func number(v column.Value) (exact *big.Float, special float64) {
	if v.Type.IsFloat() {
		if math.IsNaN(v.Float) || math.IsInf(v.Float, 0) {
			return nil, v.Float
		}
		return bigFloat(v.Float), 0
	}
	return new(big.Float).SetPrec(exactBits).SetRat(exactOf(v)), 0
}

// numbers is number of argument i of every row. If one of them is not
// finite, it is not ok, and special is their sum: NaN or an infinity.
func numbers(args [][]column.Value, i int) (all []*big.Float, special float64, ok bool) {
	ok = true
	for _, row := range args {
		exact, s := number(row[i])
		if exact == nil {
			special, ok = special+s, false
			continue
		}
		all = append(all, exact)
	}
	return all, special, ok
}

func sum(all []*big.Float) *big.Float {
	total := bigFloat(0)
	for _, x := range all {
		total.Add(total, x)
	}
	return total
}

func sumOfAbsolutes(all []*big.Float) float64 {
	total := bigFloat(0)
	for _, x := range all {
		total.Add(total, new(big.Float).Abs(x))
	}
	return double(total)
}

// mean of one or more numbers.
func mean(all []*big.Float) *big.Float {
	return quotient(sum(all), float64(len(all)))
}

func quotient(x *big.Float, n float64) *big.Float {
	return new(big.Float).SetPrec(exactBits).Quo(x, bigFloat(n))
}

// comoment is the sum of (x - mean x)(y - mean y).
func comoment(xs, ys []*big.Float) *big.Float {
	mx, my := mean(xs), mean(ys)
	total := bigFloat(0)
	for i := range xs {
		dx := new(big.Float).SetPrec(exactBits).Sub(xs[i], mx)
		dy := new(big.Float).SetPrec(exactBits).Sub(ys[i], my)
		total.Add(total, dx.Mul(dx, dy))
	}
	return total
}

// double rounds x once.
func double(x *big.Float) float64 {
	f, _ := x.Float64()
	return f
}
