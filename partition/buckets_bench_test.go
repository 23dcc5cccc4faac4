package partition

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Rows in any order, and as they leave a device: in runs for one of 2^7 chains, of a page of 512
// KiB each. The pages of buckets have been used before, so that page faults are not measured.
func BenchmarkScatter(b *testing.B) {
	const batchBytes, chainBits = 4 << 20, 7
	for _, stride := range []int{3, 8} {
		rows := batchBytes / 8 / stride
		for _, run := range []int{1, rows / 8} {
			words := runsOf(stride, rows, run, chainBits)
			for _, bits := range []uint{chainBits, 11} {
				for name, scatter := range map[string]func(*Buckets, []uint64) (int, error){"rows": (*Buckets).Scatter, "runs": (*Buckets).ScatterRuns} {
					b.Run(fmt.Sprintf("words=%d/run=%d/partitions=%d/by=%s", stride, run, 1<<bits, name), func(b *testing.B) {
						benchScatter(b, New(0, bits, NewPool(stride, nil), nil), words, scatter)
						b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
					})
				}
			}
		}
	}
}

// benchScatter places the same rows again and again. After some 64 times the pages are used again.
func benchScatter(b *testing.B, buckets *Buckets, rows []uint64, scatter func(*Buckets, []uint64) (int, error)) {
	const times = 64
	place := func(n int) {
		for range n {
			if _, err := scatter(buckets, rows); err != nil {
				b.Fatal(err)
			}
		}
		for p := range buckets.Partitions() {
			buckets.Release(p)
		}
	}
	place(times)
	defer buckets.pool.Reset()
	b.SetBytes(int64(8 * len(rows)))
	b.ResetTimer()
	for left := b.N; left > 0; left -= times {
		place(min(left, times))
	}
	b.StopTimer()
}

// runsOf is random rows, of which each `run` in a row have the same top bits of their hash.
func runsOf(stride, rows, run int, bits uint) []uint64 {
	rng := rand.New(rand.NewPCG(1, 2))
	words := make([]uint64, stride*rows)
	top := uint64(0)
	for i := range rows {
		hash := rng.Uint64()
		if i%run == 0 {
			top = hash >> (64 - bits) << (64 - bits)
		}
		words[i*stride] = top | hash<<bits>>bits
	}
	return words
}
