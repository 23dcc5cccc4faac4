package column

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/decimal128"
)

// These are the metadata by which Arrow marks a fixed_size_binary[16] field as a UUID, and a text
// as JSON. Arrow has none for texts that Parquet calls an enum. The name for these is gagg's own,
// and other readers take them for texts.
const (
	extensionKey     = "ARROW:extension:name"
	extensionDataKey = "ARROW:extension:metadata"
	uuidExtension    = "arrow.uuid"
	jsonExtension    = "arrow.json"
	enumExtension    = "gagg.enum"
)

// extensionOf is the extension name of a type; "": it has none.
func extensionOf(t Type) string {
	switch {
	case t == (Type{Kind: UUID}):
		return uuidExtension
	case t.Form == JSON:
		return jsonExtension
	case t.Form == Enum:
		return enumExtension
	}
	return ""
}

// ErrNoArrowType is wrapped by errors about Arrow types that gagg does not
// hold in a vector (structs, lists of lists, durations, intervals but those of months, days and
// nanoseconds together).
var ErrNoArrowType = fmt.Errorf("arrow type not supported")

var arrowTypes = [...]arrow.DataType{
	Invalid: arrow.Null, Null: arrow.Null,
	Bool: arrow.FixedWidthTypes.Boolean,
	Int8: arrow.PrimitiveTypes.Int8, Int16: arrow.PrimitiveTypes.Int16,
	Int32: arrow.PrimitiveTypes.Int32, Int64: arrow.PrimitiveTypes.Int64,
	Uint8: arrow.PrimitiveTypes.Uint8, Uint16: arrow.PrimitiveTypes.Uint16,
	Uint32: arrow.PrimitiveTypes.Uint32, Uint64: arrow.PrimitiveTypes.Uint64,
	Float16: arrow.FixedWidthTypes.Float16,
	Float32: arrow.PrimitiveTypes.Float32, Float64: arrow.PrimitiveTypes.Float64,
	Date:   arrow.FixedWidthTypes.Date32,
	String: arrow.BinaryTypes.String, Binary: arrow.BinaryTypes.Binary,
	UUID: &arrow.FixedSizeBinaryType{ByteWidth: 16}, Interval: arrow.FixedWidthTypes.MonthDayNanoInterval,
}

// ArrowType returns the Arrow type of the arrays that ToArrow makes for t.
// The UTC mark of a Time has no place in Arrow and is lost.
func ArrowType(t Type) arrow.DataType {
	if t.IsNested() {
		return nestedArrowType(t)
	}
	switch t.Kind {
	case Decimal:
		if t.Precision <= decimal128.MaxPrecision {
			return &arrow.Decimal128Type{Precision: int32(t.Precision), Scale: int32(t.Scale)}
		}
		return &arrow.Decimal256Type{Precision: int32(t.Precision), Scale: int32(t.Scale)}
	case Time:
		if t.Unit <= Milli {
			return &arrow.Time32Type{Unit: arrow.TimeUnit(t.Unit)}
		}
		return &arrow.Time64Type{Unit: arrow.TimeUnit(t.Unit)}
	case Timestamp:
		if t.UTC {
			return &arrow.TimestampType{Unit: arrow.TimeUnit(t.Unit), TimeZone: "UTC"}
		}
		return &arrow.TimestampType{Unit: arrow.TimeUnit(t.Unit)}
	case FixedBinary:
		return &arrow.FixedSizeBinaryType{ByteWidth: int(t.Width)}
	}
	return arrowTypes[t.Kind]
}

// ArrowField returns the Arrow field of a column. A UUID is told apart from
// other 16-byte values, and the form of a text, by the extension name in the field's metadata.
func ArrowField(name string, t Type, nullable bool) arrow.Field {
	f := arrow.Field{Name: name, Type: ArrowType(t), Nullable: nullable || t.Kind == Null}
	if extension := extensionOf(t); extension != "" {
		f.Metadata = arrow.NewMetadata([]string{extensionKey, extensionDataKey}, []string{extension, ""})
	}
	return f
}

