package reference

import (
	"math"

	"github.com/gagg-dev/gagg/gpumem"
)

// Steps is a burst of requests to a pool whose free pages lie anywhere: the
// numbers that the analysis of paper 000 starts from. Its methods say how many
// steps a thread takes on average until it has a page (TAS in the paper), or
// how many the slowest of the 32 threads of a warp takes (WAS), by the formulas
// of sections 3 and 4. A step is one look at a page, or at a word of w pages.
//
// Requests that pages do not suffice for never end: +Inf, so are bounds whose
// premise is a page to spare when N is A. Pages and Threads are at least 1.
//
// The formulas see every visit as independent of the others. What they leave
// out are visits that fail since another thread had the same page or word in
// that moment: few as long as N is small against the number of words.
type Steps struct {
	Pages   int // T, all pages
	Free    int // A, of them free at first
	Threads int // N, each asks for one page, all at once
}

// lanes is the threads of a warp.
const lanes = 32

// RW is the average of a walk over single pages: T/N·(H(A)−H(A−N)), exact. The
// paper's equation (3), T/N·ln(A/(A−N)), approximates it, and has no value for
// N = A.
func (s Steps) RW() float64 {
	if s.Threads > s.Free {
		return math.Inf(1)
	}
	sum := 0.0
	for left := s.Free - s.Threads + 1; left <= s.Free; left++ {
		sum += 1 / float64(left)
	}
	return float64(s.Pages) / float64(s.Threads) * sum
}

// RWWarp bounds the slowest of a warp in a walk over single pages from above,
// equation (4): every step finds a page with at least the probability
// (A−N)/T that is left at the end.
func (s Steps) RWWarp() float64 { return slowest(s.spare()) }

// RWBM is the average of a walk over words of w pages, equation (5). It is
// exact for N far below A, else too small: RWBMDrain is right.
func (s Steps) RWBM(w int) float64 {
	if s.Threads > s.Free {
		return math.Inf(1)
	}
	sum := 0.0
	for left := s.Free - s.Threads + 1; left <= s.Free; left++ {
		sum += 1 / gpumem.AnyFree(float64(left)/float64(s.Pages), float64(w))
	}
	return sum / float64(s.Threads)
}

// RWBMWarp is equation (6), for the slowest of a warp in a walk over words. It
// bounds it for N far below A only: RWBMDrainWarp is right.
func (s Steps) RWBMWarp(w int) float64 { return slowest(gpumem.AnyFree(s.spare(), float64(w))) }

// CoRW bounds the steps of a warp that searches together (CoRW), of whose
// threads active ask for a page: the first step at which they have found as
// many pages as they are, if each look at a page finds it free with the
// probability (A−N)/T of the end. It is the sum over i of the probability that
// active·w·i looks have found fewer than active pages.
//
// Equations (9) to (11) approximate the same time by that of a Brownian motion
// (CoRWDrift). Steps come whole, so a warp takes one at least, and the last
// step finds more than is missing; both make the truth larger.
func (s Steps) CoRW(w, active int) float64 {
	p := s.spare()
	if p <= 0 {
		return math.Inf(1)
	}
	sum := 0.0
	for looks := 0; ; looks += active * w {
		fewer := binomialBelow(looks, p, active)
		sum += fewer
		if fewer < 1e-12 {
			return sum
		}
	}
}

// CoRWWide bounds the steps of a warp whose first step is at a line, where each of
// its active threads looks at line pages, and all others at stretches, where it is
// stretch pages. A line suffices if as many pages are found as threads ask, and if at
// least half of the threads find any: else the warp leaves it for a stretch at once.
//
// With P(i) the probability that i stretches have too few pages, and P(0) that of a
// line that does not suffice, it is 1 + P(0) + Σ min(P(0), P(i)) over i ≥ 1: it takes
// step i+2 only if both fell short.
func (s Steps) CoRWWide(line, stretch, active int) float64 {
	p := s.spare()
	if p <= 0 {
		return math.Inf(1)
	}
	short := min(1, binomialBelow(active*line, p, active)+binomialBelow(active, gpumem.AnyFree(p, float64(line)), (active+1)/2))
	sum := 1 + short
	for i := 1; ; i++ {
		fewer := min(short, binomialBelow(i*active*stretch, p, active))
		sum += fewer
		if fewer < 1e-12 {
			return sum
		}
	}
}

// CoRWDrift is equation (11), the mean of the inverse Gaussian distribution
// with drift μ = 32w(A−N)/T and target 32. The paper leaves the integral open;
// it is the target over the drift, T/(w(A−N)), whatever the variance.
func (s Steps) CoRWDrift(w int) float64 {
	if p := s.spare(); p > 0 {
		return 1 / (float64(w) * p)
	}
	return math.Inf(1)
}

// CRW is the average of a clustered walk, equations (13) and (14): runs is M,
// the number of runs of free pages before the last request, walk the average
// of the walk that starts when the last page has no free neighbor: RW, or RWBM
// with a bitmap.
func (s Steps) CRW(runs int, walk float64) float64 {
	if runs <= 1 {
		return 1
	}
	return 1 + float64(runs-1)/float64(s.Free+runs-1)*walk
}

// Queue is the average place in a queue that serves one thread a step, equation
// (1).
func (s Steps) Queue() float64 { return float64(s.Threads+1) / 2 }

// QueueWarp is the average of the last place of a warp's threads in that
// queue, equation (2), each place drawn for itself: N − Σ (k/N)^32 over k < N.
func (s Steps) QueueWarp() float64 {
	n := float64(s.Threads)
	sum := 0.0
	for k := 1; k < s.Threads; k++ {
		sum += math.Pow(float64(k)/n, lanes)
	}
	return n - sum
}

// spare is the share of pages that is free when everybody has one.
func (s Steps) spare() float64 {
	return float64(max(s.Free-s.Threads, 0)) / float64(s.Pages)
}

// slowest is the mean of the greatest of 32 geometric variables with the
// probability p: Σ over k ≥ 0 of 1−(1−(1−p)^k)^32. The sum has some 40/p terms;
// expanded by the binomial theorem it has 32, of alternating sign, whose
// cancellation leaves seven digits.
func slowest(p float64) float64 {
	if p <= 0 {
		return math.Inf(1)
	}
	sum, choose := 0.0, 1.0
	for j := 1.0; j <= lanes; j++ {
		choose *= (lanes + 1 - j) / j
		sum -= math.Pow(-1, j) * choose / gpumem.AnyFree(p, j)
	}
	return sum
}

// binomialBelow is the probability of fewer than k successes in n trials of
// probability p, summed from the first term on in logarithms.
func binomialBelow(n int, p float64, k int) float64 {
	if n < k {
		return 1
	}
	if p >= 1 {
		return 0
	}
	term := float64(n) * math.Log1p(-p) // no success
	odds := math.Log(p) - math.Log1p(-p)
	sum := 0.0
	for i := range k {
		sum += math.Exp(term)
		term += odds + math.Log(float64(n-i)/float64(i+1))
	}
	return min(sum, 1)
}
