package sink

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/decimal256"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg/internal/column"
)

var update = flag.Bool("update", false, "rewrite the files of testdata")

// testColumn is a named column of a test record.
type testColumn struct {
	name   string
	typ    column.Type
	values []column.Value
}

func null() column.Value                 { return column.Value{Null: true} }
func integer(x int64) column.Value       { return column.Value{Int: x} }
func double(x float64) column.Value      { return column.Value{Float: x} }
func str(s string) column.Value          { return column.Value{Bytes: s} }
func wide(x decimal256.Num) column.Value { return column.Value{Wide: x} }

func vectorOf(t column.Type, values []column.Value) *column.Vector {
	if t.IsNested() {
		return listsOf(t, values)
	}
	v := &column.Vector{Type: t}
	for _, x := range values {
		v.Append(x)
	}
	return v
}

func recordOf(t testing.TB, mem memory.Allocator, cols []testColumn) arrow.Record {
	t.Helper()
	var fields []arrow.Field
	var arrays []arrow.Array
	rows := 0
	for _, c := range cols {
		arr, err := column.ToArrow(vectorOf(c.typ, c.values), mem)
		if err != nil {
			t.Fatal(err)
		}
		fields, arrays, rows = append(fields, column.ArrowField(c.name, c.typ, true)), append(arrays, arr), len(c.values)
	}
	rec := array.NewRecord(arrow.NewSchema(fields, nil), arrays, int64(rows))
	for _, a := range arrays {
		a.Release()
	}
	return rec
}

