package gpumem

import "math"

const (
	// squaredQuantile is the square of the 1 % quantile of the normal
	// distribution, as paper 000 rounds it (§3.2.3).
	squaredQuantile = 5.411
	// falseAlarms is the share of false alarms that confidence of 99 % allows.
	falseAlarms = 0.01
)

// StepLimit is how many steps in a row without a free page tell, with 99 %
// confidence, that less than the share lowestFree of all pages is free: S_L of
// paper 000, §3.2.3. A step looks at pagesAStep pages.
//
// With one page a step it is the paper's 5.411·(1−L)/L: if the share L is
// free, the number of free pages in S steps has mean S·L and variance
// S·L·(1−L), and zero lies √5.411 deviations below the mean at S_L.
//
// A step that looks at w pages of a bitmap succeeds with q = 1−(1−L)^w, if the
// free pages lie anywhere, each for itself; the same test with q in the place
// of L gives 5.411·(1−q)/q. For L = 0.5 % that is 1077 steps with w = 1, 32
// with w = 32, and 1 with w = 1024.
//
// The normal approximation needs many steps. It errs to the safe side for the
// small L it was made for (0.5 % false alarms at L = 0.5 %), but not where a
// handful of steps decides (1.6 % at L = 50 %, 3.3 % at L = 10 % with w = 32). So
// the limit is never below the exact one, where (1−L)^(w·S) is 1 %.
//
// Trap: free pages that lie together share words. In the worst arrangement
// (whole words are free, as CRW leaves them) q is L whatever w is. Who believes
// the limit without looking further takes StepLimit(L, 1), counted in words;
// who sweeps the bitmap after it may take StepLimit(L, w): there the limit is
// only the point where sweeping is cheaper than walking on.
//
// lowestFree lies between 0 and 1, both excluded, and pagesAStep is at least 1.
func StepLimit(lowestFree float64, pagesAStep int) uint32 {
	q := AnyFree(lowestFree, float64(pagesAStep))
	exact := math.Log(falseAlarms) / (float64(pagesAStep) * math.Log1p(-lowestFree))
	steps := math.Ceil(max(squaredQuantile*(1-q)/q, exact))
	return uint32(min(steps, math.MaxUint32))
}

// AnyFree is the probability that one of w pages is free, each with the
// probability p: 1−(1−p)^w, exact for small p too.
func AnyFree(p, w float64) float64 { return -math.Expm1(w * math.Log1p(-p)) }
