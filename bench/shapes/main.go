// Command shapes writes a table that is hard to group under a memory limit as
// one Parquet file; internal/datagen.Shape describes the kinds:
//
//	go run ./bench/shapes -kind wide -rows 2e7 -o bench/data/wide_20000000.parquet
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/gagg-dev/gagg/bench/table"
	"github.com/gagg-dev/gagg/internal/datagen"
)

func main() {
	kind := flag.String("kind", "wide", "wide, zipf, one, distinct or text")
	rows := flag.Float64("rows", 1e7, "rows of the table")
	groups := flag.Float64("groups", 0, "number of different keys; 0: as the kind has it")
	width := flag.Int("width", 0, "bytes of a string; 0: as the kind has it")
	seed := flag.Uint64("seed", 1, "seed of the random values")
	path := flag.String("o", "", "file to write; empty: bench/data/KIND_ROWS.parquet")
	flag.Parse()
	if *path == "" {
		*path = fmt.Sprintf("bench/data/%s_%d.parquet", *kind, int64(*rows))
	}
	shape := datagen.Shape{Kind: *kind, Rows: int64(*rows), Groups: int64(*groups), Width: *width, Seed: *seed}
	if err := table.Write(*path, shape); err != nil {
		fmt.Fprintln(os.Stderr, "shapes:", err)
		os.Exit(1)
	}
}
