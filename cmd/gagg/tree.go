package main

import (
	"errors"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/sink"
)

// This file cuts a result into the files of a folder: --partition-by and --file-size.

var errNames = errors.New(`want names of columns between commas, such as year, "a name"`)

// cuts reports whether the result is.
func (s *settings) cuts() bool { return s.partitionBy != "" || s.fileSize.bytes > 0 }

// createTree creates the folder of the result.
func (c *command) createTree(r *result) (err error) {
	if r.tree, err = sink.CreateTree(c.output); err != nil {
		return created(err)
	}
	c.created(r.tree)
	c.answers(r.tree)
	by, _ := splitNames(c.partitionBy) // checked before
	r.cut = sink.Partition{By: by, Size: c.fileSize.bytes, Extension: r.format.Extension(r.options.Compression)}
	return nil
}

// writer makes what writes the rows.
func (r *result) writer(schema *arrow.Schema) (sink.Writer, error) {
	if r.tree == nil {
		return sink.NewWriter(r.format, r.out, schema, r.options)
	}
	return sink.NewPartitionedWriter(r.format, r.tree, schema, r.cut, r.options)
}

// checkCuts refuses settings that a result in many files cannot have.
func (s *settings) checkCuts() error {
	if _, err := splitNames(s.partitionBy); err != nil {
		return usagef("--partition-by %s: %v", s.partitionBy, err)
	}
	flag := "file-size"
	if s.partitionBy != "" {
		flag = "partition-by"
	}
	switch {
	case s.typed["partition-by"] && s.partitionBy == "":
		return usagef("--partition-by is empty: name columns of the result")
	case s.fileSize.percent != 0 || s.typed["file-size"] && s.fileSize.bytes == 0:
		return usagef("--file-size %s: want a size such as 256MiB", &s.fileSize)
	case s.cuts() && s.output == "-":
		return usagef("--%s makes files in a folder: name it with -o", flag)
	case s.partitionBy == "":
		return nil
	case s.limited || s.offset > 0:
		return usagef("--partition-by writes rows in order of its columns, and cannot keep the first of another order: drop --limit and --offset")
	case s.totals:
		return usagef("--partition-by has no folder for the row of --totals: drop one of them")
	}
	return nil
}

// order is the terms by which the result is ordered: first by what it is cut by.
func (s *settings) order() (terms []string) {
	names, _ := splitNames(s.partitionBy) // checked before
	for _, name := range names {
		terms = append(terms, gagg.ColumnText(name))
	}
	return append(terms, s.orderBy...)
}

// splitNames splits a list of columns: names between commas, in quotes where they hold any.
func splitNames(list string) (names []string, err error) {
	for rest := strings.TrimSpace(list); rest != ""; {
		var name string
		if rest[0] == '"' {
			if name, rest, err = cutQuoted(rest); err != nil {
				return nil, err
			}
		} else {
			end := strings.IndexByte(rest, ',')
			if end < 0 {
				end = len(rest)
			}
			name, rest = strings.TrimSpace(rest[:end]), rest[end:]
		}
		if name == "" {
			return nil, errNames
		}
		names = append(names, name)
		if rest == "" {
			break
		}
		if rest = strings.TrimSpace(rest[1:]); rest == "" {
			return nil, errNames
		}
	}
	return names, nil
}

// cutQuoted takes a name in quotes off a list, of which rest begins with a comma, or is empty.
func cutQuoted(list string) (name, rest string, err error) {
	for rest = list[1:]; ; {
		part, after, ok := strings.Cut(rest, `"`)
		if !ok {
			return "", "", errNames
		}
		name += part
		if !strings.HasPrefix(after, `"`) {
			rest = strings.TrimSpace(after)
			break
		}
		name, rest = name+`"`, after[1:]
	}
	if rest != "" && rest[0] != ',' {
		return "", "", errNames
	}
	return name, rest, nil
}
