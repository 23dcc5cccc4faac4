// Command hits writes a table like ClickBench's hits as one Parquet file;
// internal/datagen.Hits describes it:
//
//	go run ./bench/hits -rows 1e7 -o bench/data/hits_10000000.parquet
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
	path := flag.String("o", "bench/data/hits_10000000.parquet", "file to write")
	flag.Parse()
	if err := table.Write(*path, datagen.Hits{Rows: int64(*rows), Seed: *seed}); err != nil {
		fmt.Fprintln(os.Stderr, "hits:", err)
		os.Exit(1)
	}
}
