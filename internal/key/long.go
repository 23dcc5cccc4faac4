package key

import (
	"bytes"
	"slices"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// This file compares rows that have refs to long strings, and moves them between arenas and blocks
// on disk.

// longWord is the last word of a long string of n bytes with the given hash.
func longWord(hash uint64, n uint32) uint64 {
	return longMark<<56 | hash>>40<<32 | uint64(n)
}

// isLong reports whether the last word of an inline field is that of a
// long string.
func isLong(hi uint64) bool { return hi>>63 != 0 }

// longBytes returns the long string of two words.
func longBytes(reg *arena.Arenas, lo, hi uint64) []byte {
	b := reg.Get(lo)
	invariant.Check(len(b) == int(uint32(hi)), "KEY-LONG")
	return b
}

// chunkBytes is longBytes where the chunks of the registry are at hand.
func chunkBytes(chunks [][]byte, lo, hi uint64) []byte {
	return chunks[lo>>32][8*uint64(uint32(lo)):][:uint32(hi)]
}

// HasRefs reports whether keys may hold refs into an arena.
func (l *Layout) HasRefs() bool { return len(l.inline) > 0 }

// Equal reports whether the keys of two rows, whose key words begin at base,
// are equal. The refs of both are valid in reg.
func (l *Layout) Equal(a, b []uint64, base int, reg *arena.Arenas) bool {
	a, b = a[base:base+l.Words], b[base:base+l.Words]
	if slices.Equal(a, b) {
		return true
	}
	if len(l.inline) == 0 {
		return false
	}
	for _, w := range l.plain {
		if a[w] != b[w] {
			return false
		}
	}
	for _, w := range l.inline {
		if a[w.hi] != b[w.hi] || a[w.lo] != b[w.lo] && !isLong(a[w.hi]) {
			return false
		}
	}
	for _, w := range l.inline {
		if a[w.lo] != b[w.lo] && !bytes.Equal(longBytes(reg, a[w.lo], a[w.hi]), longBytes(reg, b[w.lo], b[w.hi])) {
			return false
		}
	}
	return true
}

// Move copies the long strings of a row, whose key words begin at base, from
// one registry to another or to a section, and makes the row refer to the
// copies.
func (l *Layout) Move(row []uint64, base int, from *arena.Arenas, to arena.Putter) {
	for _, w := range l.inline {
		if lo, hi := row[base+w.lo], row[base+w.hi]; isLong(hi) {
			row[base+w.lo] = to.Put(longBytes(from, lo, hi))
		}
	}
}

// Rebase adds add, the base of an adopted section, to the refs of a row whose
// key words begin at base.
func (l *Layout) Rebase(row []uint64, base int, add uint64) {
	for _, w := range l.inline {
		if isLong(row[base+w.hi]) {
			row[base+w.lo] += add
		}
	}
}

// Ref is where a row refers to a long string, and the bytes of that.
type Ref struct {
	Ref   *uint64
	Bytes int
}

// Refs is the refs of a row whose key words begin at base.
func (l *Layout) Refs(row []uint64, base int) (refs []Ref) {
	for _, w := range l.inline {
		if hi := row[base+w.hi]; isLong(hi) {
			refs = append(refs, Ref{&row[base+w.lo], int(uint32(hi))})
		}
	}
	return refs
}

// AnyLong reports whether the key of a row has a long string.
func (l *Layout) AnyLong(row []uint64, base int) bool {
	for _, w := range l.inline {
		if isLong(row[base+w.hi]) {
			return true
		}
	}
	return false
}

// Touch reads the first and the last byte of each long string of a row. A loop of calls has no
// branch to predict, so the processor waits for the memory of many rows at a time. The row's refs
// must be valid in the registry of the chunks.
func (l *Layout) Touch(row []uint64, base int, chunks [][]byte) (sum byte) {
	for _, w := range l.inline {
		ref, hi := row[base+w.lo], row[base+w.hi]
		if isLong(hi) {
			b := chunkBytes(chunks, ref, hi)
			sum += b[0] + b[len(b)-1]
		}
	}
	return sum
}

// ArenaBytes is how many bytes of an arena, as arena.Size counts them, the long strings of a row
// take.
func (l *Layout) ArenaBytes(row []uint64, base int) (n int) {
	for _, w := range l.inline {
		if hi := row[base+w.hi]; isLong(hi) {
			n += arena.Size(int(uint32(hi)))
		}
	}
	return n
}

// LongBytes is how many bytes the long strings of a row have.
func (l *Layout) LongBytes(row []uint64, base int) (n int) {
	for _, w := range l.inline {
		if hi := row[base+w.hi]; isLong(hi) {
			n += int(uint32(hi))
		}
	}
	return n
}
