package arrow18_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	arrow15 "github.com/apache/arrow/go/v15/arrow"
	array15 "github.com/apache/arrow/go/v15/arrow/array"
	memory15 "github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/docs/arrow18"
)

const (
	numbers = `[9, 1, null, 3, 1, null, 7]`
	texts   = `["out", "a", null, "a text that is not short", "", null, "out"]`
	binary  = `["b3V0", "YQ==", null, "YSB0ZXh0IHRoYXQgaXMgbm90IHNob3J0", "", null, "b3V0"]`
	points  = `["9.99", "1.50", null, "-3.25", "1.50", null, "7.00"]`
)

// kinds is each type that gagg reads, in version 18, with values, and the type of version 15 that
// has the same answers.
var kinds = []struct {
	v18    arrow.DataType
	v15    arrow15.DataType
	values string
}{
	{arrow.Null, arrow15.Null, `[null, null, null, null, null, null, null]`},
	{arrow.FixedWidthTypes.Boolean, arrow15.FixedWidthTypes.Boolean, `[true, true, null, false, true, null, true]`},
	{arrow.PrimitiveTypes.Int8, arrow15.PrimitiveTypes.Int8, numbers},
	{arrow.PrimitiveTypes.Int16, arrow15.PrimitiveTypes.Int16, numbers},
	{arrow.PrimitiveTypes.Int32, arrow15.PrimitiveTypes.Int32, numbers},
	{arrow.PrimitiveTypes.Int64, arrow15.PrimitiveTypes.Int64, numbers},
	{arrow.PrimitiveTypes.Uint8, arrow15.PrimitiveTypes.Uint8, numbers},
	{arrow.PrimitiveTypes.Uint16, arrow15.PrimitiveTypes.Uint16, numbers},
	{arrow.PrimitiveTypes.Uint32, arrow15.PrimitiveTypes.Uint32, numbers},
	{arrow.PrimitiveTypes.Uint64, arrow15.PrimitiveTypes.Uint64, numbers},
	{arrow.FixedWidthTypes.Float16, arrow15.FixedWidthTypes.Float16, numbers},
	{arrow.PrimitiveTypes.Float32, arrow15.PrimitiveTypes.Float32, numbers},
	{arrow.PrimitiveTypes.Float64, arrow15.PrimitiveTypes.Float64, numbers},
	{arrow.FixedWidthTypes.Date32, arrow15.FixedWidthTypes.Date32, numbers},
	{arrow.FixedWidthTypes.Date64, arrow15.FixedWidthTypes.Date64, `["2024-01-09", "2024-01-01", null, "1969-12-31", "2024-01-01", null, "2024-01-07"]`},
	{arrow.FixedWidthTypes.Time32s, arrow15.FixedWidthTypes.Time32s, numbers},
	{arrow.FixedWidthTypes.Time32ms, arrow15.FixedWidthTypes.Time32ms, numbers},
	{arrow.FixedWidthTypes.Time64us, arrow15.FixedWidthTypes.Time64us, numbers},
	{arrow.FixedWidthTypes.Time64ns, arrow15.FixedWidthTypes.Time64ns, numbers},
	{arrow.FixedWidthTypes.Timestamp_s, arrow15.FixedWidthTypes.Timestamp_s, numbers},
	{&arrow.TimestampType{Unit: arrow.Millisecond}, &arrow15.TimestampType{Unit: arrow15.Millisecond}, numbers},
	{&arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "Asia/Tokyo"}, &arrow15.TimestampType{Unit: arrow15.Microsecond, TimeZone: "Asia/Tokyo"}, numbers},
	{arrow.FixedWidthTypes.Timestamp_ns, arrow15.FixedWidthTypes.Timestamp_ns, numbers},
	{&arrow.Decimal32Type{Precision: 9, Scale: 2}, &arrow15.Decimal128Type{Precision: 9, Scale: 2}, points},
	{&arrow.Decimal64Type{Precision: 18, Scale: 2}, &arrow15.Decimal128Type{Precision: 18, Scale: 2}, points},
	{&arrow.Decimal128Type{Precision: 38, Scale: 2}, &arrow15.Decimal128Type{Precision: 38, Scale: 2}, points},
	{&arrow.Decimal256Type{Precision: 76, Scale: 2}, &arrow15.Decimal256Type{Precision: 76, Scale: 2}, points},
	{arrow.BinaryTypes.String, arrow15.BinaryTypes.String, texts},
	{arrow.BinaryTypes.LargeString, arrow15.BinaryTypes.LargeString, texts},
	{arrow.BinaryTypes.StringView, arrow15.BinaryTypes.String, texts},
	{arrow.BinaryTypes.Binary, arrow15.BinaryTypes.Binary, binary},
	{arrow.BinaryTypes.LargeBinary, arrow15.BinaryTypes.LargeBinary, binary},
	{arrow.BinaryTypes.BinaryView, arrow15.BinaryTypes.Binary, binary},
	{&arrow.FixedSizeBinaryType{ByteWidth: 3}, &arrow15.FixedSizeBinaryType{ByteWidth: 3}, `["b3V0", "YWJj", null, "YWJk", "YWJj", null, "b3V0"]`},
	{
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String},
		&arrow15.DictionaryType{IndexType: arrow15.PrimitiveTypes.Int8, ValueType: arrow15.BinaryTypes.String}, texts,
	},
	{
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint16, ValueType: &arrow.Decimal128Type{Precision: 20, Scale: 2}},
		&arrow15.DictionaryType{IndexType: arrow15.PrimitiveTypes.Uint16, ValueType: &arrow15.Decimal128Type{Precision: 20, Scale: 2}}, points,
	},
}

