package gagg_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/datagen"
)

// One row group keeps all workers busy. What depends on the order of rows does not depend on
// workers.
func TestPartsOfRowGroups(t *testing.T) {
	tuned := tune{gagg.PartLeast(1000)}
	table := datagen.New(datagen.Spec{Rows: 50_000, Seed: 15, Columns: []datagen.Column{
		{Name: "k", Type: column.Type{Kind: column.Int64}, Distinct: 300, Nulls: 0.1},
		{Name: "s", Type: column.Type{Kind: column.String}, Distinct: 100, Coded: true},
		{Name: "x", Type: column.Type{Kind: column.Int32}, Distinct: 40_000},
	}})
	var b bytes.Buffer
	if err := table.WriteParquet(&b, datagen.Layout{Page: 700, Codec: "snappy"}); err != nil {
		t.Fatal(err)
	}
	for _, q := range []gagg.Query{
		{By: []string{"k"}, Aggs: []gagg.Agg{gagg.CountAll(), gagg.Expr("first(s)"), gagg.Expr("last(x)"), gagg.Expr("sum(x)"), gagg.Expr("list(s)")}, OrderBy: []string{"k"}},
		{By: []string{"s"}, Aggs: []gagg.Agg{gagg.Expr("arg_min(x, k)"), gagg.Expr("count(distinct x)")}, Where: "k > 0 and x % 3 = 1", OrderBy: []string{"s"}},
		{Aggs: []gagg.Agg{gagg.Expr("median(x)"), gagg.Expr("first(x)"), gagg.Expr("last(s)")}, Where: "s is not null"},
		{By: []string{"s"}, Aggs: []gagg.Agg{gagg.CountAll().As("n")}, OrderBy: []string{"-n", "s"}, Limit: 7},
	} {
		q.From = gagg.Parquet("table", bytes.NewReader(b.Bytes()), int64(b.Len()))
		want, one, err := answerStats(t, q, tuned.of(gagg.Options{Threads: 1}))
		if err != nil || one.Threads != 1 {
			t.Fatalf("%d threads, %v", one.Threads, err)
		}
		for range 3 {
			got, many, err := answerStats(t, q, tuned.of(gagg.Options{Threads: 6}))
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%v: %d rows, want %d; %v", q.Aggs, len(got), len(want), err)
			}
			if many.Threads != 6 || many.RowGroups != 1 || many.Rows+many.RowsSkipped != 50_000 {
				t.Errorf("%d threads, %d row groups, %d rows", many.Threads, many.RowGroups, many.Rows)
			}
		}
	}
}

// Pages in which no row can pass the filter are left out, even from the counts of rows, unless
// that is switched off.
func TestPagesSkipped(t *testing.T) {
	table := datagen.New(datagen.Spec{Rows: 3000, Seed: 16, Columns: []datagen.Column{
		{Name: "x", Type: column.Type{Kind: column.Int32}, Distinct: 2000},
		{Name: "s", Type: column.Type{Kind: column.String}, Distinct: 50},
	}})
	var b bytes.Buffer
	if err := table.WriteParquet(&b, datagen.Layout{Page: 3}); err != nil {
		t.Fatal(err)
	}
	from := gagg.Parquet("table", bytes.NewReader(b.Bytes()), int64(b.Len()))
	greatest, err := answer(t, gagg.Query{From: from, Aggs: []gagg.Agg{gagg.Expr("max(x)")}}, gagg.Options{})
	if err != nil || len(greatest) != 1 {
		t.Fatal(greatest, err)
	}
	q := gagg.Query{From: from, By: []string{"s"}, Aggs: []gagg.Agg{gagg.CountAll()}, Where: "s <> '' and x >= " + greatest[0], OrderBy: []string{"s"}}
	want, all, err := answerStats(t, q, gagg.Options{NoPruning: true})
	if err != nil || len(want) == 0 || all.Rows != 3000 || all.RowsSkipped != 0 {
		t.Fatalf("%d groups, %d rows, %d skipped; %v", len(want), all.Rows, all.RowsSkipped, err)
	}
	got, some, err := answerStats(t, q, gagg.Options{})
	if err != nil || !slices.Equal(got, want) || some.Rows > 300 || some.Rows+some.RowsSkipped != 3000 || some.PagesSkipped < 1500 {
		t.Errorf("%v, want %v; %d rows, %d skipped, %d pages; %v", got, want, some.Rows, some.RowsSkipped, some.PagesSkipped, err)
	}
}
