package agg

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// fixedWordOf is a word of x, x*y or a power of x as a fixed-point number, by package math/big.
func fixedWordOf(w RowWord, x, y float64) uint64 {
	product := new(big.Float).SetPrec(4 * fractionBits).SetFloat64(x)
	for range w.From.Factors() - 1 {
		product.Mul(product, big.NewFloat(y))
	}
	low := w.Fixed.Base + w.From.Factors()*(leastDigit-1) // of the sum
	exact, accuracy := product.SetMantExp(product, -low).Int(nil)
	if accuracy != big.Exact || exact.BitLen() >= w.Fixed.Beyond+w.From.Factors()*fractionBits {
		panic("agg: a number outside of its window")
	}
	exact.Rsh(exact, uint(64*w.Fixed.Word)) // Rsh and And are those of two's complement
	return exact.And(exact, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
}

// What a device makes of single values for exact sums is what Update makes of them: of values, of
// products and of powers.
func TestDeviceRowFixed(t *testing.T) {
	t.Parallel()
	draws := []func(rng *rand.Rand) float64{
		(*rand.Rand).NormFloat64, (*rand.Rand).ExpFloat64,
		func(rng *rand.Rand) float64 { return math.Ldexp(rng.NormFloat64(), rng.IntN(40)-20) },
		func(rng *rand.Rand) float64 { return float64(rng.IntN(5) - 2) },
	}
	made := map[int]bool{}
	for _, draw := range draws {
		for _, kind := range []string{"none", "some"} {
			x := floatsOf(column.Float64, draw)
			d := randomData(testRand(), 100, 1, kind, []generator{x, x})
			calls := []Call{
				callOf(t, d, "sum", 0), callOf(t, d, "var_samp", 1), callOf(t, d, "corr", 0, 1),
				callOf(t, d, "skewness", 0), callOf(t, d, "kurtosis", 1),
			}
			for _, c := range append(slices.Collect(slices.Chunk(calls, 1)), calls) {
				for _, o := range fixedOptions(d) {
					l := Compile(c, testBase, o)
					row, why := l.DeviceRow()
					if why != "" {
						continue // as of windows without statistics: there are too many words
					}
					for _, w := range row.Words {
						made[w.From.Factors()] = true
					}
					mustMake(t, l, row, d)
				}
			}
		}
	}
	for factors := 1; factors <= 4; factors++ {
		if !made[factors] {
			t.Errorf("no product of %d factors was tried", factors)
		}
	}
}
