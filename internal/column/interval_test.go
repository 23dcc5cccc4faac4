package column

import (
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/decimal256"
)

// The numbers of intervals are in the order of their lengths, and give back what they were made of.
func TestIntervals(t *testing.T) {
	t.Parallel()
	const day = microsPerDay
	type interval struct {
		months, days int32
		micros       int64
	}
	rising := []interval{
		{math.MinInt32, math.MinInt32, math.MinInt64},
		{math.MinInt32, 0, 0},
		{-1, 0, -1},
		{-1, 0, 0},
		{0, -30, 0}, // as long
		{0, 0, -30 * day},
		{0, -30, 1},
		{0, -1, 0},
		{0, 0, -1},
		{0, 0, 0},
		{0, 0, 1},
		{1, -30, 2},
		{0, 1, -1},
		{0, 0, day},
		{0, 1, 0},
		{0, 31, -day},
		{1, 0, 0},
		{12, 5, 3},
		{0, 0, math.MaxInt64},
		{math.MaxInt32, math.MaxInt32, math.MaxInt64},
	}
	numbers := make([]decimal256.Num, len(rising))
	for i, v := range rising {
		numbers[i] = NewInterval(v.months, v.days, v.micros)
		months, days, micros := SplitInterval(numbers[i])
		if got := (interval{months, days, micros}); got != v {
			t.Errorf("%v became %v", v, got)
		}
	}
	if !slices.IsSortedFunc(numbers, func(a, b decimal256.Num) int { return a.Cmp(b) }) {
		for i := range numbers[1:] {
			if !numbers[i].Less(numbers[i+1]) {
				t.Errorf("%v is not below %v", rising[i], rising[i+1])
			}
		}
	}
}