// column18 is a record batch of one column, x: the rows 1 to 6 of values.
func column18(t *testing.T, mem memory.Allocator, of arrow.DataType, values string) arrow.RecordBatch {
	t.Helper()
	arr, _, err := array.FromJSON(mem, of, strings.NewReader(values))
	if err != nil {
		t.Fatal(err)
	}
	defer arr.Release()
	whole := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "x", Type: of, Nullable: true}}, nil), []arrow.Array{arr}, int64(arr.Len()))
	defer whole.Release()
	return whole.NewSlice(1, 6)
}

func column15(t *testing.T, of arrow15.DataType, values string) array15.RecordReader {
	t.Helper()
	arr, _, err := array15.FromJSON(memory15.DefaultAllocator, of, strings.NewReader(values))
	if err != nil {
		t.Fatal(err)
	}
	schema := arrow15.NewSchema([]arrow15.Field{{Name: "x", Type: of, Nullable: true}}, nil)
	r, err := array15.NewRecordReader(schema, []arrow15.Record{array15.NewRecord(schema, []arrow15.Array{arr}, int64(arr.Len())).NewSlice(1, 6)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func one(b arrow.RecordBatch) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) { yield(b, nil) }
}

// row is what a record of either version shows.
func row[A interface{ ValueStr(int) string }](columns []A, i int) string {
	var cells []string
	for _, c := range columns {
		cells = append(cells, c.ValueStr(i))
	}
	return strings.Join(cells, " | ")
}

// sameMemory wants an array to have the buffers of another one of version 15.
func sameMemory(t *testing.T, got arrow.ArrayData, want arrow15.ArrayData) {
	t.Helper()
	for i, b := range got.Buffers() {
		from := want.Buffers()[i]
		if (b == nil) != (from == nil) || b != nil && (b.Len() != from.Len() || b.Len() > 0 && &b.Bytes()[0] != &from.Bytes()[0]) {
			t.Errorf("buffer %d of %s was copied", i, got.DataType())
		}
	}
	for i, c := range got.Children() {
		sameMemory(t, c, want.Children()[i])
	}
}

// ask runs a query, and gives its rows as version 18 shows them, behind the types. The result is
// shared, and all of its memory is back at the end.
func ask(t *testing.T, q gagg.Query) []string {
	t.Helper()
	mem := memory15.NewCheckedAllocator(memory15.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	rows, err := gagg.Run(t.Context(), q, gagg.Options{Allocator: mem, Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Release()
	r := arrow18.Reader(rows)
	defer r.Release()
	lines := []string{fmt.Sprint(r.Schema())}
	for r.Next() {
		for i := range int(r.RecordBatch().NumRows()) {
			lines = append(lines, row(r.RecordBatch().Columns(), i))
		}
		for i, c := range r.RecordBatch().Columns() {
			from := rows.Record().Column(i)
			if _, extension := c.DataType().(arrow.ExtensionType); !extension && c.DataType().String() != from.DataType().String() {
				t.Errorf("type %s, want %s", c.DataType(), from.DataType())
			}
			sameMemory(t, c.Data(), from.Data())
		}
	}
	if err := r.Err(); err != nil {
		t.Error(err)
	}
	return lines
}

// A query over a column of version 18, sliced and with NULLs, has the answer of the same column in
// version 15, and leaves nothing of either.
func TestTypes(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.v18.String(), func(t *testing.T) {
			mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
			defer mem.AssertSize(t, 0)
			b := column18(t, mem, k.v18, k.values)
			defer b.Release()
			q := gagg.Query{
				From: arrow18.RecordSeq(b.Schema(), one(b)), By: []string{"x"},
				Aggs:    []gagg.Agg{gagg.CountAll(), gagg.Min("x"), gagg.List("x"), gagg.Expr("histogram(x)")},
				OrderBy: []string{"x"},
			}
			got := ask(t, q)
			q.From = gagg.Records(column15(t, k.v15, k.values))
			if want := ask(t, q); !slices.Equal(got, want) || len(got) < 2 {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// Fields of structs are columns, NULL where the struct is, wherever the slice begins.
func TestStructs(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	of := arrow.StructOf(
		arrow.Field{Name: "s", Type: arrow.BinaryTypes.StringView, Nullable: true},
		arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		arrow.Field{Name: "d", Type: arrow.FixedWidthTypes.Duration_s, Nullable: true},
	)
	b := column18(t, mem, of, `[{"s": "out", "n": 0}, {"s": "a", "n": 1}, null, {"s": null, "n": 2}, {"s": "a", "n": 4}, {"s": "b", "n": 8}, {"s": "out", "n": 0}]`)
	defer b.Release()
	got := ask(t, gagg.Query{From: arrow18.RecordSeq(b.Schema(), one(b)), By: []string{"x.s"}, Aggs: []gagg.Agg{gagg.Sum("x.n")}, OrderBy: []string{"1"}})
	if want := []string{"a | 5", "b | 8", "(null) | 2"}; !slices.Equal(got[1:], want) {
		t.Errorf("%q, want %q", got[1:], want)
	}
}

// A column that gagg does not read may be there. Whoever asks for it is told of its type.
func TestTypesNotRead(t *testing.T) {
	for _, of := range []arrow.DataType{
		arrow.FixedWidthTypes.Duration_ms, arrow.FixedWidthTypes.MonthInterval, arrow.FixedWidthTypes.DayTimeInterval, arrow.FixedWidthTypes.MonthDayNanoInterval,
		arrow.ListOf(arrow.PrimitiveTypes.Int64), arrow.LargeListOf(arrow.PrimitiveTypes.Int64), arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int64),
		arrow.ListViewOf(arrow.PrimitiveTypes.Int64), arrow.LargeListViewOf(arrow.BinaryTypes.StringView),
		arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64), arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String),
		arrow.SparseUnionOf([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}}, []arrow.UnionTypeCode{0}),
		arrow.ListOf(arrow.FixedWidthTypes.Duration_s), arrow.StructOf(),
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.FixedWidthTypes.Duration_s},
	} {
		t.Run(of.String(), func(t *testing.T) {
			mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
			defer mem.AssertSize(t, 0)
			build := array.NewBuilder(mem, of)
			defer build.Release()
			build.AppendEmptyValues(3)
			strange, count := build.NewArray(), array.NewInt8Builder(mem)
			defer strange.Release()
			defer count.Release()
			count.AppendValues([]int8{1, 2, 3}, nil)
			n := count.NewArray()
			defer n.Release()
			schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: of, Nullable: true}, {Name: "n", Type: n.DataType()}}, nil)
			b := array.NewRecordBatch(schema, []arrow.Array{strange, n}, 3)
			defer b.Release()
			if got := ask(t, gagg.Query{From: arrow18.RecordSeq(schema, one(b)), Aggs: []gagg.Agg{gagg.Sum("n")}}); len(got) != 2 || got[1] != "6" {
				t.Errorf("beside it: %q", got)
			}
			_, err := gagg.Run(t.Context(), gagg.Query{From: arrow18.RecordSeq(schema, one(b)), By: []string{"x"}}, gagg.Options{})
			name := of.String()
			if n, ok := of.(arrow.NestedType); ok && of.ID() != arrow.SPARSE_UNION && of.ID() != arrow.RUN_END_ENCODED {
				name = n.Name()
			}
			if !errors.Is(err, gagg.ErrUsage) || !strings.Contains(fmt.Sprint(err), name) {
				t.Errorf("%v, want %s named", err, name)
			}
		})
	}
}

