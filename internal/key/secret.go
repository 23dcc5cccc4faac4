package key

import (
	"hash/maphash"
	"unsafe"

	"github.com/gagg-dev/gagg/internal/arena"
)

// secret seeds the hashes of some look-ups of strings and keys. Anybody can compute the ordinary
// hashes, and so make keys that collide. The seed differs between processes, so nothing that is
// visible outside of the process may depend on these hashes: neither the order of groups nor their
// partition.
var secret = maphash.MakeSeed()

// secretWords is how many key words are hashed without an allocation.
const secretWords = 16

// Secret returns a seeded hash of each row's key. Equal keys have equal hashes, however they are
// coded, and Layout.Secret of their stored rows is the same. The result is valid until the next
// Encode. Secret must be called before Store.
func (e *Encoder) Secret() []uint64 {
	e.secret = zeroed(e.secret, len(e.Hash))
	var buf [secretWords]uint64
	for i := range e.secret {
		words := buf[:0]
		for _, w := range e.Words {
			words = append(words, w[i])
		}
		if e.some {
			for _, w := range e.layout.inline {
				if isLong(words[w.hi]) {
					words[w.lo] = maphash.Bytes(secret, e.at(w.lo, i))
				}
			}
		}
		e.secret[i] = secretOf(words)
	}
	return e.secret
}

// Secret is a seeded hash of the key of a row, whose key words begin at base and whose refs are
// valid in reg.
func (l *Layout) Secret(row []uint64, base int, reg *arena.Arenas) uint64 {
	words := row[base : base+l.Words]
	if !l.AnyLong(row, base) {
		return secretOf(words)
	}
	var buf [secretWords]uint64
	words = append(buf[:0], words...)
	for _, w := range l.inline {
		if isLong(words[w.hi]) {
			words[w.lo] = maphash.Bytes(secret, longBytes(reg, words[w.lo], words[w.hi]))
		}
	}
	return secretOf(words)
}

// secretOf is the seeded hash of words that are equal if and only if the keys are.
func secretOf(words []uint64) uint64 {
	return maphash.Bytes(secret, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words)))
}
