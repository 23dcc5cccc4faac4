// Command fuzz asks gagg and DuckDB the same random questions and compares the answers; see
// README.md in this folder. `make fuzz-duckdb SEEDS=n` runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		stop()
		os.Exit(1)
	}
}

// settings is the command line.
type settings struct {
	seeds   int
	first   uint64
	from    string
	during  time.Duration
	queries int
	devices int
	gagg    string
	build   string
	kept    string
	most    int
}

func parse() settings {
	var s settings
	flag.IntVar(&s.seeds, "seeds", 100, "how many seeds")
	flag.Uint64Var(&s.first, "first", 0, "the first seed")
	flag.StringVar(&s.from, "from", "", "a text, such as a commit, from which the first seed is made")
	flag.DurationVar(&s.during, "for", 0, "stop after that time; 0: when all seeds are done")
	flag.IntVar(&s.queries, "queries", 10, "queries of a seed")
	flag.IntVar(&s.devices, "devices", 20, "of so many seeds one is for devices")
	flag.StringVar(&s.gagg, "gagg", "build/gagg", "the command to try")
	flag.StringVar(&s.build, "build", "build/fuzz", "folder for the DuckDB that is linked")
	flag.StringVar(&s.kept, "kept", "build/fuzz/found", "folder for the files of differences")
	flag.IntVar(&s.most, "most", 5, "stop after so many differences")
	flag.Parse()
	if s.from != "" {
		h := fnv.New64a()
		h.Write([]byte(s.from)) // never fails
		s.first = h.Sum64() >> 16
	}
	return s
}

// fuzzer is what a run of the program has.
type fuzzer struct {
	settings
	duck    *duck
	writers *writers
	runner  *runner
	counts  counts
	found   int
}

func run(ctx context.Context) error {
	s := parse()
	program, err := buildDuck(ctx, s.build)
	if err != nil {
		return err
	}
	f := &fuzzer{settings: s}
	if f.duck, err = startDuck(ctx, program); err != nil {
		return err
	}
	if f.writers, err = openWriters(ctx, f.duck); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "gagg-fuzz-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	f.runner = &runner{gagg: s.gagg, folder: folder, duck: f.duck, limit: 3 * time.Minute}
	if emulator, err := filepath.Abs("build/emu/libcuda-emu.so"); err == nil {
		if _, err := os.Stat(emulator); err == nil {
			f.runner.emulator = emulator
		}
	}
	if err := f.begin(); err != nil {
		return err
	}
	err = f.seedsInTurn(ctx)
	f.counts.print(f.writers)
	return errors.Join(err, f.duck.close(), f.writers.close())
}

// begin says what takes part.
func (f *fuzzer) begin() error {
	fmt.Println("fuzz: writers:", f.writers.names)
	if f.writers.node == nil {
		fmt.Println("fuzz: parquet-wasm, hyparquet-writer and Polars are missing: npm install --prefix bench/peers --no-package-lock")
	}
	if f.runner.emulator == "" {
		fmt.Println("fuzz: no devices: make emu")
	}
	missing, err := unasked()
	if len(missing) > 0 {
		fmt.Println("fuzz: not asked for, since bench/fuzz/functions.go lacks them:", missing)
	}
	return err
}

func (f *fuzzer) seedsInTurn(ctx context.Context) error {
	start := time.Now()
	for i := range f.seeds {
		if f.during > 0 && time.Since(start) > f.during {
			break
		}
		if err := f.seed(ctx, f.first+uint64(i)); err != nil {
			return fmt.Errorf("seed %d: %w", f.first+uint64(i), err)
		}
		if f.found >= f.most {
			break
		}
	}
	if f.found > 0 {
		return fmt.Errorf("%d differences", f.found)
	}
	return ctx.Err()
}

// seed makes a table and asks it some queries.
func (f *fuzzer) seed(ctx context.Context, seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, 0))
	folder := filepath.Join(f.runner.folder, fmt.Sprint("seed", seed))
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	device := rng.IntN(f.devices) == 0
	rows := pick(rng, 0, 1, 32, 33, 100, 300, 1000, 1000, 1000, 3000)
	if rng.IntN(50) == 0 { // what may not fit in little memory
		rows = 30_000
	}
	if device { // whose memory is to run short
		rows = pick(rng, 30_000, 40_000)
	}
	t, err := f.writers.table(rng, folder, rows, device)
	if err != nil {
		return err
	}
	f.counts.Seeds++
	for i := range f.queries {
		q := newQuery(rng, t, device)
		if err := f.ask(ctx, rng, q, seed, device); err != nil {
			return fmt.Errorf("query %d: %w\n%s", i, err, q.sql())
		}
	}
	return ctx.Err()
}

var errOrder = errors.New("the rows are in another order than in the first configuration")

// ask runs a query in two configurations.
func (f *fuzzer) ask(ctx context.Context, rng *rand.Rand, q *query, seed uint64, device bool) error {
	want, err := expect(f.duck, q)
	if err != nil {
		return err
	}
	f.counts.Queries++
	if want.err != nil {
		f.counts.Failing++
	}
	var first []string
	var before *config
	for i := range 2 {
		c := newConfig(rng, q.table, device && f.runner.emulator != "" && i == 1)
		o, err := f.runner.run(ctx, q, c)
		if err != nil {
			return err
		}
		f.counts.add(o, c)
		order, wrong := want.check(f.runner, o, c)
		// the machine may have stood still; one that hangs is late again
		if errors.Is(wrong, errLate) {
			if o, err = f.runner.run(ctx, q, c); err != nil {
				return err
			}
			order, wrong = want.check(f.runner, o, c)
		}
		if wrong != nil {
			before = nil
		} else if before != nil && order != nil && !slices.Equal(first, order) {
			wrong = errOrder
		}
		if wrong != nil {
			f.found++
			return f.report(ctx, seed, finding{q, c, wrong, before})
		}
		if order != nil {
			first, before = order, &c
		}
	}
	return nil
}
