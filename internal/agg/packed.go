package agg

import (
	"math/bits"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
)

// This file is a sum that has a word in common with the count of rows.
//
// COUNT-PACKED: the low bits of the word count the rows of the group, the bits above are the sum of
// values none of which is negative or NULL. Neither overflows, which the most rows that any state
// can see and the range of the values prove. So each of them is added by adding words, one row
// takes one addition, and rows are a word shorter.

// packCount has the count of all rows share the word of a sum, if only sums are asked for and one
// of them leaves it room; none: no.
func (b *builder) packCount() int {
	if b.device || len(b.wantRows) > 1 || !b.wantRows[0] || b.maxRows <= 0 {
		return none
	}
	for i := range b.sets {
		if s := &b.sets[i]; s.wantNulls || s.wantSeen {
			return none
		}
	}
	chosen := none
	for i := range b.slots {
		s := &b.slots[i]
		if s.op != opAddInt {
			return none
		}
		if chosen == none && b.leavesCount(s) {
			chosen = i
		}
	}
	return chosen
}

// leavesCount reports whether the word of a sum has room for the count.
func (b *builder) leavesCount(s *slot) bool {
	if s.x >= len(b.ranges) || !b.ranges[s.x].Known() || b.ranges[s.x].Signed {
		return false
	}
	hi, most := bits.Mul64(b.ranges[s.x].Most, uint64(b.maxRows))
	return hi == 0 && bits.Len64(most)+bits.Len64(uint64(b.maxRows)) <= 64
}

// placePacked gives a slot its word, which counts the rows too.
func (b *builder) placePacked(s *slot) {
	s.op, s.shift, s.hot = opAddCounted, uint8(bits.Len64(uint64(b.maxRows))), b.words(0)
	b.rows = field{off: s.hot, mask: 1<<s.shift - 1}
	b.counted = []field{b.rows}
	b.relies[s.x], b.natural[s.x] = true, true
}

// addCounted adds values, and a row for each of them.
func addCounted(words []uint64, stride int, shift uint8, gids []uint32, vals []int64) {
	vals = vals[:len(gids)]
	for i, g := range gids {
		words[int(g)*stride] += uint64(vals[i])<<(shift&63) + 1
	}
}

// addCountedLow is addCounted for wide decimals that fit a word.
func addCountedLow(words []uint64, stride int, shift uint8, gids []uint32, vals []decimal256.Num) {
	vals = vals[:len(gids)]
	for i, g := range gids {
		words[int(g)*stride] += vals[i].LowBits()<<(shift&63) + 1
	}
}

// addCountedCoded is addCounted for a dictionary-coded argument.
func addCountedCoded(words []uint64, stride int, shift uint8, gids []uint32, x *column.Vector) {
	codes, values := x.Codes[:len(gids)], x.Dict.Values.Int
	for i, g := range gids {
		words[int(g)*stride] += uint64(values[codes[i]])<<(shift&63) + 1
	}
}