// Memory of a result is shared, and belongs to the allocator until the last batch is released,
// whatever becomes of the rows.
func TestReaderShares(t *testing.T) {
	mem := memory15.NewCheckedAllocator(memory15.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	rows, err := gagg.Run(t.Context(), gagg.Query{
		From: gagg.Files("../../testdata/orders.parquet"), By: []string{"region", "ordered_at"},
		Aggs: []gagg.Agg{gagg.Sum("price"), gagg.List("customer"), gagg.Min("discount")},
	}, gagg.Options{Allocator: mem})
	if err != nil {
		t.Fatal(err)
	}
	r := arrow18.Reader(rows)
	if !r.Next() {
		t.Fatal(r.Err())
	}
	kept := r.RecordBatch()
	for i, c := range kept.Columns() {
		sameMemory(t, c.Data(), rows.Record().Column(i).Data())
	}
	first := row(kept.Columns(), 0)
	kept.Retain()
	r.Release()
	rows.Release()
	if mem.CurrentAlloc() == 0 || row(kept.Columns(), 0) != first {
		t.Error("what was retained is gone")
	}
	kept.Release()
}

// Memory of a batch is shared, and its allocator has it back when the run needs it no more.
func TestSourceReleases(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	most := 0
	rows, err := gagg.Run(t.Context(), gagg.Query{From: arrow18.RecordSeq(schema, func(yield func(arrow.RecordBatch, error) bool) {
		build := array.NewRecordBuilder(mem, schema)
		defer build.Release()
		for n := range int64(1000) {
			for range 1000 {
				build.Field(0).(*array.Int64Builder).Append(n)
			}
			b := build.NewRecordBatch()
			more := yield(b, nil)
			b.Release()
			most = max(most, mem.CurrentAlloc())
			if !more {
				return
			}
		}
	}), Aggs: []gagg.Agg{gagg.Sum("n")}}, gagg.Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Release()
	if !rows.Next() || rows.Record().Column(0).ValueStr(0) != "499500000" {
		t.Error("another sum")
	}
	if most == 0 || most > 100*8*1000 {
		t.Errorf("%d bytes at once", most)
	}
}

// What an iterator or reader fails with ends the run, and so does a batch of other columns.
func TestSourceErrors(t *testing.T) {
	b := column18(t, memory.DefaultAllocator, arrow.PrimitiveTypes.Int64, numbers)
	other := column18(t, memory.DefaultAllocator, arrow.PrimitiveTypes.Int32, numbers)
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		from gagg.Source
		kind error
		text string
	}{
		"an error":      {arrow18.RecordSeq(b.Schema(), func(yield func(arrow.RecordBatch, error) bool) { yield(nil, broken) }), broken, "broken"},
		"a reader's":    {arrow18.Records(failing(b, broken)), broken, "broken"},
		"other columns": {arrow18.RecordSeq(b.Schema(), one(other)), gagg.ErrInput, "other columns"},
		"no schema":     {arrow18.RecordSeq(nil, one(b)), gagg.ErrUsage, "no schema"},
	} {
		rows, err := gagg.Run(t.Context(), gagg.Query{From: c.from, By: []string{"x"}}, gagg.Options{})
		if err == nil {
			for rows.Next() {
			}
			err = rows.Err()
			rows.Release()
		}
		if !errors.Is(err, c.kind) || !strings.Contains(fmt.Sprint(err), c.text) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// failing is a reader of a batch that then fails.
func failing(b arrow.RecordBatch, err error) array.RecordReader {
	return array.ReaderFromIter(b.Schema(), func(yield func(arrow.RecordBatch, error) bool) {
		if yield(b, nil) {
			yield(nil, err)
		}
	})
}

// A run that is stopped, and one that wants no more, leave nothing of the batches.
func TestStopped(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	b := column18(t, mem, arrow.BinaryTypes.String, texts)
	defer b.Release()
	ended := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	_, err := gagg.Run(ctx, gagg.Query{From: arrow18.RecordSeq(b.Schema(), func(yield func(arrow.RecordBatch, error) bool) {
		defer close(ended)
		for yield(b, nil) {
			cancel()
		}
	}), By: []string{"x"}}, gagg.Options{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	<-ended
}

// An extension is its storage to gagg, but a UUID, which it knows, and comes back as one.
func TestExtensions(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	build := extensions.NewUUIDBuilder(mem)
	defer build.Release()
	const id = "5c1e4bc4-6f2e-4a3e-9d55-5f6b8cd53d2a"
	if err := build.AppendValueFromString(id); err != nil {
		t.Fatal(err)
	}
	build.AppendNull()
	arr := build.NewArray()
	defer arr.Release()
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arr.DataType(), Nullable: true, Metadata: arrow.NewMetadata([]string{"a"}, []string{"b"})}}, nil)
	b := array.NewRecordBatch(schema, []arrow.Array{arr}, 2)
	defer b.Release()
	got := ask(t, gagg.Query{From: arrow18.RecordSeq(schema, one(b)), By: []string{"x", "x::text as t"}, OrderBy: []string{"x"}})
	if len(got) != 3 || !strings.Contains(got[0], "arrow.uuid") || !strings.HasSuffix(got[1], " | "+id) {
		t.Errorf("%q", got)
	}
}

// States are records too.
func TestStates(t *testing.T) {
	q := gagg.Query{
		From: gagg.Files("../../testdata/orders.parquet"), By: []string{"region"}, Partial: true,
		Aggs: []gagg.Agg{gagg.Sum("price"), gagg.Median("price"), gagg.CountDistinct("customer"), gagg.First("product")},
	}
	rows, err := gagg.Run(t.Context(), q, gagg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Release()
	states := arrow18.Reader(rows)
	defer states.Release()
	got := ask(t, gagg.Query{From: gagg.Merge(arrow18.Records(states)), OrderBy: []string{"region"}})
	q.Partial, q.OrderBy = false, []string{"region"}
	if want := ask(t, q); !slices.Equal(got[1:], want[1:]) {
		t.Errorf("%q, want %q", got, want)
	}
}

// One record, as of Head; and one of a type that gagg does not make.
func TestBatch(t *testing.T) {
	_, rec, err := gagg.Head(t.Context(), gagg.Files("../../testdata/orders.parquet"), 3, gagg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Release()
	b, err := arrow18.Batch(rec)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Release()
	if b.NumRows() != 3 || row(b.Columns()[:4], 2) != row(rec.Columns()[:4], 2) {
		t.Errorf("%v", b)
	}
	r := column15(t, arrow15.FixedWidthTypes.Duration_s, numbers)
	r.Next()
	if _, err := arrow18.Batch(r.Record()); err == nil || !strings.Contains(err.Error(), "duration[s]") {
		t.Errorf("%v", err)
	}
	strange := arrow18.Reader(r)
	defer strange.Release()
	if strange.Next() || strange.Err() == nil || strange.Schema() == nil {
		t.Errorf("%v", strange.Err())
	}
}
