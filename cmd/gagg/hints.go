package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gagg-dev/gagg/internal/spelling"
)

// otherNames are flags as they are called elsewhere, in SQL and in programs like this one.
var otherNames = map[string]string{
	"sort": "order-by", "sort-by": "order-by", "orderby": "order-by", "order": "order-by",
	"group": "by", "group-by": "by", "groupby": "by", "key": "by", "keys": "by",
	"aggregate": "agg", "aggregates": "agg", "aggs": "agg", "select": "agg",
	"filter": "where", "head": "limit", "top": "limit", "skip": "offset",
	"out": "output", "to": "output", "jobs": "threads", "cores": "threads", "workers": "threads",
	"memory": "memory-limit", "mem": "memory-limit", "tmp": "temp-dir", "tmpdir": "temp-dir", "tmp-dir": "temp-dir",
	"n": "limit", "w": "where", "v": "version", "g": "by", "s": "order-by", "top-n": "limit", "rows": "limit", "max-rows": "limit",
	"output-format": "format", "outfile": "output", "output-file": "output", "dry-run": "explain", "parallel": "threads", "stat": "stats",
	"gpu": "device", "gpus": "device", "describe": "schema", "plan": "explain", "codec": "compression", "compress": "compression",
}

// unknownFlag says which flag may be meant by an unknown one; nil: the error is another one.
func unknownFlag(err error, f *pflag.FlagSet) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return nil
	}
	name := unknown.GetSpecifiedName()
	dashes := "--"
	if unknown.GetSpecifiedShortnames() != "" {
		dashes = "-"
	}
	meant := otherNames[strings.ToLower(name)]
	if meant == "" && dashes == "--" {
		meant = spelling.Nearest(name, flagNames(f))
	}
	if meant == "" {
		return usagef("unknown flag: %s%s; gagg --help lists the flags", dashes, name)
	}
	return usagef("unknown flag: %s%s; did you mean --%s?", dashes, name, meant)
}

// otherFormats are formats as they are called elsewhere.
var otherFormats = map[string]string{
	"jsonl": "ndjson", "jsonlines": "ndjson", "json-lines": "ndjson", "md": "markdown", "pq": "parquet", "ipc": "arrow", "feather": "arrow",
	"txt": "table", "text": "table", "pretty": "table", "box": "table", "tab": "tsv", "null": "none",
}

// unknownFormat says which format may be meant by an unknown one.
func unknownFormat(name string) error {
	meant := otherFormats[strings.ToLower(name)]
	if meant == "" {
		meant = spelling.Nearest(name, formatNames())
	}
	if meant != "" {
		meant = "; did you mean " + meant + "?"
	}
	return usagef("--format %s: want one of %s%s", name, strings.Join(formatNames(), " "), meant)
}

// commandWords are flags that ask for something other than a query, by the words that programs
// with commands have for them.
var commandWords = map[string]string{
	"version": "version", "schema": "schema", "describe": "schema", "summarize": "summarize", "summary": "summarize", "devices": "devices",
	"completion": "completion", "man": "man", "explain": "explain", "example": "example",
}

// checkNoCommand reports an argument that is meant as a command: there is no such file, but such a
// flag.
func (s *settings) checkNoCommand() error {
	if len(s.inputs) == 0 {
		return nil
	}
	word := s.inputs[0]
	flag := commandWords[word]
	if _, err := os.Lstat(word); flag == "" || err == nil {
		return nil
	}
	return usagef("there is no file %s, and gagg has no command but help; did you mean --%s?", word, flag)
}

// numberKeys returns warnings about keys that are whole numbers, which in SQL stand for columns of
// the result.
func (s *settings) numberKeys() (told []string) {
	for _, list := range s.by {
		for list != "" {
			item, rest := firstItem(list)
			list = rest
			if item = strings.TrimSpace(item); item != "" && strings.Trim(item, "0123456789") == "" {
				told = append(told, fmt.Sprintf("the key %s is a constant, the same for all rows; #%s is column %s of the input", item, item, item))
			}
		}
	}
	return told
}

// countItems is how many items lists have.
func countItems(lists []string) (n int) {
	for _, list := range lists {
		for list != "" {
			_, list = firstItem(list)
			n++
		}
	}
	return n
}

func flagNames(f *pflag.FlagSet) (names []string) {
	f.VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
	return names
}

// otherVariables are the variables that stand for no flag.
var otherVariables = []struct{ name, about string }{
	{"GAGG_CUDA_LIBRARY", "the file of the CUDA driver's library, where it is not libcuda.so.1"},
	{"GAGG_DEBUG", "1: of a bug in gagg show the stack too"},
}

// variableNames are all variables that gagg reads.
func variableNames(f *pflag.FlagSet) (names []string) {
	for _, name := range flagNames(f) {
		if !notFromEnvironment[name] {
			names = append(names, variable(name))
		}
	}
	for _, v := range otherVariables {
		names = append(names, v.name)
	}
	return names
}

// unknownVariables is a hint for each variable GAGG_… that stands for no flag.
func unknownVariables(f *pflag.FlagSet, env []string) (hints []string) {
	known := variableNames(f)
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		if !strings.HasPrefix(name, "GAGG_") || strings.HasPrefix(name, "GAGG_EMU") || slices.Contains(known, name) {
			continue
		}
		text := fmt.Sprintf("the variable %s stands for no flag", name)
		if near := spelling.Nearest(name, known); near != "" {
			text += fmt.Sprintf("; did you mean %s?", near)
		}
		hints = append(hints, text)
	}
	slices.Sort(hints)
	return hints
}
