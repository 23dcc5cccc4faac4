// Command h2o writes the group-by table of db-benchmark as one Parquet file:
//
//	go run ./bench/h2o -rows 1e7 -o bench/data/h2o_1e7.parquet
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/gagg-dev/gagg/bench/table"
	"github.com/gagg-dev/gagg/internal/datagen"
)

func main() {
	rows := flag.Float64("rows", 1e7, "rows of the table")
	seed := flag.Uint64("seed", 1, "seed of the random values")
	path := flag.String("o", "bench/data/h2o_1e7.parquet", "file to write")
	flag.Parse()
	if err := table.Write(*path, datagen.H2O{Rows: int64(*rows), Seed: *seed}); err != nil {
		fmt.Fprintln(os.Stderr, "h2o:", err)
		os.Exit(1)
	}
}
