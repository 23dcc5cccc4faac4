package main

import (
	"slices"
	"strings"
)

// check finds settings that make no sense alone or together. It leaves to the library what the
// library's options refuse. Combinations count only if they were typed: a GAGG_* variable set for
// good must not make a command fail that does not need it.
func (s *settings) check() error {
	for _, c := range []func() error{s.checkValues, s.checkCombinations, s.checkCuts} {
		if err := c(); err != nil {
			return err
		}
	}
	return nil
}

func (s *settings) checkValues() error {
	switch {
	case s.limit < 0:
		return usagef("--limit %d: want 0 or more", s.limit)
	case s.offset < 0:
		return usagef("--offset %d: want 0 or more", s.offset)
	case s.threads < 0 || s.threads == 0 && s.typed["threads"]:
		return usagef("--threads %d: want 1 or more; leave the flag out for all CPUs", s.threads)
	case s.partitions < 0 || s.partitions == 0 && s.typed["partitions"]:
		return usagef("--partitions %d: want 1 or more; leave the flag out for what the plan says", s.partitions)
	case s.streams < 0 || s.streams == 0 && s.typed["streams"]:
		return usagef("--streams %d: want 1 or more; leave the flag out for what the plan says", s.streams)
	case s.device == "":
		return usagef("--device is empty: want auto, cpu, gpu, or device numbers such as 0,1")
	case s.loadFactor == loads{} && s.typed["load-factor"]:
		return usagef("--load-factor 0,0: want two loads that rise from 0 to 1; leave the flag out for those that measured best")
	case s.gpuMemory.percent != 0:
		return usagef("--gpu-memory %s: how much memory a GPU has shows when the run takes it; give a size such as 2GiB", &s.gpuMemory)
	case s.trace == "" && s.typed["trace"], s.trace == "-":
		return usagef("--trace %s: name a file", s.trace)
	case s.tempDir == "" && s.typed["temp-dir"]:
		return usagef("--temp-dir is empty: name a folder, or leave the flag out for $TMPDIR or /var/tmp")
	case s.output == "":
		return usagef("--output is empty: name a file, or - for stdout")
	}
	if err := oneOf("sample-by", s.sampleBy, "rows", "groups"); err != nil {
		return err
	}
	if err := oneOf("progress", s.progress, "auto", "always", "never"); err != nil {
		return err
	}
	if s.compression != "" {
		if err := oneOf("compression", s.compression, compressions...); err != nil {
			return err
		}
	}
	if s.devices != "" {
		if err := oneOf("devices", s.devices, devicesText, devicesJSON); err != nil {
			return err
		}
	}
	if s.explain == "" {
		return nil
	}
	return oneOf("explain", s.explain, explainText, explainJSON)
}

// compressions are the codecs of Parquet output. Text takes fewer: see checkFormat.
var compressions = []string{"snappy", "zstd", "gzip", "brotli", "none"}

func oneOf(flag, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return usagef("--%s %s: want one of %s", flag, value, strings.Join(allowed, ", "))
}

