package main

import (
	"errors"
	"fmt"
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
	"gpu": "device", "gpus": "device", "describe": "schema", "plan": "explain", "codec": "compression", "compress": "compression",
}

// unknownFlag says which flag may be meant by one that there is not; nil: the error is another one.
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

func flagNames(f *pflag.FlagSet) (names []string) {
	f.VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
	return names
}

// otherVariables are those that stand for no flag.
var otherVariables = []struct{ name, about string }{
	{"GAGG_CUDA_LIBRARY", "the file of the CUDA driver's library, where it is not libcuda.so.1"},
	{"GAGG_DEBUG", "1: of a bug in gagg show the stack too"},
}

// variableNames are all variables that are heeded.
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

// unknownVariables tells of variables GAGG_… that stand for no flag.
func unknownVariables(f *pflag.FlagSet, env []string) (told []string) {
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
		told = append(told, text)
	}
	slices.Sort(told)
	return told
}
