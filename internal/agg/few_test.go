package agg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// Batches of few groups, and of just too many, are added up as any others: counts and sums, of
// small values, of NULLs, and of values that a batch's sums overflow. So are those of many groups
// in their order, of which a batch has few.
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
				for _, sorted := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s/groups=%d/nulls=%s/sorted=%v", name, groups, nulls, sorted), func(t *testing.T) {
						d := randomData(testRand(), 20*fewGroups, groups, nulls, []generator{gen})
						if sorted {
							slices.Sort(d.gids)
						}
						check(t, d, []Call{callOf(t, d, "sum", 0), callOf(t, d, "count", 0)}, []want{wantSum(sumType(d.args[0][0].Type)), wantCount}, 0)
					})
				}
			}
		}
	}
}

// So are floats, whose loops are long chains of operations, with infinities and NaN.
func TestFewGroupsOfFloats(t *testing.T) {
	t.Parallel()
	near := floatsOf(column.Float64, func(r *rand.Rand) float64 { return 1e4 + r.NormFloat64() })
	odd := floatsOf(column.Float64, func(r *rand.Rand) float64 {
		return []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1, -2, 3, 4, 5, 6, 7, 8, 9, 10, 11}[r.IntN(16)]
	})
	for _, groups := range []int{1, 3, fewGroups, 5 * fewGroups} {
		for _, sorted := range []bool{false, true} {
			t.Run(fmt.Sprintf("groups=%d/sorted=%v", groups, sorted), func(t *testing.T) {
				d := randomData(testRand(), 20*fewGroups, groups, "some", []generator{near, near, odd})
				if sorted {
					slices.Sort(d.gids)
				}
				calls := []Call{callOf(t, d, "var_samp", 0), callOf(t, d, "corr", 0, 1), callOf(t, d, "sum", 2), callOf(t, d, "min", 2), callOf(t, d, "max", 2)}
				wants := []want{
					wantMoment("var_samp"), wantMoment("corr"), wantExact,
					wantExtreme(d.args[2][0].Type, false), wantExtreme(d.args[2][0].Type, true),
				}
				check(t, d, calls, wants, 1e-9)
			})
		}
	}
}

// Groups whose numbers lie close together are few wherever they are, as are all of a small table;
// not so if a number lies far from the others, or there are few rows.
func TestCloseNumbers(t *testing.T) {
	t.Parallel()
	numbers := func(n int, first, groups uint32) []uint32 {
		gids := make([]uint32, n)
		for i := range gids {
			gids[i] = first + uint32(i)%groups
		}
		return gids
	}
	far := numbers(1024, 100, 3)
	far[1000] = 300
	for _, c := range []struct {
		name   string
		groups int
		gids   []uint32
		want   few
	}{
		{"small table", 7, numbers(1024, 2, 3), few{0, 7}},
		{"close", 1000, numbers(1024, 900, 3), few{900, 3}},
		{"widest", 1000, numbers(1024, 900, fewGroups), few{900, fewGroups}},
		{"too wide", 1000, numbers(1024, 900, fewGroups+1), few{}},
		{"one far away", 1000, far, few{}},
		{"too few rows", 1000, numbers(2*fewLanes*3-1, 900, 3), few{}},
		{"no rows", 1000, nil, few{}},
	} {
		table := Table{Stride: 2, Rows: make([]uint64, 2*c.groups)}
		if got := table.few(c.gids); got != c.want {
			t.Errorf("%s: %v; want %v", c.name, got, c.want)
		}
	}
}
