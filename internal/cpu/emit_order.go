package cpu

import (
	"math/bits"
	"slices"
	"unsafe"
)

// This file is how rows that a device hands out, nearly in order of their
// hashes, are put in order: first it is found out where they belong, then each
// row is copied once, to its place; or not at all, if they are in order.

// sorter finds the order of rows, which stay where they are. It sorts a word for
// each: the top bits of its hash, and its number in the low bits.
//
// Words are distributed to slots, by where they lie between the least and the
// greatest: to about one slot each, since hashes lie evenly. The words of
// one slot are put in order by insertion. That takes few steps also where most
// words are in one slot, as long as the rows have come nearly in order.
type sorter struct {
	words, spare []uint64 // by row
	counts       []uint32 // by slot: words in it, then where the next one goes
	low          uint     // bits of a row's number
}

// order sets words to the numbers of rows in order. Rows whose top bits are the
// same are ordered by compare. It reports whether the rows were in order.
func (s *sorter) order(rows []uint64, stride int, compare func(a, b []uint64) int) bool {
	least, most, ascending := s.read(rows, stride)
	if ascending {
		return true
	}
	s.distribute(least, most)
	if s.insert() {
		s.orderTies(rows, stride, compare)
	}
	return false
}

// read makes the words, and returns the least and the greatest one. ascending:
// each row's top bits are greater than those of the row before.
func (s *sorter) read(rows []uint64, stride int) (least, most uint64, ascending bool) {
	n := len(rows) / stride
	s.low = uint(bits.Len(uint(n)))
	s.words = slices.Grow(s.words[:0], n)[:n]
	words, low, last := s.words, s.low&63, uint64(0)
	least, ascending = ^uint64(0), true
	for i, at := 0, 0; i < len(words); i, at = i+1, at+stride {
		top := rows[at] >> low
		w := top<<low | uint64(i)
		words[i] = w
		least, most = min(least, w), max(most, w)
		ascending = ascending && (top > last || i == 0)
		last = top
	}
	return least, most, ascending
}

// distribute orders the words by slot.
func (s *sorter) distribute(least, most uint64) {
	n := len(s.words)
	shift := uint(max(0, bits.Len64(most-least)-bits.Len(uint(n)))) & 63
	slots := int((most-least)>>shift) + 1
	s.counts = slices.Grow(s.counts[:0], slots)[:slots]
	s.spare = slices.Grow(s.spare[:0], n)[:n]
	counts, out := s.counts, s.spare
	clear(counts)
	for _, w := range s.words {
		counts[(w-least)>>shift]++
	}
	next := uint32(0)
	for i, c := range counts {
		counts[i] = next
		next += c
	}
	for _, w := range s.words {
		slot := (w - least) >> shift
		at := counts[slot]
		out[at] = w
		counts[slot] = at + 1
	}
	s.words, s.spare = out, s.words
}

// insert puts words that are nearly in order in order, and tells whether the top
// bits of some are the same: then they have met.
func (s *sorter) insert() (ties bool) {
	words, low := s.words, s.low&63
	for i := 1; i < len(words); i++ {
		w, last := words[i], words[i-1]
		ties = ties || (w^last)>>low == 0
		if w > last {
			continue
		}
		to := i
		for ; to > 0 && words[to-1] > w; to-- {
			words[to] = words[to-1]
		}
		words[to] = w
		ties = ties || to > 0 && (words[to-1]^w)>>low == 0
	}
	return ties
}

// orderTies orders words of the same top bits by what they stand for.
func (s *sorter) orderTies(rows []uint64, stride int, compare func(a, b []uint64) int) {
	row := func(w uint64) []uint64 { return rows[s.number(w)*stride:][:stride] }
	for from := 0; from < len(s.words); {
		end := from + 1
		for end < len(s.words) && (s.words[end]^s.words[from])>>s.low == 0 {
			end++
		}
		if end > from+1 {
			slices.SortFunc(s.words[from:end], func(a, b uint64) int { return compare(row(a), row(b)) })
		}
		from = end
	}
}

// number is the number of the row of a word.
func (s *sorter) number(word uint64) int { return int(word & (1<<s.low - 1)) }

// gather copies the rows of words, end to end.
func (s *sorter) gather(to, rows, words []uint64, stride int) {
	type four struct{ a, b, c, d uint64 } // no array: copying one of those is a call
	for i, w := range words {
		src := unsafe.Pointer(unsafe.SliceData(rows[s.number(w)*stride:][:stride]))
		dst := unsafe.Pointer(unsafe.SliceData(to[i*stride:][:stride]))
		k := 0
		for ; k+4 <= stride; k += 4 {
			*(*four)(unsafe.Add(dst, 8*k)) = *(*four)(unsafe.Add(src, 8*k))
		}
		for ; k < stride; k++ {
			*(*uint64)(unsafe.Add(dst, 8*k)) = *(*uint64)(unsafe.Add(src, 8*k))
		}
	}
}
