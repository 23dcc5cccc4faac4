package merge

import (
	"container/heap"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

func TestGreedy(t *testing.T) {
	for _, x := range []struct {
		why   string
		sizes []int64
		k     int64
		want  [][]int
	}{
		{"nothing to merge", nil, 10, nil},
		{"one partition", []int64{7}, 10, [][]int{{0}}},
		{"a sum of k is allowed", []int64{4, 6}, 10, [][]int{{0, 1}}},
		{"a sum above k is not", []int64{4, 7}, 10, [][]int{{0}, {1}}},
		{"the smallest are added while they fit", []int64{9, 3, 1, 2, 5}, 10, [][]int{{0}, {1, 2, 3}, {4}}},
		{"among equal ones the first", []int64{5, 5, 5}, 10, [][]int{{0, 1}, {2}}},
		{"empty partitions cost nothing", []int64{0, 10, 0, 0}, 10, [][]int{{0, 1, 2, 3}}},
		{"a partition above k stays alone", []int64{20, 1, 2}, 10, [][]int{{0}, {1, 2}}},
		{"two above k", []int64{20, 30}, 10, [][]int{{0}, {1}}},
		{"nothing fits", []int64{1, 0, 2, 0}, 0, [][]int{{0}, {1, 3}, {2}}},
		{"no sum overflows", []int64{math.MaxInt64, math.MaxInt64, 1}, math.MaxInt64, [][]int{{0}, {1}, {2}}},
	} {
		if got := Greedy(x.sizes, x.k); !reflect.DeepEqual(got, x.want) {
			t.Errorf("%s: %v at k=%d: got %v, want %v", x.why, x.sizes, x.k, got, x.want)
		}
	}
}

// Theorem 2 against the optimum that trying all ways finds, and the result
// against the algorithm as it was published.
func TestAgainstOptimum(t *testing.T) {
	worst := 0.0
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		k := 1 + rng.Int64N(40)
		sizes := make([]int64, 1+rng.IntN(10))
		for i := range sizes {
			sizes[i] = rng.Int64N(k + 1)
		}
		got := Greedy(sizes, k)
		if msg := check(sizes, k, got); msg != "" {
			t.Fatalf("seed %d: %v at k=%d: %v: %s", seed, sizes, k, got, msg)
		}
		x, y := optimum(sizes, k), len(got)
		if y >= 2*x+1 {
			t.Fatalf("seed %d: %v at k=%d: %d results, %d are possible", seed, sizes, k, y, x)
		}
		worst = max(worst, float64(y)/float64(x))
	}
	if worst <= 1 {
		t.Error("never worse than the optimum: the inputs are too simple to test the bound")
	}
}

// A large input, for which the optimum is out of reach: the sums themselves
// show the bound.
func TestLarge(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	sizes := make([]int64, 100_000)
	for i := range sizes {
		sizes[i] = int64(rng.ExpFloat64() * 1000)
	}
	k := slices.Max(sizes)
	if msg := check(sizes, k, Greedy(sizes, k)); msg != "" {
		t.Error(msg)
	}
}

func FuzzGreedy(f *testing.F) {
	f.Add([]byte{1, 2, 3}, int64(4))
	f.Add([]byte{0, 0, 255, 255, 7}, int64(255))
	f.Fuzz(func(t *testing.T, data []byte, k int64) {
		sizes := make([]int64, len(data))
		for i, b := range data {
			sizes[i] = int64(b)
		}
		k &= math.MaxInt64
		got := Greedy(sizes, k)
		if msg := check(sizes, k, got); msg != "" {
			t.Fatalf("%v at k=%d: %v: %s", sizes, k, got, msg)
		}
		if len(sizes) < 100 {
			if want := published(sizes, k); !reflect.DeepEqual(got, want) {
				t.Fatalf("%v at k=%d: %v, the published algorithm gives %v", sizes, k, got, want)
			}
		}
	})
}

// check says what is wrong with a result: an index missing or twice, a sum
// above k, two results that would fit together, more of them than the proof
// of Theorem 2 allows.
func check(sizes []int64, k int64, got [][]int) string {
	seen := make([]bool, len(sizes))
	var sums []int64
	var total int64
	for _, m := range got {
		var sum int64
		for _, i := range m {
			if seen[i] {
				return fmt.Sprintf("partition %d twice", i)
			}
			seen[i] = true
			sum += sizes[i]
		}
		if sum > k && len(m) > 1 {
			return fmt.Sprintf("a sum of %d", sum)
		}
		sums = append(sums, sum)
		total += sum
	}
	if slices.Contains(seen, false) {
		return "a partition is missing"
	}
	slices.Sort(sums)
	if len(sums) > 1 && sums[1] <= k-sums[0] {
		return "two results fit together"
	}
	// Each two sums exceed k: y - 1 < 2 total / k, and total <= x k.
	if len(sums) > 1 && k > 0 && float64(len(sums)-1) >= 2*float64(total)/float64(k) {
		return fmt.Sprintf("%d results of %d in all", len(sums), total)
	}
	if !slices.IsSortedFunc(got, func(a, b []int) int { return a[0] - b[0] }) {
		return "not sorted"
	}
	return ""
}

// optimum is the fewest sums of at most k: over all sets of partitions, the
// fewest sums and the least in the last one.
func optimum(sizes []int64, k int64) int {
	type packed struct {
		sums int
		last int64
	}
	best := make([]packed, 1<<len(sizes))
	best[0] = packed{0, k + 1} // nothing fits into no sum
	for set := 1; set < len(best); set++ {
		best[set] = packed{math.MaxInt, 0}
		for left := set; left != 0; left &= left - 1 {
			i := bits.TrailingZeros(uint(left))
			p := best[set&^(1<<i)]
			if p.last+sizes[i] <= k {
				p.last += sizes[i]
			} else {
				p = packed{p.sums + 1, sizes[i]}
			}
			if p.sums < best[set].sums || p.sums == best[set].sums && p.last < best[set].last {
				best[set] = p
			}
		}
	}
	return best[len(best)-1].sums
}

// published is Algorithm 1 with its min-heap.
func published(sizes []int64, k int64) [][]int {
	var h sums
	for i, s := range sizes {
		h = append(h, sum{s, []int{i}})
	}
	heap.Init(&h)
	for len(h) > 1 {
		s := heap.Pop(&h).(sum)
		if h[0].size > k-s.size {
			heap.Push(&h, s)
			break
		}
		for len(h) > 0 && h[0].size <= k-s.size {
			next := heap.Pop(&h).(sum)
			s = sum{s.size + next.size, append(s.members, next.members...)}
		}
		heap.Push(&h, s)
	}
	var merged [][]int
	for _, s := range h {
		slices.Sort(s.members)
		merged = append(merged, s.members)
	}
	slices.SortFunc(merged, func(a, b []int) int { return a[0] - b[0] })
	return merged
}

type sum struct {
	size    int64
	members []int
}

type sums []sum

func (h sums) Len() int { return len(h) }
func (h sums) Less(i, j int) bool {
	return h[i].size < h[j].size || h[i].size == h[j].size && h[i].members[0] < h[j].members[0]
}
func (h sums) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *sums) Push(x any)   { *h = append(*h, x.(sum)) }
func (h *sums) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
