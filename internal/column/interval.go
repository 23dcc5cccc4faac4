package column

import (
	"math/bits"

	"github.com/apache/arrow/go/v15/arrow/decimal256"
)

// An interval is stored as a number that sorts as intervals do, a month being 30 days. It is the
// length in microseconds, times 2^64. The lowest 64 bits have the months and the days, to each of
// which 2^31 is added so that it has no sign. So intervals of one length that are written
// differently are neighbours:
//
//	30 days                   2592000000000 · 2^64 + 2^31 · 2^32 + (2^31 + 30)
//	1 month                   2592000000000 · 2^64 + (2^31 + 1) · 2^32 + 2^31

// IntervalType is the type of intervals.
var IntervalType = Type{Kind: Interval, Precision: MaxDigits}

const microsPerDay = 24 * 60 * 60 * 1_000_000

// NewInterval returns the number of an interval.
func NewInterval(months, days int32, micros int64) decimal256.Num {
	whole := int64(months)*30 + int64(days)
	hi, lo := bits.Mul64(uint64(max(whole, -whole)), microsPerDay)
	if whole < 0 {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
	}
	lo, carry := bits.Add64(lo, uint64(micros), 0)
	hi, _ = bits.Add64(hi, uint64(micros>>63), carry)
	written := uint64(uint32(months)^1<<31)<<32 | uint64(uint32(days)^1<<31)
	return decimal256.New(uint64(int64(hi)>>63), hi, lo, written)
}

// SplitInterval returns the interval of a number.
func SplitInterval(n decimal256.Num) (months, days int32, micros int64) {
	words := n.Array() // lowest first
	months, days = int32(uint32(words[0]>>32)^1<<31), int32(uint32(words[0])^1<<31)
	whole := int64(months)*30 + int64(days)
	return months, days, int64(words[1] - uint64(whole)*microsPerDay)
}
