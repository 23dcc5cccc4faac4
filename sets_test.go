package gagg_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg"
)

// setsQuery is a query by several sets of its keys, with aggregates of every family: sums, moments,
// texts, lists, sketches, distinct values.
func setsQuery(from gagg.Source, sets string, keys ...string) gagg.Query {
	return gagg.Query{
		From: from, By: keys, Sets: sets, Where: "i <> 7",
		Aggs: exprs("count(*)", "count(x)", "sum(i)", "min(s)", "max(k)", "first(k)", "arg_max(s, i)", "count(distinct s)", "sum(distinct i)", "median(i)", "mode(s)",
			"list(i)", "string_agg(s, '-')", "var_samp(i)", "histogram(s)", "approx_count_distinct(k)", "bool_or(i > 500)"),
	}
}

// setAlone is the answer for one set of a query, as lines of that query: what the set leaves out is
// NULL.
func setAlone(t *testing.T, q gagg.Query, has []bool) []string {
	t.Helper()
	keys := q.By
	q.By, q.Sets = nil, ""
	for i, key := range keys {
		if has[i] {
			q.By = append(q.By, key)
		}
	}
	var lines []string
	for _, line := range mustAnswer(t, q, gagg.Options{Threads: 2}) {
		cells := strings.SplitN(line, "|", len(q.By)+1)
		var out []string
		for i := range keys {
			if cell := "(null)"; !has[i] {
				out = append(out, cell)
				continue
			}
			out, cells = append(out, cells[0]), cells[1:]
		}
		lines = append(lines, strings.Join(append(out, cells...), "|"))
	}
	return lines
}

// Grouping sets are the answers of their sets put together, whatever the threads and the memory:
// each set alone is a query that other tests hold against the oracle.
func TestGroupingSets(t *testing.T) {
	t.Parallel()
	from := gagg.Files(randomFile(t, 8_000))
	rollup := [][]bool{{true, true}, {true, false}, {false, false}}
	cube := [][]bool{{true, true}, {true, false}, {false, true}, {false, false}}
	for _, c := range []struct {
		sets string
		keys []string
		has  [][]bool
	}{
		{gagg.Rollup, []string{"s", "i"}, rollup},
		{gagg.Cube, []string{"s", "i % 10 = 3"}, cube},
		{gagg.Rollup, []string{"i", "k"}, rollup},
		{"(s), (k), (s)", []string{"s", "k"}, [][]bool{{true, false}, {false, true}, {true, false}}},
		{"(), ()", nil, [][]bool{{}, {}}},
	} {
		t.Run(fmt.Sprint(c.sets, c.keys), func(t *testing.T) {
			t.Parallel()
			q := setsQuery(from, c.sets, c.keys...)
			if len(c.keys) == 0 {
				q.By = []string{"s"}
				c.sets, c.has = "(s), (), ()", [][]bool{{true}, {false}, {false}}
				q.Sets = c.sets
			}
			var want []string
			for _, has := range c.has {
				want = append(want, setAlone(t, q, has)...)
			}
			slices.Sort(want)
			for _, o := range []gagg.Options{
				{Threads: 1}, {Threads: 3, Partitions: 16, BatchRows: 333}, {Threads: 2, MemoryLimit: 24 << 20, TempDir: t.TempDir()},
			} {
				if o.MemoryLimit > 0 {
					o = tune{gagg.LeastMemory(256 << 10)}.of(o)
				}
				got := mustAnswer(t, q, o)
				if slices.Sort(got); !slices.Equal(got, want) {
					t.Fatalf("%+v: %d rows, want %d; first: %v", o.Threads, len(got), len(want), firstOther(got, want))
				}
			}
		})
	}
}

// firstOther is the first line in which two answers differ.
func firstOther(got, want []string) (lines [2]string) {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return [2]string{got[i], want[i]}
		}
	}
	return lines
}

// A set spills: the finest one has as many groups as rows.
func TestGroupingSetsSpill(t *testing.T) {
	t.Parallel()
	q := gagg.Query{From: gagg.Files(randomFile(t, 60_000)), By: []string{"s", "k", "x"}, Sets: gagg.Rollup, Aggs: exprs("count(*)", "min(k)", "list(i)")}
	want := mustAnswer(t, q, gagg.Options{Threads: 2})
	got, stats, err := answerStats(t, q, tune{gagg.LeastMemory(256 << 10)}.of(gagg.Options{Threads: 2, MemoryLimit: 12 << 20, TempDir: t.TempDir()}))
	if err != nil {
		t.Fatal(err)
	}
	if slices.Sort(got); !slices.Equal(got, sorted(want)) || stats.SpilledBytes == 0 {
		t.Fatalf("%d rows with %d bytes spilled, want %d rows; first: %v", len(got), stats.SpilledBytes, len(want), firstOther(got, sorted(want)))
	}
}

func sorted(lines []string) []string {
	lines = slices.Clone(lines)
	slices.Sort(lines)
	return lines
}

// The row of all rows is the last, whatever the order, the limit and the filter on groups leave of
// the others.
func TestTotals(t *testing.T) {
	t.Parallel()
	from := gagg.Files(randomFile(t, 8_000))
	aggs := exprs("count(*) as n", "list(i)", "count(distinct s)", "grouping(k)", "string_agg(k, '')")
	all := setAlone(t, gagg.Query{From: from, By: []string{"k"}, Aggs: exprs("count(*) as n", "list(i)", "count(distinct s)", "min(1)", "string_agg(k, '')")}, []bool{false})
	for _, q := range []gagg.Query{
		{},
		{Limit: 3},
		{Limit: gagg.NoRows},
		{Having: "n > 4"},
		{OrderBy: []string{"-n", "k"}},
		{OrderBy: []string{"n", "k"}, Limit: 5, Offset: 2},
		{Having: "n < 0"},
		{Offset: 1 << 40},
	} {
		q.From, q.By, q.Aggs = from, []string{"k"}, aggs
		want := mustAnswer(t, q, gagg.Options{Threads: 2})
		q.Totals = true
		got := mustAnswer(t, q, gagg.Options{Threads: 3})
		if n := len(got) - 1; n < 0 || got[n] != all[0] || !slices.Equal(sorted(got[:n]), sorted(want)) && len(q.OrderBy)+int(q.Limit) == 0 || len(q.OrderBy) > 0 && !slices.Equal(got[:n], want) {
			t.Errorf("order %v, limit %d, having %q: %d rows, want %d and the total", q.OrderBy, q.Limit, q.Having, len(got), len(want))
		}
	}
}
