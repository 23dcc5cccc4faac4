package partition

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/budget/budgettest"
	"github.com/gagg-dev/gagg/internal/spill"
)

// oneRef are rows whose second word refers to a value.
type oneRef struct{ from *arena.Arenas }

func (r oneRef) Move(row []uint64, to arena.Putter) error {
	row[1] = to.Put(r.from.Get(row[1]))
	return nil
}

func (oneRef) Rebase(row []uint64, add uint64) { row[1] += add }

// F12: rows with values of any length go to disk and come back, and no buffer that is not drawn
// from the budget is as large as a long value.
func TestLongRows(t *testing.T) {
	t.Parallel()
	space, err := spill.Open(spill.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	reg := &arena.Arenas{}
	defer reg.Close()
	values := reg.New()
	disk := NewDisk(space.File, oneRef{reg}, 2, BlockBytes)
	rng := rand.New(rand.NewPCG(8, 8))
	var rows []uint64
	var want [][]byte
	for i := range 60 {
		n := []int{0, 1, 9, 1000, BlockBytes - 8, BlockBytes, BlockBytes + 1, 1<<20 + 8, 3<<20 + 5}[rng.IntN(9)]
		v := bytes.Repeat([]byte{byte(i), byte(rng.Uint32()), 7}, n/3+1)[:n]
		want = append(want, v)
		rows = append(rows, uint64(i), values.Put(v))
	}
	blocks, err := disk.Write(nil, rows)
	if err == nil {
		blocks, err = disk.Flush(blocks)
	}
	if err != nil {
		t.Fatal(err)
	}
	if held := disk.section.Held() + cap(disk.block) + int(disk.file.MemoryBytes()); held > 8*BlockBytes {
		t.Errorf("%d bytes of buffers", held)
	}
	readLongRows(t, disk, blocks, want)
	if err := errors.Join(disk.Close(), space.Close()); err != nil {
		t.Error(err)
	}
}

func readLongRows(t *testing.T, disk *Disk, blocks []Block, want [][]byte) {
	t.Helper()
	var drawn, most int64
	page := Page{From: budgettest.Lender(func(bytes int64) error {
		drawn += bytes
		most = max(most, drawn)
		return nil
	})}
	reg := &arena.Arenas{}
	i, long := 0, 0
	for _, b := range blocks {
		if err := disk.Read(b, &page); err != nil {
			t.Fatal(err)
		}
		if page.Long() {
			long++
		}
		base := reg.Adopt(page.Section)
		for rows := page.Rows; len(rows) > 0; rows = rows[2:] {
			if got := reg.Get(base + rows[1]); rows[0] != uint64(i) || !bytes.Equal(got, want[i]) {
				t.Fatalf("row %d is row %d with %d bytes, want %d", i, rows[0], len(got), len(want[i]))
			}
			i++
		}
		reg.Drop(base)
	}
	page.Free()
	if i != len(want) || long == 0 || drawn != 0 || most < 3<<20 {
		t.Errorf("%d rows of %d, %d long blocks, %d bytes drawn, %d at most", i, len(want), long, drawn, most)
	}
}
