package key

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/zeebo/xxh3"

	"github.com/gagg-dev/gagg/internal/column"
)

// Constants of wyhash (Wang Yi, public domain): odd, with balanced bits.
const (
	hashSeed = 0xa0761d6478bd642f
	hashMul  = 0xe7037ed1a0b428db
	hashLow  = 0x589965cc75374cc3
	hashHigh = 0x1d8e4e27c47d124f
)

// EmptyHash is the hash of a key without fields.
const EmptyHash = hashSeed

// NullHash is the field hash of NULL.
const NullHash = 0x8ebc6af09c88c6e3

// Mum multiplies to 128 bits and folds them: the mixing step of wyhash.
func Mum(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// mix adds the hash of the next field to the hash of those before it.
func mix(h, field uint64) uint64 { return Mum(h^field, hashMul) }

// hashWords is the field hash of 16 bytes held in two words.
func hashWords(lo, hi uint64) uint64 { return Mum(lo^hashLow, hi^hashHigh) }

// hashBytes is the field hash of a string. It must not depend on the form
// that the string has in the key.
func hashBytes(b []byte) uint64 {
	if len(b) <= MaxInline {
		return hashWords(inlineWords(b))
	}
	return xxh3.Hash(b)
}

// inlineWords packs up to MaxInline bytes and their length into two words.
func inlineWords(b []byte) (lo, hi uint64) {
	var buf [16]byte
	copy(buf[:], b)
	buf[15] = byte(len(b))
	return binary.LittleEndian.Uint64(buf[:8]), binary.LittleEndian.Uint64(buf[8:])
}

// inlineAt packs data[off:off+n], n <= MaxInline, without a copy. It reads up
// to column.SpanPadding bytes past the value.
func inlineAt(data []byte, off, n uint32) (lo, hi uint64) {
	p := data[off : off+16 : cap(data)]
	lo, hi = binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[8:])
	if n < 8 {
		return lo & (1<<(n*8) - 1), uint64(n) << 56
	}
	return lo, hi&(1<<((n-8)*8)-1) | uint64(n)<<56
}

// hashAt is hashBytes of data[off:off+n].
func hashAt(data []byte, off, n uint32) uint64 {
	if n <= MaxInline {
		return hashWords(inlineAt(data, off, n))
	}
	return xxh3.Hash(data[off : off+n])
}

// wordAt returns 8 bytes of data, some of which may lie behind its end.
func wordAt(data []byte, off uint32) uint64 {
	return binary.LittleEndian.Uint64(data[off : off+8 : cap(data)])
}

// canonicalNaN is the only NaN that keys have.
var canonicalNaN = math.Float64bits(math.NaN())

// floatBits gives equal bits to equal floats: NaN equals NaN, -0 equals 0.
func floatBits(f float64) uint64 {
	switch {
	case f != f: // NaN, by a test that inlines
		return canonicalNaN
	case f == 0:
		return 0
	}
	return math.Float64bits(f)
}

// float32Bits is floatBits for values that are exact in 32 bits.
func float32Bits(f float64) uint64 {
	switch {
	case f != f: // NaN, by a test that inlines
		return uint64(math.Float32bits(float32(math.NaN())))
	case f == 0:
		return 0
	}
	return uint64(math.Float32bits(float32(f)))
}

// scalarBits returns the value bits of row i of a flat vector whose form is
// FormBits.
func scalarBits(v *column.Vector, i int, nbits uint) uint64 {
	if v.Type.IsFloat() {
		if nbits == 32 {
			return float32Bits(v.Float[i])
		}
		return floatBits(v.Float[i])
	}
	return uint64(v.Int[i]) & (1<<nbits - 1)
}
