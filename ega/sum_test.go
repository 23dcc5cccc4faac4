package ega_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/ega"
)

// Sums of doubles are right to 1e-12 where adding them up plainly has no digit
// right: large values that cancel out, and small ones among them.
func TestSums(t *testing.T) {
	const groups, each, small = 7, 100, 1.25
	random := rand.New(rand.NewPCG(7, 8))
	c := caseOf{layout: ega.Layout{KeyWords: 1, Ops: []ega.Op{ega.Sum, ega.SumError}, Mates: []int{1}}}
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
	c.rows = slices.Concat(rows...)
	for name, road := range roads {
		t.Run("road="+name, func(t *testing.T) {
			r := newRig(t)
			if err := sumsOf(road(r, r.load(c.layout), &c), groups, each*small); err != nil {
				t.Error(err)
			}
		})
	}
	if err := sumsOf(ega.Combine(&c.layout, c.rows), groups, each*small); err != nil {
		t.Errorf("the twin: %v", err)
	}
}

// sumsOf wants so many groups with a sum.
func sumsOf(rows []uint64, groups int, want float64) error {
	if len(rows) != 3*groups {
		return fmt.Errorf("%d words, want %d groups of 3", len(rows), groups)
	}
	for row := range slices.Chunk(rows, 3) {
		if got := total(row[1:], 0, 1); math.Abs(got-want) > 1e-12*want {
			return fmt.Errorf("group %d: sum %v, want %v", row[0], got, want)
		}
	}
	return nil
}
