package merge

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestBuddies(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		why   string
		sizes []int64
		k     int64
		want  []Range
	}{
		{"nothing to merge", nil, 10, nil},
		{"one partition", []int64{7}, 10, []Range{{0, 1}}},
		{"a sum of k is allowed", []int64{4, 6}, 10, []Range{{0, 2}}},
		{"a sum above k is not", []int64{4, 7}, 10, []Range{{0, 1}, {1, 1}}},
		{"all in one", []int64{1, 2, 3, 4}, 10, []Range{{0, 4}}},
		{"one half", []int64{9, 3, 1, 2}, 10, []Range{{0, 1}, {1, 1}, {2, 2}}},
		{"neighbors that are no buddies", []int64{9, 1, 1, 9}, 9, []Range{{0, 1}, {1, 1}, {2, 1}, {3, 1}}},
		{"empty partitions cost nothing", []int64{0, 10, 0, 0}, 10, []Range{{0, 4}}},
		{"a partition above k stays alone", []int64{20, 1, 2, 3}, 10, []Range{{0, 1}, {1, 1}, {2, 2}}},
		{"nothing fits", []int64{1, 0, 2, 0}, 0, []Range{{0, 1}, {1, 1}, {2, 1}, {3, 1}}},
		{"no sum overflows", []int64{math.MaxInt64, math.MaxInt64, 1, 1}, math.MaxInt64, []Range{{0, 1}, {1, 1}, {2, 2}}},
	} {
		if got := Buddies(x.sizes, x.k); !slices.Equal(got, x.want) {
			t.Errorf("%s: %v at k=%d: got %v, want %v", x.why, x.sizes, x.k, got, x.want)
		}
	}
}

// The ranges are all partitions in order, none is above k but a partition alone, and
// no two buddies would fit together.
func TestRandomSizes(t *testing.T) {
	t.Parallel()
	merged := 0
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		k := 1 + rng.Int64N(60)
		sizes := make([]int64, 1<<rng.IntN(7))
		for i := range sizes {
			sizes[i] = rng.Int64N(k + k/8 + 1)
			if rng.IntN(2) == 0 {
				sizes[i] /= 8
			}
		}
		ranges := Buddies(sizes, k)
		at := 0
		for i, r := range ranges {
			if r.First != at || r.N&(r.N-1) != 0 || r.First%r.N != 0 {
				t.Fatalf("seed %d: range %v after partition %d", seed, r, at)
			}
			at += r.N
			if r.N > 1 {
				merged++
			}
			if r.N > 1 && sum(sizes, r) > k {
				t.Fatalf("seed %d: range %v is %d, above %d", seed, r, sum(sizes, r), k)
			}
			if i == 0 {
				continue
			}
			last := ranges[i-1]
			if last.N == r.N && last.First%(2*r.N) == 0 && sum(sizes, last)+sum(sizes, r) <= k {
				t.Fatalf("seed %d: %v and %v fit together", seed, last, r)
			}
		}
		if at != len(sizes) {
			t.Fatalf("seed %d: %d of %d partitions", seed, at, len(sizes))
		}
	}
	if merged == 0 {
		t.Fatal("nothing was ever merged")
	}
}

func sum(sizes []int64, r Range) (n int64) {
	for _, s := range sizes[r.First : r.First+r.N] {
		n += s
	}
	return n
}
