package sink

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/gagg-dev/gagg/internal/column"
)

// indexedColumns have many pages with room for few values, some of NULLs alone.
func indexedColumns() []testColumn {
	cols := []testColumn{
		{name: "sorted", typ: column.Type{Kind: column.Int64}},
		{name: "text", typ: column.Type{Kind: column.String}},
		{name: "long", typ: column.Type{Kind: column.Binary}},
		{name: "null", typ: column.Type{Kind: column.Int64}},
		{name: "nan", typ: column.Type{Kind: column.Float64}},
	}
	for i := range 12_000 {
		long := str(fmt.Sprintf("%0*d", 10+i%90, i))
		if i/700 == 3 {
			long = str(strings.Repeat("\xFE\xFF", 40) + fmt.Sprint(i))
		}
		some, x := integer(int64(-i)), double(float64(i%50))
		if i > 2000 {
			some = null()
		}
		if i == 4321 {
			x = double(math.NaN())
		}
		for c, v := range []column.Value{integer(int64(i)), str(fmt.Sprint("text ", i/10)), long, some, x} {
			cols[c].values = append(cols[c].values, v)
		}
	}
	return cols
}

// The page index says where each page lies, with which row it begins, and the bounds of its
// values: the tightest ones, except for long texts.
func TestParquetPageIndex(t *testing.T) {
	t.Parallel()
	cols := indexedColumns()
	file := render(t, Parquet, cols, 300, Options{Memory: 500 << 10})
	f := expectColumns(t, file, cols)
	groups := len(f.RowGroups())
	if n := len(f.OffsetIndexes()); groups < 2 || n != groups*len(cols) {
		t.Fatalf("%d row groups, %d offset indexes", groups, n)
	}
	pages, nulls, cut, first := 0, 0, 0, 0
	for g, group := range f.RowGroups() {
		for c, chunk := range group.ColumnChunks() {
			places, values := f.OffsetIndexes()[g*len(cols)+c], f.ColumnIndexes()[g*len(cols)+c]
			if hasNaN := cols[c].name == "nan" && first <= 4321 && 4321 < first+int(group.NumRows()); hasNaN != (len(values.NullPages) == 0) {
				t.Errorf("%s: bounds of %d pages", cols[c].name, len(values.NullPages))
			}
			row := int64(0)
			reader := chunk.Pages()
			for k := range places.PageLocations {
				page, err := reader.ReadPage()
				if err != nil {
					t.Fatal(err)
				}
				p := places.PageLocations[k]
				if p.FirstRowIndex != row || k > 0 && p.Offset != places.PageLocations[k-1].Offset+int64(places.PageLocations[k-1].CompressedPageSize) {
					t.Errorf("%s: %+v", cols[c].name, places.PageLocations)
				}
				pages++
				if len(values.NullPages) > 0 {
					rows := cols[c].values[first+int(row):][:page.NumValues()]
					n, isCut := checkPage(t, rows, values.MinValues[k], values.MaxValues[k], c)
					if values.NullPages[k] != (n == len(rows)) || values.NullCounts[k] != int64(n) {
						t.Errorf("%s: %d NULLs of %d, the index says %d", cols[c].name, n, len(rows), values.NullCounts[k])
					}
					if n == len(rows) {
						nulls++
					}
					if isCut {
						cut++
					}
				}
				row += page.NumValues()
			}
			if _, err := reader.ReadPage(); err == nil || row != group.NumRows() {
				t.Errorf("%s: %d pages in the index, %d rows", cols[c].name, len(places.PageLocations), row)
			}
			reader.Close()
		}
		first += int(group.NumRows())
	}
	if pages < 80 || nulls < 1 || cut < 3 {
		t.Errorf("%d pages, %d of NULLs, %d with long texts", pages, nulls, cut)
	}
}

// checkPage compares the bounds of a page with its values, and counts the NULLs.
func checkPage(t *testing.T, rows []column.Value, low, high []byte, c int) (nulls int, cut bool) {
	t.Helper()
	reached := [2]bool{}
	for _, v := range rows {
		if v.Null {
			nulls++
			continue
		}
		switch c {
		case 0, 3:
			lo, hi := int64(binary.LittleEndian.Uint64(low)), int64(binary.LittleEndian.Uint64(high))
			if v.Int < lo || v.Int > hi {
				t.Fatalf("%d is not within %d and %d", v.Int, lo, hi)
			}
			reached[0], reached[1] = reached[0] || v.Int == lo, reached[1] || v.Int == hi
		case 1, 2:
			if v.Bytes < string(low) || v.Bytes > string(high) {
				t.Fatalf("%q is not within %q and %q", v.Bytes, low, high)
			}
			cut = cut || len(v.Bytes) > maxBoundBytes
			reached[0], reached[1] = reached[0] || v.Bytes == string(low), reached[1] || v.Bytes == string(high)
		case 4:
			return nulls, false
		}
	}
	if nulls < len(rows) && !cut && reached != [2]bool{true, true} || len(low) > maxBoundBytes || len(high) > maxBoundBytes {
		t.Errorf("column %d: %q and %q are not the bounds of %d values", c, low, high, len(rows))
	}
	return nulls, cut
}

// A file of very many small pages has no index, rather than one that takes much memory. A file
// with lists has none either.
func TestParquetWithoutPageIndex(t *testing.T) {
	t.Parallel()
	cols := indexedColumns()
	cols[0].values, cols[1].values = cols[0].values[:10], cols[1].values[:10]
	list := column.Type{Kind: column.Int64, Nest: column.List}
	values := make([]column.Value, 10)
	for i := range values {
		values[i] = null()
	}
	for name, file := range map[string][]byte{
		"lists": render(t, Parquet, []testColumn{cols[0], {name: "l", typ: list, values: values}}, 3, Options{}),
		"small": render(t, Parquet, cols[2:4], 100, Options{Memory: 40 << 10}),
	} {
		f, err := parquet.OpenFile(strings.NewReader(string(file)), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		for _, group := range f.Metadata().RowGroups {
			for _, c := range group.Columns {
				if c.ColumnIndexOffset != 0 || c.OffsetIndexOffset != 0 || c.ColumnIndexLength != 0 || c.OffsetIndexLength != 0 {
					t.Errorf("%s: %+v", name, c)
				}
			}
		}
	}
}

// What is above a text that was cut is greater than all texts that begin with it.
func TestAbove(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", "a": "b", "a\xFF": "b", "\xFF\xFF": "", "a\x00": "a\x01", "\xFE\xFF\xFF": "\xFF"} {
		if got := above([]byte(text)); string(got) != want {
			t.Errorf("above %q: %q", text, got)
		}
	}
}
