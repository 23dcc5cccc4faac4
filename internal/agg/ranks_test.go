package agg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// orders are ways in which n words come, of few or many distinct values.
var orders = map[string]func(rng *rand.Rand, n int) []int64{
	"random": func(rng *rand.Rand, n int) []int64 { return wordsOfRange(rng, n, math.MaxInt64) },
	"equal":  func(_ *rand.Rand, n int) []int64 { return slices.Repeat([]int64{7}, n) },
	"two":    func(rng *rand.Rand, n int) []int64 { return wordsOfRange(rng, n, 2) },
	"few":    func(rng *rand.Rand, n int) []int64 { return wordsOfRange(rng, n, 15) },
	"ends": func(rng *rand.Rand, n int) []int64 {
		a := wordsOfRange(rng, n, 3)
		for i := range a {
			a[i] = [...]int64{math.MinInt64, 0, math.MaxInt64}[a[i]]
		}
		return a
	},
	"some often": func(rng *rand.Rand, n int) []int64 {
		a := wordsOfRange(rng, n, 1000)
		for i := range a {
			a[i] = max(a[i], 600)
		}
		return a
	},
	"sorted":      func(_ *rand.Rand, n int) []int64 { return wordsFrom(n, func(i int) int { return i }) },
	"reversed":    func(_ *rand.Rand, n int) []int64 { return wordsFrom(n, func(i int) int { return -i }) },
	"up and down": func(_ *rand.Rand, n int) []int64 { return wordsFrom(n, func(i int) int { return min(i, n-i) }) },
	"down and up": func(_ *rand.Rand, n int) []int64 { return wordsFrom(n, func(i int) int { return max(i, n-i) }) },
	"in steps":    func(_ *rand.Rand, n int) []int64 { return wordsFrom(n, func(i int) int { return i % 64 }) },
	// What a sample sees says nothing of the rest.
	"hidden": func(_ *rand.Rand, n int) []int64 {
		s := max(min(int(sampleRoots*math.Sqrt(float64(n))), n/4), 1)
		return wordsFrom(n, func(i int) int {
			if i%(n/s) == 0 {
				return i
			}
			return i%3 - 1
		})
	},
	"hidden above": func(_ *rand.Rand, n int) []int64 {
		s := max(min(int(sampleRoots*math.Sqrt(float64(n))), n/4), 1)
		return wordsFrom(n, func(i int) int {
			if i%(n/s) == 0 {
				return i
			}
			return n + i%2
		})
	},
}

func wordsOfRange(rng *rand.Rand, n int, values int64) []int64 {
	return wordsFrom(n, func(int) int { return int(rng.Int64N(values)) })
}

func wordsFrom(n int, word func(i int) int) []int64 {
	a := make([]int64, n)
	for i := range a {
		a[i] = int64(word(i))
	}
	return a
}

// ranks finds what sorting finds, at any rank of words in any order.
func TestRanks(t *testing.T) {
	t.Parallel()
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			rng := testRand()
			for _, n := range []int{1, 2, 3, 4, 23, 24, 25, 26, 27, 63, 64, 100, 1000, 1023, 5000, 70_000} {
				a := order(rng, n)
				sorted := slices.Sorted(slices.Values(a))
				for _, i := range []int{0, 1, n / 7, n/2 - 1, n / 2, n/2 + 1, n - 2, n - 1} {
					checkRanks(t, a, sorted, i, i)
					checkRanks(t, a, sorted, i, i+1)
				}
			}
		})
	}
}

func checkRanks(t *testing.T, a, sorted []int64, i, j int) {
	t.Helper()
	if i < 0 || j >= len(a) {
		return
	}
	lo, hi := ranks(slices.Clone(a), make([]int64, len(a)), i, j)
	if lo != sorted[i] || hi != sorted[j] {
		t.Fatalf("ranks %d and %d of %d: %d and %d, want %d and %d", i, j, len(a), lo, hi, sorted[i], sorted[j])
	}
}

func FuzzRanks(f *testing.F) {
	f.Add(uint64(1), uint16(100), uint16(50), uint8(3))
	f.Add(uint64(2), uint16(1000), uint16(0), uint8(63))
	f.Fuzz(func(t *testing.T, seed uint64, n, i uint16, bits uint8) {
		if n == 0 || i >= n {
			return
		}
		rng := rand.New(rand.NewPCG(seed, 0))
		a := wordsFrom(int(n), func(int) int { return int(rng.Int64() >> (bits % 64)) })
		slices.Sort(a[:rng.IntN(len(a)+1)])
		sorted := slices.Sorted(slices.Values(a))
		checkRanks(t, a, sorted, int(i), int(i))
		checkRanks(t, a, sorted, int(i), int(i)+1)
	})
}

func BenchmarkRanks(b *testing.B) {
	for _, n := range []int{4, 10, 40, 100, 1000, 1_000_000} {
		for _, name := range []string{"random", "few", "two", "sorted"} {
			b.Run(fmt.Sprintf("n=%d/order=%s", n, name), func(b *testing.B) {
				rng := testRand()
				sets := make([][]int64, max(1<<18/n, 1)) // more than branches can be remembered of
				for i := range sets {
					sets[i] = orders[name](rng, n)
				}
				words, spare := make([]int64, n), make([]int64, n)
				b.ResetTimer()
				for i := range b.N {
					copy(words, sets[i%len(sets)])
					ranks(words, spare, (n-1)/2, n/2)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/value")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
