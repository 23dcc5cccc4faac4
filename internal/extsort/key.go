package extsort

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/gagg-dev/gagg/internal/column"
)

// A key of a scalar value as bytes (KEY-ORDER): how many they are, and how
// they are written.
type (
	keySize  func(i int) int
	keyWrite func(dst []byte, i int) int // returns the bytes written
)

// marks are the bytes before a NULL and before a value.
func (t Term) marks() (null, value byte) {
	if t.NullsFirst {
		return 0, 1
	}
	return 1, 0
}

// addSizes adds the bytes that the key has of each row of v, a flat vector.
func (t Term) addSizes(v *column.Vector, sizes []int) {
	size := keySizeOf(v)
	for i := range sizes {
		sizes[i]++
		if !isNull(v, i) {
			sizes[i] += size(i)
		}
	}
}

// put writes the key of the rows of v from first on into rows, each from its
// end on, and moves the ends.
func (t Term) put(v *column.Vector, first int, rows []row, ends []int) {
	null, value := t.marks()
	write := keyWriteOf(v)
	for i, r := range rows {
		at := ends[i]
		if isNull(v, first+i) {
			r[at] = null
			ends[i]++
			continue
		}
		r[at] = value
		n := write(r[at+1:], first+i)
		if t.Desc {
			invert(r[at+1 : at+1+n])
		}
		ends[i] += 1 + n
	}
}

// isNull is v.IsNull, for vectors of the type of NULL too, which may have no
// marks.
func isNull(v *column.Vector, i int) bool {
	return v.IsNull(i) || v.Type.Kind == column.Null && !v.Type.IsNested()
}

func invert(b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		binary.LittleEndian.PutUint64(b, ^binary.LittleEndian.Uint64(b))
	}
	for i := range b {
		b[i] = ^b[i]
	}
}

func keySizeOf(v *column.Vector) keySize {
	switch v.Type.Rep() {
	case column.RepWide:
		return func(int) int { return 32 }
	case column.RepBytes:
		return func(i int) int {
			b := v.Bytes(i)
			return len(b) + bytes.Count(b, []byte{0}) + 2
		}
	case column.RepList:
		return listKeySize(v)
	}
	return func(int) int { return 8 }
}

func keyWriteOf(v *column.Vector) keyWrite {
	switch v.Type.Rep() {
	case column.RepFloat64:
		return func(dst []byte, i int) int {
			binary.BigEndian.PutUint64(dst, floatKey(v.Float[i]))
			return 8
		}
	case column.RepWide:
		return func(dst []byte, i int) int {
			w := v.Wide[i].Array()
			binary.BigEndian.PutUint64(dst, w[3]^signBit)
			binary.BigEndian.PutUint64(dst[8:], w[2])
			binary.BigEndian.PutUint64(dst[16:], w[1])
			binary.BigEndian.PutUint64(dst[24:], w[0])
			return 32
		}
	case column.RepBytes:
		return func(dst []byte, i int) int { return putString(dst, v.Bytes(i)) }
	case column.RepList:
		return listKeyWrite(v)
	}
	sign := signOf(v.Type)
	return func(dst []byte, i int) int {
		binary.BigEndian.PutUint64(dst, uint64(v.Int[i])^sign)
		return 8
	}
}

const signBit = 1 << 63

// signOf is the bit to flip so that integers of type t, as unsigned ones, are in order.
func signOf(t column.Type) uint64 {
	if t.Kind == column.Uint64 {
		return 0
	}
	return signBit
}

// floatKey maps floats to numbers in the same order: the zeros are equal, and
// so are all NaN, above infinity.
func floatKey(f float64) uint64 {
	switch {
	case f == 0:
		f = 0
	case math.IsNaN(f):
		f = math.NaN()
	}
	b := math.Float64bits(f)
	if b&signBit != 0 {
		return ^b
	}
	return b | signBit
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

// listKeySize is the size of 01 and an element, and of the count behind it in
// a map, for each element, and of 00.
func listKeySize(v *column.Vector) keySize {
	if v.Elem == nil {
		return func(int) int { return 1 }
	}
	elem, count := keySizeOf(v.Elem), 0
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

func listKeyWrite(v *column.Vector) keyWrite {
	if v.Elem == nil {
		return func(dst []byte, _ int) int {
			dst[0] = 0
			return 1
		}
	}
	elem, counted := keyWriteOf(v.Elem), v.Type.Nest == column.Map
	return func(dst []byte, i int) int {
		n := 0
		from, to := v.Range(i)
		for j := from; j < to; j++ {
			dst[n] = 1
			n += 1 + elem(dst[n+1:], j)
			if counted {
				binary.BigEndian.PutUint64(dst[n:], uint64(v.Counts[j])^signBit)
				n += 8
			}
		}
		dst[n] = 0
		return n + 1
	}
}
