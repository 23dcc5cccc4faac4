// Command trips writes a table of taxi trips as one Parquet file;
// internal/datagen.Trips describes it:
//
//	go run ./bench/trips -rows 1e7 -o bench/data/trips_10000000.parquet
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
	path := flag.String("o", "bench/data/trips_10000000.parquet", "file to write")
	flag.Parse()
	if err := table.Write(*path, datagen.Trips{Rows: int64(*rows), Seed: *seed}); err != nil {
		fmt.Fprintln(os.Stderr, "trips:", err)
		os.Exit(1)
	}
}
