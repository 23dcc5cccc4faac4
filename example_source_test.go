package gagg_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg"
)

// A file that comes as a stream: of a pipe, an archive, a server.
func ExampleStream() {
	file, err := os.Open("testdata/orders.parquet")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	show(gagg.Query{
		From: gagg.Stream("orders", bufio.NewReader(file)),
		Aggs: []gagg.Agg{gagg.CountAll(), gagg.Max("price")},
	})
	// Output: 12000 174.9
}

// A Parquet file in memory. Any io.ReaderAt will do.
func ExampleParquet() {
	data, err := os.ReadFile("testdata/orders.parquet")
	if err != nil {
		log.Fatal(err)
	}
	show(gagg.Query{
		From:    gagg.Parquet("orders", bytes.NewReader(data), int64(len(data))),
		By:      []string{"region"},
		Aggs:    []gagg.Agg{gagg.CountDistinct("customer")},
		OrderBy: []string{"region"},
		Limit:   2,
	})
	// Output:
	// Africa 655
	// Americas 666
}

// Records that a program has. The result of one query may be the input of another one.
func ExampleRecords() {
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "name", Type: arrow.BinaryTypes.String}, {Name: "points", Type: arrow.PrimitiveTypes.Int64},
	}, nil))
	defer b.Release()
	b.Field(0).(*array.StringBuilder).AppendValues([]string{"Ada", "Ben", "Ada"}, nil)
	b.Field(1).(*array.Int64Builder).AppendValues([]int64{3, 4, 5}, nil)
	record := b.NewRecord()
	defer record.Release()
	reader, err := array.NewRecordReader(record.Schema(), []arrow.Record{record})
	if err != nil {
		log.Fatal(err)
	}
	defer reader.Release()
	show(gagg.Query{
		From:    gagg.Records(reader),
		By:      []string{"name"},
		Aggs:    []gagg.Agg{gagg.Sum("points")},
		OrderBy: []string{"name"},
	})
	// Output:
	// Ada 8
	// Ben 4
}

// The columns of an input, without reading its rows.
func ExampleDescribe() {
	d, err := gagg.Describe(context.Background(), gagg.Files("testdata/orders.parquet"), gagg.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Rows, "rows in", d.RowGroups, "row groups")
	for _, c := range d.Columns[:3] {
		fmt.Println(c.Name, c.Type)
	}
	// Output:
	// 12000 rows in 3 row groups
	// region string
	// customer string
	// product string
}

// The first rows of an input, and its columns.
func ExampleHead() {
	d, record, err := gagg.Head(context.Background(), gagg.Files("testdata/orders.parquet"), 2, gagg.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer record.Release()
	fmt.Println(len(d.Columns), "columns")
	for i := range int(record.NumRows()) {
		fmt.Println(record.Column(0).ValueStr(i), record.Column(2).ValueStr(i), record.Column(4).ValueStr(i))
	}
	// Output:
	// 7 columns
	// Americas gauge 30.94
	// Oceania epoxy 11.86
}

// A program that runs many queries opens the GPUs once. Where there are none, queries run on the
// CPU.
func ExampleOpenGPUs() {
	ctx := context.Background()
	gpus, err := gagg.OpenGPUs(ctx, "gpu")
	switch {
	case errors.Is(err, gagg.ErrDevice): // gpus is nil
	case err != nil:
		log.Fatal(err)
	default:
		defer gpus.Close()
	}
	for _, key := range []string{"region", "product"} {
		rows, err := gagg.Run(ctx, gagg.Query{
			From: gagg.Files("testdata/orders.parquet"),
			By:   []string{key},
			Aggs: []gagg.Agg{gagg.Sum("quantity")},
		}, gagg.Options{GPUs: gpus})
		if err != nil {
			log.Fatal(err)
		}
		groups := 0
		for rows.Next() {
			groups += int(rows.Record().NumRows())
		}
		rows.Release()
		fmt.Println(key, groups)
	}
	// Output:
	// region 5
	// product 20
}

// A run ends soon after its context, also of an input that has no end.
func ExampleRun_cancel() {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	endless := func(yield func(arrow.Record, error) bool) {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		defer b.Release()
		for n := int64(0); ; n++ {
			b.Field(0).(*array.Int64Builder).Append(n)
			record := b.NewRecord()
			more := yield(record, nil)
			record.Release()
			if !more {
				return
			}
		}
	}
	rows, err := gagg.Run(ctx, gagg.Query{
		From: gagg.RecordSeq(schema, endless),
		Aggs: []gagg.Agg{gagg.Sum("n")},
	}, gagg.Options{})
	if err == nil {
		defer rows.Release()
	}
	fmt.Println(errors.Is(err, context.DeadlineExceeded))
	// Output: true
}
