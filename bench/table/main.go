package table

import (
	"flag"
	"fmt"
	"os"
)

// Main is the program of a data maker: its flags are how many rows there are, their seed, and the
// file, which is bench/data/FILE unless it is said.
func Main(maker, file string, table func(rows int64, seed uint64) Table) {
	rows := flag.Float64("rows", 1e7, "rows of the table")
	seed := flag.Uint64("seed", 1, "seed of the random values")
	path := flag.String("o", "bench/data/"+file, "file to write")
	flag.Parse()
	if err := Write(*path, table(int64(*rows), *seed)); err != nil {
		fmt.Fprintln(os.Stderr, maker+":", err)
		os.Exit(1)
	}
}
