// Command h2o writes the group-by table of db-benchmark as one Parquet file:
//
//	go run ./bench/h2o -rows 1e7 -o bench/data/h2o_1e7.parquet
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gagg-dev/gagg/internal/datagen"
	"github.com/gagg-dev/gagg/internal/sink"
)

func main() {
	rows := flag.Float64("rows", 1e7, "rows of the table")
	seed := flag.Uint64("seed", 1, "seed of the random values")
	path := flag.String("o", "bench/data/h2o_1e7.parquet", "file to write")
	flag.Parse()
	if err := write(*path, datagen.H2O{Rows: int64(*rows), Seed: *seed}); err != nil {
		fmt.Fprintln(os.Stderr, "h2o:", err)
		os.Exit(1)
	}
}

// write leaves no half-written file under path.
func write(path string, table datagen.H2O) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := sink.Create(path)
	if err != nil {
		return err
	}
	defer file.Abort()
	buffered := bufio.NewWriterSize(file, 1<<20)
	if err := table.WriteParquet(buffered); err != nil {
		return err
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	return file.Commit()
}