// exclusive lists pairs of flags that cannot be meant together, and why.
var exclusive = []struct{ a, b, hint string }{
	{"quiet", "verbose", "drop one"},
	{"schema", "explain", "--schema describes the inputs, --explain a query on them; run one after the other"},
	{"schema", "by", "--schema describes the inputs and runs no query; drop -k"},
	{"schema", "agg", "--schema describes the inputs and runs no query; drop -a"},
	{"summarize", "by", "--summarize is of all rows; drop -k"},
	{"summarize", "agg", "--summarize has aggregates of its own; drop -a"},
	{"summarize", "having", "--summarize has no groups; use --where"},
	{"summarize", "order-by", "--summarize has a row for each column, in their order; drop --order-by"},
	{"summarize", "limit", "--summarize has a row for each column; to read less, use --sample"},
	{"summarize", "offset", "--summarize has a row for each column; drop --offset"},
	{"summarize", "sets", "--summarize has no groups; drop --sets"},
	{"summarize", "rollup", "--summarize has no groups; drop --rollup"},
	{"summarize", "cube", "--summarize has no groups; drop --cube"},
	{"summarize", "pivot", "--summarize has no groups; drop --pivot"},
	{"pivot", "totals", "the row of all rows has no column; drop one"},
	{"pivot", "sets", "the rows of subtotals have no column; drop one"},
	{"pivot", "rollup", "the rows of subtotals have no column; drop one"},
	{"pivot", "cube", "the rows of subtotals have no column; drop one"},
	{"summarize", "totals", "--summarize has no groups; drop --totals"},
	{"summarize", "partial", "--summarize has no states; use --part alone"},
	{"summarize", "merge", "--summarize is of rows; drop --merge"},
	{"summarize", "part", "--summarize is of all rows; use --sample"},
	{"schema", "partial", "--schema runs no query; drop --partial"},
	{"schema", "merge", "--schema runs no query; drop --merge"},
	{"schema", "part", "--schema tells of whole inputs; drop --part"},
	{"partial", "having", "states are of incomplete groups; give --having to who merges"},
	{"partial", "order-by", "states have no order; give --order-by to who merges"},
	{"partial", "limit", "states are of all groups; give --limit to who merges"},
	{"partial", "offset", "states are of all groups; give --offset to who merges"},
	{"partial", "pivot", "states are of incomplete groups; give --pivot to who merges"},
	{"partial", "partition-by", "states are one file; drop --partition-by"},
	{"partial", "file-size", "states are one file; drop --file-size"},
	{"merge", "part", "states have no row groups to share; drop --part"},
	{"merge", "where", "the rows were chosen when the states were made; drop --where, or use --having"},
	{"merge", "sample", "the rows were chosen when the states were made; drop --sample"},
	{"summarize", "schema", "--schema reads no rows, --summarize all of them; run one after the other"},
	{"summarize", "explain", "--explain plans a query of keys and aggregates; drop one of them"},
	{"rollup", "cube", "a rollup is part of the cube; drop one"},
	{"rollup", "sets", "--sets lists what --rollup stands for; drop one"},
	{"cube", "sets", "--sets lists what --cube stands for; drop one"},
	{"schema", "stats", "--schema runs no query, so there is nothing to measure; drop --stats"},
	{"schema", "trace", "--schema runs no query, so there is no timeline; drop --trace"},
	{"devices", "schema", "--devices describes the machine, --schema the inputs; run one after the other"},
	{"devices", "explain", "--devices describes the machine and plans nothing; run one after the other"},
	{"devices", "by", "--devices describes the machine and runs no query; drop -k"},
	{"devices", "agg", "--devices describes the machine and runs no query; drop -a"},
	{"devices", "stats", "--devices runs no query, so there is nothing to measure; drop --stats"},
	{"devices", "trace", "--devices runs no query, so there is no timeline; drop --trace"},
	{"explain", "trace", "--explain runs no query, so there is no timeline; drop one of them"},
	{"explain", "stats", "--explain runs no query, so there is nothing to measure; drop one of them"},
}

func (s *settings) checkCombinations() error {
	for _, e := range exclusive {
		if s.typed[e.a] && s.typed[e.b] {
			return usagef("--%s and --%s exclude each other: %s", e.a, e.b, e.hint)
		}
	}
	switch {
	case s.quiet && s.typed["progress"] && s.progress == "always":
		return usagef("--quiet and --progress=always exclude each other: drop one")
	case s.format == "none" && s.typed["output"] && s.output != "-":
		return usagef("--format none writes nothing, so --output %s would stay away: drop one of them", s.output)
	case s.devices != "" && len(s.inputs) > 0:
		return usagef("--devices describes the machine and reads no input; drop %s", s.inputs[0])
	case s.devices != "":
		return nil
	case len(s.inputs) == 0:
		return usagef("no input: name Parquet files, folders or globs, or - for stdin; gagg --help shows an example")
	case s.sample == 0 && (s.typed["seed"] || s.typed["sample-by"]):
		return usagef("--seed and --sample-by choose a sample: add --sample, such as --sample 10%%")
	case s.typed["sets"] && strings.TrimSpace(s.sets) == "":
		return usagef("--sets is empty: list sets of keys, such as (a, b), (a), ()")
	case s.partial && s.format != "" && s.format != "arrow" && s.format != "none":
		return usagef("--partial writes states as Arrow, and --format %s is another: drop it", s.format)
	case len(s.by) == 0 && s.sets == "" && s.setsFlag() != "" && !s.merge:
		return usagef("--%s leaves keys out: name some with -k", s.setsFlag())
	case len(s.by) == 0 && len(s.aggs) == 0 && s.sets == "" && !s.schema && !s.summarize && !s.merge && !s.asksNothing():
		return usagef("nothing to compute: name keys with -k, aggregates with -a, or ask for --schema or --summarize")
	}
	return nil
}

// setsFlag is the flag that was typed to ask for grouping sets of the keys; "": none was.
func (s *settings) setsFlag() string {
	for _, flag := range []string{"rollup", "cube", "totals"} {
		if s.typed[flag] {
			return flag
		}
	}
	return ""
}
