package partition

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/spill"
)

// Blocks are of the size that the memory to merge them asks for, hold all rows
// and give them back.
func TestBlockSize(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 2))
	for _, merge := range []int64{0, 1, 1 << 20, 1 << 30} {
		for _, stride := range []int{1, 7, 5000} {
			space, err := spill.Open(spill.Config{Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			size := BlockBytesFor(merge)
			d := NewDisk(space.File, nil, stride, size)
			rows := make([]uint64, (1<<20)/8/stride*stride)
			for i := range rows {
				rows[i] = rng.Uint64()
			}
			blocks, err := d.Write(nil, rows)
			if err == nil {
				blocks, err = d.Flush(blocks)
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []uint64
			var page Page
			for i, b := range blocks {
				most, least := max(size, 8*stride), size-8*stride
				if n := int(b.Bytes()); n > most || n <= least && i < len(blocks)-1 {
					t.Errorf("memory %d, stride %d: block %d of %d has %d bytes, want %d to %d", merge, stride, i, len(blocks), n, least, most)
				}
				if err := d.Read(b, &page); err != nil {
					t.Fatal(err)
				}
				got = append(got, page.Rows...)
			}
			if !slices.Equal(got, rows) {
				t.Errorf("memory %d, stride %d: other rows", merge, stride)
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
			if err := space.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
