package datagen_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/datagen"
)

// everyType is a column of each type that Parquet holds.
func everyType(nulls float64, coded bool) []datagen.Column {
	var cols []datagen.Column
	for i, t := range datagen.Types() {
		cols = append(cols, datagen.Column{
			Name: fmt.Sprintf("z%02d", 99-i), Type: t, Distinct: 40, Nulls: nulls, Special: true, Coded: coded,
		})
	}
	return cols
}

func TestSameSeedSameTable(t *testing.T) {
	spec := datagen.Spec{Rows: 300, Seed: 7, Columns: everyType(0.2, false)}
	a, b := datagen.New(spec), datagen.New(spec)
	spec.Seed = 8
	other := datagen.New(spec)
	differs := false
	for r := range spec.Rows {
		for c := range spec.Columns {
			if !same(a.At(c, r), b.At(c, r)) {
				t.Fatalf("row %d column %d: %v and %v", r, c, a.At(c, r), b.At(c, r))
			}
			differs = differs || !same(a.At(c, r), other.At(c, r))
		}
	}
	if !differs {
		t.Error("another seed gives the same table")
	}
}

func TestBatchesHoldTheTable(t *testing.T) {
	for _, coded := range []bool{false, true} {
		table := datagen.New(datagen.Spec{Rows: 100, Seed: 1, Columns: everyType(0.3, coded)})
		for _, size := range []int{1, 33, 100, 1000} {
			row := 0
			for _, b := range table.Batches(size) {
				for c := range b.Cols {
					if got := b.Cols[c].Dict != nil; got != coded {
						t.Fatalf("column %d: dictionary %v, want %v", c, got, coded)
					}
					for i := range b.Rows {
						if got, want := b.Cols[c].At(i), table.At(c, row+i); !same(got, want) {
							t.Fatalf("row %d column %d: %v, want %v", row+i, c, got, want)
						}
					}
				}
				row += b.Rows
			}
			if row != table.Rows {
				t.Errorf("batches of %d hold %d rows, want %d", size, row, table.Rows)
			}
		}
	}
	if b := datagen.New(datagen.Spec{Columns: everyType(0, false)}).Batches(10); len(b) != 0 {
		t.Errorf("no rows: %d batches", len(b))
	}
}

func TestDistinctAndSkew(t *testing.T) {
	spec := datagen.Spec{Rows: 20000, Seed: 3, Columns: []datagen.Column{
		{Name: "all", Type: column.Type{Kind: column.Int64}},
		{Name: "even", Type: column.Type{Kind: column.String}, Distinct: 100},
		{Name: "zipf", Type: column.Type{Kind: column.Int32}, Distinct: 100, Skew: 1},
		{Name: "bool", Type: column.Type{Kind: column.Bool}, Distinct: 100},
	}}
	table := datagen.New(spec)
	for c, want := range []struct{ distinct, most int }{{20000, 1}, {100, 300}, {100, 4200}, {2, 12000}} {
		counts := map[column.Value]int{}
		for r := range spec.Rows {
			counts[table.At(c, r)]++
		}
		most := 0
		for _, n := range counts {
			most = max(most, n)
		}
		if len(counts) != want.distinct || most > want.most || 2*most < want.most {
			t.Errorf("%s: %d values, the commonest %d times, want %d and about %d", spec.Columns[c].Name, len(counts), most, want.distinct, want.most)
		}
	}
}

// The file holds the rows of the table, whatever its layout.
func TestWriteParquet(t *testing.T) {
	layouts := []datagen.Layout{
		{},
		{RowGroup: 70, Page: 9, Codec: "snappy"},
		{RowGroup: 128, Page: 50, Codec: "zstd", V2: true, Encoding: datagen.Delta},
		{RowGroup: 1000, Codec: "gzip", Encoding: datagen.Split, Required: true},
		{RowGroup: 64, Codec: "brotli", V2: true, Required: true},
	}
	for _, l := range layouts {
		for _, nulls := range []float64{0, 0.25} {
			for _, coded := range []bool{false, true} {
				t.Run(fmt.Sprintf("%+v/nulls=%v/coded=%v", l, nulls, coded), func(t *testing.T) {
					checkFile(t, datagen.New(datagen.Spec{Rows: 200, Seed: 5, Columns: everyType(nulls, coded)}), l)
				})
			}
		}
	}
}

