package cpu

import (
	"errors"
	"testing"

	"github.com/gagg-dev/gagg/internal/budget/budgettest"
	"github.com/gagg-dev/gagg/internal/hostmem"
	"github.com/gagg-dev/gagg/internal/key"
)

// A table that cannot be made leaves nothing behind.
func TestTableRefused(t *testing.T) {
	refused := budgettest.Refused()
	live := hostmem.Live()
	tab, err := newTable(4, 1, make([]uint64, 4), budgettest.Lender(func(bytes int64) error {
		if bytes > 0 {
			return refused
		}
		return nil
	}))
	if tab != nil || !errors.Is(err, refused) || hostmem.Live() != live {
		t.Errorf("made: %t, %v; %d bytes are left", tab != nil, err, hostmem.Live()-live)
	}
}

// A table that was refused memory is as it was before: the same batch, once
// there is memory, finds each key's group.
func TestTableAfterRefusal(t *testing.T) {
	refused := budgettest.Refused()
	for n := 2; ; n++ { // the first request is that of newTable
		requests := 0
		tab, err := newTable(4, 1, make([]uint64, 4), budgettest.Lender(func(bytes int64) error {
			if requests++; requests == n {
				return refused
			}
			return nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		const rows = 20_000
		hash, w, groups := make([]uint64, rows), [][]uint64{make([]uint64, rows)}, make([]uint32, rows)
		for i := range hash {
			w[0][i] = uint64(i % (rows / 2))
			hash[i] = w[0][i] * 0x9e3779b97f4a7c15
		}
		const half = rows / 4
		find := func(from, to int) error {
			err := tab.secure(to - from)
			if err == nil {
				tab.find(&key.Encoder{Hash: hash[from:to], Words: [][]uint64{w[0][from:to]}}, groups[from:to])
			}
			return err
		}
		for _, from := range []int{0, half, 2 * half, 3 * half} {
			err := find(from, from+half)
			if err != nil && !errors.Is(err, refused) {
				t.Fatalf("request %d refused: error %v", n, err)
			}
			if err != nil {
				err = find(from, from+half)
			}
			if err != nil {
				t.Fatalf("request %d refused, then error %v", n, err)
			}
		}
		if tab.n != rows/2 {
			t.Fatalf("request %d refused: %d groups", n, tab.n)
		}
		for i, g := range groups {
			if row := tab.rows.Rows[int(g)*4:]; row[0] != hash[i] || row[1] != w[0][i] {
				t.Fatalf("request %d refused: row %d has group %d, which is another key's", n, i, g)
			}
		}
		tab.drop()
		if requests < n {
			if n < 4 {
				t.Fatalf("only %d requests", requests)
			}
			return
		}
	}
}

// A large directory is filled to three quarters before it grows, a small one to half, and each key
// finds its group all along.
func TestTableDirectoryLoad(t *testing.T) {
	tab, err := newTable(3, 1, make([]uint64, 3), noLimit)
	if err != nil {
		t.Fatal(err)
	}
	defer tab.drop()
	const batch = 4096
	hash, words, groups := make([]uint64, batch), [][]uint64{make([]uint64, batch)}, make([]uint32, batch)
	find := func(first int) {
		t.Helper()
		for i := range hash {
			words[0][i] = uint64(first + i)
			hash[i] = words[0][i] * 0x9e3779b97f4a7c15
		}
		if err := tab.secure(batch); err != nil {
			t.Fatal(err)
		}
		tab.find(&key.Encoder{Hash: hash, Words: words}, groups)
		for i, g := range groups {
			if g != uint32(first+i) {
				t.Fatalf("key %d has group %d", first+i, g)
			}
		}
	}
	for n := batch; n <= 3*largeDir/2; n += batch {
		find(n - batch)
		slots := len(tab.dir.slots)
		if most := capacityOf(slots); n > most || n < capacityOf(slots/2) {
			t.Fatalf("%d slots for %d groups", slots, n)
		}
	}
	if len(tab.dir.slots) != 2*largeDir || tab.dir.seeded {
		t.Errorf("%d slots for %d groups, seeded: %t", len(tab.dir.slots), tab.n, tab.dir.seeded)
	}
	for n := batch; n <= int(tab.n); n += 50 * batch {
		find(n - batch)
	}
}
