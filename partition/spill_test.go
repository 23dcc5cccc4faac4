package partition

import (
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/internal/budget/budgettest"
	"github.com/gagg-dev/gagg/internal/spill"
)

// Where buckets are spilled again and again their blocks stay large: uniform
// rows give each partition its turn, and none stays for good and leaves the
// others a page that is as good as empty.
func TestSpillKeepsBlocksLarge(t *testing.T) {
	t.Parallel()
	const bits, stride, pages, rows = 4, 4, 128, 400_000
	space, err := spill.Open(spill.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	taken := int64(0)
	pool := NewPool(stride, budgettest.Lender(func(bytes int64) error {
		if bytes > 0 && taken+bytes > pages*PageBytes {
			return spill.ErrClosed // any error
		}
		taken += bytes
		return nil
	}))
	disk := NewDisk(space.File, nil, stride, BlockBytes)
	b := New(0, bits, pool, disk)
	rng := rand.New(rand.NewPCG(3, 3))
	row := make([]uint64, stride)
	for range rows {
		row[0] = rng.Uint64()
		for {
			if n, _ := b.Scatter(row); n == 1 {
				break
			}
			if err := b.Spill(b.Bytes()/4 + 1); err != nil {
				t.Fatal(err)
			}
		}
	}
	blocks, onDisk := 0, 0
	for p := range b.Partitions() {
		for _, block := range b.Blocks(p) {
			blocks, onDisk = blocks+1, onDisk+int(block.Rows)
		}
	}
	// rows of a partition that fill its share of the pages
	const fair = pages * PageBytes >> bits / 8 / stride
	if mean := onDisk / blocks; mean < fair || onDisk < rows/2 {
		t.Errorf("%d blocks of %d rows on average, want %d", blocks, mean, fair)
	}
	if b.AllRows() != rows {
		t.Errorf("%d of %d rows", b.AllRows(), rows)
	}
	pool.Reset()
	if err := disk.Close(); err != nil {
		t.Error(err)
	}
	if err := space.Close(); err != nil {
		t.Error(err)
	}
}
