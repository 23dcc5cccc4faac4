package gagg_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg"
)

// The best groups by their number of rows are the first ones of the whole result in order, ties
// included, though most groups are left out before they are made.
func TestPrefilter(t *testing.T) {
	for _, order := range [][]string{{"-n"}, {"n"}, {"-n", "-k"}, {"n", "s"}} {
		for _, threads := range []int{1, 4} {
			ask := func(limit int64) []string {
				q := gagg.Query{
					From: manyGroups(t, inShort[int64](20_000, 60_000), 1), By: []string{"k"},
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

// Groups left out before they are made, since a filter on groups does not pass their count or
// sum, are those that the filter drops. The best groups by a sum are the first ones of the whole
// result.
func TestPrefilterSums(t *testing.T) {
	from := gagg.Files(sumsFile(t, false))
	ask := func(having string, order []string, limit int64) []string {
		return mustAnswer(t, gagg.Query{
			From: from, By: []string{"k", "k + 1"}, Having: having, OrderBy: order, Limit: limit,
			Aggs: []gagg.Agg{
				gagg.Sum("short").As("short"), gagg.Sum("wide").As("wide"), gagg.Sum("coded").As("coded"), gagg.Sum("some").As("some"),
				gagg.Sum("short - 20").As("signed"), gagg.CountAll().As("n"),
			},
		}, gagg.Options{Threads: 2, Partitions: 16})
	}
	for _, having := range []string{
		"", "sum(short)>80", "sum(short) >= 80.5 and count(*) > 2", "count(*) < 3", "count(*) = 2", "count(*) <> 2", "sum(wide) < .5", "sum(coded) between 40 and 90",
		"sum(short) is not null and sum(coded) > 50", "sum(short) > 1e30", "sum(short) < -1e30", "sum(short) > -1e30", "sum(short - 20) > 0", "sum(short - 20) < 0",
		"sum(some) > 4000", "sum(some) is null or sum(some) < 5", "sum(short) > 60 or sum(coded) > 60", "not sum(short) > 60", "sum(short) > sum(wide)",
	} {
		plain := having
		if having != "" {
			plain = "case when " + having + " then true else false end" // of which nothing is known
		}
		if got, want := ask(having, []string{"k"}, 0), ask(plain, []string{"k"}, 0); !slices.Equal(got, want) {
			t.Errorf("having %s: %d groups, want %d", having, len(got), len(want))
		}
		if strings.Contains(having, " ") && !strings.Contains(having, "and") {
			continue
		}
		for _, order := range []string{"short", "-short", "wide", "-wide", "coded", "-coded", "signed", "-signed", "some", "-some", "n", "-n"} {
			all := ask(plain, []string{order, "k"}, 0)
			for _, orders := range [][]string{{order, "k"}, {order, "-n", "k"}} {
				if len(orders) > 2 {
					all = ask(plain, orders, 0)
				}
				const limit = 15
				if best := ask(having, orders, limit); !slices.Equal(best, all[:min(limit, len(all))]) {
					t.Errorf("having %s, order by %v: %v, want %v", having, orders, best, all[:min(limit, len(all))])
				}
			}
		}
	}
}