func checkFile(t *testing.T, table *datagen.Table, l datagen.Layout) {
	t.Helper()
	var out bytes.Buffer
	if err := table.WriteParquet(&out, l); err != nil {
		t.Fatal(err)
	}
	file, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := file.NumRows(), int64(table.Rows); got != want {
		t.Fatalf("%d rows, want %d", got, want)
	}
	for c, f := range file.Schema().Fields() {
		if f.Name() != table.Columns[c].Name || f.Optional() != !(l.Required && table.Columns[c].Nulls == 0) {
			t.Fatalf("column %d is %s, optional %v", c, f.Name(), f.Optional())
		}
	}
	first := 0
	for _, g := range file.RowGroups() {
		if l.RowGroup > 0 && g.NumRows() > int64(l.RowGroup) {
			t.Errorf("row group of %d rows, want %d at most", g.NumRows(), l.RowGroup)
		}
		for c, chunk := range g.ColumnChunks() {
			checkChunk(t, table, chunk, c, first, l)
		}
		first += int(g.NumRows())
	}
}

func checkChunk(t *testing.T, table *datagen.Table, chunk parquet.ColumnChunk, c, row int, l datagen.Layout) {
	t.Helper()
	pages := chunk.Pages()
	defer pages.Close()
	for {
		page, err := pages.ReadPage()
		if err != nil {
			return // io.EOF; a short chunk shows in the rows below
		}
		if l.Page > 0 && page.NumValues() > int64(l.Page) {
			t.Errorf("page of %d rows, want %d at most", page.NumValues(), l.Page)
		}
		values := make([]parquet.Value, page.NumValues())
		if n, _ := page.Values().ReadValues(values); n != len(values) {
			t.Fatalf("%d values, want %d", n, len(values))
		}
		for _, got := range values {
			if want := table.At(c, row); got.IsNull() != want.Null || !want.Null && !sameStored(got, want) {
				t.Fatalf("row %d of %s: %v, want %+v", row, table.Columns[c].Type, got, want)
			}
			row++
		}
	}
}

// sameStored compares what a reader gets back with the value asked for.
func sameStored(got parquet.Value, want column.Value) bool {
	switch got.Kind() {
	case parquet.Boolean:
		return got.Boolean() == (want.Int != 0)
	case parquet.Int32:
		return got.Int32() == int32(want.Int)
	case parquet.Int64:
		return got.Int64() == want.Int
	case parquet.Float:
		return math.Float32bits(got.Float()) == math.Float32bits(float32(want.Float))
	case parquet.Double:
		return math.Float64bits(got.Double()) == math.Float64bits(want.Float)
	}
	switch want.Type.Rep() {
	case column.RepFloat64: // float16: the exponent tells the special values apart
		return len(got.ByteArray()) == 2
	case column.RepWide:
		negative := got.ByteArray()[0] >= 0x80
		return negative == (want.Wide.Sign() < 0)
	}
	return string(got.ByteArray()) == want.Bytes
}

func TestWriteParquetRefuses(t *testing.T) {
	seconds := datagen.New(datagen.Spec{Rows: 1, Columns: []datagen.Column{{Name: "t", Type: column.TimestampType(column.Second, false)}}})
	if err := seconds.WriteParquet(&bytes.Buffer{}, datagen.Layout{}); err == nil {
		t.Error("seconds: no error")
	}
	if err := datagen.New(datagen.Spec{}).WriteParquet(&bytes.Buffer{}, datagen.Layout{Codec: "lzma"}); err == nil {
		t.Error("unknown codec: no error")
	}
}

func same(a, b column.Value) bool {
	return a.Type == b.Type && a.Null == b.Null && a.Int == b.Int && a.Bytes == b.Bytes &&
		math.Float64bits(a.Float) == math.Float64bits(b.Float) && slices.Equal(words(a), words(b))
}

func words(v column.Value) []uint64 {
	w := v.Wide.Array()
	return w[:]
}
