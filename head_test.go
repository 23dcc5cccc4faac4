package gagg_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/gagg-dev/gagg"
)

// Head gives the first rows in their order, across files and row groups, or all where there are
// fewer.
func TestHead(t *testing.T) {
	file := "testdata/orders.parquet" // 12,000 rows in three row groups
	for _, c := range []struct {
		files []string
		n     int
		want  int64
	}{
		{[]string{file}, 5, 5},
		{[]string{file}, 5_000, 5_000},
		{[]string{file, file}, 100_000, 24_000},
	} {
		d, rec, err := gagg.Head(t.Context(), gagg.Files(c.files...), c.n, gagg.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if rec.NumRows() != c.want || len(d.Columns) != int(rec.NumCols()) {
			t.Errorf("%d rows of %d columns, want %d; %+v", rec.NumRows(), rec.NumCols(), c.want, d)
		}
		named := func(c gagg.ColumnDescription) bool { return c.Name == "ordered_at" }
		at := rec.Column(slices.IndexFunc(d.Columns, named)).(*array.Timestamp)
		for i := 1; i < min(at.Len(), 12_000); i++ { // the file is in this order
			if at.Value(i) < at.Value(i-1) {
				t.Fatalf("row %d is before the one above", i)
			}
		}
		rec.Release()
	}
}

// Rows of tables that are deleted are not among the first.
func TestHeadOfTables(t *testing.T) {
	for _, test := range []struct {
		dir  string
		asOf string
		want []int64
	}{{sales(t).dir, "3", []int64{1, 2, 11, 14}}, {visits(t, 2).dir, "q1", []int64{11, 14, 30, 1, 2}}} {
		for _, n := range []int{1, 3, 100} {
			_, rec, err := gagg.Head(t.Context(), gagg.Files(test.dir), n, gagg.Options{AsOf: test.asOf})
			if err != nil {
				t.Fatal(err)
			}
			if got := rec.Column(0).(*array.Int64).Int64Values(); !slices.Equal(got, test.want[:min(n, len(test.want))]) {
				t.Errorf("the first %d rows have ids %v, want those of %v", n, got, test.want)
			}
			rec.Release()
		}
	}
}

func TestHeadFails(t *testing.T) {
	from := gagg.Files("testdata/none.parquet")
	if _, _, err := gagg.Head(t.Context(), from, 5, gagg.Options{}); !errors.Is(err, gagg.ErrInput) {
		t.Errorf("a file that is not there: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	from = gagg.Files("testdata/orders.parquet")
	if _, _, err := gagg.Head(ctx, from, 5, gagg.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
