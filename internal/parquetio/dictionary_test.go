package parquetio

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/gagg-dev/gagg/internal/budget/budgettest"
	"github.com/gagg-dev/gagg/internal/column"
)

// The memory of a dictionary serves that of the next chunk (RECYCLED), also where dictionaries
// differ a little in size.
func TestDictionariesRecycled(t *testing.T) {
	t.Chdir(t.TempDir())
	type row struct {
		Text   string `parquet:"text,dict"`
		Number int64  `parquet:"number,dict"`
	}
	const groups, groupRows = 6, 2000
	text := func(group, i int) string { return fmt.Sprintf("%0*d of %d", 22-group%3, i, group) }
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
	r := s.NewReader()
	defer r.Close()
	var met [][2]*column.Dict // by row group
	again := 0
	for u := range s.Units() {
		if err := r.Open(u); err != nil {
			t.Fatal(err)
		}
		var b column.Batch
		if ok, err := r.Next(&b); !ok || err != nil {
			t.Fatal(ok, err)
		}
		now := [2]*column.Dict{b.Cols[0].Dict, b.Cols[1].Dict}
		for i := range groupRows {
			if got := string(now[0].Values.Bytes(i)); got != text(u, i) {
				t.Fatalf("row group %d: entry %d is %q, want %q", u, i, got, text(u, i))
			}
			if got := now[1].Values.Int[i]; got != number(u, i) {
				t.Fatalf("row group %d: entry %d is %d, want %d", u, i, got, number(u, i))
			}
		}
		for _, old := range met {
			if old[0] == now[0] || old[1] == now[1] {
				t.Fatalf("row group %d: the dictionary of another one", u)
			}
		}
		if u > 0 && unsafe.SliceData(now[0].Values.Data) == unsafe.SliceData(met[u-1][0].Values.Data) {
			again++
		}
		if u > 0 && unsafe.SliceData(now[1].Values.Int) == unsafe.SliceData(met[u-1][1].Values.Int) {
			again++
		}
		met = append(met, now)
	}
	if again != 2*(groups-1) {
		t.Errorf("the memory of %d of %d dictionaries was used again", again, 2*(groups-1))
	}
}

// A large dictionary is in memory as its entries alone, whatever was read before: neither the
// page in the file nor the dictionary of the last chunk is held.
func TestDictionaryHeldOnce(t *testing.T) {
	if !snappyResumes {
		t.Skip("a page is read before it is decompressed")
	}
	t.Chdir(t.TempDir())
	writePrefixRows(t, "f", 3)
	l := &ledger{}
	s, err := mustOpen(t, Options{BatchRows: 500, Limits: Limits{Budget: budgettest.Lender(l.grow)}}, "f").Scan(ScanOptions{Columns: []int{1}})
	if err != nil {
		t.Fatal(err)
	}
	before := l.used
	dict := withSlack(int64(len(prefixText(0))+4)*prefixAll+placeMargin) + withSlack(8*prefixAll)
	r := s.NewReader()
	var b column.Batch
	for u := range s.Units() {
		if err := r.Open(u); err != nil {
			t.Fatal(err)
		}
		if ok, err := r.Next(&b); !ok || err != nil || b.Cols[0].Dict.Len() != prefixAll {
			t.Fatal(ok, err)
		}
		if most := dict + withSlack(minWindow) + withSlack(8000) + r.cols[0].vectors; r.work.account.used > most {
			t.Errorf("row group %d: %d bytes were drawn; the dictionary takes %d, all %d", u, r.work.account.used, dict, most)
		}
	}
	if most := dict + withSlack(usualPage) + withSlack(usualPage) + r.cols[0].vectors; s.WorkerBytes() > most || l.peak-before > s.WorkerBytes() {
		t.Errorf("%d bytes were drawn, %d promised; the dictionary takes %d, all %d", l.peak-before, s.WorkerBytes(), dict, most)
	}
	r.Close()
	if l.used != before {
		t.Errorf("%d bytes not given back", l.used-before)
	}
}
