package gagg_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg"
)

// largeCases are queries whose groups have results of megabytes.
func largeCases(file gagg.Source) []gagg.Query {
	all := exprs("list(k) as a", "histogram(k)", "string_agg(k, '; ')", "list(k) as b", "count(*) as n", "mode(k)", "max(k)", "quantile_disc(k, 0.5)")
	return []gagg.Query{
		{From: file, Aggs: all},
		{From: file, By: []string{"s"}, Aggs: all},
		{From: file, Aggs: exprs("list(i)", "list(x)", "histogram(x)", "histogram(i)", "list(i > 3)", "list(cast(i as decimal(12,2)))", "max(x, 20000)")},
		// some are large
		{From: file, By: []string{"i"}, Aggs: exprs("list(k)", "string_agg(k)", "list(x)")},
		{From: file, By: []string{"s"}, Aggs: exprs("upper(string_agg(k)) as u", "length(string_agg(k)) as n"), Having: "n > 1000"},
		{From: file, By: []string{"s"}, Aggs: all, OrderBy: []string{"s desc"}},
		{From: file, By: []string{"s"}, Aggs: exprs("list(k) as a", "histogram(x)"), OrderBy: []string{"a"}},
	}
}

// F12: a group that is too large for a batch is the same record, drawn from the budget and given
// back. Or it is refused, and the limit that the refusal names is enough.
func TestLargeGroups(t *testing.T) {
	tuned := tune{gagg.LeastMemory(1 << 20)}
	const rows = 12_000
	refused := 0
	for i, q := range largeCases(gagg.Files(randomFile(t, rows))) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			want := mustAnswer(t, q, tuned.of(gagg.Options{Threads: 1}))
			for _, threads := range []int{1, 3} {
				var need *gagg.NeedError
				_, _, _, err := limited(t, q, tuned.of(gagg.Options{Threads: threads, MemoryLimit: 1}))
				if !errors.As(err, &need) || need.Result != "" {
					t.Fatal(err)
				}
				got, _, _, err := limited(t, q, tuned.of(gagg.Options{Threads: threads, MemoryLimit: need.Need}))
				if errors.As(err, &need) {
					refused++
					if need.Result == "" || !errors.Is(err, gagg.ErrBudget) {
						t.Errorf("%d threads: %v", threads, err)
					}
					got, _, _, err = limited(t, q, tuned.of(gagg.Options{Threads: threads, MemoryLimit: need.Need}))
				}
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%d threads: %v, %d rows that differ from the %d of an unlimited run", threads, err, len(got), len(want))
				}
			}
		})
	}
	if refused == 0 {
		t.Error("no group was refused")
	}
}
