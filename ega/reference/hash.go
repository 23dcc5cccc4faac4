package reference

import "math/bits"

// HashOf is the hash that the device computes of key words where rows have
// none: internal/key's mix over the words. For a key that is one 64-bit number, not
// NULL, it is internal/key's hash.
func HashOf(words []uint64) uint64 {
	const seed, multiplier = 0xa0761d6478bd642f, 0xe7037ed1a0b428db
	hash := uint64(seed)
	for _, w := range words {
		high, low := bits.Mul64(hash^w, multiplier)
		hash = high ^ low
	}
	return hash
}
