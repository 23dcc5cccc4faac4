package sink

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/gagg-dev/gagg/internal/column"
)

// expectNested compares the leaves that parquet-go reads, which are in the
// order of the columns, with what went in: values by row, from their levels.
func expectNested(t *testing.T, file []byte, cols []testColumn) *parquet.File {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	leaf := 0
	for _, c := range cols {
		expectLeaf(t, c.name, f, leaf, leafRows(c, func(v *column.Vector, i int) column.Value { return inParquet(v.Elem.At(i), c.typ.Elem()) }), c.typ.Elem())
		leaf++
		if c.typ.Nest == column.Map {
			expectLeaf(t, c.name, f, leaf, leafRows(c, func(v *column.Vector, i int) column.Value { return integer(v.Counts[i]) }), int64Type)
			leaf++
		}
	}
	return f
}

// leafRows are the values of a leaf, by row; nil for NULL.
func leafRows(c testColumn, at func(*column.Vector, int) column.Value) (rows [][]column.Value) {
	for _, x := range c.values {
		if x.Null {
			rows = append(rows, nil)
			continue
		}
		row := []column.Value{}
		for i := range int(x.List.Span[0].Len) {
			row = append(row, at(x.List, i))
		}
		rows = append(rows, row)
	}
	return rows
}

func expectLeaf(t *testing.T, name string, f *parquet.File, leaf int, want [][]column.Value, typ column.Type) {
	t.Helper()
	var got [][]column.Value
	for _, group := range f.RowGroups() {
		pages := group.ColumnChunks()[leaf].Pages()
		for {
			page, err := pages.ReadPage()
			if err != nil {
				break
			}
			values := make([]parquet.Value, page.NumValues())
			n, _ := page.Values().ReadValues(values)
			for _, v := range values[:n] {
				if v.RepetitionLevel() == 0 {
					got = append(got, nil)
				}
				row := &got[len(got)-1]
				if v.DefinitionLevel() >= 1 && *row == nil {
					*row = []column.Value{}
				}
				if v.DefinitionLevel() >= 2 {
					*row = append(*row, asValue(v, typ))
				}
			}
		}
		pages.Close()
	}
	if len(got) != len(want) {
		t.Fatalf("column %q: %d rows, want %d", name, len(got), len(want))
	}
	for i := range want {
		if (got[i] == nil) != (want[i] == nil) || !slices.EqualFunc(got[i], want[i], sameValue) {
			t.Fatalf("column %q, row %d: %d values, want %d: %.200s, want %.200s", name, i, len(got[i]), len(want[i]), fmt.Sprint(got[i]), fmt.Sprint(want[i]))
		}
	}
}

func TestParquetNestedEveryType(t *testing.T) {
	t.Parallel()
	cols := slices.DeleteFunc(everyNested(), func(c testColumn) bool { return c.typ.Kind == column.Null })
	for _, codec := range []string{"snappy", "zstd", "none"} {
		f := expectNested(t, render(t, Parquet, cols, 2, Options{Compression: codec}), cols)
		for i, c := range f.Root().Columns() {
			if c.Name() != cols[i].name || c.Leaf() || !c.Optional() {
				t.Errorf("column %d is %s", i, c)
			}
		}
	}
}

// The schema is the one that the format's standard gives.
func TestParquetNestedSchema(t *testing.T) {
	t.Parallel()
	cols := []testColumn{
		{name: "l", typ: column.ListOf(stringType)}, {name: "m", typ: column.MapOf(column.Type{Kind: column.Int32})}, {name: "x", typ: int64Type},
	}
	f := expectNested(t, render(t, Parquet, cols[:2], 1, Options{}), cols[:2])
	got := strings.Join(strings.Fields(f.Schema().String()), " ")
	want := "message schema { optional group l (LIST) { repeated group list { optional binary element (STRING); } } " +
		"optional group m (MAP) { repeated group key_value { required int32 key (INT(32,true)); optional int64 value (INT(64,true)); } } }"
	if got != want {
		t.Errorf("schema\n%s, want\n%s", got, want)
	}
	if n := len(f.Metadata().ColumnOrders); n != 3 {
		t.Errorf("%d column orders", n)
	}
}

// Lists of any length cross pages, records and row groups; dictionaries fill
// up in the middle of a list.
func TestParquetNestedManyPages(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	ints, texts, m := column.ListOf(int64Type), column.ListOf(stringType), column.MapOf(stringType)
	cols := []testColumn{{name: "ints", typ: ints}, {name: "texts", typ: texts}, {name: "map", typ: m}, {name: "bools", typ: column.ListOf(column.Type{Kind: column.Bool})}}
	const rows, group = 3000, 1100
	for i := range rows {
		n := rng.IntN(60)
		if i == 700 || i == 2000 {
			n = 2*pageRows + 13
		}
		var is, ts, bs []column.Value
		for j := range n {
			is = append(is, integer(int64(i*j)))
			ts = append(ts, str(strings.Repeat(fmt.Sprint(rng.IntN(20_000)), 1+j%3)))
			bs = append(bs, integer(int64(j&1)))
		}
		row := []column.Value{nestedValue(ints, is...), nestedValue(texts, ts...), nestedValue(m, ts...), nestedValue(cols[3].typ, bs...)}
		for c := range cols {
			if (i+c)%13 == 0 {
				row[c] = null()
			}
			cols[c].values = append(cols[c].values, row[c])
		}
	}
	f := expectNested(t, parquetInPieces(t, cols, group, 999), cols)
	if groups := f.RowGroups(); len(groups) != 3 || groups[0].NumRows() != group {
		t.Errorf("%d row groups", len(groups))
	}
}

// A row group ends where its lists are many, not only its rows.
func TestParquetNestedCut(t *testing.T) {
	t.Parallel()
	v := &column.Vector{Type: column.ListOf(int64Type), Len: 5, Null: make([]bool, 5), Span: []column.Span{
		{Len: rowGroupRows}, {}, {Len: 1}, {Len: rowGroupRows + 1}, {Len: 1},
	}}
	for from, want := range []int{2, 3, 3, 4, 5} {
		if got := cutLists(v, from, v.Len); got != want {
			t.Errorf("from %d: cut at %d, want %d", from, got, want)
		}
	}
}
