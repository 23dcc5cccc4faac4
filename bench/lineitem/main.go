// Command lineitem writes a table like TPC-H's lineitem as one Parquet file;
// internal/datagen.Lineitem describes it:
//
//	go run ./bench/lineitem -rows 1e7 -o bench/data/lineitem_10000000.parquet
package main

import (
	"github.com/gagg-dev/gagg/bench/table"
	"github.com/gagg-dev/gagg/internal/datagen"
)

func main() {
	table.Main("lineitem", "lineitem_10000000.parquet", func(rows int64, seed uint64) table.Table { return datagen.Lineitem{Rows: rows, Seed: seed} })
}
