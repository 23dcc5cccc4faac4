package agg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// Batches of few groups, and of just too many, are added up as any others: counts and sums, of
// small values, of NULLs, and of values that a batch's sums overflow.
func TestFewGroups(t *testing.T) {
	t.Parallel()
	small := intsOf(column.Int64, func(r *rand.Rand) int64 { return int64(r.IntN(2000) - 1000) })
	// the sums of some batches fit
	half := intsOf(column.Int64, func(r *rand.Rand) int64 { return 1<<51 - int64(r.IntN(2)) })
	// now and then the least of all: most batches fit, the sums of the others do not
	rare := intsOf(column.Int64, func(r *rand.Rand) int64 {
		if r.IntN(300) == 0 {
			return math.MinInt64
		}
		return int64(r.IntN(2000) - 1000)
	})
	for _, groups := range []int{1, 3, fewGroups, fewGroups + 1} {
		for name, gen := range map[string]generator{
			"small": small, "half": half, "rare": rare, "any": ints(column.Int64), "wide": narrowDecimals(30), "wider": narrowDecimals(60), "small decimals": smallDecimals(30),
		} {
			for _, nulls := range []string{"none", "some"} {
				t.Run(fmt.Sprintf("%s/groups=%d/nulls=%s", name, groups, nulls), func(t *testing.T) {
					d := randomData(testRand(), 20*fewGroups, groups, nulls, []generator{gen})
					check(t, d, []Call{callOf(t, d, "sum", 0), callOf(t, d, "count", 0)}, []want{wantSum(sumType(d.args[0][0].Type)), wantCount}, 0)
				})
			}
		}
	}
}
