package parquetio

import (
	"fmt"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// leafType gives the type of a column from its annotation, or, where it has
// none that is known, from its physical type. length is that of a
// FIXED_LEN_BYTE_ARRAY.
func leafType(e *format.SchemaElement, length int) (column.Type, error) {
	t, ok := physicalType(e.Type.V, length)
	if !ok {
		return t, fmt.Errorf("unknown physical type %d", e.Type.V)
	}
	if e.LogicalType.Value != nil {
		return logicalType(e, t, length)
	}
	if e.ConvertedType.Valid {
		return convertedType(e, t, length)
	}
	return t, nil
}

func physicalType(p format.Type, length int) (column.Type, bool) {
	switch p {
	case format.Boolean:
		return column.Type{Kind: column.Bool}, true
	case format.Int32:
		return column.Type{Kind: column.Int32}, true
	case format.Int64:
		return column.Type{Kind: column.Int64}, true
	case format.Int96: // only ever used for timestamps, of nanoseconds
		return column.TimestampType(column.Micro, false), true
	case format.Float:
		return column.Type{Kind: column.Float32}, true
	case format.Double:
		return column.Type{Kind: column.Float64}, true
	case format.ByteArray:
		return column.Type{Kind: column.Binary}, true
	case format.FixedLenByteArray:
		return column.Type{Kind: column.FixedBinary, Width: int32(length)}, true
	}
	return column.Type{}, false
}

// allow returns t if physical is one of those that may carry it.
func allow(t column.Type, e *format.SchemaElement, physical ...format.Type) (column.Type, error) {
	for _, p := range physical {
		if e.Type.V == p {
			return t, nil
		}
	}
	return column.Type{}, fmt.Errorf("damaged: %v annotated as %v", e.Type.V, t)
}

func logicalType(e *format.SchemaElement, plain column.Type, length int) (column.Type, error) {
	switch l := e.LogicalType.Value.(type) {
	case *format.StringType, *format.EnumType, *format.JsonType:
		return allow(column.Type{Kind: column.String}, e, format.ByteArray, format.FixedLenByteArray)
	case *format.UUIDType:
		if length != 16 {
			return column.Type{}, fmt.Errorf("damaged: UUID of %d bytes", length)
		}
		return column.Type{Kind: column.UUID}, nil
	case *format.Float16Type:
		if length != 2 {
			return column.Type{}, fmt.Errorf("damaged: FLOAT16 of %d bytes", length)
		}
		return column.Type{Kind: column.Float16}, nil
	case *format.DateType:
		return allow(column.Type{Kind: column.Date}, e, format.Int32)
	case *format.DecimalType:
		return decimalType(e, l.Precision, l.Scale)
	case *format.IntType:
		return intType(e, int(l.BitWidth), l.IsSigned)
	case *format.TimeType:
		return timeType(e, column.Time, l.Unit.Value, l.IsAdjustedToUTC)
	case *format.TimestampType:
		return timeType(e, column.Timestamp, l.Unit.Value, l.IsAdjustedToUTC)
	case *format.NullType:
		return column.Type{Kind: column.Null}, nil
	}
	return plain, nil // BSON, GEOMETRY and the like are bytes
}

// leafForm is the meaning of the strings of a column.
func leafForm(e *format.SchemaElement, t column.Type) column.Form {
	if t.Kind != column.String {
		return column.NoForm
	}
	switch e.LogicalType.Value.(type) {
	case *format.JsonType:
		return column.JSON
	case *format.EnumType:
		return column.Enum
	case nil:
		switch e.ConvertedType.V {
		case deprecated.Json:
			return column.JSON
		case deprecated.Enum:
			return column.Enum
		}
	}
	return column.NoForm
}

func timeType(e *format.SchemaElement, kind column.Kind, unit format.TimeUnitValue, utc bool) (column.Type, error) {
	t := column.Type{Kind: kind, UTC: utc}
	physical := format.Int64
	switch unit.(type) {
	case *format.MilliSeconds:
		t.Unit = column.Milli
		if kind == column.Time {
			physical = format.Int32
		}
	case *format.MicroSeconds:
		t.Unit = column.Micro
	case *format.NanoSeconds:
		t.Unit = column.Nano
	default:
		return t, fmt.Errorf("%v of an unknown unit", t)
	}
	return allow(t, e, physical)
}

func intType(e *format.SchemaElement, bits int, signed bool) (column.Type, error) {
	kinds := map[int]column.Kind{8: column.Int8, 16: column.Int16, 32: column.Int32, 64: column.Int64}
	if !signed {
		kinds = map[int]column.Kind{8: column.Uint8, 16: column.Uint16, 32: column.Uint32, 64: column.Uint64}
	}
	kind, ok := kinds[bits]
	if !ok {
		return column.Type{}, fmt.Errorf("damaged: integer of %d bits", bits)
	}
	if bits == 64 {
		return allow(column.Type{Kind: kind}, e, format.Int64)
	}
	return allow(column.Type{Kind: kind}, e, format.Int32, format.Int64)
}

func decimalType(e *format.SchemaElement, precision, scale int32) (column.Type, error) {
	if precision < 1 || precision > column.MaxDigits || scale < 0 || scale > precision {
		return column.Type{}, fmt.Errorf("decimal(%d,%d) is not supported", precision, scale)
	}
	return allow(column.DecimalType(int(precision), int(scale)), e,
		format.Int32, format.Int64, format.ByteArray, format.FixedLenByteArray)
}

// convertedType reads the older kind of annotation. A timestamp so annotated
// counts as without zone, as in DuckDB: writers used it for both.
func convertedType(e *format.SchemaElement, plain column.Type, length int) (column.Type, error) {
	switch c := e.ConvertedType.V; c {
	case deprecated.UTF8, deprecated.Enum, deprecated.Json:
		return allow(column.Type{Kind: column.String}, e, format.ByteArray, format.FixedLenByteArray)
	case deprecated.Decimal:
		return decimalType(e, e.Precision.V, e.Scale.V)
	case deprecated.Date:
		return allow(column.Type{Kind: column.Date}, e, format.Int32)
	case deprecated.TimeMillis:
		return timeType(e, column.Time, (*format.MilliSeconds)(nil), false)
	case deprecated.TimeMicros:
		return timeType(e, column.Time, (*format.MicroSeconds)(nil), false)
	case deprecated.TimestampMillis:
		return timeType(e, column.Timestamp, (*format.MilliSeconds)(nil), false)
	case deprecated.TimestampMicros:
		return timeType(e, column.Timestamp, (*format.MicroSeconds)(nil), false)
	case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
		return intType(e, 8<<(c-deprecated.Uint8), false)
	case deprecated.Int8, deprecated.Int16, deprecated.Int32, deprecated.Int64:
		return intType(e, 8<<(c-deprecated.Int8), true)
	case deprecated.Interval:
		if length != 12 {
			return column.Type{}, fmt.Errorf("damaged: INTERVAL of %d bytes", length)
		}
		return allow(column.IntervalType, e, format.FixedLenByteArray)
	}
	return plain, nil
}
