package expr

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestDivisor protects the multiplication that stands for a division, for
// divisors of all sizes and numerators around their multiples.
func TestDivisor(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	divisors := []int64{1, 2, 3, 5, 7, 60, 86400, 1e6, 86400e6, 86400e9, math.MaxInt64, math.MaxInt64 - 1, 1 << 62, 1<<62 + 1, 1<<32 - 1, 1<<32 + 1}
	for range 2000 {
		divisors = append(divisors, r.Int64N(1<<(1+r.IntN(63))-1)+1)
	}
	for _, d := range divisors {
		v := newDivisor(d)
		numerators := []int64{0, 1, -1, math.MaxInt64, math.MinInt64, math.MinInt64 + 1}
		for range 50 {
			n := int64(r.Uint64())
			n -= n % d
			numerators = append(numerators, n, n-1, n+1, int64(r.Uint64())>>r.IntN(64))
		}
		for _, n := range numerators {
			if got, want := v.floor(n), floorDiv(n, d); got != want {
				t.Fatalf("%d / %d = %d, want %d", n, d, got, want)
			}
		}
	}
}
