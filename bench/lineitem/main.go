// Command lineitem writes a table like TPC-H's lineitem as one Parquet file;
// internal/datagen.Lineitem describes it:
//
//	go run ./bench/lineitem -rows 1e7 -o bench/data/lineitem_10000000.parquet
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
	path := flag.String("o", "bench/data/lineitem_10000000.parquet", "file to write")
	flag.Parse()
	if err := table.Write(*path, datagen.Lineitem{Rows: int64(*rows), Seed: *seed}); err != nil {
		fmt.Fprintln(os.Stderr, "lineitem:", err)
		os.Exit(1)
	}
}
