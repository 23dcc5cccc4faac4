package cpu

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// Rows are in order of their digits, wherever these differ and however many rows there are.
func TestRankSort(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n := rng.IntN(3 * flagLeast)
		if rng.IntN(10) == 0 {
			n *= 50
		}
		low, high := rng.IntN(64), rng.IntN(64) // the digits differ between these bits
		mask := ^uint64(0) >> (63 - max(low, high)) >> min(low, high) << min(low, high)
		same, differ := rng.Uint64()&^mask, uint64(0)
		rows, want := make([]ranked, n), make([]uint64, n)
		for i := range rows {
			want[i] = same | rng.Uint64()&mask
			if rng.IntN(3) == 0 && i > 0 {
				want[i] = want[rng.IntN(i)]
			}
			rows[i].setDigit(want[i])
			differ |= want[i] ^ want[0]
		}
		r := ranker{stop: stop{ctx: t.Context()}}
		r.sort(rows, bits.Len64(differ)-1)
		slices.Sort(want)
		for i, w := range want {
			if rows[i].digit() != w {
				t.Fatalf("%d rows that differ in bits %x: digit %d is %x, want %x", n, mask, i, rows[i].digit(), w)
			}
		}
	}
}
