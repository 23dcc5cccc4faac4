// Command newerarrow links gagg together with a newer Arrow for Go and its
// Parquet package, reads a file's schema with the one and groups it with the
// other.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/gagg-dev/gagg"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func run(path string) error {
	f, err := file.OpenParquetFile(path, false)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	schema, err := r.Schema()
	if err != nil {
		return err
	}
	rows, err := gagg.Run(context.Background(), gagg.Query{
		From: gagg.Files(path), By: []string{schema.Field(0).Name},
	}, gagg.Options{})
	if err != nil {
		return err
	}
	defer rows.Release()
	var n int64
	for rows.Next() {
		n += rows.Record().NumRows()
	}
	fmt.Println(n, "groups")
	return rows.Err()
}
