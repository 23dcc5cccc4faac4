package partition

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Rows in any order, and as they leave a device: in runs for one of 2^7 chains, of a page of 512
// KiB each. The pages of buckets have been used before, so that page faults are not measured.
func BenchmarkScatter(b *testing.B) {
	const tileBytes, chainBits = 4 << 20, 7
	for _, stride := range []int{3, 8} {
		rows := tileBytes / 8 / stride
		for _, run := range []int{1, rows / 8} {
			tile := runsOf(stride, rows, run, chainBits)
			for _, bits := range []uint{chainBits, 11} {
				for name, scatter := range map[string]func(*Buckets, []uint64) (int, error){"rows": (*Buckets).Scatter, "runs": (*Buckets).ScatterRuns} {
					b.Run(fmt.Sprintf("words=%d/run=%d/partitions=%d/by=%s", stride, run, 1<<bits, name), func(b *testing.B) {
						benchScatter(b, New(0, bits, NewPool(stride, nil), nil), tile, scatter)
						b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
					})
				}
			}
		}
	}
}

// benchScatter places a tile again and again. After some 64 tiles the pages are used again.
func benchScatter(b *testing.B, buckets *Buckets, tile []uint64, scatter func(*Buckets, []uint64) (int, error)) {
	const tiles = 64
	place := func(n int) {
		for range n {
			if _, err := scatter(buckets, tile); err != nil {
				b.Fatal(err)
			}
		}
		for p := range buckets.Partitions() {
			buckets.Release(p)
		}
	}
	place(tiles)
	defer buckets.pool.Reset()
	b.SetBytes(int64(8 * len(tile)))
	b.ResetTimer()
	for left := b.N; left > 0; left -= tiles {
		place(min(left, tiles))
	}
	b.StopTimer()
}

// runsOf is random rows, so many after each other with the same top bits of their hash.
func runsOf(stride, rows, run int, bits uint) []uint64 {
	rng := rand.New(rand.NewPCG(1, 2))
	tile := make([]uint64, stride*rows)
	top := uint64(0)
	for i := range rows {
		hash := rng.Uint64()
		if i%run == 0 {
			top = hash >> (64 - bits) << (64 - bits)
		}
		tile[i*stride] = top | hash<<bits>>bits
	}
	return tile
}
