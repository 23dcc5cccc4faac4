package ega_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/combine"
	"github.com/gagg-dev/gagg/ega/egatest"
	"github.com/gagg-dev/gagg/ega/reference"
)

// Sums of doubles are right to 1e-12 where adding them up plainly has no digit
// right: large values that cancel out, and small ones among them.
func TestSums(t *testing.T) {
	const groups, each, small = 7, 100, 1.25
	random := rand.New(rand.NewPCG(7, 8))
	c := egatest.Case{Layout: ega.Layout{KeyWords: 1, Ops: []combine.Op{combine.Sum, combine.SumError}, Mates: []int{1}}}
	var rows [][]uint64
	for group := range uint64(groups) {
		for range each {
			large := (1 + random.Float64()) * 1e16
			for _, v := range []float64{large, -large, small} {
				rows = append(rows, []uint64{group, math.Float64bits(v), 0})
			}
		}
	}
	random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	c.Rows = slices.Concat(rows...)
	for name, strategy := range strategies {
		t.Run("strategy="+name, func(t *testing.T) {
			r := newRig(t)
			if err := sumsOf(strategy(r, r.Load(c.Layout), &c), groups, each*small); err != nil {
				t.Error(err)
			}
		})
	}
	if err := sumsOf(reference.Combine(&c.Layout, c.Rows), groups, each*small); err != nil {
		t.Errorf("the twin: %v", err)
	}
}

// sumsOf wants so many groups with a sum.
func sumsOf(rows []uint64, groups int, want float64) error {
	if len(rows) != 3*groups {
		return fmt.Errorf("%d words, want %d groups of 3", len(rows), groups)
	}
	for row := range slices.Chunk(rows, 3) {
		if got := egatest.Total(row[1:], 0, 1); math.Abs(got-want) > 1e-12*want {
			return fmt.Errorf("group %d: sum %v, want %v", row[0], got, want)
		}
	}
	return nil
}

// Sums of squares have twice the digits of a double: if all values are equal, subtracting the
// square of their sum leaves nothing.
func TestFineSums(t *testing.T) {
	const groups, each, x = 3, 4000, 1234567.8912345
	square := x * x
	low := math.FMA(x, x, -square)
	for _, keys := range []int{1, 2} {
		c := egatest.Case{Layout: ega.Layout{Hash: true, KeyWords: keys, Ops: []combine.Op{combine.SumFine, combine.SumError}, Mates: []int{1}}}
		for i := range groups * each {
			key := make([]uint64, keys)
			key[0] = uint64(i % groups)
			c.Rows = append(c.Rows, reference.HashOf(key))
			c.Rows = append(append(c.Rows, key...), math.Float64bits(square), math.Float64bits(low))
		}
		for name, strategy := range strategies {
			t.Run(fmt.Sprintf("keys=%d/strategy=%s", keys, name), func(t *testing.T) {
				r := newRig(t)
				fineSums(t, &c.Layout, strategy(r, r.Load(c.Layout), &c), groups, each, x)
			})
		}
		fineSums(t, &c.Layout, reference.Combine(&c.Layout, c.Rows), groups, each, x)
	}
}

// fineSums wants sums of n squares of x with an error of n * 2^-96 of them, which package agg
// allows for: each addition under way in one word at the same time may round off a little.
func fineSums(t *testing.T, l *ega.Layout, rows []uint64, groups int, n int64, x float64) {
	t.Helper()
	if len(rows) != groups*l.Stride() {
		t.Fatalf("%d words, want %d groups", len(rows), groups)
	}
	exact := func(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }
	want := exact(x)
	want.Mul(want, want).Mul(want, exact(float64(n)))
	for row := range slices.Chunk(rows, l.Stride()) {
		states := row[l.Stride()-2:]
		got := exact(math.Float64frombits(states[0]))
		got.Add(got, exact(math.Float64frombits(states[1]))).Sub(got, want).Quo(got, want)
		if off, _ := got.Float64(); math.Abs(off) > float64(n)*0x1p-96 {
			t.Errorf("a sum is off by %g of it, at most %g", off, float64(n)*0x1p-96)
		}
	}
}
