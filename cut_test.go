package gagg_test

import (
	"slices"
	"testing"

	"github.com/gagg-dev/gagg"
)

// The best groups by their number of rows are those of the whole result in order, ties too, where most groups are left out before
// they are made.
func TestCut(t *testing.T) {
	for _, order := range [][]string{{"-n"}, {"n"}, {"-n", "-k"}, {"n", "s"}} {
		for _, threads := range []int{1, 4} {
			ask := func(limit int64) []string {
				q := gagg.Query{
					From: manyGroups(t, 60_000, 1), By: []string{"k"},
					Aggs: []gagg.Agg{gagg.CountAll().As("n"), gagg.Max("v").As("s")}, OrderBy: order, Limit: limit,
				}
				lines, err := answer(t, q, gagg.Options{Threads: threads, Partitions: 16})
				if err != nil {
					t.Fatal(err)
				}
				return lines
			}
			const limit = 20
			all, best := ask(0), ask(limit)
			if !slices.Equal(best, all[:limit]) {
				t.Errorf("order by %v, %d threads: %v, want %v", order, threads, best, all[:limit])
			}
		}
	}
}
