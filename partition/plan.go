package partition

import (
	"math"
	"math/bits"
)

// overfull is the probability (p in Theorem 1) that some partition of a level exceeds the memory
// to merge it. Such a partition is divided again. That is no error, but it costs writing and
// reading the rows once more.
const overfull = 1e-6

// Level is what is known when the rows of a level are about to be divided.
// Level 0 divides all groups; a partition of it that is too large to be
// merged is divided by level 1, and so on.
//
// HASH-BITS over all levels is that each level takes its bits from the top of what the levels
// before it left. If level 0 takes 10 bits and level 1 takes 4 for some partition of it, the first
// are bits 63 to 54 of the hash, the others 53 to 50. So all hashes of a partition agree in the
// bits that were used for it. Partitions in order of number are in order of hash, however often
// each was divided. The table that merges a partition finds its slots by the bits below. When all
// 64 bits are used up, the rows of a partition have one and the same hash and no level can divide
// them. They take the strategy for equal hashes, which always ends.
type Level struct {
	Groups   float64 // expected in all; +Inf: not known
	RowBytes int64   // of the row of a group
	// the memory of a group while it is merged, with directory and variable bytes; 0: RowBytes
	GroupBytes int64
	MergeBytes int64 // memory to merge one partition; 0: no limit
	PageBytes  int64 // of a page
	Workers    int   // that fill pages at the same time, one for each partition
	OpenBytes  int64 // memory for pages that are being filled; 0: no limit
	CacheBytes int64 // how large the rows of a partition should be; 0: 512 KiB, as measured
	Least      int   // partitions that there should be at least; 0: as many as few groups need
	Left       uint  // hash bits that no level has spent yet: 64 for level 0
}

// Limit is what decided the number of partitions of a level.
type Limit uint8

const (
	ByMinimum Limit = iota // few groups: enough partitions for all workers to merge
	ByCache                // the rows of a partition are about CacheBytes
	ByMerge                // a partition can be merged in MergeBytes
	ByMaximum              // more would not be faster than dividing twice
	ByPages                // the pages being filled take OpenBytes
	ByHash                 // there are no more hash bits
)

// String says why, to follow the number of partitions.
func (l Limit) String() string {
	return [...]string{
		"the least", "for partitions of cache size", "for partitions that fit memory",
		"the most", "by the memory for pages", "by the bits of the hash",
	}[l]
}

// Plan is how a level divides its rows.
type Plan struct {
	Bits  uint // 2^Bits partitions; 0: there is no bit left to divide by
	Limit Limit
	// Fit is how many groups fit MergeBytes, and Enough how many partitions
	// leave none with more than that, but for a probability of 1e-6. Without
	// a limit Fit is math.MaxInt64 and one partition is enough.
	Fit    int64
	Enough Bound
	// Again is set when the level has fewer partitions than Enough: some will
	// not fit, and the next level divides those.
	Again bool
}

// Plan chooses the number of partitions, a power of two: at least so many that each can be merged
// in its memory, and rather so many that each is of cache size; but never so many that the pages
// being filled take more than their memory. A level that has a bit left divides in two at least,
// however little memory there is for pages. Otherwise dividing would never end.
func (l Level) Plan() Plan {
	n := wholeGroups(l.Groups)
	p := Plan{Bits: minBits, Limit: ByMinimum, Fit: l.fit()}
	// the bounds take the number of groups that is one too many
	p.Enough = BoundOf(n, min(p.Fit, unbounded-1)+1, overfull)
	p.atLeast(ceilLog2(int64(l.Least)), ByMinimum)
	p.atLeast(l.cacheBits(n), ByCache)
	p.atLeast(ceilLog2(p.Enough.Partitions()), ByMerge)
	p.atMost(maxBits, ByMaximum)
	p.atMost(max(l.pageBits(), 1), ByPages)
	p.atMost(l.Left, ByHash)
	p.Again = p.Bits < ceilLog2(p.Enough.Partitions())
	return p
}

func (p *Plan) atLeast(b uint, why Limit) {
	if b > p.Bits {
		p.Bits, p.Limit = b, why
	}
}

func (p *Plan) atMost(b uint, why Limit) {
	if b < p.Bits {
		p.Bits, p.Limit = b, why
	}
}

// fit is how many groups fit the memory of a merge: one at least, since the
// strategy for a single group needs no more.
func (l Level) fit() int64 {
	if l.MergeBytes <= 0 {
		return math.MaxInt64
	}
	return max(l.MergeBytes/max(l.GroupBytes, l.RowBytes, 1), 1)
}

// cacheBits divides the rows of n groups into partitions of cache size.
func (l Level) cacheBits(n int64) uint {
	size := l.CacheBytes
	if size <= 0 {
		size = bucketBytes
	}
	return ceilLog2(whole(float64(n) * float64(l.RowBytes) / float64(size)))
}

// pageBits is how many partitions can have a page of each worker open.
func (l Level) pageBits() uint {
	if l.OpenBytes <= 0 {
		return 64
	}
	partitions := l.OpenBytes / max(l.PageBytes*int64(l.Workers), 1)
	return uint(max(bits.Len64(uint64(partitions)), 1)) - 1
}

// ceilLog2 is the bits that tell n partitions apart.
func ceilLog2(n int64) uint { return uint(bits.Len64(uint64(max(n, 1) - 1))) }

// wholeGroups is groups as an integer. A number that is not known becomes so large that the limits
// decide.
func wholeGroups(groups float64) int64 {
	const most = 1e18
	if !(groups < most) {
		return most
	}
	return whole(max(groups, 0))
}
