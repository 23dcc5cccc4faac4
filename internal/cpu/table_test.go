package cpu

import (
	"errors"
	"testing"
)

// A table that was refused memory in the middle of a batch holds whole groups
// only: the same batch, once there is memory, finds each key's group.
func TestTableAfterRefusal(t *testing.T) {
	refused := errors.New("refused")
	for n := 2; ; n++ { // the first request is that of newTable
		requests := 0
		tab, err := newTable(4, 1, make([]uint64, 4), func(bytes int64) error {
			if requests++; requests == n {
				return refused
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		const rows = 20_000
		hash, w, groups := make([]uint64, rows), [][]uint64{make([]uint64, rows)}, make([]uint32, rows)
		for i := range hash {
			w[0][i] = uint64(i % (rows / 2))
			hash[i] = w[0][i] * 0x9e3779b97f4a7c15
		}
		_, err = tab.find(hash, w, groups)
		if requests < n {
			if err != nil || n < 5 {
				t.Fatalf("error %v after %d requests", err, requests)
			}
			return
		}
		if !errors.Is(err, refused) {
			t.Fatalf("request %d refused: error %v", n, err)
		}
		if _, err := tab.find(hash, w, groups); err != nil || tab.n != rows/2 {
			t.Fatalf("request %d refused, then error %v, %d groups", n, err, tab.n)
		}
		for i, g := range groups {
			if row := tab.rows.Rows[int(g)*4:]; row[0] != hash[i] || row[1] != w[0][i] {
				t.Fatalf("request %d refused: row %d has group %d, which is another key's", n, i, g)
			}
		}
		tab.drop()
	}
}
