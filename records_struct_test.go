package gagg_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/decimal128"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg"
)

// structs is records of
//
//	id  st{f: text, in{x: int64, d: decimal(3,1)}, l: list}  "st.f"
//	1   {a, {10, 1.5}}                                       top
//	2   {b, NULL}                                            top
//	3   NULL                                                 top
//	4   {NULL, {40, NULL}}                                   top
//	5   {a, {50, 99.9}}                                      top
//
// where what is NULL holds rubbish, and all but the first row comes as a slice.
func structs(t *testing.T) gagg.Source {
	t.Helper()
	mem := memory.DefaultAllocator
	bits := func(rows ...int) *memory.Buffer { // of those that are there
		var b [1]byte
		for _, r := range rows {
			bitutil.SetBit(b[:], r)
		}
		return memory.NewBufferBytes(b[:])
	}
	structOf := func(there *memory.Buffer, names []string, fields ...arrow.Array) arrow.Array {
		s, err := array.NewStructArrayWithNulls(fields, names, there, array.UnknownNullCount, 0)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	ids, xs := array.NewInt64Builder(mem), array.NewInt64Builder(mem)
	ids.AppendValues([]int64{1, 2, 3, 4, 5}, nil)
	xs.AppendValues([]int64{10, 20, 30, 40, 50}, nil)
	ds := array.NewDecimal128Builder(mem, &arrow.Decimal128Type{Precision: 3, Scale: 1})
	for _, d := range []int64{15, 1e9, 7, 0, 999} { // the second is beyond its precision
		ds.Append(decimal128.FromI64(d))
	}
	decimals := ds.NewDecimal128Array()
	withNull := array.NewData(decimals.DataType(), 5, []*memory.Buffer{bits(0, 1, 2, 4), decimals.Data().Buffers()[1]}, nil, array.UnknownNullCount, 0)
	fs, top, ls := array.NewStringBuilder(mem), array.NewStringBuilder(mem), array.NewListBuilder(mem, arrow.PrimitiveTypes.Int64)
	fs.AppendValues([]string{"a", "b", "rubbish", "", "a"}, []bool{true, true, true, false, true})
	top.AppendValues([]string{"top", "top", "top", "top", "top"}, nil)
	for range 5 {
		ls.AppendNull()
	}
	in := structOf(bits(0, 2, 3, 4), []string{"x", "d"}, xs.NewArray(), array.MakeFromData(withNull))
	st := structOf(bits(0, 1, 3, 4), []string{"f", "in", "l"}, fs.NewArray(), in, ls.NewArray())
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "st", Type: st.DataType(), Nullable: true}, {Name: "ST.F", Type: arrow.BinaryTypes.String},
	}, nil)
	rec := array.NewRecord(schema, []arrow.Array{ids.NewArray(), st, top.NewArray()}, 5)
	parts := []arrow.Record{rec.NewSlice(0, 1), rec.NewSlice(1, 5)}
	r, err := array.NewRecordReader(schema, parts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Release)
	for _, p := range parts {
		p.Release()
	}
	return gagg.Records(r)
}

// Fields of structs in Arrow records are columns as they are in Parquet, NULL where a struct around
// them is.
func TestRecordsOfStructs(t *testing.T) {
	for _, test := range []struct {
		by, agg, where, want string
	}{
		{"st.f", "sum(st.in.x)::text", "", "a|60;b|(null);(null)|40"},
		{"st.in.d as d", "count(*)", "", "1.5|1;99.9|1;(null)|3"},
		{"", "count(st.f)", "", "3"},
		{"", "max(id)", "st.in.x is null", "3"},
		{"ST.f", "count(*)", "st.in.x >= 40", "top|2"},
		{`"ST.F"`, "count(*)", "", "top|5"},
		{"#5", "count(*)", "id = 1", ""},
		{"st", "count(*)", "", `column "st" cannot be used: it is a struct; use a field of it, such as "st.f"`},
		{"st.l", "count(*)", "", `column "st.l" cannot be used`},
		{"st.g", "count(*)", "", `column "st.g" does not exist in the records`},
	} {
		q := gagg.Query{From: structs(t), Where: test.where, Aggs: []gagg.Agg{gagg.Expr(test.agg)}}
		if test.by != "" {
			q.By, q.OrderBy = []string{test.by}, []string{"1"}
		}
		lines, err := answer(t, q, gagg.Options{BatchRows: 2})
		switch {
		case errors.Is(err, gagg.ErrUsage) && strings.Contains(err.Error(), test.want):
		case err != nil || !slices.Equal(lines, strings.Split(test.want, ";")):
			t.Errorf("%+v: %q, %v", test, lines, err)
		}
	}
}

// A decimal beyond its precision in records, which cannot be read again, is an error.
func TestRecordsBeyondPrecision(t *testing.T) {
	for _, dt := range []arrow.DataType{&arrow.Decimal128Type{Precision: 3, Scale: 1}, &arrow.Decimal128Type{Precision: 20, Scale: 1}} {
		schema := arrow.NewSchema([]arrow.Field{{Name: "d", Type: dt, Nullable: true}}, nil)
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		defer b.Release()
		ten := decimal128.GetScaleMultiplier(int(dt.(*arrow.Decimal128Type).Precision))
		b.Field(0).(*array.Decimal128Builder).AppendValues([]decimal128.Num{ten, ten, decimal128.FromI64(1)}, []bool{false, false, true})
		for _, bad := range []bool{false, true} {
			if bad {
				b.Field(0).(*array.Decimal128Builder).Append(ten.Negate())
			}
			rec := b.NewRecord()
			r, err := array.NewRecordReader(schema, []arrow.Record{rec})
			if err != nil {
				t.Fatal(err)
			}
			lines, err := answer(t, gagg.Query{From: gagg.Records(r), Aggs: []gagg.Agg{gagg.Max("d")}}, gagg.Options{})
			if bad != errors.Is(err, gagg.ErrInput) || !bad && !slices.Equal(lines, []string{"0.1"}) {
				t.Errorf("%v: %q, %v", dt, lines, err)
			}
			r.Release()
			rec.Release()
		}
	}
}
