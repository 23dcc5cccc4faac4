package reference

import "math"

// Equations (5) and (6) take the free pages for spread evenly over the words
// until the end. But a walk takes a page from a poor word as soon as from a
// rich one, so poor words run dry sooner than evenly spread pages would: with a
// tenth of the pages free, w = 32 and half of them taken, the truth is 11 %
// above (5), and 20 % above (6), which therefore is no bound; when every free
// page is taken it is a third above (5). What follows counts the words as they
// really run dry, for many words.
//
// After v visits a word, on average, a word was visited K times, a Poisson
// variable with mean v, and has given min(K, C) pages, C being its free pages
// at first, binomial with A/T. v is where the words have given N pages.

// RWBMDrain is the average of a walk over words of w pages: v·T/w visits in
// all, for N threads. For w = 1 v is ln((A+½)/(A−N+½)), what RW sums up
// exactly: the halves lay the smooth curve through the sum, and give N = A a
// value.
func (s Steps) RWBMDrain(w int) float64 {
	if s.Threads > s.Free {
		return math.Inf(1)
	}
	return s.visits(w) * s.words(w) / float64(s.Threads)
}

// RWBMDrainWarp bounds the slowest of a warp in a walk over words from above:
// every step finds a page with at least the probability that a word has one
// at the end, that of C > K.
func (s Steps) RWBMDrainWarp(w int) float64 {
	if s.Threads >= s.Free {
		return math.Inf(1)
	}
	v := s.visits(w)
	more := s.wordTails(w)
	found, term := 0.0, math.Exp(-v)
	for k, m := range more {
		found += term * m
		term *= v / float64(k+1)
	}
	return slowest(found)
}

func (s Steps) words(w int) float64 { return float64(s.Pages) / float64(w) }

// visits is v: how often a word was visited when every thread has its page.
func (s Steps) visits(w int) float64 {
	free := float64(s.Free)
	given := 1 - (free-float64(s.Threads)+0.5)/(free+0.5) // of the free pages
	more := s.wordTails(w)
	enough := func(v float64) bool { return drained(v, more)*s.words(w)/free >= given }

	low, high := 0.0, 1.0
	for !enough(high) {
		low, high = high, 2*high
	}
	for high-low > 1e-12*high {
		if mid := (low + high) / 2; enough(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

// wordTails is, for each i below w, the probability that more than i of the w
// pages of a word are free at first.
func (s Steps) wordTails(w int) []float64 {
	tails := make([]float64, w)
	for i := range tails {
		tails[i] = 1 - binomialBelow(w, float64(s.Free)/float64(s.Pages), i+1)
	}
	return tails
}

// drained is the mean of min(K, C), K Poisson with mean v: the sum over i of
// the probability that both are above i.
func drained(v float64, more []float64) float64 {
	sum, term, below := 0.0, math.Exp(-v), 0.0
	for i, m := range more {
		below += term // K at most i
		sum += m * max(1-below, 0)
		term *= v / float64(i+1)
	}
	return sum
}
