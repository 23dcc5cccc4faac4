package gagg_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg"
)

// A result as CSV, on stdout.
func ExampleWrite() {
	ctx := context.Background()
	rows, err := gagg.Run(ctx, gagg.Query{
		From: gagg.Files("testdata/orders.parquet"), By: []string{"region"}, Aggs: []gagg.Agg{gagg.Max("price")}, OrderBy: []string{"region"},
	}, gagg.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Release()
	if err := gagg.Write(ctx, os.Stdout, rows, gagg.Output{Format: gagg.FormatCSV}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// region,max(price)
	// Africa,174.90
	// Americas,174.90
	// Asia,174.90
	// Europe,174.90
	// Oceania,174.90
}

// revenue writes the revenue of each region to a file, which appears whole or not at all.
func revenue(ctx context.Context, path string) error {
	rows, err := gagg.Run(ctx, gagg.Query{
		From:   gagg.Files("testdata/orders.parquet"),
		By:     []string{"region"},
		Aggs:   []gagg.Agg{gagg.Sum("price * quantity").As("revenue")},
		Where:  "product <> ? and ordered_at >= ?",
		Params: []any{"saw", time.Date(2024, 6, 1, 0, 0, 0, 0, time.UTC)},
	}, gagg.Options{})
	if err != nil {
		return err
	}
	defer rows.Release()
	return gagg.WriteFile(ctx, path, rows, gagg.Output{})
}

// A result as a file, which appears whole or not at all.
func ExampleWriteFile() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := dir + "/revenue.parquet"
	if err := revenue(context.Background(), path); err != nil {
		log.Fatal(err)
	}
	show(gagg.Query{From: gagg.Files(path), Aggs: []gagg.Agg{gagg.CountAll()}})
	// Output:
	// 5
}

// Values are given beside the text, and are never part of it.
func ExampleQuery_params() {
	show(gagg.Query{
		From:    gagg.Files("testdata/orders.parquet"),
		By:      []string{"region"},
		Aggs:    []gagg.Agg{gagg.CountAll()},
		Where:   "region in (?, ?) and ordered_at >= ?",
		OrderBy: []string{"region"},
		Params:  []any{"Asia", "O'Higgins", time.Date(2024, 6, 1, 0, 0, 0, 0, time.UTC)},
	})
	// Output:
	// Asia 1432
}

// Records that a program makes one after the other.
func ExampleRecordSeq() {
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	numbers := func(yield func(arrow.Record, error) bool) {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		defer b.Release()
		for n := range int64(3) {
			b.Field(0).(*array.Int64Builder).AppendValues([]int64{n, 10 * n}, nil)
			rec := b.NewRecord()
			more := yield(rec, nil)
			rec.Release() // the run has retained it
			if !more {
				return
			}
		}
	}
	show(gagg.Query{From: gagg.RecordSeq(schema, numbers), Aggs: []gagg.Agg{gagg.Sum("n"), gagg.CountAll()}})
	// Output:
	// 33 6
}

// Records that come out of a channel.
func ExampleRecordChan() {
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	records := make(chan arrow.Record)
	go func() {
		defer close(records)
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		defer b.Release()
		for n := range int64(3) {
			b.Field(0).(*array.Int64Builder).Append(n)
			records <- b.NewRecord() // which the run releases
		}
	}()
	show(gagg.Query{From: gagg.RecordChan(schema, records), Aggs: []gagg.Agg{gagg.Sum("n")}})
	// Output:
	// 3
}

// Files in memory, as one table; folders in their names are columns.
func ExampleReaders() {
	data, err := os.ReadFile("testdata/orders.parquet")
	if err != nil {
		log.Fatal(err)
	}
	show(gagg.Query{
		From: gagg.Readers(
			gagg.Reader{Name: "year=2023/orders.parquet", Reader: bytes.NewReader(data), Size: int64(len(data))},
			gagg.Reader{Name: "year=2024/orders.parquet", Reader: bytes.NewReader(data), Size: int64(len(data))},
		),
		By: []string{"year"}, Aggs: []gagg.Agg{gagg.CountAll()}, OrderBy: []string{"year"},
	})
	// Output:
	// 2023 12000
	// 2024 12000
}

// Files of an fs.FS, such as those that are embedded in a program.
func ExampleFS() {
	show(gagg.Query{From: gagg.FS(os.DirFS("testdata"), "orders.*"), Aggs: []gagg.Agg{gagg.CountAll()}})
	// Output:
	// 12000
}

// reading prints how much was read.
type reading struct{ rows, of int64 }

func (r *reading) Progress(p gagg.Progress) {
	if p.Phase == gagg.PhaseScan {
		r.rows, r.of = max(r.rows, p.RowsDone), p.RowsTotal
	}
}

// How far a run is. With several threads an Observer must be safe for concurrent use.
func ExampleObserver() {
	var r reading
	rows, err := gagg.Run(context.Background(), gagg.Query{
		From: gagg.Files("testdata/orders.parquet"), Aggs: []gagg.Agg{gagg.Sum("price")},
	}, gagg.Options{Observer: &r, Threads: 1})
	if err != nil {
		log.Fatal(err)
	}
	rows.Release()
	fmt.Println(r.rows, "of", r.of, "rows")
	// Output:
	// 12000 of 12000 rows
}
