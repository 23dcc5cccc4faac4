package gagg_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gagg-dev/gagg"
)

// TestNow protects that now() and its kin are one time in the whole query, that of Query.Now, in
// every clause, that the plan shows it, and that a column of such a name stays a column.
func TestNow(t *testing.T) {
	q := gagg.Query{
		From: gagg.Files("testdata/orders.parquet"), Now: time.Date(2024, 2, 29, 23, 59, 59, 500, time.UTC),
		By: []string{"current_date as day"}, Where: "now() > timestamptz '2024-02-29 00:00:00+00'",
		Aggs: []gagg.Agg{
			gagg.Expr("count(distinct now()) as times, max(current_timestamp)::text as at, min(today() + 1)::text as tomorrow"),
			gagg.Expr("max(now() - interval '1 month')::text as before"),
		},
		Having: "max(now()) = now()", OrderBy: []string{"today() + count(*)"},
	}
	plan, err := gagg.Plan(context.Background(), q, gagg.Options{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	if want := "2024-02-29 23:59:59+00"; plan.Now != want || !strings.Contains(plan.String(), want) {
		t.Errorf("the plan shows %q in %s", plan.Now, plan)
	}
	rows, err := gagg.Run(context.Background(), q, gagg.Options{Threads: 3, Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Release()
	var got []string
	for rows.Next() {
		for c := range rows.Record().Columns() {
			// which may lie in the record
			got = append(got, strings.Clone(rows.Record().Column(c).ValueStr(0)))
		}
	}
	want := []string{"2024-02-29", "1", "2024-02-29 23:59:59+00", "2024-03-01", "2024-01-29 23:59:59+00"}
	if err := rows.Err(); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

// TestNowIsTheRuns protects that without Query.Now it is the time at which the query was run.
func TestNowIsTheRuns(t *testing.T) {
	q := gagg.Query{From: gagg.Files("testdata/orders.parquet"), Aggs: []gagg.Agg{gagg.Expr("max(epoch_us(now())) as us")}}
	before := time.Now().UnixMicro()
	plan, err := gagg.Plan(context.Background(), q, gagg.Options{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	at, err := time.Parse("2006-01-02 15:04:05.999999-07", plan.Now)
	if err != nil || at.UnixMicro() < before || at.After(time.Now()) {
		t.Errorf("now() is %q, %v", plan.Now, err)
	}
}

// TestRandomIsRefused protects that what no two runs would agree on is refused with a way out.
func TestRandomIsRefused(t *testing.T) {
	from := gagg.Files("testdata/orders.parquet")
	for _, q := range []gagg.Query{
		{From: from, Where: "random() < 0.1", By: []string{"region"}},
		{From: from, By: []string{"uuid()"}},
		{From: from, Aggs: []gagg.Agg{gagg.Expr("max(random())")}},
		{From: from, Aggs: []gagg.Agg{gagg.Expr("count(*) + random()")}},
	} {
		_, err := gagg.Plan(context.Background(), q, gagg.Options{Device: "cpu"})
		if !errors.Is(err, gagg.ErrUsage) || !strings.Contains(err.Error(), "--sample") {
			t.Errorf("%v", err)
		}
	}
}
