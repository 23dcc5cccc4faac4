package gagg_test

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/gagg-dev/gagg"
)

// listed is the values of a column that a query lists in its one row.
func listed(t *testing.T, q gagg.Query, o gagg.Options) []string {
	t.Helper()
	rows, err := gagg.Run(t.Context(), q, o)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Release()
	var out []string
	for rows.Next() {
		list := rows.Record().Column(0).(array.ListLike)
		for i := range list.ListValues().Len() {
			out = append(out, strings.Clone(list.ListValues().ValueStr(i)))
		}
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	return out
}

// A sample is the same rows whatever the options, the columns read and the source, and where sees
// these rows alone.
func TestSample(t *testing.T) {
	t.Parallel()
	from := gagg.Files(randomFile(t, 30_000))
	q := gagg.Query{From: from, Aggs: exprs("list(i)"), Sample: gagg.Sample{Percent: 20, Seed: 7}}
	want := listed(t, q, gagg.Options{Threads: 1})
	if n, mean := float64(len(want)), .2*30_000*.999; math.Abs(n-mean) > 6*math.Sqrt(mean*.8) {
		t.Fatalf("%v rows of 30000, want about %v", n, mean)
	}
	for _, o := range []gagg.Options{{Threads: 3, BatchRows: 100}, {Threads: 2, NoPruning: true}} {
		if got := listed(t, q, o); !slices.Equal(got, want) {
			t.Fatalf("%+v: %d rows, want %d, or others", o.Threads, len(got), len(want))
		}
	}
	var passed []string
	for _, text := range want {
		if n, err := strconv.Atoi(text); err == nil && n > 100 {
			passed = append(passed, text)
		}
	}
	for _, where := range []string{"i > 100", "i > 100 and k is distinct from 'no such' and (x > 0 or x is null or x <= 0)"} {
		q.Where = where
		if got := listed(t, q, gagg.Options{Threads: 2}); !slices.Equal(got, passed) {
			t.Errorf("where %s: %d rows, want %d, or others", where, len(got), len(passed))
		}
	}
	q.Where, q.Sample.Seed = "", 8
	if got := listed(t, q, gagg.Options{}); slices.Equal(got, want) {
		t.Error("another seed has the same sample")
	}
	q.Sample.Percent = 100
	if got := listed(t, q, gagg.Options{}); len(got) < 29_000 {
		t.Errorf("all rows are %d", len(got))
	}
}

// The samples of a seed grow with the share.
func TestSampleGrows(t *testing.T) {
	t.Parallel()
	from := gagg.Files(randomFile(t, 10_000))
	counts := []string{}
	for _, percent := range []float64{1e-9, 1, 10, 50, 99.9} {
		q := gagg.Query{From: from, Aggs: exprs("count(*)"), Sample: gagg.Sample{Percent: percent}}
		counts = append(counts, mustAnswer(t, q, gagg.Options{})...)
	}
	last := -1
	for _, text := range counts {
		n, err := strconv.Atoi(text)
		if err != nil || n < last {
			t.Fatal(counts)
		}
		last = n
	}
	if counts[0] != "0" || last < 9900 || last == 10_000 {
		t.Error(counts)
	}
}

// Row groups are read whole or not at all.
func TestSampleGroups(t *testing.T) {
	t.Parallel()
	from := gagg.Files(randomFile(t, 20_000)) // 20 row groups
	q := gagg.Query{From: from, Aggs: exprs("count(*)"), Sample: gagg.Sample{Percent: 50, Groups: true}}
	seen := map[string]bool{}
	for seed := range uint64(5) {
		q.Sample.Seed = seed
		got, stats, err := answerStats(t, q, gagg.Options{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(got[0])
		if err != nil || n%1000 != 0 || n < 3000 || n > 17_000 || int64(n)+stats.RowsSkipped != 20_000 {
			t.Fatalf("seed %d: %v rows, %d not read", seed, got, stats.RowsSkipped)
		}
		seen[got[0]] = true
	}
	if len(seen) < 2 {
		t.Error("all seeds have as many row groups")
	}
}

// Shares that there are not.
func TestSampleRefused(t *testing.T) {
	t.Parallel()
	for _, percent := range []float64{-1, 100.5, math.NaN()} {
		q := gagg.Query{From: gagg.Files(orders), Aggs: exprs("count(*)"), Sample: gagg.Sample{Percent: percent}}
		if _, err := answer(t, q, gagg.Options{}); !errors.Is(err, gagg.ErrUsage) {
			t.Errorf("%v: %v", percent, err)
		}
	}
}
