package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// settings is what the flags say, before anything is opened.
type settings struct {
	by, aggs, orderBy []string
	rollup, cube      bool
	sets              string
	totals            bool
	pivot             string
	where, having     string
	sample            percent
	sampleBy          string
	seed              uint64
	limit, offset     int64
	limited           bool // --limit was given; 0 then means no rows
	partial, merge    bool
	part              rowPart

	output, format, compression, null string

	bars        string
	partitionBy string
	fileSize    size

	threads, partitions    int
	batchRows              int // no flag: only tests have a use for other batches
	memory                 size
	tempDir                string
	tempLimit              size
	device                 string
	gpuMemory              size
	streams                int
	loadFactor             loads
	trace                  string // empty: not asked for
	unionByName, noPruning bool
	asOf                   string
	deterministic          bool
	noGPUDecoding          bool

	explain, stats string // empty: not asked for
	schema         bool
	summarize      bool
	devices        string // empty: not asked for

	progress       string
	quiet, verbose bool

	help, version bool
	manual        bool
	example       string   // empty: not asked for
	topics        []string // of help; none: all of it
	completion    string

	inputs []string
	typed  map[string]bool // the flags that the command line itself holds
}

// Values that --stats and --explain take when they stand alone.
const (
	statsToStderr = "-"
	explainText   = "text"
	explainJSON   = "json"
)

// flagSet binds the flags to s. The usage texts are what --help prints; a
// word in backquotes there names the value.
func flagSet(s *settings) *pflag.FlagSet {
	f := pflag.NewFlagSet("gagg", pflag.ContinueOnError)
	f.SortFlags = false
	f.Usage = func() {}

	f.StringArrayVarP(&s.by, "by", "k", nil, "keys: a `list` of columns or expressions, each with \"as name\" if wanted; none: one group of all rows")
	f.StringArrayVarP(&s.aggs, "agg", "a", nil, "aggregates: a `list` such as 'sum(v1), mean(v3) as m'; none: the distinct keys")
	f.BoolVar(&s.rollup, "rollup", false, "group by all keys, by all but the last, and so on to none")
	f.BoolVar(&s.cube, "cube", false, "group by every set of the keys")
	f.StringVar(&s.sets, "sets", "", "group by each of these sets of keys: a `list` such as \"(a, b), (a), ()\"")
	f.BoolVar(&s.totals, "totals", false, "one more row, the last: of all rows that pass --where")
	f.Var(&s.sample, "sample", "compute over a `share` of the rows such as 10%, chosen at random before --where")
	f.StringVar(&s.sampleBy, "sample-by", "rows", "choose `what`: rows, or row groups (groups), of which the others are not read")
	f.Uint64Var(&s.seed, "seed", 0, "choose the sample by number `n`; another one gives another sample (default 0)")
	f.StringVar(&s.where, "where", "", "keep the rows for which `expr` is true")
	f.StringVar(&s.having, "having", "", "keep the groups for which `expr` is true")
	f.StringArrayVar(&s.orderBy, "order-by", nil, "order of the result: a `list` of name, -name or \"name desc nulls last\"")
	f.StringVar(&s.pivot, "pivot", "", "the values of this `key` become columns, of each aggregate one; at most 1000")
	f.Int64Var(&s.limit, "limit", 0, "at most `n` groups")
	f.Int64Var(&s.offset, "offset", 0, "pass over the first `n` groups")

	f.BoolVar(&s.partial, "partial", false, "write states of the aggregates, which --merge reads, in place of their results")
	f.BoolVar(&s.merge, "merge", false, "merge the states in the inputs, and those of inputs with rows; keys and aggregates are those of the states")
	f.Var(&s.part, "part", "read one of the `i/N` shares of the row groups, from 1/N to N/N")

	f.StringVarP(&s.output, "output", "o", "-", "write the result to `path`; - is stdout")
	f.StringVarP(&s.format, "format", "f", "", "`format` of the result: "+strings.Join(formatNames(), " ")+" (default: from the output's extension, else table on a terminal, else csv)")
	f.StringVar(&s.compression, "compression", "", "compression of Parquet output: `codec` is "+strings.Join(compressions, ", ")+"; of text gzip, zstd, none (default: by an extension .gz, .zst)")
	f.StringVar(&s.null, "null", "", "`text` that stands for NULL in CSV and TSV")

	f.StringVar(&s.bars, "bar", "", "draw a bar in tables for each number of this `column` of the result")
	f.StringVar(&s.partitionBy, "partition-by", "", "write folders to the folder of -o, named k=value after the values of these columns of the result: a `list` of names")
	f.Var(&s.fileSize, "file-size", "write files to the folder of -o, and begin another one after so many bytes: a `size` such as 256MiB")

	f.BoolVar(&s.deterministic, "deterministic", false, "the same bits of sums of floats on any threads, devices, memory and order of files: they are exact, and rounded once")

	f.IntVarP(&s.threads, "threads", "j", 0, "CPU workers: `n` (default: all that the process may use)")
	f.Var(&s.memory, "memory-limit", "memory to use at most: a `size` such as 4GiB or 60% (default 80%)")
	f.StringVar(&s.tempDir, "temp-dir", "", "an existing `folder` for what does not fit in memory (default $TMPDIR, else /var/tmp)")
	f.Var(&s.tempLimit, "temp-limit", "disk space to use there at most: a `size` such as 100GiB or 50% of what is free (default: all)")
	f.StringVar(&s.device, "device", "auto", "`device` to compute on: auto, cpu, gpu, or device numbers")
	f.Var(&s.gpuMemory, "gpu-memory", "device memory to use at most on each GPU: a `size` such as 2GiB (default: nine tenths of what is free)")
	f.IntVar(&s.streams, "streams", 0, "`n` streams on each GPU instead of what the plan says; for experiments")
	f.Var(&s.loadFactor, "load-factor", "loads `a,b` of a GPU's tables: one is full above a, and none exceeds b (default 0.5,0.75); for experiments")
	f.IntVar(&s.partitions, "partitions", 0, "cut the groups into `n` partitions instead of what the plan says; for experiments")
	f.BoolVar(&s.noGPUDecoding, "no-gpu-decoding", false, "decode column chunks on the CPU, which makes rows of them for GPUs; for experiments")
	f.StringVar(&s.asOf, "as-of", "", "read a `VERSION` of a table: of Delta Lake a number or a time, of Iceberg a snapshot's id, a time, a branch or a tag (default: the latest)")
	f.BoolVar(&s.unionByName, "union-by-name", false, "take a column that a file lacks as NULL")
	f.BoolVar(&s.noPruning, "no-pruning", false, "read row groups and pages even where statistics say that none of their rows matters")

	f.StringVar(&s.explain, "explain", "", "print the plan and why, do not run it; `form` is text or json")
	f.Lookup("explain").NoOptDefVal = explainText
	f.StringVar(&s.stats, "stats", "", "after the run, write what it did as JSON to `file` (default stderr)")
	f.Lookup("stats").NoOptDefVal = statsToStderr
	f.StringVar(&s.trace, "trace", "", "write the timeline of the run to `file`, in the trace format of Chrome, which Perfetto opens")
	f.BoolVar(&s.schema, "schema", false, "print columns, types, rows, row groups and sizes of the inputs, do not run")

	f.BoolVar(&s.summarize, "summarize", false, "a row for each column of the inputs: type, values, NULLs, least, greatest, mean, quantiles, most frequent")

	f.StringVar(&s.devices, "devices", "", "print driver, GPUs and what they lack, do not run; `form` is text or json")
	f.Lookup("devices").NoOptDefVal = devicesText

	f.StringVar(&s.progress, "progress", "auto", "a bar on stderr: auto, always or never; auto: `when` stderr is a terminal")
	f.BoolVarP(&s.quiet, "quiet", "q", false, "no progress, no warnings")
	f.BoolVarP(&s.verbose, "verbose", "v", false, "log what is done on stderr")

	f.StringVar(&s.example, "example", "", "write orders of a shop to `file`, which is not there yet, as Parquet to try gagg on")
	f.StringVar(&s.completion, "completion", "", "print the completion script of a `shell`: bash, zsh or fish")
	f.BoolVar(&s.manual, "man", false, "print the manual page, for man -l -")
	f.BoolVarP(&s.help, "help", "h", false, "print this help")
	f.BoolVar(&s.version, "version", false, "print the version")
	return f
}

