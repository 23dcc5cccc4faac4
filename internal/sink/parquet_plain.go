package sink

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/arrow/decimal256"
	"github.com/apache/arrow/go/v15/arrow/float16"
	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/column"
)

// plainEncoder appends the values of the rows from..to that are not NULL in
// Parquet's PLAIN encoding (booleans: one byte each, packed later). It may
// stop early, when dst has a page's bytes, and returns the row after the last
// it took.
type plainEncoder func(dst []byte, v *column.Vector, from, to int) (out []byte, next int, err error)

func encoderOf(t column.Type, s parquetStorage, room *parquetRoom) plainEncoder {
	switch {
	case t.Kind == column.Null:
		return func(dst []byte, _ *column.Vector, _, to int) ([]byte, int, error) { return dst, to, nil }
	case s.factor != 0:
		return scaledEncoder(s)
	case s.physical == format.Boolean:
		return fixedEncoder(1, ints, func(b []byte, x int64) { b[0] = byte(x) })
	case s.physical == format.Int32:
		return fixedEncoder(4, ints, func(b []byte, x int64) { binary.LittleEndian.PutUint32(b, uint32(x)) })
	case s.physical == format.Int64:
		return encodeInt64
	case s.physical == format.Float:
		return fixedEncoder(4, floats, func(b []byte, x float64) {
			binary.LittleEndian.PutUint32(b, math.Float32bits(float32(x)))
		})
	case s.physical == format.Double:
		return fixedEncoder(8, floats, func(b []byte, x float64) { binary.LittleEndian.PutUint64(b, math.Float64bits(x)) })
	case t.Kind == column.Float16:
		return fixedEncoder(2, floats, func(b []byte, x float64) {
			binary.LittleEndian.PutUint16(b, float16.New(float32(x)).Uint16())
		})
	case t.Kind == column.Interval:
		return encodeIntervals
	case t.Rep() == column.RepWide:
		return fixedEncoder(s.width, wides, putWide)
	}
	return bytesEncoder(s, room)
}

func ints(v *column.Vector) []int64           { return v.Int }
func floats(v *column.Vector) []float64       { return v.Float }
func wides(v *column.Vector) []decimal256.Num { return v.Wide }

// putWide fills b with the lowest bytes of x, highest first.
func putWide(b []byte, x decimal256.Num) {
	for i, word := range x.Array() {
		if end := len(b) - 8*i; end > 0 {
			binary.BigEndian.PutUint64(b[end-8:end], word)
		}
	}
}

// encodeIntervals writes months, days and milliseconds. The format has 32 bits without sign for
// each; fractions of milliseconds are cut off.
func encodeIntervals(dst []byte, v *column.Vector, from, to int) ([]byte, int, error) {
	for i := from; i < to; i++ {
		if v.IsNull(i) {
			continue
		}
		months, days, micros := column.SplitInterval(v.Wide[i])
		if micros < 0 || micros/1000 > math.MaxUint32 {
			return dst, i, fmt.Errorf("%s cannot be written: an INTERVAL of Parquet has milliseconds from 0 to %d", appendInterval(nil, v.Wide[i]), math.MaxUint32)
		}
		dst = binary.LittleEndian.AppendUint32(dst, uint32(months))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(days))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(micros/1000))
	}
	return dst, to, nil
}

// grow makes room for n bytes behind dst.
func grow(dst []byte, n int) []byte {
	if cap(dst)-len(dst) < n {
		dst = append(make([]byte, 0, 2*len(dst)+n), dst...)
	}
	return dst
}

func fixedEncoder[T any](width int, values func(*column.Vector) []T, put func([]byte, T)) plainEncoder {
	return func(dst []byte, v *column.Vector, from, to int) ([]byte, int, error) {
		dst = grow(dst, (to-from)*width)
		at := len(dst)
		dst = dst[:at+(to-from)*width]
		for i, x := range values(v)[from:to] {
			if v.Null == nil || !v.Null[from+i] {
				put(dst[at:at+width], x)
				at += width
			}
		}
		return dst[:at], to, nil
	}
}

// encodeInt64 is written out, since most result columns are of 64 bits: a
// row costs a store and, with NULLs, an addition, but no jump.
func encodeInt64(dst []byte, v *column.Vector, from, to int) ([]byte, int, error) {
	dst = grow(dst, (to-from)*8)
	at := len(dst)
	dst = dst[:at+(to-from)*8]
	if v.Null == nil {
		for _, x := range v.Int[from:to] {
			binary.LittleEndian.PutUint64(dst[at:], uint64(x))
			at += 8
		}
		return dst, to, nil
	}
	for i, x := range v.Int[from:to] {
		binary.LittleEndian.PutUint64(dst[at:at+8], uint64(x))
		if !v.Null[from+i] {
			at += 8
		}
	}
	return dst[:at], to, nil
}

// scaledEncoder multiplies by s.factor.
func scaledEncoder(s parquetStorage) plainEncoder {
	limit := int64(math.MaxInt64)
	if s.physical == format.Int32 {
		limit = math.MaxInt32
	}
	return func(dst []byte, v *column.Vector, from, to int) ([]byte, int, error) {
		for i := from; i < to; i++ {
			x := v.Int[i]
			switch {
			case v.IsNull(i):
			case x > limit/s.factor || x < -limit/s.factor:
				return dst, i, fmt.Errorf("%d s is out of the range of Parquet's milliseconds", x)
			case s.physical == format.Int32:
				dst = binary.LittleEndian.AppendUint32(dst, uint32(x*s.factor))
			default:
				dst = binary.LittleEndian.AppendUint64(dst, uint64(x*s.factor))
			}
		}
		return dst, to, nil
	}
}

// bytesEncoder writes byte arrays: with their length before them, or of a
// fixed length.
func bytesEncoder(s parquetStorage, room *parquetRoom) plainEncoder {
	return func(dst []byte, v *column.Vector, from, to int) ([]byte, int, error) {
		for i := from; i < to; i++ {
			if v.IsNull(i) {
				continue
			}
			if len(dst) >= room.page {
				return dst, i, nil
			}
			b := v.Bytes(i)
			if s.physical == format.ByteArray {
				dst = binary.LittleEndian.AppendUint32(dst, uint32(len(b)))
			} else if len(b) != s.width {
				return dst, i, fmt.Errorf("value of %d bytes where each has %d", len(b), s.width)
			}
			dst = append(dst, b...)
		}
		return dst, to, nil
	}
}
