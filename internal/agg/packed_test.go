package agg

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
)

// COUNT-PACKED: sums of values that are not negative have a word in common with the count of rows,
// up to the last bit that there is, and both are right: of few groups and of many, of integers,
// coded ones and decimals of either size.
func TestCountPacked(t *testing.T) {
	t.Parallel()
	decimals := func(precision int) generator {
		return func(rng *rand.Rand) column.Value {
			n := rng.Int64N(5000)
			return column.Value{Type: column.DecimalType(precision, 2), Int: n, Wide: decimal256.FromI64(n)}
		}
	}
	const rows = 40 * fewGroups
	full := int64(1)<<(64-2*bits.Len(rows)) - 1 // as large as there is room for
	for name, gen := range map[string]generator{
		"small": intsOf(column.Int32, func(r *rand.Rand) int64 { return r.Int64N(3) }), "zeros": intsOf(column.Int64, func(*rand.Rand) int64 { return 0 }),
		"long": intsOf(column.Int64, func(r *rand.Rand) int64 { return r.Int64N(1 << 30) }), "full": intsOf(column.Int64, func(*rand.Rand) int64 { return full }),
		"decimals": decimals(15), "wide": decimals(30), "narrow": narrowDecimals(30),
	} {
		for _, groups := range []int{1, 3, fewGroups, fewGroups + 1, 300} {
			t.Run(fmt.Sprintf("%s/groups=%d", name, groups), func(t *testing.T) {
				d := randomData(testRand(), rows, groups, "none", []generator{gen, intsOf(column.Int64, func(r *rand.Rand) int64 { return r.Int64N(100) - 50 })})
				for _, group := range byGroup(d) {
					if len(group) == 0 {
						// for which there is a place only where arguments may be NULL
						t.Skip("a group has no rows")
					}
				}
				o := Options{MaxRows: rows, Ranges: d.ranges(), Filled: []bool{true, true}}
				calls := []Call{callOf(t, d, "sum", 0), callOf(t, d, "avg", 0), callOf(t, d, "count", 0), callOf(t, d, "sum", 1)}
				wants := []want{wantSum(sumType(d.args[0][0].Type)), wantMean, wantCount, wantSum(sumType(d.args[1][0].Type))}
				l := Compile(calls, testBase, o)
				if packs := name != "narrow"; packs != (l.packed != none) || packs && (l.Words() != 2 || !l.Relies(0)) {
					t.Errorf("%d words, slot %d counts the rows", l.Words(), l.packed)
				}
				checkWith(t, d, calls, wants, 1e-15, o)
			})
		}
	}
}

// Rows are counted in a word of their own where there is one bit too few, where a value may be
// negative or NULL, where it is not known how many rows come, where an aggregate is no sum, where
// devices take rows, and where no aggregate asks for their number.
func TestCountNotPacked(t *testing.T) {
	t.Parallel()
	call := func(name string) Call {
		typ := column.Type{Kind: column.Int64}
		f, _, err := Resolve(name, []column.Type{typ}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return Call{Func: f, Args: []int{0}, Types: []column.Type{typ}}
	}
	const rows = 1 << 20
	to := func(most uint64, signed bool) []column.Range { return []column.Range{{Most: most, Signed: signed}} }
	filled := []bool{true}
	for name, c := range map[string]struct {
		o      Options
		calls  []Call
		packed bool
	}{
		"fits":      {Options{MaxRows: rows, Ranges: to(1<<23-1, false), Filled: filled}, []Call{call("avg")}, true},
		"too large": {Options{MaxRows: rows, Ranges: to(1<<23, false), Filled: filled}, []Call{call("avg")}, false},
		"negative":  {Options{MaxRows: rows, Ranges: to(1, true), Filled: filled}, []Call{call("avg")}, false},
		"null":      {Options{MaxRows: rows, Ranges: to(1, false)}, []Call{call("avg")}, false},
		"rows":      {Options{MaxRows: -1, Ranges: to(1, false), Filled: filled}, []Call{call("avg")}, false},
		"no range":  {Options{MaxRows: rows, Filled: filled}, []Call{call("avg")}, false},
		"least":     {Options{MaxRows: rows, Ranges: to(1, false), Filled: filled}, []Call{call("avg"), call("min")}, false},
		"device":    {Options{MaxRows: rows, Ranges: to(1, false), Filled: filled, Device: true}, []Call{call("avg")}, false},
		"sum":       {Options{MaxRows: rows, Ranges: to(1, false), Filled: filled}, []Call{call("sum")}, false},
	} {
		if l := Compile(c.calls, testBase, c.o); c.packed != (l.packed != none) {
			t.Errorf("%s: %d words, slot %d counts the rows", name, l.Words(), l.packed)
		}
	}
}
