package agg

import "math"

// Ranks among values of one word are found without sorting them, and among
// more than may be gathered by the same windows as in ranks.go: the values are
// read where they lie, once for the sample and once for the window, and what
// is in the window is gathered. A window that does not narrow down is halved
// instead, which ends at one value.

// keyPiece is how many keys are looked at at once.
const keyPiece = 1 << 10

// ranked is the keys of a chain of one-word values in memory.
type ranked struct {
	*finisher
	row int // its values are gathered with those of later rows; none: gathered alone
	link
	key func(word uint64) int64 // nil: the word itself
}

// pair returns the keys of rank i, from 0, and of the one behind it if two,
// else the same twice. The workspace tells if it was stopped.
func (r *ranked) pair(i uint64, two bool) (lo, hi int64) {
	j := i
	if two {
		j++
	}
	switch {
	case r.values() > uint64(r.limits.piece):
		return r.large(i, j)
	case r.row != none:
		return r.work.ranks(r.valuesOf(r.row), i, j)
	}
	words := r.work.gather(r.link, r.reg)
	if r.work.stop.err != nil {
		return 0, 0
	}
	if r.key != nil {
		for n, x := range words {
			words[n] = uint64(r.key(x))
		}
	}
	return r.work.ranks(words, i, j)
}

// ranks returns the words of rank i and j, which is i or i+1.
func (w *workspace) ranks(words []uint64, i, j uint64) (lo, hi int64) {
	w.spare = grow(w.spare, len(words))
	return ranks(asSigned(words), asSigned(w.spare), int(i), int(j))
}

// window is the keys from first to last: how many there are, and how many are
// less.
type window struct {
	first, last   int64
	below, inside uint64
}

func (w *window) has(i uint64) bool { return i-w.below < w.inside }

// large returns the keys of rank i and j, which is i or i+1, of many.
func (r *ranked) large(i, j uint64) (lo, hi int64) {
	w := window{first: math.MinInt64, last: math.MaxInt64, inside: r.values()}
	for w.inside > uint64(r.limits.piece) && w.first < w.last {
		if r.work.stop.err != nil {
			return 0, 0 // the values were not gathered completely
		}
		next := r.around(w, i)
		if next.inside > w.inside-w.inside/8 { // few distinct keys
			half := w.first + int64((uint64(w.last)-uint64(w.first))/2)
			if next = r.gather(w.first, half); !next.has(i) {
				next = r.gather(half+1, w.last)
			}
		}
		w = next
	}
	switch {
	case r.work.stop.err != nil:
		return 0, 0
	case w.first == w.last && w.has(j):
		return w.first, w.first
	case w.first == w.last:
		lo = w.first
	case w.has(j):
		return r.work.ranks(r.work.words, i-w.below, j-w.below)
	default:
		lo, _ = r.work.ranks(r.work.words, i-w.below, i-w.below)
	}
	return lo, r.above(w.last)
}

// around gathers the keys of a window around rank i, within w.
func (r *ranked) around(w window, i uint64) window {
	sample := r.sample(w)
	first, last := w.first, w.last
	if s := uint64(len(sample)); s > 0 {
		r.work.spare = grow(r.work.spare, 3*len(sample))
		at := float64(i-w.below) / float64(w.inside) * float64(s)
		half := int(math.Sqrt(float64(s))) // wider than in ranks: another look costs more here
		low, high := around(asSigned(sample), asSigned(r.work.spare), int(at), half)
		first, last = max(first, low), min(last, high)
	}
	next := r.gather(first, last)
	switch {
	case i < next.below:
		return r.gather(w.first, first-1)
	case !next.has(i):
		return r.gather(last+1, w.last)
	}
	return next
}

// sample returns some of the keys of a window.
func (r *ranked) sample(w window) []uint64 {
	most := max(r.limits.piece/8, 1)
	step := (int(w.inside/uint64(most)) - 1) | 1 // odd: values often repeat after a power of two
	words, at := r.work.words[:0], 0
	r.each(func(keys []int64) {
		for ; at < len(keys); at += step {
			if x := keys[at]; w.first <= x && x <= w.last && len(words) < 2*most {
				words = append(words, uint64(x))
			}
		}
		at -= len(keys)
	})
	r.work.words = words
	return words
}

// gather counts the keys from first to last. If they are not too many it
// leaves them in the workspace.
func (r *ranked) gather(first, last int64) window {
	var some [keyPiece]int64
	w, words := window{first: first, last: last}, r.work.words[:0]
	r.each(func(keys []int64) {
		below, inside := within(some[:], keys, first, last)
		w.below += uint64(below)
		w.inside += uint64(inside)
		if w.inside <= uint64(r.limits.piece) {
			words = append(words, asWords(some[:inside])...)
		}
	})
	r.work.words = words
	return w
}

// above returns the least key that is greater than x.
func (r *ranked) above(x int64) int64 {
	least := int64(math.MaxInt64)
	r.each(func(keys []int64) {
		for _, y := range keys {
			if y > x {
				least = min(least, y)
			}
		}
	})
	return least
}

// each calls do with all keys, keyPiece at a time at most.
func (r *ranked) each(do func(keys []int64)) {
	var made [keyPiece]int64
	_ = r.blobs(r.reg, &r.work.stop, func(words []uint64) error {
		for len(words) > 0 {
			keys := asSigned(words[:min(len(words), keyPiece)])
			words = words[len(keys):]
			if r.key != nil {
				for i, x := range keys {
					made[i] = r.key(uint64(x))
				}
				keys = made[:len(keys)]
			}
			do(keys)
		}
		return nil
	})
}
