// Package merge puts small partitions together, so that what each of them
// costs whatever its size (a launch, a copy, a table) is paid less often.
// Arithmetic only: sizes in, numbers of partitions out.
//
// It is Algorithm 1 of paper 003, section 4.2.3 (EGA, "Using Greedy Merge to
// Handle Small Partitions"): take the two smallest partitions and go on
// adding the smallest one while the sum is at most k; put the sum back and
// begin again; stop when one partition is left or the two smallest exceed k
// together.
//
// Where we differ: the paper keeps a min-heap, since a sum goes back among
// the partitions. But a sum S is never added to again: it stopped growing at
// some x, then the smallest partition, with S + x > k, and whatever is left
// is no smaller than x. So sorting the partitions once and taking them in
// order gives the same result, and ends by itself: two partitions that follow
// are larger than k together as soon as the second of them exceeds S. The
// test compares both.
package merge

import (
	"cmp"
	"slices"
)

// Greedy says which partitions go together: those with the given sizes, any
// unit, into sums of at most k. Every index of sizes is in one of the
// results, which are sorted, as is each of them. A partition above k stays
// alone. Neither sizes nor k are negative.
//
// Theorem 2 (paper 003): if no size is above k and x sums are the fewest
// possible, there are y < 2x + 1 results. Time is O(n log n). The same sizes
// always give the same result: among equal ones the lower index comes first.
func Greedy(sizes []int64, k int64) [][]int {
	order := make([]int, len(sizes))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(sizes[a], sizes[b]), cmp.Compare(a, b))
	})
	var merged [][]int
	for len(order) > 0 {
		n := fitting(sizes, order, k)
		merged = append(merged, order[:n:n])
		order = order[n:]
	}
	for _, m := range merged {
		slices.Sort(m)
	}
	slices.SortFunc(merged, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	return merged
}

// fitting is how many of the first partitions of order have a sum of at most
// k: one at least.
func fitting(sizes []int64, order []int, k int64) int {
	sum := sizes[order[0]]
	n := 1
	for n < len(order) && sizes[order[n]] <= k-sum {
		sum += sizes[order[n]]
		n++
	}
	return n
}
