package sink

import (
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/column"
)

// parquetStorage is how the values of a type lie in a Parquet file.
type parquetStorage struct {
	physical  format.Type
	width     int // bytes of a FIXED_LEN_BYTE_ARRAY
	logical   format.LogicalTypeValue
	converted deprecated.ConvertedType // for readers that know no logical types
	old       bool                     // converted is set
	// multiplies the value: seconds, which Parquet lacks, become milliseconds
	factor int64
}

func storageOf(t column.Type) parquetStorage {
	switch t.Kind {
	case column.Null:
		return parquetStorage{physical: format.Int32, logical: &format.NullType{}}
	case column.Bool:
		return parquetStorage{physical: format.Boolean}
	case column.Float16:
		return parquetStorage{physical: format.FixedLenByteArray, width: 2, logical: &format.Float16Type{}}
	case column.Float32:
		return parquetStorage{physical: format.Float}
	case column.Float64:
		return parquetStorage{physical: format.Double}
	case column.Decimal:
		return decimalStorage(t)
	case column.Date:
		return parquetStorage{physical: format.Int32, logical: &format.DateType{}, converted: deprecated.Date, old: true}
	case column.Time, column.Timestamp:
		return timeStorage(t)
	case column.String:
		switch t.Form {
		case column.JSON:
			return parquetStorage{physical: format.ByteArray, logical: &format.JsonType{}, converted: deprecated.Json, old: true}
		case column.Enum:
			return parquetStorage{physical: format.ByteArray, logical: &format.EnumType{}, converted: deprecated.Enum, old: true}
		}
		return parquetStorage{physical: format.ByteArray, logical: &format.StringType{}, converted: deprecated.UTF8, old: true}
	case column.UUID:
		return parquetStorage{physical: format.FixedLenByteArray, width: 16, logical: &format.UUIDType{}}
	case column.FixedBinary:
		if t.Width > 0 { // readers refuse a length of 0
			return parquetStorage{physical: format.FixedLenByteArray, width: int(t.Width)}
		}
		return parquetStorage{physical: format.ByteArray}
	case column.Binary:
		return parquetStorage{physical: format.ByteArray}
	case column.Interval: // there is no logical type for it
		return parquetStorage{physical: format.FixedLenByteArray, width: 12, converted: deprecated.Interval, old: true}
	}
	return intStorage(t)
}

var convertedInts = map[column.Kind]deprecated.ConvertedType{
	column.Int8: deprecated.Int8, column.Int16: deprecated.Int16, column.Int32: deprecated.Int32, column.Int64: deprecated.Int64,
	column.Uint8: deprecated.Uint8, column.Uint16: deprecated.Uint16, column.Uint32: deprecated.Uint32, column.Uint64: deprecated.Uint64,
}

func intStorage(t column.Type) parquetStorage {
	s := parquetStorage{physical: format.Int32, converted: convertedInts[t.Kind], old: true}
	if t.Bits() == 64 {
		s.physical = format.Int64
	}
	s.logical = &format.IntType{BitWidth: int8(t.Bits()), IsSigned: t.IsSigned()}
	return s
}

// decimalStorage takes integers up to 18 digits, as every reader understands
// them, and 16 or 32 big-endian bytes past that.
func decimalStorage(t column.Type) parquetStorage {
	s := parquetStorage{
		logical:   &format.DecimalType{Precision: int32(t.Precision), Scale: int32(t.Scale)},
		converted: deprecated.Decimal, old: true,
	}
	switch {
	case t.Precision <= 9:
		s.physical = format.Int32
	case t.Precision <= 18:
		s.physical = format.Int64
	case t.Precision <= 38:
		s.physical, s.width = format.FixedLenByteArray, 16
	default:
		s.physical, s.width = format.FixedLenByteArray, 32
	}
	return s
}

// timeStorage sets the old converted types only where they mean the same:
// they are always in UTC and know no nanoseconds.
func timeStorage(t column.Type) parquetStorage {
	s := parquetStorage{physical: format.Int64}
	var unit format.TimeUnit
	var oldTime, oldTimestamp deprecated.ConvertedType
	switch t.Unit {
	case column.Second, column.Milli:
		unit.Value, oldTime, oldTimestamp = &format.MilliSeconds{}, deprecated.TimeMillis, deprecated.TimestampMillis
	case column.Micro:
		unit.Value, oldTime, oldTimestamp = &format.MicroSeconds{}, deprecated.TimeMicros, deprecated.TimestampMicros
	default:
		unit.Value = &format.NanoSeconds{}
	}
	s.old = t.UTC && t.Unit != column.Nano
	if t.Unit == column.Second {
		s.factor = 1000
	}
	if t.Kind == column.Timestamp {
		s.logical, s.converted = &format.TimestampType{IsAdjustedToUTC: t.UTC, Unit: unit}, oldTimestamp
		return s
	}
	s.logical, s.converted = &format.TimeType{IsAdjustedToUTC: t.UTC, Unit: unit}, oldTime
	if t.Unit <= column.Milli {
		s.physical = format.Int32
	}
	return s
}

// element is a column in the file's schema.
func (s parquetStorage) element(f column.Field, repetition format.FieldRepetitionType) format.SchemaElement {
	e := format.SchemaElement{
		Name:           f.Name,
		Type:           thrift.New(s.physical),
		RepetitionType: thrift.New(repetition),
		LogicalType:    format.LogicalType{Value: s.logical},
	}
	if s.physical == format.FixedLenByteArray {
		e.TypeLength = thrift.New(int32(s.width))
	}
	if s.old {
		e.ConvertedType = thrift.New(s.converted)
	}
	if f.Type.Kind == column.Decimal {
		e.Precision, e.Scale = thrift.New(int32(f.Type.Precision)), thrift.New(int32(f.Type.Scale))
	}
	return e
}
