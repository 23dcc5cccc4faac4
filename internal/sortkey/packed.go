package sortkey

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
)

// A packed value is a value behind the keys that it is ordered by, as bytes that sort by the keys;
// of equal ones the lesser value comes first:
//
//	key:       1 byte for what it is, and the key, inverted where the order falls; nothing of NULL
//	PackedEnd: the end of the keys
//	value:     of a text its bytes alone, else as a key, but that −0.0 and the bits of a NaN stay
//
// These are what a key begins with. Keys of texts end as they do in package sortkey, all others by
// their size.
const (
	PackedNullFirst = 0
	PackedNumber    = 1 // 8 bytes
	PackedWide      = 2 // 32 bytes
	PackedText      = 3
	PackedTextDesc  = 4
	PackedEnd       = 16
	PackedNullLast  = 255
)

// PackedKey appends row i of v, a flat vector, as a key of a packed value.
func PackedKey(v *column.Vector, desc, nullsFirst bool) func(to []byte, i int) []byte {
	null, kind := byte(PackedNullLast), byte(PackedNumber)
	if nullsFirst {
		null = PackedNullFirst
	}
	switch rep := v.Type.Rep(); {
	case rep == column.RepBytes && desc:
		kind = PackedTextDesc
	case rep == column.RepBytes:
		kind = PackedText
	case rep == column.RepWide:
		kind = PackedWide
	}
	size, write := SizerOf(v), WriterOf(v)
	return func(to []byte, i int) []byte {
		if IsNull(v, i) {
			return append(to, null)
		}
		to = append(to, kind)
		at, n := len(to), size(i)
		to = slices.Grow(to, n)[:at+n]
		write(to[at:], i)
		if desc {
			Invert(to[at:])
		}
		return to
	}
}

// PackedValue appends row i of v, a flat vector, as the value of a packed one: nothing of NULL.
func PackedValue(v *column.Vector) func(to []byte, i int) []byte {
	text, write := v.Type.Rep() == column.RepBytes, WriterOf(v)
	if v.Type.Rep() == column.RepFloat64 {
		write = func(dst []byte, i int) int {
			b := math.Float64bits(v.Float[i])
			if math.IsNaN(v.Float[i]) {
				b &^= SignBit
			}
			binary.BigEndian.PutUint64(dst, orderedBits(b))
			return 8
		}
	}
	return func(to []byte, i int) []byte {
		switch {
		case IsNull(v, i):
			return to
		case text:
			return append(to, v.Bytes(i)...)
		}
		var number [32]byte
		return append(to, number[:write(number[:], i)]...)
	}
}

// AppendPacked appends a number of a packed value to v.
func AppendPacked(v *column.Vector, b []byte) {
	v.Len++
	word := binary.BigEndian.Uint64(b)
	switch {
	case v.Type.Rep() == column.RepWide:
		v.Wide = append(v.Wide, decimal256.New(word^SignBit, binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint64(b[16:]), binary.BigEndian.Uint64(b[24:])))
	case v.Type.Rep() == column.RepFloat64 && word&SignBit != 0:
		v.Float = append(v.Float, math.Float64frombits(word^SignBit))
	case v.Type.Rep() == column.RepFloat64:
		v.Float = append(v.Float, math.Float64frombits(^word))
	default:
		v.Int = append(v.Int, int64(word^SignOf(v.Type)))
	}
}
