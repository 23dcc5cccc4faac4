package agg

import (
	"math/bits"
	"slices"
)

// Ranks among values of one word are found without sorting them, and among
// many without gathering them: they are read where they lie, and counted by
// digits of 16 bits from the top, until few enough share the digits of the
// value sought.

const digitBits = 16

// ranked is the keys of a chain of one-word values in memory.
type ranked struct {
	*finisher
	link
	key func(word uint64) int64 // nil: the word itself
}

// pair returns the keys of rank i, from 0, and of the one behind it if two,
// else the same twice.
func (r *ranked) pair(i uint64, two bool) (lo, hi int64) {
	if r.values() > uint64(r.limits.piece) {
		lo = r.large(i)
		if hi = lo; two {
			hi = r.behind(lo, i)
		}
		return lo, hi
	}
	words := r.gather(func(uint64) bool { return true })
	lo = selectWord(words, int(i))
	if hi = lo; two {
		hi = lowest(asSigned(words[i+1:]))
	}
	return lo, hi
}

// each calls do with each key, sorting as a number without sign.
func (r *ranked) each(do func(key uint64)) {
	_ = r.blobs(r.reg, func(words []uint64) error {
		for _, x := range words {
			if r.key != nil {
				x = uint64(r.key(x))
			}
			do(x ^ 1<<63)
		}
		return nil
	})
}

// gather returns the keys, as words, for which want is true.
func (r *ranked) gather(want func(key uint64) bool) []uint64 {
	if r.key == nil && r.values() <= uint64(r.limits.piece) {
		return r.work.gather(r.link, r.reg)
	}
	words := r.work.words[:0]
	r.each(func(key uint64) {
		if want(key) {
			words = append(words, key^1<<63)
		}
	})
	r.work.words = words
	return words
}

// large returns the key of rank i of many.
func (r *ranked) large(i uint64) int64 {
	counts := grow(r.work.regs, 1<<digitBits)
	r.work.regs = counts
	prefix := uint64(0)
	for known := 0; known < 64; known += digitBits {
		clear(counts)
		r.each(func(key uint64) {
			if bits.RotateLeft64(key, known)&(1<<known-1) == prefix {
				counts[key<<known>>(64-digitBits)]++
			}
		})
		digit := uint64(0)
		for ; i >= counts[digit]; digit++ {
			i -= counts[digit]
		}
		prefix = prefix<<digitBits | digit
		if shift := 64 - known - digitBits; shift > 0 && counts[digit] <= uint64(r.limits.piece) {
			return selectWord(r.gather(func(key uint64) bool { return key>>shift == prefix }), int(i))
		}
	}
	return int64(prefix ^ 1<<63)
}

// behind returns the key of rank i+1, where lo is that of rank i.
func (r *ranked) behind(lo int64, i uint64) int64 {
	upTo, next := uint64(0), ^uint64(0)
	limit := uint64(lo) ^ 1<<63
	r.each(func(key uint64) {
		if key <= limit {
			upTo++
		} else {
			next = min(next, key)
		}
	})
	if upTo > i+1 {
		return lo
	}
	return int64(next ^ 1<<63)
}

// selectWord moves the word of rank k, as signed numbers are ordered, to
// words[k], the lesser ones in front of it, and the greater ones behind.
func selectWord(words []uint64, k int) int64 {
	a := asSigned(words)
	// With halves of usual sizes the loop ends long before; pivots that always
	// are bad ones end in a sort.
	tries := 2 * bits.Len(uint(len(a)))
	for from, to := 0, len(a); ; tries-- {
		if to-from <= 32 || tries == 0 {
			slices.Sort(a[from:to])
			return a[k]
		}
		lo, hi := partitionAround(a[from:to], pivot(a[from:to]))
		switch {
		case k < from+lo:
			to = from + lo
		case k >= from+hi:
			from += hi
		default:
			return a[k]
		}
	}
}

// pivot guesses the median of a.
func pivot(a []int64) int64 {
	n := len(a)
	if n < 1024 {
		return median3(a[n/4], a[n/2], a[3*n/4])
	}
	s := n / 9
	return median3(
		median3(a[0], a[s], a[2*s]),
		median3(a[3*s], a[4*s], a[5*s]),
		median3(a[6*s], a[7*s], a[8*s]))
}

func median3(a, b, c int64) int64 { return max(min(a, b), min(max(a, b), c)) }

// partitionAround moves what is less than p to a[:lo], p to a[lo:hi] and what
// is greater to a[hi:].
func partitionAround(a []int64, p int64) (lo, hi int) {
	for i, x := range a { // without a branch that depends on x
		a[i] = a[lo]
		a[lo] = x
		if x < p {
			lo++
		}
	}
	hi = lo
	for i := lo; i < len(a); i++ {
		x := a[i]
		a[i] = a[hi]
		a[hi] = x
		if x == p {
			hi++
		}
	}
	return lo, hi
}
