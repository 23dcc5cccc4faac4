// Package sortkey writes values as bytes that sort as the values do. Integers have their sign
// flipped and their highest byte first; strings end with two zeros, and a zero within becomes 00
// FF; a list has 01 before each element and 00 behind the last. No key of a type begins with
// another one. NULL and direction are up to the caller, who inverts all bits to have the reverse.
//
// The package also has the form of a packed value: keys, and a value behind them (packed.go).
package sortkey

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/gagg-dev/gagg/internal/column"
)

// Sizer is how many bytes the key of row i has.
type Sizer func(i int) int

// Writer writes the key of row i, and returns how many bytes it has.
type Writer func(dst []byte, i int) int

// IsNull is v.IsNull, for vectors of the type of NULL too, which may have no
// marks.
func IsNull(v *column.Vector, i int) bool {
	return v.IsNull(i) || v.Type.Kind == column.Null && !v.Type.IsNested()
}

// Invert inverts all bits.
func Invert(b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		binary.LittleEndian.PutUint64(b, ^binary.LittleEndian.Uint64(b))
	}
	for i := range b {
		b[i] = ^b[i]
	}
}

// SizerOf is how long the keys of v are, a flat vector or one of lists, where they are not NULL.
func SizerOf(v *column.Vector) Sizer {
	switch v.Type.Rep() {
	case column.RepWide:
		return func(int) int { return 32 }
	case column.RepBytes:
		return func(i int) int {
			b := v.Bytes(i)
			return len(b) + bytes.Count(b, []byte{0}) + 2
		}
	case column.RepList:
		return listSizer(v)
	}
	return func(int) int { return 8 }
}

// WriterOf writes the keys that SizerOf measures.
func WriterOf(v *column.Vector) Writer {
	switch v.Type.Rep() {
	case column.RepFloat64:
		return func(dst []byte, i int) int {
			binary.BigEndian.PutUint64(dst, Float(v.Float[i]))
			return 8
		}
	case column.RepWide:
		return func(dst []byte, i int) int {
			w := v.Wide[i].Array()
			binary.BigEndian.PutUint64(dst, w[3]^SignBit)
			binary.BigEndian.PutUint64(dst[8:], w[2])
			binary.BigEndian.PutUint64(dst[16:], w[1])
			binary.BigEndian.PutUint64(dst[24:], w[0])
			return 32
		}
	case column.RepBytes:
		return func(dst []byte, i int) int { return putString(dst, v.Bytes(i)) }
	case column.RepList:
		return listWriter(v)
	}
	sign := SignOf(v.Type)
	return func(dst []byte, i int) int {
		binary.BigEndian.PutUint64(dst, uint64(v.Int[i])^sign)
		return 8
	}
}

// SignBit is the sign of a word.
const SignBit = 1 << 63

// SignOf is the bit to flip so that integers of type t, as unsigned ones, are in order.
func SignOf(t column.Type) uint64 {
	if t.Kind == column.Uint64 {
		return 0
	}
	return SignBit
}

// Float maps floats to numbers in the same order: the zeros are equal, and
// so are all NaN, above infinity.
func Float(f float64) uint64 {
	switch {
	case f == 0:
		f = 0
	case math.IsNaN(f):
		f = math.NaN()
	}
	return orderedBits(math.Float64bits(f))
}

// orderedBits are the bits of a float as a number in the same order.
func orderedBits(b uint64) uint64 {
	if b&SignBit != 0 {
		return ^b
	}
	return b | SignBit
}

// putString writes a string whose zeros become 00 FF, and 00 00.
func putString(dst, s []byte) int {
	n := 0
	for {
		zero := bytes.IndexByte(s, 0)
		if zero < 0 {
			break
		}
		n += copy(dst[n:], s[:zero])
		dst[n], dst[n+1] = 0, 0xff
		n += 2
		s = s[zero+1:]
	}
	n += copy(dst[n:], s)
	dst[n], dst[n+1] = 0, 0
	return n + 2
}

// listSizer is the size of 01 and an element, and of the count behind it in
// a map, for each element, and of 00.
func listSizer(v *column.Vector) Sizer {
	if v.Elem == nil {
		return func(int) int { return 1 }
	}
	elem, count := SizerOf(v.Elem), 0
	if v.Type.Nest == column.Map {
		count = 8
	}
	return func(i int) int {
		n := 1
		from, to := v.Range(i)
		for j := from; j < to; j++ {
			n += 1 + elem(j) + count
		}
		return n
	}
}

func listWriter(v *column.Vector) Writer {
	if v.Elem == nil {
		return func(dst []byte, _ int) int {
			dst[0] = 0
			return 1
		}
	}
	elem, counted := WriterOf(v.Elem), v.Type.Nest == column.Map
	return func(dst []byte, i int) int {
		n := 0
		from, to := v.Range(i)
		for j := from; j < to; j++ {
			dst[n] = 1
			n += 1 + elem(dst[n+1:], j)
			if counted {
				binary.BigEndian.PutUint64(dst[n:], uint64(v.Counts[j])^SignBit)
				n += 8
			}
		}
		dst[n] = 0
		return n + 1
	}
}
