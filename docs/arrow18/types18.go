package arrow18

import (
	"fmt"
	"slices"

	arrow15 "github.com/apache/arrow/go/v15/arrow"

	"github.com/apache/arrow-go/v18/arrow"
)

func schema18(s *arrow15.Schema) (*arrow.Schema, error) {
	fields, err := fields18(s.Fields())
	if err != nil {
		return nil, err
	}
	meta := arrow.NewMetadata(s.Metadata().Keys(), s.Metadata().Values())
	return arrow.NewSchema(fields, &meta), nil
}

func fields18(fields []arrow15.Field) ([]arrow.Field, error) {
	all := make([]arrow.Field, len(fields))
	for i, f := range fields {
		var err error
		if all[i], err = field18(f); err != nil {
			return nil, fmt.Errorf("column %q: %w", f.Name, err)
		}
	}
	return all, nil
}

// field18 makes an extension of a field whose metadata names one that is registered, as the reader
// of Arrow IPC does.
func field18(f arrow15.Field) (arrow.Field, error) {
	t, err := type18(f.Type)
	keys, values := slices.Clone(f.Metadata.Keys()), slices.Clone(f.Metadata.Values())
	if name, ok := f.Metadata.GetValue(extensionName); ok && err == nil {
		data, _ := f.Metadata.GetValue(extensionData)
		if e := extension(name, data, t); e != nil {
			t = e
			for _, key := range []string{extensionName, extensionData} {
				if i := slices.Index(keys, key); i >= 0 {
					keys, values = slices.Delete(keys, i, i+1), slices.Delete(values, i, i+1)
				}
			}
		}
	}
	return arrow.Field{Name: f.Name, Type: t, Nullable: f.Nullable, Metadata: arrow.NewMetadata(keys, values)}, err
}

// extension is a registered extension type of a storage type; nil: there is none that takes it.
func extension(name, data string, storage arrow.DataType) arrow.DataType {
	registered := arrow.GetExtensionType(name)
	if registered == nil {
		return nil
	}
	e, err := registered.Deserialize(storage, data)
	if err != nil {
		return nil
	}
	return e
}

// type18 is a type that gagg makes, in version 18.
func type18(t arrow15.DataType) (arrow.DataType, error) {
	for _, twin := range twins {
		if twin.v15.ID() == t.ID() {
			return twin.v18, nil
		}
	}
	switch t := t.(type) {
	case *arrow15.FixedSizeBinaryType:
		return &arrow.FixedSizeBinaryType{ByteWidth: t.ByteWidth}, nil
	case *arrow15.Time32Type:
		return &arrow.Time32Type{Unit: arrow.TimeUnit(t.Unit)}, nil
	case *arrow15.Time64Type:
		return &arrow.Time64Type{Unit: arrow.TimeUnit(t.Unit)}, nil
	case *arrow15.TimestampType:
		return &arrow.TimestampType{Unit: arrow.TimeUnit(t.Unit), TimeZone: t.TimeZone}, nil
	case *arrow15.Decimal128Type:
		return &arrow.Decimal128Type{Precision: t.Precision, Scale: t.Scale}, nil
	case *arrow15.Decimal256Type:
		return &arrow.Decimal256Type{Precision: t.Precision, Scale: t.Scale}, nil
	case *arrow15.DictionaryType:
		index, err := type18(t.IndexType)
		if err != nil {
			return nil, err
		}
		values, err := type18(t.ValueType)
		return &arrow.DictionaryType{IndexType: index, ValueType: values, Ordered: t.Ordered}, err
	case *arrow15.StructType:
		fields, err := fields18(t.Fields())
		return arrow.StructOf(fields...), err
	case *arrow15.ListType:
		elem, err := field18(t.ElemField())
		if err != nil {
			return nil, err
		}
		return arrow.ListOfField(elem), nil
	case *arrow15.MapType:
		entry, err := fields18(t.Elem().(*arrow15.StructType).Fields())
		if err != nil {
			return nil, err
		}
		m := arrow.MapOfWithMetadata(entry[0].Type, entry[0].Metadata, entry[1].Type, entry[1].Metadata)
		m.KeysSorted = t.KeysSorted
		m.SetItemNullable(entry[1].Nullable)
		return m, nil
	}
	return nil, fmt.Errorf("%s: a type that gagg does not make", t)
}
