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
