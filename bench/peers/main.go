// Command peers answers the group-by questions of db-benchmark, or those of
// other sets, with gagg and with DuckDB, ClickHouse and Polars beside it, and
// prints one table; or, with -scaling, answers them with one number of threads
// after another; or, with -memory, answers a question under one memory limit
// after another with gagg and DuckDB; or, with -devices, has gagg compute on
// each of them, and DuckDB beside it, and tells what ran where. See README.md in
// this folder for how it is fair; `make bench-peers`, `make bench-real`,
// `make bench-devices` and `make bench-memory` run it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		stop()
		os.Exit(1)
	}
}

// settings is the command line.
type settings struct {
	rows      float64
	rounds    int
	threads   int
	sets      string
	questions string
	engines   string
	gagg      string
	file      string
	results   string
	memory    string
	into      string
	timeout   time.Duration
	temp      string
	devices   string
	open      string
	library   string
	duckdb    string
	unchecked string
	data      string
	limit     string
	dropped   string
	cold      bool
	name      string
	makers    string
	scaling   string
}

func parse() settings {
	var s settings
	flag.Float64Var(&s.rows, "rows", 1e7, "rows of the table")
	flag.IntVar(&s.rounds, "rounds", 5, "timed rounds")
	flag.IntVar(&s.threads, "threads", 2, "threads of every engine")
	flag.StringVar(&s.sets, "set", "h2o", "sets of questions: h2o (db-benchmark's), clickbench, tpch, others (of the same tables as these two), trips, payments, readings, commits, functions (of tables of these); several behind commas")
	flag.StringVar(&s.questions, "questions", "", "for example q1,c13,t6; empty: all of the sets")
	flag.StringVar(&s.engines, "engines", "duckdb,clickhouse,polars", "what to run beside gagg")
	flag.StringVar(&s.gagg, "gagg", "build/gagg", "the command to measure")
	flag.StringVar(&s.file, "file", "", "data to use; empty: bench/data, made where it is missing")
	flag.StringVar(&s.results, "results", "bench/results", "folder of the result files; empty: none")
	flag.StringVar(&s.memory, "memory", "", "memory limits, for example default,2GiB,512MiB: gagg beside DuckDB under each")
	flag.StringVar(&s.into, "into", "nothing", "with -memory: where DuckDB's answers go while they are timed: nothing, or a temporary table")
	flag.DurationVar(&s.timeout, "timeout", 20*time.Minute, "with -memory: kill a run that takes longer")
	flag.StringVar(&s.temp, "temp", "bench/data", "with -memory: folder for temporary files and answers, on a disk")
	flag.StringVar(&s.devices, "devices", "", "values of gagg's --device, for example cpu,gpu,0+1 (two GPUs): end to end, each beside DuckDB; other flags may follow a space")
	flag.StringVar(&s.open, "open", "", "with -devices: those that a warm program of gagg's library is asked for too; --gpu-memory SIZE may follow")
	flag.StringVar(&s.library, "library", "build/library", "with -open: that program")
	flag.StringVar(&s.duckdb, "duckdb", "", "libduckdb.so, which Python drives; empty: node does")
	flag.StringVar(&s.makers, "makers", "", "folder of the data makers where they are built; empty: go runs them")
	flag.StringVar(&s.scaling, "scaling", "", "numbers of threads, for example 1,2,4,8,16: gagg and the first engine with each")
	flag.StringVar(&s.unchecked, "unchecked", "", "with -devices: questions whose answers are not compared")
	flag.StringVar(&s.limit, "limit", "", "with -devices: memory limit of every engine, for example 80GiB; empty: their defaults")
	flag.StringVar(&s.dropped, "dropped", "", "with -devices: questions whose answers DuckDB drops, too large for a temporary table")
	flag.StringVar(&s.name, "name", "", "name of the result files; empty: peers, real, scaling, endtoend or, of real queries, devices")
	flag.BoolVar(&s.cold, "cold", false, "with -devices: the first run of a warm process counts, too; where runs are long")
	flag.StringVar(&s.data, "data", "bench/data", "folder of the data, which is made where it is missing; with -devices by DuckDB")
	flag.Parse()
	return s
}

func run(ctx context.Context) error {
	s := parse()
	asked, err := pick(s.sets, s.questions)
	if err != nil {
		return err
	}
	real := slices.ContainsFunc(asked, func(q question) bool { return q.real != nil })
	if real && s.memory != "" {
		return errors.New("-memory has no real queries")
	}
	b := bench{
		gagg:     gagg{path: s.gagg, threads: s.threads},
		engines:  splitList(s.engines),
		rounds:   s.rounds,
		duckdb:   s.duckdb,
		versions: map[string]string{},
	}
	b.versions["gagg"] = b.gagg.version()
	at := setting{
		Machine: thisMachine(), Commit: revision(),
		Command: strings.Join(os.Args[1:], " "), Date: time.Now().UTC().Format(time.DateOnly),
		Rows: int64(s.rows), Threads: s.threads, Versions: b.versions,
	}
	switch {
	case s.memory != "":
		return runMemory(ctx, s, b, at, asked)
	case s.devices != "":
		return runEndToEnd(ctx, s, b, at, asked)
	case s.scaling != "":
		return runScaling(ctx, s, b, at, asked)
	case real:
		return runReal(ctx, s, b, at, asked)
	}
	return runPeers(ctx, s, b, at, asked)
}

func splitList(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}

func runPeers(ctx context.Context, s settings, b bench, at setting, asked []question) error {
	r := report{setting: at}
	for _, q := range asked {
		if q.data != "" {
			return fmt.Errorf("%s is a question for -memory", q.name)
		}
		var err error
		if b.gagg.file, err = dataFor(ctx, s, q); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "%s: %s\n", q.name, q.sql("gagg"))
		cells, err := b.answer(ctx, q)
		if err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		r.Results = append(r.Results, result{q.name, q.sql("gagg"), cells})
	}
	r.print(os.Stdout, b.engines)
	if s.results == "" {
		return nil
	}
	saved, err := r.save(s.results)
	if err == nil {
		fmt.Println("result file:", saved)
	}
	return err
}

// dataFor is the file that a question is about. It is made in a process of its
// own, by a data maker or by DuckDB: this one has to stay small (see spentBy).
func dataFor(ctx context.Context, s settings, q question) (string, error) {
	if s.file != "" {
		return s.file, nil
	}
	rows := fmt.Sprint(int64(s.rows))
	name, maker := "h2o", []string{"h2o"}
	switch {
	case q.real != nil:
		name, maker = q.data, []string{q.data}
	case q.data != "":
		name, maker = q.data, []string{"shapes", "-kind", q.data}
	}
	path := filepath.Join(s.data, fmt.Sprintf("%s_%s.parquet", name, rows))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	fmt.Fprintln(os.Stderr, "making", path)
	if table, ok := madeTables[name]; ok {
		return path, table.make(ctx, s, path)
	}
	args := append(maker[1:], "-rows", rows, "-o", path)
	command := exec.Command(filepath.Join(s.makers, maker[0]), args...)
	if s.makers == "" {
		command = exec.Command("go", append([]string{"run", "./bench/" + maker[0]}, args...)...)
	}
	command.Stdout, command.Stderr = os.Stderr, os.Stderr
	return path, command.Run()
}
