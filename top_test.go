package gagg_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg"
)

// Groups are left out before they are merged if enough others count more. The first rows are
// those of the whole result: by counts of rows and of distinct values, with ties and an offset,
// in tables and in partitions.
func TestTopGroups(t *testing.T) {
	file := gagg.Files(randomFile(t, inShort(20_000, 120_000)))
	for _, aggs := range [][]string{{"count(*) as n", "min(s)", "sum(x)"}, {"count(distinct i) as n"}, {"max(x)", "count(distinct i) as n", "count(*)"}, {"sum(i) as n"}, {"max(i) as n", "count(*)"}, {"min(i) as n", "sum(x)"}} {
		q := gagg.Query{From: file, By: []string{"k"}, Aggs: exprs(aggs...), OrderBy: []string{"n desc", "k"}}
		if strings.HasPrefix(aggs[0], "min(i)") {
			q.OrderBy[0] = "n"
		}
		all := mustAnswer(t, q, gagg.Options{Threads: 2, Partitions: 16})
		for _, o := range []gagg.Options{{Threads: 1}, {Threads: 3}, {Threads: 2, Partitions: 64}} {
			for _, limit := range []int{1, 20, 1000} {
				q.Limit, q.Offset = int64(limit), int64(limit/2)
				if got := mustAnswer(t, q, o); !slices.Equal(got, all[limit/2:][:limit]) {
					t.Errorf("%v, %+v: the first %d rows are others", aggs, o, limit)
				}
			}
		}
	}
}
