package parquetio

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// The length of texts is known where all have the same, and a guess where they lie in plain
// pages; columns of dictionaries, numbers and nothing tell none.
func TestTextLength(t *testing.T) {
	t.Chdir(t.TempDir())
	type row struct {
		Same    string   `parquet:"same,plain"`
		Coded   string   `parquet:"coded,dict"`
		Various string   `parquet:"various,plain"`
		Words   string   `parquet:"words,dict"`
		Bytes   [20]byte `parquet:"bytes"`
		Number  int64    `parquet:"number"`
	}
	var rows []row
	for i := range 6000 {
		id := fmt.Sprintf("%036x", uint64(i)*0x9e3779b97f4a7c15)
		rows = append(rows, row{id, id, strings.Repeat("x", 20+i%21), strings.Repeat("y", i%41), [20]byte{byte(i)}, int64(i)})
	}
	writeRows(t, "t.parquet", 2000, rows)
	d := mustOpen(t, Options{}, "t.parquet")
	s, err := d.Scan(ScanOptions{Columns: []int{0, 1, 2, 3, 4, 5}})
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range []struct {
		least, most int
		ok          bool
	}{{36, 36, true}, {36, 36, true}, {37, 38, true}, {0, 40, false}, {20, 20, true}, {0, 0, false}} {
		if n, ok := s.TextLength(i); ok != x.ok || n < x.least || n > x.most {
			t.Errorf("column %d: %d, %v; want %d to %d, %v", i, n, ok, x.least, x.most, x.ok)
		}
	}
	none, err := d.Scan(ScanOptions{Columns: []int{0}, Skip: func(func(int) column.Bounds) bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := none.TextLength(0); ok {
		t.Error("told of no unit")
	}
}
