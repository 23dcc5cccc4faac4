package cpu

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// Ranges at the ends of int64, and such that batches widen: every row's tuple
// lies in the array, and equal values, and only they, have equal tuples for as
// long as the array lives.
func TestRanges(t *testing.T) {
	for _, base := range []int64{math.MinInt64, math.MinInt64 + 5, -3, 0, math.MaxInt64 - 21_000, math.MaxInt64 - 900_000} {
		rng := rand.New(rand.NewPCG(uint64(base), 1))
		var c codes
		seen := map[uint32]int64{} // by tuple
		for batch := range 12 {
			var v column.Vector
			v.Type, v.Len = int64Type, 50
			for range v.Len {
				v.Int = append(v.Int, base+rng.Int64N(10<<batch))
			}
			keys := []column.Vector{v}
			if !c.prepare(keys) {
				t.Fatalf("base %d, batch %d: a range of %d is too wide", base, batch, 10<<batch)
			}
			groups := make([]uint32, v.Len)
			missing := c.find(keys, groups, nil)
			if len(missing) == v.Len { // a new array
				clear(seen)
			}
			found := make([]uint32, len(missing))
			c.learn(keys, missing, found, groups)
			for i, tuple := range c.tuple {
				if x, ok := seen[tuple]; ok && x != v.Int[i] {
					t.Fatalf("base %d: %d and %d have the tuple %d", base, x, v.Int[i], tuple)
				}
				seen[tuple] = v.Int[i]
			}
		}
	}
}

// What has too many values is given up, and stays so.
func TestTooWide(t *testing.T) {
	few := column.Vector{Type: int64Type, Len: 2, Int: []int64{1, 2}}
	many := column.Vector{Type: int64Type, Len: 2, Int: []int64{math.MinInt64, math.MaxInt64}}
	var c codes
	for i, x := range []struct {
		keys []column.Vector
		want bool
	}{
		{[]column.Vector{few}, true}, {[]column.Vector{many}, false}, {[]column.Vector{few}, false},
	} {
		if got := c.prepare(x.keys); got != x.want {
			t.Errorf("step %d: %t", i, got)
		}
	}
}

// A large array waits until as many rows have come as are worth clearing it, and is made then.
func TestLargeArrayWaits(t *testing.T) {
	var c codes
	v := column.Vector{Type: int64Type, Len: 4096, Int: make([]int64, 4096)}
	v.Int[0] = maxTuples/2 - 1 // a range of half the most
	keys := []column.Vector{v}
	batches := 0
	for !c.prepare(keys) {
		if c.wide || len(c.groups) > leastTuples {
			t.Fatalf("batch %d: given up: %t; an array of %d", batches, c.wide, len(c.groups))
		}
		if batches++; batches > maxTuples/v.Len {
			t.Fatal("no array is made")
		}
	}
	if want := maxTuples / 2 / tuplesEach / v.Len; batches != want-1 {
		t.Errorf("the array was made after %d batches, not %d", batches, want-1)
	}
	if missing := c.find(keys, make([]uint32, v.Len), nil); len(missing) != v.Len {
		t.Errorf("%d of %d rows are missing in an empty array", len(missing), v.Len)
	}
}
