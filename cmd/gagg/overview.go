package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/sink"
)

// This file shows inputs for which no query is given: gagg FILE.

// overviewRows is how many rows it shows.
const overviewRows = 5

// besideOverview are flags that may be given with inputs alone: they say how these are read.
var besideOverview = []string{
	"threads", "memory-limit", "temp-dir", "temp-limit", "device", "union-by-name", "as-of", "no-pruning", "progress", "quiet", "verbose",
}

// asksNothing reports whether the command line names inputs, and nothing to do with them.
func (s *settings) asksNothing() bool {
	for flag := range s.typed {
		if !slices.Contains(besideOverview, flag) {
			return false
		}
	}
	return len(s.inputs) > 0 && len(s.by) == 0 && len(s.aggs) == 0 && s.sets == "" && !s.schema && !s.summarize && s.explain == ""
}

// overview shows columns, sizes, the first rows, and a command to begin with.
func (c *command) overview(ctx context.Context) error {
	_, o, err := c.ask()
	if err != nil {
		return err
	}
	from, err := c.source()
	if err != nil {
		return err
	}
	d, rec, err := gagg.Head(ctx, from, overviewRows, o)
	if err != nil {
		return err
	}
	defer rec.Release()
	if err := writeDescription(c.out, d); err != nil {
		return output(err)
	}
	if rec.NumRows() > 0 && rec.NumCols() > 0 {
		if err := c.writeFirstRows(rec); err != nil {
			return output(err)
		}
	}
	_, err = fmt.Fprintf(c.out, "\nExample:\n  %s\n", oneLine(example(d, c.inputs)))
	return output(err)
}

func (c *command) writeFirstRows(rec arrow.Record) error {
	if _, err := fmt.Fprintln(c.out, "\nFirst rows:"); err != nil {
		return err
	}
	w, err := sink.NewWriter(sink.Table, c.out, rec.Schema(), sink.Options{Width: c.terminalWidth()})
	if err != nil {
		return err
	}
	if err := w.Write(rec); err != nil {
		return err
	}
	return w.Close()
}

// example is a command that groups by a column whose type is one of keys, and adds up one of
// numbers.
func example(d *gagg.Description, inputs []string) string {
	key, number := "", "" // as expressions name them; "": there is none
	for i, column := range d.Columns {
		name := gagg.ColumnText(column.Name)
		if column.Name == "" { // which only its number stands for
			name = fmt.Sprintf("#%d", i+1)
		}
		switch typ := column.Type; {
		case typ == "":
		case key == "" && (typ == "string" || typ == "bool" || typ == "date"):
			key = name
		case number == "" && (typ == "double" || typ == "float" || strings.HasPrefix(typ, "decimal") || strings.Contains(typ, "int")):
			number = name
		}
	}
	if d.States != "" {
		return "gagg --merge" + quotedInputs(inputs)
	}
	command := "gagg"
	if key != "" {
		command += " -k " + shellQuoted(key)
	}
	aggregates := "count(*) as n"
	if number != "" {
		aggregates += fmt.Sprintf(", avg(%s) as average", number)
	}
	command += " -a " + shellQuoted(aggregates)
	if key != "" {
		command += " --order-by -n --limit 10"
	}
	return command + quotedInputs(inputs)
}

func quotedInputs(inputs []string) (words string) {
	for _, input := range inputs {
		words += " " + shellQuoted(input)
	}
	return words
}

var bareWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_./:=@%+,-]+$`) })

// shellQuoted is a word of a command line.
func shellQuoted(word string) string {
	if bareWord().MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
