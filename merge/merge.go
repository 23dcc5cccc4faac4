// Package merge puts small partitions together, so that what each of them costs
// whatever its size (a launch, a copy, a table) is paid less often. Arithmetic
// only: sizes in, ranges of partitions out.
//
// It stands in for Algorithm 1 of paper 003, §4.2.3 (EGA, "Using Greedy
// Merge to Handle Small Partitions"), which goes on adding the smallest
// partition, wherever it is, while the sum is at most k. Ours come out in
// order of number, since that is the order of their hashes and of the result, and the table
// that takes them spreads its slots by the hash bits which all its rows do not
// share. So only buddies are merged: two ranges of 2^j partitions next to each
// other that differ in one bit, as in a buddy allocator. docs/decisions/0007 says more.
package merge

import "strconv"

// Range is partitions next to each other: N of them, a power of two, from First,
// a multiple of N. Their numbers differ in the lowest bits alone.
type Range struct {
	First, N int
}

// String names the partitions.
func (r Range) String() string {
	if r.N == 1 {
		return "partition " + strconv.Itoa(r.First)
	}
	return "partitions " + strconv.Itoa(r.First) + " to " + strconv.Itoa(r.First+r.N-1)
}

// Buddies says which partitions go together: those with the given sizes, any unit,
// a power of two in number, into ranges whose sizes add up to at most k. The ranges
// are the widest such ones, in order; every partition is in one of them, and one
// above k is alone. No size is negative. The same sizes always give the same result.
func Buddies(sizes []int64, k int64) []Range {
	ranges, _ := merge(nil, sizes, 0, k)
	return ranges
}

// merge appends the ranges of sizes, whose first partition has that number. room is what k has left
// beside all of them; negative: they are not one range.
func merge(ranges []Range, sizes []int64, first int, k int64) (_ []Range, room int64) {
	n := len(sizes)
	switch n {
	case 0:
		return ranges, k
	case 1:
		return append(ranges, Range{first, 1}), k - sizes[0]
	}
	before := len(ranges)
	ranges, low := merge(ranges, sizes[:n/2], first, k)
	ranges, high := merge(ranges, sizes[n/2:], first+n/2, k)
	if low < 0 || high < 0 || low < k-high {
		return ranges, -1
	}
	return append(ranges[:before], Range{first, n}), low - (k - high)
}
