package parquetio

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/decimal256"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// TestCommonType: the table of widenings; "" where there is none.
func TestCommonType(t *testing.T) {
	kind := func(k column.Kind) column.Type { return column.Type{Kind: k} }
	stamp := column.TimestampType
	fixed := func(n int32) column.Type { return column.Type{Kind: column.FixedBinary, Width: n} }
	for _, test := range []struct {
		a, b column.Type
		want string
	}{
		{kind(column.Int32), kind(column.Int32), "int32"},
		{kind(column.Int32), kind(column.Int64), "int64"},
		{kind(column.Uint8), kind(column.Uint32), "uint32"},
		{kind(column.Uint8), kind(column.Int8), "int16"},
		{kind(column.Uint8), kind(column.Int32), "int32"},
		{kind(column.Uint16), kind(column.Int16), "int32"},
		{kind(column.Uint32), kind(column.Int8), "int64"},
		{kind(column.Uint64), kind(column.Uint8), "uint64"},
		{kind(column.Uint64), kind(column.Int64), ""},
		{kind(column.Float16), kind(column.Float32), "float"},
		{kind(column.Float32), kind(column.Float64), "double"},
		{kind(column.Int32), kind(column.Float64), ""},
		{kind(column.Int32), column.DecimalType(10, 0), ""},
		{column.DecimalType(9, 2), column.DecimalType(38, 2), "decimal(38,2)"},
		{column.DecimalType(9, 2), column.DecimalType(9, 3), ""},
		{stamp(column.Milli, true), stamp(column.Nano, true), "timestamp[ns, UTC]"},
		{stamp(column.Milli, true), stamp(column.Milli, false), ""},
		{column.Type{Kind: column.Time, Unit: column.Milli}, column.Type{Kind: column.Time, Unit: column.Micro}, "time[us]"},
		{kind(column.Date), stamp(column.Milli, false), ""},
		{kind(column.String), kind(column.Binary), "binary"},
		{kind(column.String), fixed(3), "binary"},
		{fixed(3), fixed(4), "binary"},
		{kind(column.UUID), fixed(16), ""},
		{kind(column.Null), kind(column.UUID), "uuid"},
		{kind(column.Bool), kind(column.Int8), ""},
	} {
		for range 2 {
			got, ok := commonType(test.a, test.b)
			if ok != (test.want != "") || ok && got.String() != test.want {
				t.Errorf("%v and %v: %v, %v; want %q", test.a, test.b, got, ok, test.want)
			}
			if ok && (!widens(test.a, got) || !widens(test.b, got)) {
				t.Errorf("%v and %v do not widen to %v", test.a, test.b, got)
			}
			test.a, test.b = test.b, test.a
		}
	}
}

// TestWidening: values read as a wider type, plain and by dictionary.
func TestWidening(t *testing.T) {
	annotated := func(p format.Type, c deprecated.ConvertedType, precision int32) format.SchemaElement {
		e := optional(p)
		e.ConvertedType, e.Precision = thrift.New(c), thrift.New(precision)
		return e
	}
	nullType := optional(format.Int32)
	nullType.LogicalType.Value = &format.NullType{}
	dec38, micros := column.DecimalType(38, 0), column.TimestampType(column.Micro, false)
	for _, test := range []struct {
		name   string
		schema format.SchemaElement
		value  []byte
		to     column.Type
		want   column.Value
		err    string
	}{
		{"int32 to int64", optional(format.Int32), le32(math.MaxUint32), column.Type{Kind: column.Int64}, column.Value{Int: -1}, ""},
		{"uint32 to int64", annotated(format.Int32, deprecated.Uint32, 0), le32(math.MaxUint32), column.Type{Kind: column.Int64}, column.Value{Int: math.MaxUint32}, ""},
		{"float to double", optional(format.Float), le32(math.Float32bits(0.1)), column.Type{Kind: column.Float64}, column.Value{Float: float64(float32(0.1))}, ""},
		{"decimal", annotated(format.Int32, deprecated.Decimal, 5), le32(1<<32 - 9), dec38, column.Value{Wide: decimal256.FromI64(-9)}, ""},
		{"decimal beyond its type", annotated(format.Int32, deprecated.Decimal, 5), le32(100000), dec38, column.Value{}, "does not fit decimal(5,0)"},
		{"timestamp", annotated(format.Int64, deprecated.TimestampMillis, 0), le64(1<<64 - 7), micros, column.Value{Int: -7000}, ""},
		{"timestamp beyond", annotated(format.Int64, deprecated.TimestampMillis, 0), le64(math.MaxInt64), micros, column.Value{}, "does not fit timestamp[us]"},
		{"string", annotated(format.ByteArray, deprecated.UTF8, 0), sized('a'), column.Type{Kind: column.Binary}, column.Value{Bytes: "a"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.want.Type = test.to
			levels := sized(2, 1, 2, 0)
			plain := pageV1(format.Plain, 2, cat(levels, test.value)...)
			coded := pageV1(format.RLEDictionary, 2, cat(levels, []byte{1, 2, 0})...)
			for _, pages := range [][]page{{plain}, {dictPage(1, test.value...), coded}} {
				b := fileBuilder{schema: []format.SchemaElement{test.schema}, rows: 2, pages: pages}
				got, err := readAs(t, b.build(t), test.to)
				if test.err != "" {
					if err == nil || !strings.Contains(err.Error(), test.err) {
						t.Errorf("%v, want %q", err, test.err)
					}
					continue
				}
				if want := []column.Value{test.want, {Type: test.to, Null: true}}; err != nil || !slices.Equal(got, want) {
					t.Errorf("%v, %v, want %v", got, err, want)
				}
			}
		})
	}
	for _, to := range []column.Type{{Kind: column.String}, dec38, micros, {Kind: column.Float64}} {
		b := fileBuilder{schema: []format.SchemaElement{nullType}, rows: 2, pages: []page{pageV1(format.Plain, 2, sized(4, 0)...)}}
		got, err := readAs(t, b.build(t), to)
		if null := (column.Value{Type: to, Null: true}); err != nil || !slices.Equal(got, []column.Value{null, null}) {
			t.Errorf("null to %v: %v, %v", to, got, err)
		}
	}
}

// TestNotWidening: a reader refuses a type that would lose something.
func TestNotWidening(t *testing.T) {
	_, err := readAs(t, onePage().build(t), column.Type{Kind: column.Int16})
	if err == nil || !strings.Contains(err.Error(), `column "x": int32 cannot be read as int16`) {
		t.Error(err)
	}
}

// readAs reads the only column of a file as a type.
func readAs(t *testing.T, data []byte, to column.Type) (got []column.Value, err error) {
	f, err := openFile("f", bytes.NewReader(data), int64(len(data)), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	work := newWorkspace(nil, 1<<20)
	defer work.close()
	c, err := newColumnReader(f, 0, to, work)
	if err != nil {
		return nil, err
	}
	defer c.close()
	if err := c.open(0); err != nil {
		return nil, err
	}
	for {
		n, err := c.available()
		if n == 0 || err != nil {
			return got, err
		}
		var v column.Vector
		if err := c.read(&v, n); err != nil {
			return got, err
		}
		checkVector(t, &v)
		for i := range n {
			got = append(got, v.At(i))
		}
	}
}
