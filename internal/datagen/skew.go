package datagen

import (
	"math"
	"math/rand/v2"
	"slices"
)

// newSkew returns a draw from 0..n-1: uniform for exponent 0, else Zipf, where
// i has the weight 1/(i+1)^exponent. Unlike rand.Zipf it takes exponents of 1
// and below, the ones that group-by papers use.
func newSkew(rng *rand.Rand, n int, exponent float64) func() int {
	if exponent == 0 {
		return func() int { return rng.IntN(n) }
	}
	upTo := make([]float64, n) // sum of the weights of 0..i
	sum := 0.0
	for i := range upTo {
		sum += math.Pow(float64(i+1), -exponent)
		upTo[i] = sum
	}
	return func() int {
		i, _ := slices.BinarySearch(upTo, rng.Float64()*sum)
		return min(i, n-1)
	}
}
