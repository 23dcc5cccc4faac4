// Command h2o writes the group-by table of db-benchmark as one Parquet file:
//
//	go run ./bench/h2o -rows 1e7 -o bench/data/h2o_1e7.parquet
package main

import (
	"github.com/gagg-dev/gagg/bench/table"
	"github.com/gagg-dev/gagg/internal/datagen"
)

func main() {
	table.Main("h2o", "h2o_1e7.parquet", func(rows int64, seed uint64) table.Table { return datagen.H2O{Rows: rows, Seed: seed} })
}
