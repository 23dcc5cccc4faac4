package sink

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/apache/arrow/go/v15/arrow/decimal256"
	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/column"
)

// maxBoundBytes is the longest text whose minimum or maximum is put into
// statistics; a footer is no place for more.
const maxBoundBytes = 64

// bounds follows the smallest and largest value of a column chunk, in the
// order that Parquet defines for the type: signed or unsigned for integers,
// by number for decimals however they are stored, bytewise for text. Floats
// with a NaN among them have no bounds, as DuckDB does it: the format leaves
// NaN out of them, and then a reader to which NaN is the greatest number skips
// it. Float16 has none either: no reader uses them.
type bounds struct {
	typ  column.Type
	some bool
	nan  bool
	// of uint64: with the highest bit flipped, which makes signed order right
	minInt, maxInt     int64
	minFloat, maxFloat float64
	minWide, maxWide   decimal256.Num
	minText, maxText   []byte
}

func (b *bounds) reset() {
	*b = bounds{typ: b.typ, minText: b.minText[:0], maxText: b.maxText[:0]}
	b.minInt, b.maxInt = math.MaxInt64, math.MinInt64
	b.minFloat, b.maxFloat = math.Inf(1), math.Inf(-1)
}

// add takes the rows from..to of v into account.
func (b *bounds) add(v *column.Vector, from, to int) {
	switch {
	case b.typ.Kind == column.Null || b.typ.Kind == column.Float16 || b.typ.Kind == column.Interval:
		// These have no order.
	case b.typ.Rep() == column.RepInt64:
		b.addInts(v, from, to)
	case b.typ.Rep() == column.RepFloat64:
		b.addFloats(v, from, to)
	case b.typ.Rep() == column.RepWide:
		b.addWides(v, from, to)
	default:
		b.addTexts(v, from, to)
	}
}

func (b *bounds) addInts(v *column.Vector, from, to int) {
	var flip int64
	if b.typ.Kind == column.Uint64 {
		flip = math.MinInt64
	}
	lo, hi := b.minInt, b.maxInt
	if v.Null == nil {
		for _, x := range v.Int[from:to] {
			lo, hi = min(lo, x^flip), max(hi, x^flip)
		}
		b.some = true
	} else {
		for i, x := range v.Int[from:to] {
			if !v.Null[from+i] {
				lo, hi = min(lo, x^flip), max(hi, x^flip)
				b.some = true
			}
		}
	}
	b.minInt, b.maxInt = lo, hi
}

func (b *bounds) addFloats(v *column.Vector, from, to int) {
	for i, x := range v.Float[from:to] {
		if v.Null != nil && v.Null[from+i] {
			continue
		}
		if x < b.minFloat {
			b.minFloat = x
		}
		if x > b.maxFloat {
			b.maxFloat = x
		}
		b.nan = b.nan || x != x
		b.some = true
	}
}

func (b *bounds) addWides(v *column.Vector, from, to int) {
	for i := from; i < to; i++ {
		if v.IsNull(i) {
			continue
		}
		if x := v.Wide[i]; !b.some {
			b.minWide, b.maxWide, b.some = x, x, true
		} else if x.Less(b.minWide) {
			b.minWide = x
		} else if x.Greater(b.maxWide) {
			b.maxWide = x
		}
	}
}

func (b *bounds) addTexts(v *column.Vector, from, to int) {
	for i := from; i < to; i++ {
		if v.IsNull(i) {
			continue
		}
		x := v.Bytes(i)
		// of those that begin alike none is put into statistics, whichever it is
		x = x[:min(len(x), maxBoundBytes+1)]
		if !b.some || bytes.Compare(x, b.minText) < 0 {
			b.minText = append(b.minText[:0], x...)
		}
		if !b.some || bytes.Compare(x, b.maxText) > 0 {
			b.maxText = append(b.maxText[:0], x...)
		}
		b.some = true
	}
}

// merge takes the values of o into account.
func (b *bounds) merge(o *bounds) {
	if !o.some {
		return
	}
	b.minInt, b.maxInt = min(b.minInt, o.minInt), max(b.maxInt, o.maxInt)
	b.minFloat, b.maxFloat, b.nan = min(b.minFloat, o.minFloat), max(b.maxFloat, o.maxFloat), b.nan || o.nan
	if !b.some || o.minWide.Less(b.minWide) {
		b.minWide = o.minWide
	}
	if !b.some || o.maxWide.Greater(b.maxWide) {
		b.maxWide = o.maxWide
	}
	if !b.some || bytes.Compare(o.minText, b.minText) < 0 {
		b.minText = append(b.minText[:0], o.minText...)
	}
	if !b.some || bytes.Compare(o.maxText, b.maxText) > 0 {
		b.maxText = append(b.maxText[:0], o.maxText...)
	}
	b.some = true
}

// statistics returns what the file says. Zero bounds of floats are -0 below
// and +0 above, since -0 and +0 are one value to some readers.
func (b *bounds) statistics(s parquetStorage, nulls int64) format.Statistics {
	out := format.Statistics{NullCount: nulls}
	if !b.some || b.nan {
		return out
	}
	switch b.typ.Rep() {
	case column.RepInt64:
		var flip int64
		if b.typ.Kind == column.Uint64 {
			flip = math.MinInt64
		}
		out.MinValue, out.MaxValue = s.intBound(b.minInt^flip), s.intBound(b.maxInt^flip)
	case column.RepFloat64:
		lo, hi := b.minFloat, b.maxFloat
		if lo == 0 {
			lo = math.Copysign(0, -1)
		}
		if hi == 0 {
			hi = 0
		}
		out.MinValue, out.MaxValue = s.floatBound(lo), s.floatBound(hi)
	case column.RepWide:
		out.MinValue, out.MaxValue = make([]byte, s.width), make([]byte, s.width)
		putWide(out.MinValue, b.minWide)
		putWide(out.MaxValue, b.maxWide)
	case column.RepBytes:
		if len(b.minText) <= maxBoundBytes && len(b.maxText) <= maxBoundBytes {
			out.MinValue, out.MaxValue = bytes.Clone(b.minText), bytes.Clone(b.maxText)
		}
	}
	return out
}

func (s parquetStorage) intBound(x int64) []byte {
	if s.factor != 0 {
		x *= s.factor
	}
	switch s.physical {
	case format.Boolean:
		return []byte{byte(x)}
	case format.Int32:
		return binary.LittleEndian.AppendUint32(nil, uint32(x))
	}
	return binary.LittleEndian.AppendUint64(nil, uint64(x))
}

func (s parquetStorage) floatBound(x float64) []byte {
	if s.physical == format.Float {
		return binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(x)))
	}
	return binary.LittleEndian.AppendUint64(nil, math.Float64bits(x))
}
