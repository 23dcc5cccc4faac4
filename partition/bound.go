package partition

import "math"

// Bound is how many partitions are enough by each of two bounds, of which
// the smaller one counts.
type Bound struct {
	Theorem1 int64
	Chernoff int64
}

// unbounded is a number of partitions that no run can have.
const unbounded = math.MaxInt64

// BoundOf returns both bounds; see Theorem1 for what they promise.
func BoundOf(n, k int64, p float64) Bound {
	return Bound{Theorem1: Theorem1(n, k, p), Chernoff: Chernoff(n, k, p)}
}

// Partitions is the smaller bound. For groups that are placed at random that
// is always Chernoff's: with m partitions it puts ln P lower by n/m.
func (b Bound) Partitions() int64 { return min(b.Theorem1, b.Chernoff) }

// Theorem1 is a number of partitions m such that, when n groups are placed in
// them at random, one or more partitions get k groups or more only with
// probability p: Theorem 1 of paper 003 (EGA), §4.2.1. From the union
// bound over partitions and sets of k groups, P <= m·C(n,k)·m^-k, and from
// C(n,k) <= (e·n/k)^k follows
//
//	m = ceil(c·n/k)   with   c = exp((k + ln(n/(k·p))) / (k-1))
//
// For large k that is about e·n/k: with n = 1e9, k = 1e6 and p = 1e-6 it is
// 2718.4 for each 1000 of n/k, rounded up to 2,719.
//
// It is 1 when n is below k, and math.MaxInt64 where no number will do (k is
// 1 or less, p is 0) or the number is larger than that.
func Theorem1(n, k int64, p float64) int64 {
	if m, clear := clearCase(n, k, p); clear {
		return m
	}
	nf, kf := float64(n), float64(k)
	c := math.Exp((kf + math.Log(nf/kf) - math.Log(p)) / (kf - 1))
	return whole(c * nf / kf)
}

// Chernoff is a smaller number than Theorem1 that promises the same, from the
// bound of Chernoff on what a partition gets: with mu = n/m and
// h(x) = x·ln x - x + 1,
//
//	P <= m·exp(-mu·h(k/mu))   for k > mu.
//
// It is the smallest such m, found by bisection. With n = 1e9, k = 1e6 and
// p = 1e-6 it is 1,007, where n/k is 1,000.
func Chernoff(n, k int64, p float64) int64 {
	if m, clear := clearCase(n, k, p); clear {
		return m
	}
	enough := func(m int64) bool { return chernoffLogP(float64(n), float64(k), float64(m)) <= math.Log(p) }
	// The logarithm of the bound falls with m from n/(k-1) on, and is above
	// that of any p up to there.
	lo := max((n-1)/(k-1), 1)
	hi := lo
	for !enough(hi) {
		if hi == unbounded {
			return unbounded
		}
		lo, hi = hi, min(hi, unbounded/2)*2+1
	}
	for hi-lo > 1 {
		if m := lo + (hi-lo)/2; enough(m) {
			hi = m
		} else {
			lo = m
		}
	}
	return hi
}

// chernoffLogP is ln(m·exp(-mu·h(k/mu))). With k/mu = 1+d, mu·h(k/mu) is
// k·(ln(1+d) - d/(1+d)): so written it keeps its digits where d is small, as
// it is for large k.
func chernoffLogP(n, k, m float64) float64 {
	d := math.FMA(k, m, -n) / n
	if d <= 0 {
		return math.Inf(1)
	}
	return math.Log(m) - k*(math.Log1p(d)-d/(1+d))
}

// clearCase answers what needs no formula.
func clearCase(n, k int64, p float64) (m int64, clear bool) {
	switch {
	case n < k || n <= 0 || p >= 1:
		return 1, true
	case k <= 1 || !(p > 0): // the latter is true of NaN, too
		return unbounded, true
	}
	return 0, false
}

// whole rounds m up; what an int64 cannot hold is unbounded.
func whole(m float64) int64 {
	if !(m < unbounded) {
		return unbounded
	}
	return int64(math.Ceil(m))
}
