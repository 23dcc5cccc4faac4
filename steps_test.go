package gagg_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg"
)

// manyGroups is groups 0 to n-1, each of a row, except the first three, which have six. v is 1,
// but last in the last group.
func manyGroups(t *testing.T, n, last int64) gagg.Source {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64}, {Name: "v", Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	add := func(k, v int64) {
		b.Field(0).(*array.Int64Builder).Append(k)
		b.Field(1).(*array.Int64Builder).Append(v)
	}
	for k := range n - 1 {
		add(k, 1)
	}
	add(n-1, last)
	for i := range int64(15) {
		add(i%3, 1)
	}
	return builtRecords(t, b)
}

// A result that does not fit its type ends a query also where its group is not among the best
// ones that are put out (STEP-ERRORS), and one that having drops does not.
func TestStepErrors(t *testing.T) {
	for _, test := range []struct {
		last     int64
		having   string
		overflow bool
	}{
		{1, "", false},
		{3, "", true},
		{3, "max(v) < 3", false},
	} {
		q := gagg.Query{
			From: manyGroups(t, 30_000, test.last), By: []string{"k"}, Having: test.having,
			Aggs:    []gagg.Agg{gagg.CountAll().As("n"), gagg.Expr("max(v) * 4611686018427387904").As("m")},
			OrderBy: []string{"-n", "k"}, Limit: 3,
		}
		got, err := answer(t, q, gagg.Options{Threads: 2})
		if errors.Is(err, gagg.ErrOverflow) != test.overflow || err == nil && len(got) != 3 {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// The first groups in order are those of the whole result, where a filter on groups leaves some out
// before the order does: short texts of keys lie in the rows that the filter has left.
func TestStepsKeepTexts(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.BinaryTypes.String}, {Name: "v", Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i := range int64(1000) {
		b.Field(0).(*array.StringBuilder).Append(fmt.Sprintf("%010d", i*7919%1000))
		b.Field(1).(*array.Int64Builder).Append(i % 3)
	}
	rec := b.NewRecord()
	defer rec.Release()
	path := filepath.Join(t.TempDir(), "texts.arrow")
	writeArrow(t, path, false, []arrow.Record{rec})
	for _, aggs := range []string{"max(v) as m", "median(v) as m"} {
		q := gagg.Query{From: gagg.Files(path), By: []string{"k"}, Aggs: exprs(aggs), Having: "max(v) > 0", OrderBy: []string{"k"}}
		all, err := answer(t, q, gagg.Options{Threads: 1})
		if err != nil || len(all) < 600 {
			t.Fatalf("%d groups, %v", len(all), err)
		}
		for limit := 5; limit < 600; limit += 35 {
			q.Limit = int64(limit)
			for _, threads := range []int{1, 3} {
				got, err := answer(t, q, gagg.Options{Threads: threads})
				if err != nil || !slices.Equal(got, all[:limit]) {
					t.Errorf("%s, limit %d, %d threads: %q, want %q; %v", aggs, limit, threads, got, all[:limit], err)
				}
			}
		}
	}
}

// builtRecords is a source of the record that a builder holds.
func builtRecords(t *testing.T, b *array.RecordBuilder) gagg.Source {
	t.Helper()
	rec := b.NewRecord()
	t.Cleanup(rec.Release)
	reader, err := array.NewRecordReader(rec.Schema(), []arrow.Record{rec})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(reader.Release)
	return gagg.Records(reader)
}