// FromArrowField is FromArrowType for a field: it knows a UUID, and the form of a text, by the
// field's metadata.
func FromArrowField(f arrow.Field) (Type, error) {
	t, err := FromArrowType(f.Type)
	if err != nil {
		return t, fmt.Errorf("column %q: %w", f.Name, err)
	}
	extension := ""
	if i := f.Metadata.FindKey(extensionKey); i >= 0 {
		extension = f.Metadata.Values()[i]
	}
	switch {
	case extension == uuidExtension && t == (Type{Kind: FixedBinary, Width: 16}):
		return Type{Kind: UUID}, nil
	case extension == jsonExtension && t == (Type{Kind: String}):
		t.Form = JSON
	case extension == enumExtension && t == (Type{Kind: String}):
		t.Form = Enum
	}
	return t, nil
}

// FromArrowType returns the type of the vectors that FromArrow makes of
// arrays of type dt: a dictionary has the type of its values, a date64 is a
// date, a timestamp with any zone is an instant (UTC). The error wraps
// ErrNoArrowType.
func FromArrowType(dt arrow.DataType) (Type, error) {
	switch dt := dt.(type) {
	case *arrow.DictionaryType:
		if dt.ValueType.ID() == arrow.DICTIONARY || dt.ValueType.ID() == arrow.NULL {
			return Type{}, fmt.Errorf("%w: %s", ErrNoArrowType, dt)
		}
		return FromArrowType(dt.ValueType)
	case arrow.DecimalType:
		p, s := dt.GetPrecision(), dt.GetScale()
		if p < 1 || p > MaxDigits || s < 0 || s > p {
			return Type{}, fmt.Errorf("%w: %s: scale outside 0..precision", ErrNoArrowType, dt)
		}
		return DecimalType(int(p), int(s)), nil
	case *arrow.Time32Type:
		return Type{Kind: Time, Unit: Unit(dt.Unit)}, nil
	case *arrow.Time64Type:
		return Type{Kind: Time, Unit: Unit(dt.Unit)}, nil
	case *arrow.TimestampType:
		return TimestampType(Unit(dt.Unit), dt.TimeZone != ""), nil
	case *arrow.FixedSizeBinaryType:
		return Type{Kind: FixedBinary, Width: int32(dt.ByteWidth)}, nil
	case *arrow.ListType:
		return fromListType(dt)
	case *arrow.MapType:
		return fromMapType(dt)
	case arrow.ExtensionType:
		t, err := FromArrowType(dt.StorageType())
		if dt.ExtensionName() == uuidExtension && t.Width == 16 {
			return Type{Kind: UUID}, err
		}
		return t, err
	}
	if dt.ID() == arrow.INTERVAL_MONTH_DAY_NANO {
		return IntervalType, nil
	}
	if k, ok := kindsByArrowID[dt.ID()]; ok {
		return Type{Kind: k}, nil
	}
	return Type{}, fmt.Errorf("%w: %s", ErrNoArrowType, dt)
}

var kindsByArrowID = map[arrow.Type]Kind{
	arrow.NULL: Null, arrow.BOOL: Bool,
	arrow.INT8: Int8, arrow.INT16: Int16, arrow.INT32: Int32, arrow.INT64: Int64,
	arrow.UINT8: Uint8, arrow.UINT16: Uint16, arrow.UINT32: Uint32, arrow.UINT64: Uint64,
	arrow.FLOAT16: Float16, arrow.FLOAT32: Float32, arrow.FLOAT64: Float64,
	arrow.DATE32: Date, arrow.DATE64: Date,
	arrow.STRING: String, arrow.LARGE_STRING: String,
	arrow.BINARY: Binary, arrow.LARGE_BINARY: Binary,
}

// storage returns the plain array beneath an extension array.
func storage(arr arrow.Array) arrow.Array {
	if e, ok := arr.(array.ExtensionArray); ok {
		return e.Storage()
	}
	return arr
}
