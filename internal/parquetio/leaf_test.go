package parquetio

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// element is a schema element; children below 0: a leaf of INT32.
func element(name string, rep format.FieldRepetitionType, children int32) format.SchemaElement {
	e := format.SchemaElement{Name: name, RepetitionType: thrift.New(rep)}
	if children < 0 {
		e.Type = thrift.New(format.Int32)
	} else {
		e.NumChildren = thrift.New(children)
	}
	return e
}

func TestSchemaLeaves(t *testing.T) {
	mapped := element("m", format.Optional, 1)
	mapped.LogicalType.Value = &format.MapType{}
	schema := []format.SchemaElement{
		element("root", format.Required, 6),
		element("a", format.Required, -1),
		element("s", format.Optional, 2),
		element("b", format.Optional, -1),
		element("t", format.Required, 1),
		element("c", format.Required, -1),
		element("l", format.Repeated, -1),
		mapped,
		element("kv", format.Repeated, 2),
		element("key", format.Required, -1),
		element("value", format.Optional, -1),
		element("empty", format.Required, 0),
		element("z", format.Optional, -1),
	}
	leaves, err := schemaLeaves(schema, 64, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, l := range leaves {
		if l.index != i || strings.Join(l.path, ".") != l.name {
			t.Errorf("leaf %d: %+v", i, l)
		}
		got = append(got, fmt.Sprintf("%s %d/%d %v", l.name, l.maxDef, l.maxRep, l.err))
	}
	want := []string{
		"a 0/0 <nil>",
		"s.b 2/0 <nil>",
		"s.t.c 1/0 <nil>",
		"l 1/1 column l is a list; grouping or aggregating it is not supported",
		"m.kv.key 2/1 column m.kv.key is a map; grouping or aggregating it is not supported",
		"m.kv.value 3/1 column m.kv.value is a map; grouping or aggregating it is not supported",
		"z 1/0 <nil>",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestSchemaDamaged(t *testing.T) {
	leaf := element("a", format.Required, -1)
	chain := []format.SchemaElement{element("root", format.Required, 1)}
	for range 64 {
		chain = append(chain, element("g", format.Required, 1))
	}
	chain = append(chain, leaf)
	long := strings.Repeat("n", 1<<20)
	names := []format.SchemaElement{element("root", format.Required, 1), element(long, format.Required, 100)}
	for range 100 {
		names = append(names, leaf)
	}
	for name, test := range map[string]struct {
		schema []format.SchemaElement
		want   string
	}{
		"empty":             {nil, "no schema"},
		"negative root":     {[]format.SchemaElement{element("root", format.Required, 0), leaf}, "1 elements too many"},
		"no columns":        {[]format.SchemaElement{element("root", format.Required, 0)}, "no columns"},
		"only empty groups": {[]format.SchemaElement{element("root", format.Required, 1), element("g", format.Required, 0)}, "no columns"},
		"missing":           {[]format.SchemaElement{element("root", format.Required, 2), leaf}, "elements missing"},
		"too many":          {[]format.SchemaElement{element("root", format.Required, 1), leaf, leaf}, "1 elements too many"},
		"negative children": {[]format.SchemaElement{element("root", format.Required, 1), {Name: "g", NumChildren: thrift.New(int32(-2))}}, "-2 children"},
		"bad repetition":    {[]format.SchemaElement{element("root", format.Required, 1), element("a", 7, -1)}, "repetition 7"},
		"too deep":          {chain, "nested more than 63 levels"},
		"names":             {names, "names too long"},
	} {
		_, err := schemaLeaves(test.schema, 63, 2<<20)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	if _, err := schemaLeaves(chain, 64, 1000); err != nil {
		t.Errorf("64 levels: %v", err)
	}
}

// TestLeafType: annotations, and those that the physical type cannot carry.
func TestLeafType(t *testing.T) {
	kind := func(k column.Kind) string { return column.Type{Kind: k}.String() }
	logical := func(p format.Type, l format.LogicalTypeValue) format.SchemaElement {
		return format.SchemaElement{Type: thrift.New(p), LogicalType: format.LogicalType{Value: l}}
	}
	old := func(p format.Type, c deprecated.ConvertedType) format.SchemaElement {
		return format.SchemaElement{Type: thrift.New(p), ConvertedType: thrift.New(c)}
	}
	nanos := format.TimeUnit{Value: &format.NanoSeconds{}}
	millis := format.TimeUnit{Value: &format.MilliSeconds{}}
	decimal := old(format.Int64, deprecated.Decimal)
	decimal.Precision, decimal.Scale = thrift.New(int32(10)), thrift.New(int32(3))
	for _, test := range []struct {
		e      format.SchemaElement
		length int
		want   string // a type, or a part of the error
	}{
		{logical(format.Int32, nil), 0, kind(column.Int32)},
		{logical(format.ByteArray, &format.StringType{}), 0, "string"},
		{logical(format.ByteArray, &format.EnumType{}), 0, "string"},
		{logical(format.Int32, &format.StringType{}), 0, "INT32 annotated as string"},
		{logical(format.ByteArray, &format.GeometryType{}), 0, "binary"},
		{logical(format.FixedLenByteArray, &format.UUIDType{}), 16, "uuid"},
		{logical(format.FixedLenByteArray, &format.UUIDType{}), 15, "UUID of 15 bytes"},
		{logical(format.FixedLenByteArray, &format.Float16Type{}), 2, "float16"},
		{logical(format.FixedLenByteArray, &format.Float16Type{}), 4, "FLOAT16 of 4 bytes"},
		{logical(format.Int32, &format.IntType{BitWidth: 8}), 0, "uint8"},
		{logical(format.Int64, &format.IntType{BitWidth: 16, IsSigned: true}), 0, "int16"},
		{logical(format.Int32, &format.IntType{BitWidth: 64, IsSigned: true}), 0, "annotated as int64"},
		{logical(format.Int32, &format.IntType{BitWidth: 24}), 0, "integer of 24 bits"},
		{logical(format.Int64, &format.TimestampType{IsAdjustedToUTC: true, Unit: nanos}), 0, "timestamp[ns, UTC]"},
		{logical(format.Int32, &format.TimestampType{Unit: millis}), 0, "annotated as timestamp[ms]"},
		{logical(format.Int64, &format.TimestampType{}), 0, "unknown unit"},
		{logical(format.Int32, &format.TimeType{Unit: millis}), 0, "time[ms]"},
		{logical(format.Int64, &format.TimeType{Unit: millis}), 0, "annotated as time[ms]"},
		{logical(format.Int32, &format.DecimalType{Precision: 77}), 0, "decimal(77,0) is not supported"},
		{logical(format.Int32, &format.DecimalType{Precision: 2, Scale: 3}), 0, "decimal(2,3) is not supported"},
		{logical(format.Double, &format.DecimalType{Precision: 2}), 0, "DOUBLE annotated as decimal"},
		{logical(format.Int32, &format.NullType{}), 0, "null"},
		{logical(9, nil), 0, "unknown physical type 9"},
		{old(format.Int64, deprecated.Uint64), 0, "uint64"},
		{old(format.Int32, deprecated.Int16), 0, "int16"},
		{old(format.Int64, deprecated.TimeMicros), 0, "time[us]"},
		{old(format.Int64, deprecated.TimestampMillis), 0, "timestamp[ms]"},
		{old(format.ByteArray, deprecated.Bson), 0, "binary"},
		{old(format.FixedLenByteArray, deprecated.Interval), 12, "interval"},
		{old(format.FixedLenByteArray, deprecated.Interval), 16, "INTERVAL of 16 bytes"},
		{old(format.Int32, deprecated.Int64), 0, "annotated as int64"},
		{decimal, 0, "decimal(10,3)"},
	} {
		typ, err := leafType(&test.e, test.length)
		if err == nil && typ.String() != test.want || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v %v: %v, %v, want %q", test.e.Type.V, test.e.LogicalType.Value, typ, err, test.want)
		}
	}
}
