package parquetio

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/gagg-dev/gagg/internal/column"
)

// The dictionary of a chunk and that of the one before are as they were, also when the reader is closed;
// the one before them has given its memory (RECYCLED), also where dictionaries differ a little in size.
func TestDictionariesRecycled(t *testing.T) {
	t.Chdir(t.TempDir())
	type row struct {
		Text   string `parquet:"text,dict"`
		Number int64  `parquet:"number,dict"`
	}
	const groups, groupRows = 6, 2000
	text := func(group, i int) string { return fmt.Sprintf("%0*d of %d", 20+group%3, i, group) }
	number := func(group, i int) int64 { return int64(i*groups + group) }
	var rows []row
	for g := range groups {
		for i := range groupRows {
			rows = append(rows, row{text(g, i), number(g, i)})
		}
	}
	writeRows(t, "t.parquet", groupRows, rows)
	s, err := mustOpen(t, Options{}, "t.parquet").Scan(ScanOptions{Columns: []int{0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	check := func(dicts []*column.Dict, g int) {
		t.Helper()
		for i := range groupRows {
			if got := string(dicts[0].Values.Bytes(i)); got != text(g, i) {
				t.Fatalf("row group %d: entry %d is %q, want %q", g, i, got, text(g, i))
			}
			if got := dicts[1].Values.Int[i]; got != number(g, i) {
				t.Fatalf("row group %d: entry %d is %d, want %d", g, i, got, number(g, i))
			}
		}
	}
	r := s.NewReader()
	var met [][]*column.Dict // by row group, by column
	again := 0
	for u := range s.Units() {
		if err := r.Open(u); err != nil {
			t.Fatal(err)
		}
		var b column.Batch
		if ok, err := r.Next(&b); !ok || err != nil {
			t.Fatal(ok, err)
		}
		met = append(met, []*column.Dict{b.Cols[0].Dict, b.Cols[1].Dict})
		check(met[u], u)
		if u > 0 {
			check(met[u-1], u-1)
		}
		if u > 1 {
			for c, old := range met[u-2] {
				if now := met[u][c]; unsafe.SliceData(now.Values.Int) == unsafe.SliceData(old.Values.Int) && unsafe.SliceData(now.Values.Data) == unsafe.SliceData(old.Values.Data) {
					again++
				}
			}
		}
	}
	r.Close()
	check(met[groups-1], groups-1)
	check(met[groups-2], groups-2)
	if again != 2*(groups-2) {
		t.Errorf("the memory of %d of %d dictionaries was used again", again, 2*(groups-2))
	}
}
