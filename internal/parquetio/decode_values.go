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
	maxWide  decimal256.Num // decimals of the file's type lie within ± this
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
	if l.typ.Kind == column.Decimal {
		d.maxWide = decimal256.GetMaxValue(int32(l.typ.Precision))
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

// fixedInts reads decimals of a fixed number of bytes.
func (d *decoder) fixedInts(dst []int64) error {
	b, err := d.blockSrc.block(len(dst))
	if err != nil {
		return err
	}
	if d.length <= 8 {
		b = b[:len(b)+8] // PAD
		for i := range dst {
			dst[i] = bigEndianInt(b[i*d.length:], d.length)
		}
		return nil
	}
	for i := range dst {
		n, ok := bigEndianWide(b[i*d.length : (i+1)*d.length])
		if ok {
			dst[i], ok = wideToInt(n)
		}
		if !ok {
			return &valueError{index: i, reason: d.rule.reason}
		}
	}
	return nil
}

// spanInts reads decimals of any number of bytes.
func (d *decoder) spanInts(dst []int64) error {
	d.spanBuf = grown(d.spanBuf, len(dst))
	data, err := d.spanSrc.spans(d.spanBuf)
	if err != nil {
		return err
	}
	for i, s := range d.spanBuf {
		n, ok := bigEndianWide(data[s.Off : s.Off+s.Len])
		if ok {
			dst[i], ok = wideToInt(n)
		}
		if !ok {
			return &valueError{index: i, reason: d.rule.reason}
		}
	}
	return nil
}

// wides fills dst for a type of representation RepWide: decimals in any
// physical type, of any precision.
func (d *decoder) wides(dst []decimal256.Num) error {
	switch d.physical {
	case format.FixedLenByteArray:
		return d.fixedWides(dst)
	case format.ByteArray:
		return d.spanWides(dst)
	}
	d.intBuf = grown(d.intBuf, len(dst))
	if err := d.ints(d.intBuf); err != nil {
		return err
	}
	for i, v := range d.intBuf {
		sign := uint64(v >> 63)
		dst[i] = decimal256.New(sign, sign, sign, uint64(v))
	}
	return nil
}

func (d *decoder) fixedWides(dst []decimal256.Num) error {
	b, err := d.blockSrc.block(len(dst))
	if err != nil {
		return err
	}
	for i := range dst {
		v, ok := b[i*d.length:(i+1)*d.length], true
		if d.length == 16 {
			dst[i] = bigEndian16(v)
		} else {
			dst[i], ok = bigEndianWide(v)
		}
		if !ok || !d.fits(dst[i]) {
			return &valueError{index: i, reason: d.rule.reason}
		}
	}
	return nil
}

func (d *decoder) spanWides(dst []decimal256.Num) error {
	d.spanBuf = grown(d.spanBuf, len(dst))
	data, err := d.spanSrc.spans(d.spanBuf)
	if err != nil {
		return err
	}
	for i, s := range d.spanBuf {
		n, ok := bigEndianWide(data[s.Off : s.Off+s.Len])
		if !ok || !d.fits(n) {
			return &valueError{index: i, reason: d.rule.reason}
		}
		dst[i] = n
	}
	return nil
}

func (d *decoder) fits(n decimal256.Num) bool {
	return !d.maxWide.Less(n) && !n.Less(d.minWide)
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