// notFromEnvironment are the flags that ask for something other than a run. An install script may
// set a variable such as GAGG_VERSION, which must not make every run print the version.
var notFromEnvironment = map[string]bool{"help": true, "version": true, "completion": true, "devices": true, "man": true, "example": true}

// variable is the name of the environment variable of a flag.
func variable(flag string) string {
	return "GAGG_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// parseSettings reads the command line, then the GAGG_* variables of flags
// that the command line leaves alone. An empty variable counts as unset.
func parseSettings(args, env []string) (*settings, *pflag.FlagSet, error) {
	s := &settings{}
	f := flagSet(s)
	if len(args) > 0 && args[0] == "help" {
		s.help, s.topics = true, args[1:]
		return s, f, nil
	}
	if err := f.Parse(args); err != nil {
		return nil, nil, flagError(err, f)
	}
	s.inputs = f.Args()
	s.typed = map[string]bool{}
	f.Visit(func(flag *pflag.Flag) { s.typed[flag.Name] = true })
	if err := setFromEnvironment(f, env); err != nil {
		return nil, nil, err
	}
	s.limited = f.Changed("limit")
	if s.help || s.version || s.manual || s.completion != "" || s.typed["example"] {
		return s, f, nil
	}
	return s, f, s.check()
}

// flagError says what is wrong with the command line in terms of what was
// typed.
func flagError(err error, f *pflag.FlagSet) error {
	if unknown := unknownFlag(err, f); unknown != nil {
		return unknown
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return usagef("--%s %s: %s", invalid.GetFlag().Name, invalid.GetValue(), reason(err))
	}
	return usagef("%v; gagg --help lists the flags", err)
}

// reason is why a flag does not take a value.
func reason(err error) string {
	var number *strconv.NumError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &number) && number.Func == "ParseBool":
		return "want true or false"
	case errors.As(err, &number):
		return "want a whole number"
	case errors.As(err, &invalid):
		return invalid.Unwrap().Error()
	}
	return err.Error()
}

func setFromEnvironment(f *pflag.FlagSet, env []string) error {
	values := map[string]string{}
	for _, e := range env {
		if name, value, ok := strings.Cut(e, "="); ok && strings.HasPrefix(name, "GAGG_") {
			values[name] = value
		}
	}
	var failure error
	f.VisitAll(func(flag *pflag.Flag) {
		value := values[variable(flag.Name)]
		if flag.Changed || value == "" || failure != nil || notFromEnvironment[flag.Name] {
			return
		}
		if err := f.Set(flag.Name, value); err != nil {
			failure = usagef("%s=%s: %s", variable(flag.Name), value, reason(err))
		}
	})
	return failure
}
