package arrow18

import (
	arrow15 "github.com/apache/arrow/go/v15/arrow"

	"github.com/apache/arrow-go/v18/arrow"
)

// twins is the types without parameters that both versions have, with the same buffers, and that
// gagg reads or makes.
var twins = []struct {
	v15 arrow15.DataType
	v18 arrow.DataType
}{
	{arrow15.Null, arrow.Null},
	{arrow15.FixedWidthTypes.Boolean, arrow.FixedWidthTypes.Boolean},
	{arrow15.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int8},
	{arrow15.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int16},
	{arrow15.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int32},
	{arrow15.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64},
	{arrow15.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint8},
	{arrow15.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint16},
	{arrow15.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint32},
	{arrow15.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Uint64},
	{arrow15.FixedWidthTypes.Float16, arrow.FixedWidthTypes.Float16},
	{arrow15.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float32},
	{arrow15.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Float64},
	{arrow15.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date32},
	{arrow15.FixedWidthTypes.Date64, arrow.FixedWidthTypes.Date64},
	{arrow15.BinaryTypes.String, arrow.BinaryTypes.String},
	{arrow15.BinaryTypes.LargeString, arrow.BinaryTypes.LargeString},
	{arrow15.BinaryTypes.Binary, arrow.BinaryTypes.Binary},
	{arrow15.BinaryTypes.LargeBinary, arrow.BinaryTypes.LargeBinary},
}

// The keys of a field's metadata that tell of an extension type, as in Arrow IPC.
const (
	extensionName = "ARROW:extension:name"
	extensionData = "ARROW:extension:metadata"
)

func schema15(s *arrow.Schema) *arrow15.Schema {
	meta := arrow15.NewMetadata(s.Metadata().Keys(), s.Metadata().Values())
	return arrow15.NewSchema(fields15(s.Fields()), &meta)
}

func fields15(fields []arrow.Field) []arrow15.Field {
	all := make([]arrow15.Field, len(fields))
	for i, f := range fields {
		all[i] = field15(f)
	}
	return all
}

func field15(f arrow.Field) arrow15.Field {
	keys, values := f.Metadata.Keys(), f.Metadata.Values()
	if e, ok := f.Type.(arrow.ExtensionType); ok {
		n := len(keys)
		keys, values = append(keys[:n:n], extensionName, extensionData), append(values[:n:n], e.ExtensionName(), e.Serialize())
	}
	return arrow15.Field{Name: f.Name, Type: type15(f.Type), Nullable: f.Nullable, Metadata: arrow15.NewMetadata(keys, values)}
}

// type15 is the type that stands for t in version 15.
func type15(t arrow.DataType) arrow15.DataType {
	for _, twin := range twins {
		if twin.v18.ID() == t.ID() {
			return twin.v15
		}
	}
	switch t := t.(type) {
	case arrow.ExtensionType:
		return type15(t.StorageType())
	case *arrow.StringViewType:
		return arrow15.BinaryTypes.LargeString
	case *arrow.BinaryViewType:
		return arrow15.BinaryTypes.LargeBinary
	case *arrow.FixedSizeBinaryType:
		return &arrow15.FixedSizeBinaryType{ByteWidth: t.ByteWidth}
	case *arrow.Time32Type:
		return &arrow15.Time32Type{Unit: arrow15.TimeUnit(t.Unit)}
	case *arrow.Time64Type:
		return &arrow15.Time64Type{Unit: arrow15.TimeUnit(t.Unit)}
	case *arrow.TimestampType:
		return &arrow15.TimestampType{Unit: arrow15.TimeUnit(t.Unit), TimeZone: t.TimeZone}
	case *arrow.Decimal256Type:
		return &arrow15.Decimal256Type{Precision: t.Precision, Scale: t.Scale}
	case arrow.DecimalType: // of 128 bits, or fewer
		return &arrow15.Decimal128Type{Precision: t.GetPrecision(), Scale: t.GetScale()}
	case *arrow.DictionaryType:
		values := type15(t.ValueType)
		if _, ok := values.(*standIn); ok {
			return newStandIn(t)
		}
		return &arrow15.DictionaryType{IndexType: type15(t.IndexType), ValueType: values, Ordered: t.Ordered}
	case *arrow.StructType:
		return arrow15.StructOf(fields15(t.Fields())...)
	case *arrow.ListType:
		return arrow15.ListOfField(field15(t.ElemField()))
	case *arrow.MapType:
		key, item := field15(t.KeyField()), field15(t.ItemField())
		m := arrow15.MapOfWithMetadata(key.Type, key.Metadata, item.Type, item.Metadata)
		m.KeysSorted = t.KeysSorted
		m.SetItemNullable(item.Nullable)
		return m
	}
	return newStandIn(t)
}

// standIn stands for a type that gagg does not read. It is a duration by another name, which gagg
// does not read either: its arrays need no buffers.
type standIn struct {
	arrow15.DurationType
	shown string
}

func newStandIn(t arrow.DataType) *standIn { return &standIn{shown: t.String()} }

func (t *standIn) Name() string        { return t.shown }
func (t *standIn) String() string      { return t.shown }
func (t *standIn) Fingerprint() string { return "" } // none: arrow compares the types themselves
