package agg

import (
	"math"
	"math/bits"
)

// The word of a given rank is found by narrowing a window around it
// (Floyd and Rivest's idea). A small sample, sorted, tells between which two
// values the rank most probably lies. One pass copies what is between them and
// counts what is less, without a branch that depends on a value. Of a thousand
// words that leaves some 180, which are narrowed down in turn:
//
//	a   7 2 9 4 4 8 1 6 3 5 ...   rank 500 of 1000
//	    sample of 44 words: rank 22 or so, between those of ranks 18 and 26
//	b   4 4 6 3 5 ...             rank 500 less the words below the window
//
// A window that misses the rank tells by its counts on which side it is, and
// all of that side is the next one. A window with most of the words, of few
// distinct values, is sorted instead, by digits. So the
// time is in proportion to the number of words, for words of any kind.

// Measured (BenchmarkRanks).
const (
	fewWords    = 24  // are sorted by insertion
	sampleRoots = 1.4 // words of a sample, in square roots of those it stands for
	windowRoots = .6  // half of a window, in square roots of the sample
)

// ranks returns the words of rank i and j of a, as signed numbers are ordered,
// where j is i or i+1. It
// overwrites a and spare, which is at least as long.
func ranks(a, spare []int64, i, j int) (lo, hi int64) {
	for len(a) > fewWords {
		n := len(a)
		first, last := guess(a, spare, i)
		below, inside := 0, 0
		for missed := true; missed; {
			below, inside = within(spare[:n], a, first, last)
			switch {
			case j < below:
				first, last = math.MinInt64, first-1
			case i >= below+inside:
				first, last = last+1, math.MaxInt64
			case i < below:
				first = math.MinInt64
			case j >= below+inside:
				last = math.MaxInt64
			default:
				missed = false
			}
		}
		switch {
		case first == last:
			return first, last
		case inside > n-n/8:
			sortWords(asWords(a), asWords(spare), new(stop))
			return a[i], a[j]
		}
		i, j = i-below, j-below
		a, spare = spare[:inside], a
	}
	sortFew(a)
	return a[i], a[j]
}

// guess returns values between which that of rank i of a lies, as a sample
// has it.
func guess(a, spare []int64, i int) (first, last int64) {
	n := len(a)
	s := min(int(sampleRoots*math.Sqrt(float64(n))), n/4)
	sample := spare[:s]
	for k, step := 0, n/s; k < s; k++ {
		sample[k] = a[k*step]
	}
	half := int(windowRoots*math.Sqrt(float64(s))) + 1
	return around(sample, spare[s:], int(uint64(i)*uint64(s)/uint64(n)), half)
}

// around returns the words of ranks i-half and i+half of a sample, which it
// loses; for a rank that there is not, the least or greatest of all words.
// spare is twice as long.
func around(sample, spare []int64, i, half int) (first, last int64) {
	s := len(sample)
	from, to := i-half, i+half
	first, last = math.MinInt64, math.MaxInt64
	if s <= fewWords {
		sortFew(sample)
		if from >= 0 {
			first = sample[from]
		}
		if to < s {
			last = sample[to]
		}
		return first, last
	}
	if from >= 0 {
		again := spare[:s]
		copy(again, sample)
		first, _ = ranks(again, spare[s:], from, from)
	}
	if to < s {
		last, _ = ranks(sample, spare, to, to)
	}
	return first, last
}

// within copies the words of src from first to last to dst, which is as long,
// and counts them and those that are less.
func within(dst, src []int64, first, last int64) (below, inside int) {
	const sign = 1 << 63
	from, wide := uint64(first)^sign, uint64(last)-uint64(first)
	var less, most uint64
	for _, x := range src {
		dst[most] = x
		d, borrow := bits.Sub64(uint64(x)^sign, from, 0)
		less += borrow
		_, borrow = bits.Sub64(wide, d, 0)
		most += 1 - borrow
	}
	return int(less), int(most)
}

// sortFew sorts by insertion without a branch that depends on a word.
func sortFew(a []int64) {
	for n, x := range a {
		for k, y := range a[:n] {
			a[k] = min(x, y)
			x = max(x, y)
		}
		a[n] = x
	}
}
