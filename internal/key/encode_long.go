package key

import (
	"bytes"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
)

// This file is what an encoder knows of long strings. In its words the first
// one of a long string is the string's index in the vector that it came from,
// or in the dictionary of that vector: nothing is copied before it is known
// that the key is kept.

// refer records that the long strings of a field, if there are any, are
// numbered by their index in v.
func (e *Encoder) refer(f *field, v *column.Vector, any bool) {
	if any {
		e.long[f.word], e.some = v, true
	}
}

// Layout is that of the keys.
func (e *Encoder) Layout() *Layout { return e.layout }

// HasLong reports whether there may be long strings in the keys of the batch.
// If not, keys are equal if and only if their words are.
func (e *Encoder) HasLong() bool { return e.some }

// at is the long string of row i in the inline field that begins at word w.
func (e *Encoder) at(w, i int) []byte { return e.long[w].Bytes(int(e.Words[w][i])) }

// LongBytes is how many bytes of an arena, as arena.Size counts them, the
// long strings of all rows of the batch take.
func (e *Encoder) LongBytes() int {
	if !e.some {
		return 0
	}
	total := 0
	for _, w := range e.layout.inline {
		for _, hi := range e.Words[w+1] {
			if isLong(hi) {
				total += arena.Size(int(uint32(hi)))
			}
		}
	}
	return total
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
		if hi := words[w+1]; e.Words[w+1][i] != hi || e.Words[w][i] != words[w] && !isLong(hi) {
			return false
		}
	}
	return true
}

// SameLong reports whether the long strings of the key of row i and those of
// a group's row, for which SameWords holds, are equal.
func (e *Encoder) SameLong(i int, words []uint64, reg *arena.Arenas) bool {
	for _, w := range e.layout.inline {
		if hi := words[w+1]; isLong(hi) && !bytes.Equal(e.at(w, i), longBytes(reg, words[w], hi)) {
			return false
		}
	}
	return true
}

// Keep stores the long strings of row i in an arena and makes words, a copy
// of the row's words, refer to them there.
func (e *Encoder) Keep(i int, words []uint64, a *arena.Arena) {
	for _, w := range e.layout.inline {
		if isLong(words[w+1]) {
			words[w] = a.Put(e.at(w, i))
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
		lo := e.Words[w]
		for i, hi := range e.Words[w+1] {
			if isLong(hi) {
				lo[i] = a.Put(e.at(w, i))
			}
		}
	}
	e.some = false
}
