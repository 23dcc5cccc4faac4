package parquetio

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"

	"github.com/apache/arrow/go/v15/arrow/decimal256"
	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/column"
)

// groupBounds gives what the footer says about a leaf in a row group, in the
// type that the table gives the column. Bounds that are missing, malformed,
// contradictory or not certain to mean the same in the table's type are left
// out: a missing bound costs time, a wrong one makes a wrong answer.
func groupBounds(f *file, group, k int, want column.Type) column.Bounds {
	b := groupEnds(f, group, k, want)
	lf := &f.leaves[k]
	b.MaybeIn = bloomFilter(f, &f.chunk(group, lf.index).MetaData, lf.typ, want)
	return b
}

// groupEnds is groupBounds without the bloom filter.
func groupEnds(f *file, group, k int, want column.Type) column.Bounds {
	lf := &f.leaves[k]
	md := &f.chunk(group, lf.index).MetaData
	b := column.Bounds{Rows: f.groups[group].rows, Nulls: -1}
	// The library reads a null count that is not written as 0.
	if n := md.Statistics.NullCount; n > 0 && n <= b.Rows {
		b.Nulls = n
	}
	low, high := statistics(f, lf, &md.Statistics)
	setBounds(&b, lf, want, low, high)
	return b
}

// setBounds sets the bounds of b to those that are stored as low and high.
func setBounds(b *column.Bounds, lf *leaf, want column.Type, low, high []byte) {
	b.Min, b.HasMin = tableBound(low, lf.physical, lf.typ, want, false)
	b.Max, b.HasMax = tableBound(high, lf.physical, lf.typ, want, true)
	if b.HasMin && b.HasMax && less(want, b.Max, b.Min) {
		b.HasMin, b.HasMax = false, false
	}
}

// ordering tells in which order the bounds of a leaf's values are: that of its type, by the
// file's column orders, or of signed numbers, which is the same for some types.
func (f *file) ordering(lf *leaf) (ordered, signed bool) {
	ordered = lf.index < len(f.meta.ColumnOrders) && f.meta.ColumnOrders[lf.index].Value != nil
	signed = lf.typ.Rep() != column.RepBytes && !lf.typ.IsUnsigned() &&
		lf.physical != format.ByteArray && lf.physical != format.FixedLenByteArray
	return ordered, signed
}

// statistics picks the minimum and maximum that are in the order of lf's
// type; nil where there are none.
//
// min_value and max_value are defined by the file's column orders, and without
// those are no better than the old min and max. These compare as signed
// numbers, or as writers pleased, and serve only types for which that is right.
func statistics(f *file, lf *leaf, s *format.Statistics) (low, high []byte) {
	ordered, signed := f.ordering(lf)
	if !ordered && !signed {
		return nil, nil
	}
	low, high = s.MinValue, s.MaxValue
	if signed && len(low) == 0 {
		low = s.Min
	}
	if signed && len(high) == 0 {
		high = s.Max
	}
	return low, high
}

// tableBound decodes a bound and converts it to the table's type.
func tableBound(b []byte, physical format.Type, from, want column.Type, isMax bool) (column.Value, bool) {
	v, ok := plainValue(b, physical, from)
	if !ok {
		return column.Value{}, false
	}
	v, ok = convertBound(v, from, want)
	v.Type = want
	if v.Float == 0 && want.IsFloat() { // writers do not tell -0 from 0
		v.Float = math.Copysign(0, -1)
		if isMax {
			v.Float = 0
		}
	}
	return v, ok
}

// plainValue decodes a value in the PLAIN encoding without length prefix.
func plainValue(b []byte, physical format.Type, t column.Type) (v column.Value, ok bool) {
	switch physical {
	case format.Boolean:
		if len(b) != 1 || t.Kind != column.Bool {
			return v, false
		}
		return column.Value{Int: int64(b[0] & 1)}, true
	case format.Int32:
		if len(b) != 4 {
			return v, false
		}
		n := binary.LittleEndian.Uint32(b)
		if t.IsUnsigned() {
			return intValue(t, int64(n))
		}
		return intValue(t, int64(int32(n)))
	case format.Int64:
		if len(b) != 8 {
			return v, false
		}
		return intValue(t, int64(binary.LittleEndian.Uint64(b)))
	case format.Float:
		if len(b) != 4 {
			return v, false
		}
		return floatValue(t, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
	case format.Double:
		if len(b) != 8 {
			return v, false
		}
		return floatValue(t, math.Float64frombits(binary.LittleEndian.Uint64(b)))
	case format.ByteArray, format.FixedLenByteArray:
		// An empty bound cannot be told from none. Byte forms of decimals
		// and half floats are left out: several writers, parquet-go among
		// them, order decimals as bytes.
		return column.Value{Bytes: string(b)}, len(b) > 0 && t.Rep() == column.RepBytes
	}
	return v, false // INT96 has no order
}

func intValue(t column.Type, n int64) (column.Value, bool) {
	switch t.Rep() {
	case column.RepInt64:
		return column.Value{Int: n}, true
	case column.RepWide:
		return column.Value{Wide: wide(n)}, true
	}
	return column.Value{}, false
}

func floatValue(t column.Type, x float64) (column.Value, bool) {
	return column.Value{Float: x}, t.IsFloat() && x == x
}

func wide(n int64) decimal256.Num { return decimal256.FromBigInt(big.NewInt(n)) }

// convertBound converts a bound from the type of a file to that of the table,
// which is the same or a wider one.
func convertBound(v column.Value, from, want column.Type) (column.Value, bool) {
	switch {
	case from.Rep() == column.RepInt64 && want.Rep() == column.RepWide:
		v.Wide = wide(v.Int)
		return v, from.Kind == column.Decimal && want.Kind == column.Decimal
	case from.Rep() != want.Rep():
		return v, false
	case from.Unit < want.Unit:
		k := want.Unit.PerSecond() / from.Unit.PerSecond()
		fits := v.Int <= math.MaxInt64/k && v.Int >= math.MinInt64/k
		v.Int *= k
		return v, fits
	}
	return v, widens(from, want)
}

// less orders two bounds of type t.
func less(t column.Type, a, b column.Value) bool {
	switch t.Rep() {
	case column.RepFloat64:
		return a.Float < b.Float
	case column.RepWide:
		return a.Wide.Cmp(b.Wide) < 0
	case column.RepBytes:
		return bytes.Compare([]byte(a.Bytes), []byte(b.Bytes)) < 0
	}
	if t.IsUnsigned() {
		return uint64(a.Int) < uint64(b.Int)
	}
	return a.Int < b.Int
}

// constantBounds describes rows that all hold one value.
func constantBounds(v column.Value, rows int64) column.Bounds {
	if v.Null {
		return column.Bounds{Rows: rows, Nulls: rows}
	}
	return column.Bounds{Rows: rows, HasMin: true, HasMax: true, Min: v, Max: v}
}
