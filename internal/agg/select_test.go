package agg

import (
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/oracle"
)

// Groups of more values than may be gathered, and of fewer, side by side, have the quantiles that
// sorting finds, with values in any order.
func TestQuantilesOfMany(t *testing.T) {
	t.Parallel()
	list := []holistic{{"quantile_disc", 0.0}, {"quantile_disc", 0.5}, {"quantile_disc", 0.9}, {"quantile_disc", 1.0}, {"median", nil}, {"mad", nil}}
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			const rows, groups = 3000, 20
			next, stop := iter.Pull(slices.Values(order(testRand(), rows)))
			defer stop()
			d := randomData(testRand(), rows, groups, "none", []generator{intsOf(column.Int64, func(*rand.Rand) int64 {
				x, _ := next()
				return x
			})})
			for i := range d.gids {
				if i%3 > 0 {
					d.gids[i] = uint32(i % 3) // two groups with a third of all rows each
				}
			}
			var calls []Call
			var wants [][]oracle.Cell
			for _, h := range list {
				calls, wants = append(calls, h.call(t, d)), append(wants, h.wants(t, d))
			}
			for _, piece := range []int{9, 100, 1000, 10_000} {
				l := Compile(calls, testBase, Options{MaxRows: -1})
				l.limits.piece = piece
				got, err := ways["batches"](l, d, testRand()).results(t, groups)
				if err != nil {
					t.Fatal(err)
				}
				for c, h := range list {
					for g, want := range wants[c] {
						if !cellOf(got[c][g]).Matches(want) {
							t.Fatalf("piece %d: %v of group %d = %s, want %s", piece, h, g, cellOf(got[c][g]), want)
						}
					}
				}
			}
		})
	}
}
