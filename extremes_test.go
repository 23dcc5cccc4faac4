package gagg_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/datagen"
)

// Row groups that can hold neither a least nor a greatest value are not read if nothing else is
// asked for.
func TestExtremes(t *testing.T) {
	kinds := []column.Type{
		{Kind: column.Int8},
		{Kind: column.Int64},
		{Kind: column.Uint32},
		{Kind: column.Uint64},
		{Kind: column.Date},
		{Kind: column.Bool},
		column.TimestampType(column.Nano, true),
		{Kind: column.Decimal, Precision: 9, Scale: 2},
		{Kind: column.Float64},
		{Kind: column.String},
		{Kind: column.Decimal, Precision: 30, Scale: 2},
	}
	const rows = 6000
	spec := datagen.Spec{Rows: rows, Seed: 7}
	for i, k := range kinds {
		spec.Columns = append(spec.Columns,
			datagen.Column{Name: fmt.Sprintf("a%d", i), Type: k, Distinct: 5000, Special: i%3 == 0},
			datagen.Column{Name: fmt.Sprintf("b%d", i), Type: k, Distinct: 40, Nulls: 0.5, Coded: true},
			datagen.Column{Name: fmt.Sprintf("c%d", i), Type: k, Distinct: 3, Nulls: 1})
	}
	spec.Rows = rows
	table := datagen.New(spec)
	least := rows
	for _, layout := range []datagen.Layout{{RowGroup: 150}, {RowGroup: 100, Page: 30, Codec: "snappy"}, {RowGroup: 700, V2: true}} {
		var b bytes.Buffer
		if err := table.WriteParquet(&b, layout); err != nil {
			t.Fatal(err)
		}
		from := gagg.Parquet("table", bytes.NewReader(b.Bytes()), int64(b.Len()))
		check := func(o gagg.Options, aggs ...string) gagg.Stats {
			q := gagg.Query{From: from, Aggs: exprs(aggs...)}
			o.Device = "cpu"
			plain := o
			plain.NoPruning = true
			want, all, err := answerStats(t, q, plain)
			if err != nil || all.Rows != rows {
				t.Fatalf("%d rows, %v", all.Rows, err)
			}
			got, some, err := answerStats(t, q, o)
			if err != nil || !slices.Equal(got, want) || some.Rows+some.RowsSkipped != rows || some.BytesRead+some.BytesSkipped != all.BytesRead {
				t.Errorf("%v, %d threads: %v, want %v; %d rows, %d left out; %v", aggs, o.Threads, got, want, some.Rows, some.RowsSkipped, err)
			}
			return some
		}
		for threads := 1; threads <= 4; threads += 3 {
			o := gagg.Options{Threads: threads}
			var all []string
			for i := range kinds {
				for _, c := range []string{"a", "b", "c"} {
					low, high := fmt.Sprintf("min(%s%d)", c, i), fmt.Sprintf("max(%s%d)", c, i)
					least = min(least, int(check(o, low).Rows), int(check(o, high).Rows))
					check(o, low, high)
					all = append(all, low, high)
				}
			}
			check(o, all...)
			if s := check(o, "max(a1)", "count(*)"); s.Rows != rows {
				t.Errorf("%d rows were counted", s.Rows)
			}
			for _, more := range []string{"sum(a1)", "min(a1 + 1)", "count(b1)", "max(a8)", "first(a1)"} {
				if s := check(o, "max(a1)", more); s.Rows != rows {
					t.Errorf("%s: %d rows were read", more, s.Rows)
				}
			}
		}
	}
	if least > 100 {
		t.Errorf("%d rows were read at least", least)
	}
}

// What a filter or keys leave of a row group has other extremes.
func TestExtremesOfSomeRows(t *testing.T) {
	table := datagen.New(datagen.Spec{Rows: 3000, Seed: 8, Columns: []datagen.Column{
		{Name: "x", Type: column.Type{Kind: column.Int32}, Distinct: 2000}, {Name: "k", Type: column.Type{Kind: column.Int32}, Distinct: 5},
	}})
	var b bytes.Buffer
	if err := table.WriteParquet(&b, datagen.Layout{RowGroup: 100}); err != nil {
		t.Fatal(err)
	}
	for _, q := range []gagg.Query{
		{Aggs: exprs("min(x)", "max(x)"), Where: "x % 7 = 3"},
		{Aggs: exprs("min(x)", "max(x)"), By: []string{"k"}, OrderBy: []string{"k"}},
		{Aggs: exprs("min(x)", "max(k)"), Having: "min(x) < max(x)"},
	} {
		q.From = gagg.Parquet("table", bytes.NewReader(b.Bytes()), int64(b.Len()))
		want, err := answer(t, q, gagg.Options{NoPruning: true})
		if err != nil {
			t.Fatal(err)
		}
		got, err := answer(t, q, gagg.Options{Threads: 3})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%v where %q: %v, want %v; %v", q.Aggs, q.Where, got, want, err)
		}
	}
}
