package partition

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestBoundExample(t *testing.T) {
	t.Parallel()
	b := BoundOf(1e9, 1e6, 1e-6)
	if b.Theorem1 != 2719 || b.Chernoff != 1007 || b.Partitions() != 1007 {
		t.Errorf("1e9 groups, 1e6 fit: %+v", b)
	}
}

func TestBoundEdges(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		why                string
		n, k               int64
		p                  float64
		theorem1, chernoff int64
	}{
		{"no group", 0, 5, 1e-6, 1, 1},
		{"fewer groups than are too many", 4, 5, 1e-6, 1, 1},
		{"any outcome will do", 1e9, 5, 1, 1, 1},
		{"not even one group may be in a partition", 5, 1, 1e-6, unbounded, unbounded},
		{"nor none", 5, 0, 1e-6, unbounded, unbounded},
		{"certainty", 1e9, 5, 0, unbounded, unbounded},
		{"no probability", 1e9, 5, math.NaN(), unbounded, unbounded},
		{"two of 1e15 groups: more than an int64", 1e15, 2, 1e-6, unbounded, unbounded},
		{"the largest int64", math.MaxInt64, math.MaxInt64, 1e-6, 3, 2},
		{"exactly as many groups as are too many", 1e9, 1e9, 1e-6, 3, 2},
	} {
		b := BoundOf(x.n, x.k, x.p)
		if b.Theorem1 != x.theorem1 || b.Chernoff != x.chernoff {
			t.Errorf("%s: n=%d k=%d p=%g: got %+v, want %d and %d", x.why, x.n, x.k, x.p, b, x.theorem1, x.chernoff)
		}
	}
}

// What both bounds promise, against the exact probability.
func TestBoundExact(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{2, 3, 5, 8, 20, 60} {
		for k := int64(2); k <= n; k = k*3/2 + 1 {
			for _, p := range []float64{0.9, 0.3, 0.01, 1e-4} {
				b := BoundOf(n, k, p)
				for _, m := range []int64{b.Theorem1, b.Chernoff} {
					if got := exactP(n, k, m); got > p {
						t.Errorf("n=%d k=%d m=%d: probability %g above %g", n, k, m, got, p)
					}
				}
			}
		}
	}
}

// The exact probability itself, against all ways to place the groups.
func TestExactP(t *testing.T) {
	t.Parallel()
	for n := int64(1); n <= 6; n++ {
		for m := int64(1); m <= 5; m++ {
			for k := int64(1); k <= n+1; k++ {
				if got, want := exactP(n, k, m), countedP(n, k, m); math.Abs(got-want) > 1e-12 {
					t.Errorf("n=%d k=%d m=%d: %g, counted %g", n, k, m, got, want)
				}
			}
		}
	}
}

// Chernoff's number is the smallest that its formula allows, never above
// Theorem 1's, never below the n/k that the mean asks for, and close to it for
// large k; it rises with n and falls with k and p. Over all magnitudes.
func TestBoundShape(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		n := int64(math.Exp(rng.Float64() * math.Log(1e15)))
		k := 2 + int64(math.Exp(rng.Float64()*math.Log(float64(n))))
		p := math.Exp(-30 * rng.Float64())
		b := BoundOf(n, k, p)
		if n < k {
			continue
		}
		if b.Chernoff > b.Theorem1 || float64(b.Chernoff) < float64(n)/float64(k) {
			t.Fatalf("n=%d k=%d p=%g: %+v", n, k, p, b)
		}
		if b.Chernoff < unbounded && chernoffLogP(float64(n), float64(k), float64(b.Chernoff-1)) <= math.Log(p) {
			t.Fatalf("n=%d k=%d p=%g: %d partitions, one fewer is enough", n, k, p, b.Chernoff)
		}
		for _, x := range []struct {
			why  string
			more Bound
		}{
			{"more groups", BoundOf(n+n/10+1, k, p)},
			{"fewer fit", BoundOf(n, max(2, k-k/10-1), p)},
			{"a lower probability", BoundOf(n, k, p/3)},
		} {
			if x.more.Chernoff < b.Chernoff || x.more.Theorem1 < b.Theorem1 {
				t.Fatalf("n=%d k=%d p=%g: %+v; %s: %+v", n, k, p, b, x.why, x.more)
			}
		}
	}
	if b := BoundOf(1e15, 1e9, 1e-6); b.Chernoff > 1_001_000 || b.Theorem1 > 2_718_400 {
		t.Errorf("1e15 groups, 1e9 fit: %+v", b)
	}
}

// Groups thrown at random keep the promise, and would not with half of
// Chernoff's number.
func TestBoundSimulated(t *testing.T) {
	t.Parallel()
	const trials = 400
	for _, x := range []struct {
		n, k int64
		p    float64
	}{{2000, 50, 0.1}, {5000, 400, 0.1}, {500, 6, 0.1}} {
		m := Chernoff(x.n, x.k, x.p)
		over, overHalf := overfullTrials(x.n, x.k, m, trials), overfullTrials(x.n, x.k, m/2, trials)
		if float64(over) > x.p*trials || float64(overHalf) < 2*x.p*trials {
			t.Errorf("n=%d k=%d m=%d: overfull in %d of %d trials, with m/2 in %d", x.n, x.k, m, over, trials, overHalf)
		}
	}
}

// overfullTrials counts the trials in which n groups, placed in m partitions at
// random, leave k or more in one.
func overfullTrials(n, k, m int64, trials int) (over int) {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(m)))
	for range trials {
		load := make([]int64, m)
		for range n {
			load[rng.Int64N(m)]++
		}
		for _, l := range load {
			if l >= k {
				over++
				break
			}
		}
	}
	return over
}

// exactP is the probability that n groups placed in m partitions at random
// leave k or more in one: 1 - n!/m^n·[z^n](sum over i<k of z^i/i!)^m. With
// z·n/m in place of z, and n!/n^n in place of n!/m^n, all stays in range.
func exactP(n, k, m int64) float64 {
	one := make([]float64, n+1)
	term := 1.0
	for i := int64(0); i < min(k, n+1); i++ {
		one[i] = term
		term *= float64(n) / float64(m) / float64(i+1)
	}
	power := make([]float64, n+1)
	power[0] = 1
	for e := m; e > 0; e >>= 1 {
		if e&1 == 1 {
			power = product(power, one)
		}
		one = product(one, one)
	}
	fits := power[n]
	for i := range n {
		fits *= float64(i+1) / float64(n)
	}
	return 1 - fits
}

// product multiplies power series, up to the degree of both.
func product(a, b []float64) []float64 {
	c := make([]float64, len(a))
	for i := range a {
		for j := range len(a) - i {
			c[i+j] += a[i] * b[j]
		}
	}
	return c
}

// countedP is exactP by trying each of the m^n ways.
func countedP(n, k, m int64) float64 {
	load := make([]int64, m)
	var over, all float64
	var place func(left, most int64)
	place = func(left, most int64) {
		if left == 0 {
			all++
			if most >= k {
				over++
			}
			return
		}
		for i := range load {
			load[i]++
			place(left-1, max(most, load[i]))
			load[i]--
		}
	}
	place(n, 0)
	return over / all
}
