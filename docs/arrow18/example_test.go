package arrow18_test

import (
	"context"
	"fmt"
	"log"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/docs/arrow18"
)

// revenue is the revenue of each region, of orders that come from anywhere.
func revenue(ctx context.Context, orders array.RecordReader) error {
	rows, err := gagg.Run(ctx, gagg.Query{
		From:    arrow18.Records(orders),
		By:      []string{"region"},
		Aggs:    []gagg.Agg{gagg.Sum("price * quantity").As("revenue")},
		OrderBy: []string{"-revenue"},
		Limit:   2,
	}, gagg.Options{})
	if err != nil {
		return err
	}
	defer rows.Release()
	result := arrow18.Reader(rows)
	defer result.Release()
	for result.Next() {
		batch := result.RecordBatch()
		region, revenue := batch.Column(0).(*array.String), batch.Column(1).(*array.Decimal128)
		for i := range int(batch.NumRows()) {
			fmt.Println(region.Value(i), revenue.ValueStr(i))
		}
	}
	return result.Err()
}

// Batches out of the Parquet reader of version 18, and the result as batches.
func ExampleRecords() {
	ctx := context.Background()
	f, err := file.OpenParquetFile("../../testdata/orders.parquet", false)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	files, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{BatchSize: 1000}, memory.DefaultAllocator)
	if err != nil {
		log.Fatal(err)
	}
	orders, err := files.GetRecordReader(ctx, nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer orders.Release()
	if err := revenue(ctx, orders); err != nil {
		log.Fatal(err)
	}
	// Output:
	// Oceania 461889.05
	// Europe 447727.65
}

// Batches that a program makes one after the other.
func ExampleRecordSeq() {
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	numbers := func(yield func(arrow.RecordBatch, error) bool) {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		defer b.Release()
		for n := range int64(3) {
			b.Field(0).(*array.Int64Builder).AppendValues([]int64{n, 10 * n}, nil)
			batch := b.NewRecordBatch()
			more := yield(batch, nil)
			batch.Release() // the run has retained it
			if !more {
				return
			}
		}
	}
	rows, err := gagg.Run(context.Background(), gagg.Query{From: arrow18.RecordSeq(schema, numbers), Aggs: []gagg.Agg{gagg.Sum("n")}}, gagg.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Release()
	result := arrow18.Reader(rows)
	defer result.Release()
	for result.Next() {
		fmt.Println(result.RecordBatch().Column(0))
	}
	// Output:
	// [33]
}

// The first rows of a file as a batch.
func ExampleBatch() {
	_, rec, err := gagg.Head(context.Background(), gagg.Files("../../testdata/orders.parquet"), 2, gagg.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer rec.Release()
	batch, err := arrow18.Batch(rec)
	if err != nil {
		log.Fatal(err)
	}
	defer batch.Release()
	fmt.Println(batch.Column(2))
	// Output:
	// ["gauge" "epoxy"]
}
