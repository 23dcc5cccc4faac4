// Command hits writes a table like ClickBench's hits as one Parquet file;
// internal/datagen.Hits describes it:
//
//	go run ./bench/hits -rows 1e7 -o bench/data/hits_10000000.parquet
package main

import (
	"github.com/gagg-dev/gagg/bench/table"
	"github.com/gagg-dev/gagg/internal/datagen"
)

func main() {
	table.Main("hits", "hits_10000000.parquet", func(rows int64, seed uint64) table.Table { return datagen.Hits{Rows: rows, Seed: seed} })
}
