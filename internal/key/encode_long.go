package key

import (
	"bytes"
	"math"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
)

// This file handles the long strings of an encoder. In the encoder's words, the first word of a
// long string is its index in the vector that it came from, or in the dictionary of that vector.
// No string is copied before it is known that the key is kept.

// refer records that the long strings of a field, if there are any, are
// numbered by their index in v.
func (e *Encoder) refer(f *field, v *column.Vector, any bool) {
	if any {
		e.long[f.word], e.some = v, true
	}
}

// Layout returns the layout of the keys.
func (e *Encoder) Layout() *Layout { return e.layout }

// HasLong reports whether there may be long strings in the keys of the batch.
// If not, keys are equal if and only if their words are.
func (e *Encoder) HasLong() bool { return e.some }

// at returns the long string of row i in the inline field that begins at word w.
func (e *Encoder) at(w, i int) []byte { return e.long[w].Bytes(int(e.Words[w][i])) }

// LongBytes is how many bytes of an arena, as arena.Size counts them, the
// long strings of all rows of the batch take.
func (e *Encoder) LongBytes() int {
	if !e.some {
		return 0
	}
	total := 0
	for _, w := range e.layout.inline {
		for _, hi := range e.Words[w.hi] {
			if isLong(hi) {
				total += arena.Size(int(uint32(hi)))
			}
		}
	}
	return total
}

// Match sets groups[i] to none where the key of that group is not the key of row i of the batch.
// Group g is row g of rows, stride words each, whose key words begin at base and whose refs are
// valid in reg.
//
// It compares the first key word of all rows, then the second one, and so on, and reads the ends
// of long strings before it compares them. So the cache misses of different rows overlap.
func (e *Encoder) Match(groups []uint32, none uint32, rows []uint64, stride, base int, reg *arena.Arenas) {
	for _, w := range e.layout.plain {
		own := e.Words[w][:len(groups)]
		for i, g := range groups {
			if g != none && rows[int(g)*stride+base+w] != own[i] {
				groups[i] = none
			}
		}
	}
	for _, w := range e.layout.inline {
		if e.matchInline(w, groups, none, rows, stride, base) {
			e.matchLong(w, groups, none, rows, stride, base, reg.Chunks())
		}
	}
}

// matchInline is Match for the first and the last word of an inline field. It
// reports whether groups are left whose strings are long.
func (e *Encoder) matchInline(w inlined, groups []uint32, none uint32, rows []uint64, stride, base int) bool {
	lo, hi := e.Words[w.lo][:len(groups)], e.Words[w.hi][:len(groups)]
	any := uint64(0)
	for i, g := range groups {
		if g == none {
			continue
		}
		r := rows[int(g)*stride+base:]
		if r[w.hi] != hi[i] || r[w.lo] != lo[i] && !isLong(hi[i]) {
			groups[i] = none
			continue
		}
		any |= hi[i]
	}
	return isLong(any)
}

// matchLong is Match for the bytes of long strings. It lists the rows that have one first,
// without a branch: they may be few.
func (e *Encoder) matchLong(w inlined, groups []uint32, none uint32, rows []uint64, stride, base int, chunks [][]byte) {
	lo, hi := e.Words[w.lo][:len(groups)], e.Words[w.hi][:len(groups)]
	if cap(e.longRows) < len(groups) {
		e.longRows = make([]int32, len(groups))
	}
	list, n := e.longRows[:len(groups)], 0
	for i, g := range groups {
		list[n] = int32(i)
		// 1 if it is long, and g is a group
		n += int(hi[i] >> 63 & ((uint64(g^none) + math.MaxUint32) >> 32))
	}
	list = list[:n]
	sum := byte(0)
	for _, i := range list {
		b := chunkBytes(chunks, rows[int(groups[i])*stride+base+w.lo], hi[i])
		sum += b[0] + b[len(b)-1]
	}
	e.touched = sum
	spans, data := e.long[w.lo].Span, e.long[w.lo].Data
	for _, i := range list {
		s := spans[lo[i]]
		if !bytes.Equal(chunkBytes(chunks, rows[int(groups[i])*stride+base+w.lo], hi[i]), data[s.Off:s.Off+s.Len]) {
			groups[i] = none
		}
	}
}

// SameWords reports whether the key of row i and the key words of a group's
// row are equal but for the bytes of their long strings.
func (e *Encoder) SameWords(i int, words []uint64) bool {
	for _, w := range e.layout.plain {
		if e.Words[w][i] != words[w] {
			return false
		}
	}
	for _, w := range e.layout.inline {
		if hi := words[w.hi]; e.Words[w.hi][i] != hi || e.Words[w.lo][i] != words[w.lo] && !isLong(hi) {
			return false
		}
	}
	return true
}

// SameLong reports whether the long strings of the key of row i and those of
// a group's row, for which SameWords holds, are equal.
func (e *Encoder) SameLong(i int, words []uint64, reg *arena.Arenas) bool {
	for _, w := range e.layout.inline {
		if hi := words[w.hi]; isLong(hi) && !bytes.Equal(e.at(w.lo, i), longBytes(reg, words[w.lo], hi)) {
			return false
		}
	}
	return true
}

// Keep stores the long strings of row i in an arena and makes words, a copy
// of the row's words, refer to them there.
func (e *Encoder) Keep(i int, words []uint64, a *arena.Arena) {
	for _, w := range e.layout.inline {
		if isLong(words[w.hi]) {
			words[w.lo] = a.Put(e.at(w.lo, i))
		}
	}
}

// Store stores the long strings of all rows in an arena and makes Words refer
// to them there: the words may then be copied into rows, but not be given to
// the other methods.
func (e *Encoder) Store(a *arena.Arena) {
	if !e.some {
		return
	}
	for _, w := range e.layout.inline {
		lo := e.Words[w.lo]
		for i, hi := range e.Words[w.hi] {
			if isLong(hi) {
				lo[i] = a.Put(e.at(w.lo, i))
			}
		}
	}
	e.some = false
}
