// Command trips writes a table of taxi trips as one Parquet file;
// internal/datagen.Trips describes it:
//
//	go run ./bench/trips -rows 1e7 -o bench/data/trips_10000000.parquet
package main

import (
	"github.com/gagg-dev/gagg/bench/table"
	"github.com/gagg-dev/gagg/internal/datagen"
)

func main() {
	table.Main("trips", "trips_10000000.parquet", func(rows int64, seed uint64) table.Table { return datagen.Trips{Rows: rows, Seed: seed} })
}
