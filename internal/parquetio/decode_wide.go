package parquetio

import (
	"encoding/binary"

	"github.com/apache/arrow/go/v15/arrow/decimal256"
)

// Decimals are two's complement numbers, big-endian when they are stored as
// bytes, of any number of bytes.

// bigEndianInt reads up to 8 bytes of b, sign-extended. It reads 8 bytes in
// any case (PAD).
func bigEndianInt(b []byte, width int) int64 {
	return int64(binary.BigEndian.Uint64(b[:8])) >> (64 - 8*uint(width))
}

// bigEndianWide reads a number of any width and reports whether it fits.
func bigEndianWide(b []byte) (decimal256.Num, bool) {
	if len(b) == 0 {
		return decimal256.Num{}, false
	}
	sign := uint64(int64(int8(b[0])) >> 63)
	for len(b) > 32 {
		if b[0] != byte(sign) {
			return decimal256.Num{}, false
		}
		b = b[1:]
	}
	if b[0]^byte(sign) >= 0x80 {
		return decimal256.Num{}, false
	}
	var words [4]uint64 // lowest first
	for i := range words {
		words[i] = sign
	}
	for i, x := range b {
		k := len(b) - 1 - i // byte k of the number, from the lowest
		shift := 8 * uint(k%8)
		words[k/8] = words[k/8]&^(0xFF<<shift) | uint64(x)<<shift
	}
	return decimal256.New(words[3], words[2], words[1], words[0]), true
}

// bigEndian16 reads 16 bytes.
func bigEndian16(b []byte) decimal256.Num {
	high := binary.BigEndian.Uint64(b[:8])
	sign := uint64(int64(high) >> 63)
	return decimal256.New(sign, sign, high, binary.BigEndian.Uint64(b[8:16]))
}

// wideToInt returns n as an int64 if it is one.
func wideToInt(n decimal256.Num) (int64, bool) {
	w := n.Array()
	sign := uint64(int64(w[0]) >> 63)
	return int64(w[0]), w[1] == sign && w[2] == sign && w[3] == sign
}
