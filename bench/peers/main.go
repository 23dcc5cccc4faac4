// Command peers answers the group-by questions of db-benchmark with gagg and
// with DuckDB, ClickHouse and Polars beside it, and prints one table. See
// README.md in this folder for how it is fair; `make bench-peers` runs it.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run() error {
	rows := flag.Float64("rows", 1e7, "rows of the table")
	rounds := flag.Int("rounds", 5, "timed rounds, after one that warms up")
	threads := flag.Int("threads", 2, "threads of every engine")
	only := flag.String("questions", "", "for example q1,q3; empty: all")
	engines := flag.String("engines", "duckdb,clickhouse,polars", "what to run beside gagg")
	path := flag.String("gagg", "build/gagg", "the command to measure")
	file := flag.String("file", "", "data to use; empty: bench/data, made where it is missing")
	results := flag.String("results", "bench/results", "folder of the result files; empty: none")
	flag.Parse()

	asked, err := pick(*only)
	if err != nil {
		return err
	}
	data := *file
	if data == "" {
		if data, err = makeData(int64(*rows)); err != nil {
			return err
		}
	}
	b := bench{
		gagg:     gagg{path: *path, file: data, threads: *threads},
		engines:  strings.FieldsFunc(*engines, func(r rune) bool { return r == ',' }),
		rounds:   *rounds,
		versions: map[string]string{},
	}
	r := report{
		Machine: thisMachine(), Commit: said("git", "describe", "--always", "--dirty"),
		Command: strings.Join(os.Args[1:], " "), Date: time.Now().UTC().Format(time.DateOnly),
		Rows: int64(*rows), Threads: *threads, Versions: b.versions,
	}
	for _, q := range asked {
		fmt.Fprintf(os.Stderr, "%s: %s\n", q.name, q.sql())
		cells, err := b.answer(q)
		if err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		r.Results = append(r.Results, result{q.name, q.sql(), cells})
	}
	b.versions["gagg"] = b.gagg.version()
	r.print(os.Stdout, b.engines)
	if *results == "" {
		return nil
	}
	saved, err := r.save(*results)
	if err == nil {
		fmt.Println("result file:", saved)
	}
	return err
}

// makeData makes the table in a process of its own: this one has to stay
// small (see gagg.run).
func makeData(rows int64) (string, error) {
	path := fmt.Sprintf("bench/data/h2o_%d.parquet", rows)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	fmt.Fprintln(os.Stderr, "making", path)
	command := exec.Command("go", "run", "./bench/h2o", "-rows", fmt.Sprint(rows), "-o", path)
	command.Stdout, command.Stderr = os.Stderr, os.Stderr
	return path, command.Run()
}