// everyType has a column of each type, with an ordinary value, two extremes
// and a NULL.
func everyType() []testColumn {
	inf := math.Inf(1)
	kind := func(k column.Kind) column.Type { return column.Type{Kind: k} }
	ints := func(name string, t column.Type, xs ...int64) testColumn {
		c := testColumn{name: name, typ: t}
		for _, x := range xs {
			c.values = append(c.values, integer(x))
		}
		c.values = append(c.values, null())
		return c
	}
	floats := func(name string, t column.Type, xs ...float64) testColumn {
		c := testColumn{name: name, typ: t}
		for _, x := range xs {
			c.values = append(c.values, double(x))
		}
		c.values = append(c.values, null())
		return c
	}
	texts := func(name string, t column.Type, xs ...string) testColumn {
		c := testColumn{name: name, typ: t}
		for _, x := range xs {
			c.values = append(c.values, str(x))
		}
		c.values = append(c.values, null())
		return c
	}
	wides := func(name string, t column.Type) testColumn {
		largest := decimal256.GetMaxValue(int32(t.Precision))
		return testColumn{name: name, typ: t, values: []column.Value{
			wide(decimal256.FromI64(-12345)), wide(largest), wide(largest.Negate()), wide(decimal256.FromI64(7)), null(),
		}}
	}
	const us = int64(1706704496123456) // 2024-01-31 12:34:56.123456
	return []testColumn{
		ints("z_bool", kind(column.Bool), 1, 0, 1, 0),
		ints("int8", kind(column.Int8), 1, math.MinInt8, math.MaxInt8, 0),
		ints("int16", kind(column.Int16), 1, math.MinInt16, math.MaxInt16, 0),
		ints("int32", kind(column.Int32), 1, math.MinInt32, math.MaxInt32, 0),
		ints("int64", kind(column.Int64), 1, math.MinInt64, math.MaxInt64, 0),
		ints("uint8", kind(column.Uint8), 1, 0, math.MaxUint8, 0),
		ints("uint16", kind(column.Uint16), 1, 0, math.MaxUint16, 0),
		ints("uint32", kind(column.Uint32), 1, 0, math.MaxUint32, 0),
		ints("uint64", kind(column.Uint64), 1, math.MinInt64, -1, 0),
		floats("float16", kind(column.Float16), 0.5, 65504, math.NaN(), -inf),
		floats("float", kind(column.Float32), 0.5, math.MaxFloat32, math.NaN(), -inf),
		floats("double", kind(column.Float64), 0.1, math.MaxFloat64, math.NaN(), inf),
		floats("zeros", kind(column.Float64), 0, math.Copysign(0, -1), 1e16, 1e-5),
		ints("dec9", column.DecimalType(9, 2), 12345, -999999999, 999999999, -5),
		ints("dec18", column.DecimalType(18, 18), 1, -999999999999999999, 999999999999999999, 0),
		wides("dec38", column.DecimalType(38, 3)),
		wides("dec76", column.DecimalType(76, 0)),
		ints("date", kind(column.Date), us/1e6/secondsPerDay, -719529, 5_000_000, -1),
		ints("time_s", column.Type{Kind: column.Time, Unit: column.Second}, 45296, 0, 86399, 1),
		ints("time_ms", column.Type{Kind: column.Time, Unit: column.Milli}, 45296120, 0, 86399999, 1),
		ints("time_us", column.Type{Kind: column.Time, Unit: column.Micro}, 45296123456, 0, 86399999999, 1),
		ints("time_ns", column.Type{Kind: column.Time, Unit: column.Nano}, 45296123456789, 0, 86399999999999, 1),
		ints("ts_s", column.TimestampType(column.Second, false), us/1e6, -62135596800, 253402300799, -1),
		ints("ts_ms", column.TimestampType(column.Milli, false), us/1e3, -62135596800000, 253402300799999, -1),
		ints("ts_us", column.TimestampType(column.Micro, false), us, -62135596800000000, 253402300799999999, -1),
		ints("ts_ns", column.TimestampType(column.Nano, false), us*1e3, math.MinInt64+1, math.MaxInt64-1, -1),
		ints("ts_us_utc", column.TimestampType(column.Micro, true), us, -62135596800000000, 253402300799999999, -1),
		texts("string", kind(column.String), "plain", "", "a,\"b\"\nc\td|e\\", "ü€😀"),
		texts("bad_utf8", kind(column.String), "a\xff", "\xc3", "\x1b[31mred", "NULL"),
		texts("binary", kind(column.Binary), "ab", "", "\x00\xff\\\"'", "z"),
		texts("fixed", column.Type{Kind: column.FixedBinary, Width: 3}, "abc", "\x00\x00\x00", "\xff\xff\xff", "a,b"),
		texts("uuid", kind(column.UUID), "0123456789abcdef", "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
			"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "\x12\x34\x56\x78\x9a\xbc\xde\xf0\x12\x34\x56\x78\x9a\xbc\xde\xf0"),
		{name: "null", typ: kind(column.Null), values: []column.Value{null(), null(), null(), null(), null()}},
		ints("int64", kind(column.Int64), 5, 6, 7, 8), // the name is not unique
		ints("a \"quoted\", name\n", kind(column.Int32), 5, 6, 7, 8),
	}
}

// render writes records of cols, each column cut into pieces of at most piece
// rows, and checks that no Arrow memory is left.
func render(t testing.TB, f Format, cols []testColumn, piece int, o Options) []byte {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	whole := recordOf(t, mem, cols)
	var out bytes.Buffer
	w, err := NewWriter(f, &out, whole.Schema(), o)
	if err != nil {
		t.Fatal(err)
	}
	for from := int64(0); from < whole.NumRows(); from += int64(piece) {
		rec := whole.NewSlice(from, min(from+int64(piece), whole.NumRows()))
		if err := w.Write(rec); err != nil {
			t.Fatal(err)
		}
		rec.Release()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	whole.Release()
	if ct, ok := t.(*testing.T); ok {
		mem.AssertSize(ct, 0)
	}
	return out.Bytes()
}

// Every type in every text format is what testdata says, however the rows
// are cut into records.
func TestGolden(t *testing.T) {
	for _, c := range []struct {
		file   string
		format Format
		o      Options
	}{
		{"all.csv", CSV, Options{}},
		{"all_null.csv", CSV, Options{Null: "NULL"}},
		{"all.tsv", TSV, Options{}},
		{"all.json", JSON, Options{}},
		{"all.ndjson", NDJSON, Options{}},
		{"all.md", Markdown, Options{}},
		{"all.txt", Table, Options{}},
	} {
		path := filepath.Join("testdata", c.file)
		got := render(t, c.format, everyType(), 5, c.o)
		if *update {
			os.MkdirAll("testdata", 0o755)
			os.WriteFile(path, got, 0o644)
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs; run with -update and read the diff\n%s", path, got)
		}
		if cut := render(t, c.format, everyType(), 2, c.o); !bytes.Equal(cut, want) {
			t.Errorf("%s: differs when cut into records of two rows", path)
		}
	}
}

// failingWriter fails after n bytes.
type failingWriter struct{ n int }

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.n -= len(p); w.n < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

// An error of the io.Writer comes out of every format, from Write or Close.
func TestWriterErrors(t *testing.T) {
	t.Parallel()
	for _, f := range Formats {
		for _, n := range []int{0, 3, 500} {
			t.Run(fmt.Sprintf("%s/%d", f, n), func(t *testing.T) {
				rec := recordOf(t, memory.DefaultAllocator, everyType())
				w, err := NewWriter(f, &failingWriter{n}, rec.Schema(), Options{})
				if err != nil {
					t.Fatal(err)
				}
				if err = w.Write(rec); err == nil {
					err = w.Close()
				}
				if w.Close() != nil {
					t.Error("a second Close has an error")
				}
				if f == None && err != nil || f != None && !errors.Is(err, io.ErrClosedPipe) {
					t.Errorf("got %v", err)
				}
			})
		}
	}
}

func TestFormats(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Format{
		"a.parquet": Parquet, "b.PQ": Parquet, "c.d/e.csv": CSV, "x.tsv": TSV, "x.json": JSON, "x.jsonl": NDJSON,
		"x.feather": Arrow, "x.md": Markdown, "x.txt": Table, "x": "", "x.parquet.bak": "", ".csv": CSV,
	} {
		if got, ok := FormatForPath(name); got != want || ok != (want != "") {
			t.Errorf("%s: got %q", name, got)
		}
	}
	for _, f := range Formats {
		if got, err := ParseFormat(string(f)); got != f || err != nil {
			t.Errorf("%s: got %q, %v", f, got, err)
		}
	}
	if _, err := ParseFormat("xml"); err == nil {
		t.Error("xml was taken")
	}
}

// A type without an output form is refused before anything is written.
func TestNestedRefused(t *testing.T) {
	t.Parallel()
	schema := arrow.NewSchema([]arrow.Field{{Name: "l", Type: arrow.ListOf(arrow.ListOf(arrow.PrimitiveTypes.Int8))}}, nil)
	for _, f := range Formats {
		if f == None || f == Arrow {
			continue
		}
		if _, err := NewWriter(f, io.Discard, schema, Options{}); !errors.Is(err, column.ErrNoArrowType) {
			t.Errorf("%s: got %v", f, err)
		}
	}
}
