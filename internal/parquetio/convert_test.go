package parquetio

import (
	"bytes"
	"context"
	"errors"
	"maps"
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
		{"decimal beyond its type", annotated(format.Int32, deprecated.Decimal, 5), le32(100000), dec38, column.Value{Wide: decimal256.FromI64(100000)}, ""},
		{"decimal beyond the wider one", annotated(format.Int32, deprecated.Decimal, 5), le32(1e7), column.DecimalType(7, 0), column.Value{}, "does not fit decimal(7,0)"},
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

// Values with more digits than their decimal columns declare, in any form, are reported for all
// columns at once, and read when the columns are widened. A value that no decimal holds is an
// error as ever.
func TestMoreDigits(t *testing.T) {
	decimal := func(p format.Type, length, precision int32) format.SchemaElement {
		e := required(p)
		e.ConvertedType, e.TypeLength, e.Precision = thrift.New(deprecated.Decimal), thrift.New(length), thrift.New(precision)
		return e
	}
	ten := func(n int) column.Value {
		return column.Value{Type: column.DecimalType(column.MaxDigits, 0), Wide: decimal256.GetScaleMultiplier(n)}
	}
	for name, test := range map[string]struct {
		schema format.SchemaElement
		body   []byte
		digits int
		want   column.Value
	}{
		"32 bits":          {decimal(format.Int32, 0, 5), le32(1e5), 18, ten(5)},
		"64 bits":          {decimal(format.Int64, 0, 5), le64(1e17), 18, ten(17)},
		"64 bits, all":     {decimal(format.Int64, 0, 18), le64(1e18), 38, ten(18)},
		"fixed bytes":      {decimal(format.FixedLenByteArray, 16, 5), bigEndian(1e18, 16), 38, ten(18)},
		"more fixed bytes": {decimal(format.FixedLenByteArray, 20, 20), ten(40).Wide.BigInt().FillBytes(make([]byte, 20)), 76, ten(40)},
		"bytes":            {decimal(format.ByteArray, 0, 5), sized(ten(6).Wide.BigInt().Bytes()...), 18, ten(6)},
		"no decimal":       {decimal(format.ByteArray, 0, 5), sized(bytes.Repeat([]byte{0x7F}, 32)...), 0, column.Value{}},
		"beyond 256 bits":  {decimal(format.FixedLenByteArray, 40, 5), bytes.Repeat([]byte{0x7F}, 40), 0, column.Value{}},
	} {
		for way, pages := range map[string][]page{
			"plain": {pageV1(format.Plain, 1, test.body...)},
			"coded": {dictPage(1, test.body...), pageV1(format.RLEDictionary, 1, 0)},
		} {
			t.Run(name+", "+way, func(t *testing.T) {
				first := fileBuilder{schema: []format.SchemaElement{test.schema}, rows: 1, pages: pages}
				readTwice(t, first.build(t), test.digits, test.want)
			})
		}
	}
}

// readTwice reads a decimal that is wanted with so many digits.
func readTwice(t *testing.T, data []byte, digits int, want column.Value) {
	t.Helper()
	read := func(wider map[int]int) (got column.Value, err error) {
		d, err := Open(context.Background(), []Input{{Name: "f", Reader: bytes.NewReader(data), Size: int64(len(data))}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		d.Widen(wider)
		s, err := d.Scan(ScanOptions{Columns: []int{0}})
		if err != nil {
			t.Fatal(err)
		}
		return got, eachBatch(s, func(b *column.Batch) { got = b.Cols[0].At(0) })
	}
	_, err := read(nil)
	var more *PrecisionError
	var typed *Error
	switch {
	case !errors.As(err, &typed) || !strings.Contains(err.Error(), "does not fit decimal("):
		t.Fatal(err)
	case errors.As(err, &more) != (digits > 0) || digits > 0 && more.Digits[0] != digits:
		t.Fatalf("%v, %v", err, more)
	case digits == 0:
		return
	}
	got, err := read(more.Digits)
	if got.Type != column.DecimalType(digits, 0) || err != nil {
		t.Fatalf("%v, %v", got.Type, err)
	}
	if got.Type.Rep() == column.RepInt64 {
		got.Wide = wide(got.Int)
	}
	if got.Wide != want.Wide {
		t.Errorf("%v, want %v", got.Wide, want.Wide)
	}
}

// TestMoreDigitsOfAll: one reading tells the digits of all columns, of dictionaries and of values.
func TestMoreDigitsOfAll(t *testing.T) {
	type row struct {
		A int32 `parquet:"a,decimal(2:5)"`
		B int32 `parquet:"b,decimal(2:5)"`
		C int64 `parquet:"c,decimal(2:10)"`
		D int64 `parquet:"d,decimal(2:10),dict"`
		E int64 `parquet:"e,decimal(2:10),dict"`
	}
	for _, test := range []struct {
		row  row
		want map[int]int
	}{
		{row{A: 1e6, B: 1, C: 1e18}, map[int]int{0: 18, 2: 38}},
		{row{D: 1e12, E: 1e18}, map[int]int{3: 18, 4: 38}},
	} {
		t.Chdir(t.TempDir())
		writeRows(t, "f.parquet", 1, []row{test.row})
		d, err := Open(context.Background(), []Input{{Path: "f.parquet"}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = countRows(t, d, ScanOptions{Columns: []int{0, 1, 2, 3, 4}})
		var more *PrecisionError
		if !errors.As(err, &more) || !maps.Equal(more.Digits, test.want) {
			t.Errorf("%v: %v", err, more)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}
