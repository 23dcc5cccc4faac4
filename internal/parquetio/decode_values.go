package parquetio

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow/go/v15/arrow/decimal256"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/parquet-go/parquet-go/format"
)

// decoder takes values off the streams of a page or dictionary and makes
// them the wanted type's representation, densely: NULLs are not its concern.
// Exactly the stream that fits the column's physical type and the page's
// encoding is set.
type decoder struct {
	physical format.Type
	length   int         // of FIXED_LEN_BYTE_ARRAY
	typ      column.Type // in the file
	rule     intRule
	maxWide  decimal256.Num // decimals of the wanted type lie within ± this
	minWide  decimal256.Num

	intSrc   intSource
	blockSrc blockSource
	spanSrc  spanSource

	intBuf  []int64
	spanBuf []column.Span
}

func newDecoder(l *leaf, want column.Type) decoder {
	bits := 64
	if l.physical == format.Int32 {
		bits = 32
	}
	d := decoder{physical: l.physical, length: l.length, typ: l.typ, rule: newIntRule(l.typ, want, bits)}
	if want.Kind == column.Decimal {
		d.maxWide = decimal256.GetMaxValue(int32(want.Precision))
		d.minWide = d.maxWide.Negate()
	}
	return d
}

// ints fills dst for a type of representation RepInt64.
func (d *decoder) ints(dst []int64) error {
	var err error
	switch d.physical {
	case format.Int96:
		err = d.int96(dst)
	case format.FixedLenByteArray:
		err = d.fixedInts(dst)
	case format.ByteArray:
		err = d.spanInts(dst)
	default:
		err = d.intSrc.ints(dst)
	}
	if err != nil {
		return err
	}
	return d.rule.apply(dst)
}

const (
	julianEpoch  int64 = 2440588 // the Julian day of 1970-01-01
	microsPerDay int64 = 86400e6
)

// int96 reads timestamps of 12 bytes, nanoseconds of the day and a Julian
// day, as microseconds since 1970; what is finer is cut off, as in DuckDB.
// One that 64 bits cannot hold (overflowed Spark jobs write such) becomes the
// least or greatest int64: that keeps its order, so a filter can sort it out.
func (d *decoder) int96(dst []int64) error {
	b, err := d.blockSrc.block(len(dst))
	if err != nil {
		return err
	}
	for i := range dst {
		micros := int64(binary.LittleEndian.Uint64(b[12*i:])) / 1000
		day := int64(int32(binary.LittleEndian.Uint32(b[12*i+8:]))) - julianEpoch
		if day < 0 { // the first day that has a number at all begins before it
			day, micros = day+1, micros-microsPerDay
		}
		start := day * microsPerDay
		v := start + micros
		overflow := (start^v)&(micros^v) < 0
		if overflow || day > math.MaxInt64/microsPerDay || day < math.MinInt64/microsPerDay {
			v = math.MaxInt64
			if day < 0 {
				v = math.MinInt64
			}
		}
		dst[i] = v
	}
	return nil
}

// floats fills dst for a type of representation RepFloat64.
func (d *decoder) floats(dst []float64) error {
	b, err := d.blockSrc.block(len(dst))
	if err != nil {
		return err
	}
	switch d.physical {
	case format.Double:
		copy(dst, cast[float64](b))
	case format.Float:
		src := cast[float32](b)[:len(dst)]
		for i, v := range src {
			dst[i] = float64(v)
		}
	default:
		src := cast[uint16](b)[:len(dst)]
		for i, v := range src {
			dst[i] = float16(v)
		}
	}
	return nil
}

// float16 widens an IEEE 754 half-precision number.
func float16(h uint16) float64 {
	sign := uint64(h>>15) << 63
	exp, frac := uint64(h>>10&0x1F), uint64(h&0x3FF)
	switch exp {
	case 0: // zero, or subnormal: frac units of 2^-24
		return math.Copysign(float64(frac)*0x1p-24, math.Float64frombits(sign|1))
	case 0x1F: // infinity or NaN
		return math.Float64frombits(sign | 0x7FF<<52 | frac<<42)
	}
	return math.Float64frombits(sign | (exp+1023-15)<<52 | frac<<42)
}

// bytes fills dst for a type of representation RepBytes and returns the
// bytes that dst points into (PAD). They are good until the next call.
func (d *decoder) bytes(dst []column.Span) ([]byte, error) {
	if d.physical == format.ByteArray {
		return d.spanSrc.spans(dst)
	}
	b, err := d.blockSrc.block(len(dst))
	if err != nil {
		return nil, err
	}
	width := uint32(d.length)
	off := uint32(0)
	for i := range dst {
		dst[i] = column.Span{Off: off, Len: width}
		off += width
	}
	return b, nil
}
