package gagg_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg"
)

// summary is the lines of a summary.
func summary(t *testing.T, q gagg.Query, o gagg.Options) ([]string, error) {
	t.Helper()
	rows, err := gagg.Summarize(t.Context(), q, o)
	if err != nil {
		return nil, err
	}
	defer rows.Release()
	var lines []string
	for rows.Next() {
		lines = append(lines, linesOf(rows.Record().Columns())...)
	}
	return lines, rows.Err()
}

// A summary is what queries of each column say, whatever the threads and the memory.
func TestSummarize(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"", "i > 500 and x > 0"} {
		q := gagg.Query{From: gagg.Files(randomFile(t, 9_000)), Where: where}
		var want []string
		for _, c := range []struct{ name, typ, more string }{
			{"k", "string", "min(null), min(null), min(null), min(null), min(null)"},
			{"s", "string", "min(null), min(null), min(null), min(null), min(null)"},
			{"i", "int32", "avg($), stddev_samp($), approx_quantile($, .25), approx_quantile($, .5), approx_quantile($, .75)"},
			{"x", "double", "avg($), stddev_samp($), approx_quantile($, .25)::text, approx_quantile($, .5)::text, approx_quantile($, .75)::text"},
		} {
			one := q
			texts := strings.ReplaceAll("count($), round(100 * (count(*) - count($)) / count(*), 2), approx_count_distinct($), min($)::text, max($)::text, "+c.more+", mode($)::text", "$", c.name)
			one.Aggs = exprs(texts)
			want = append(want, c.name+"|"+c.typ+"|"+mustAnswer(t, one, gagg.Options{Threads: 1})[0])
		}
		for _, o := range []gagg.Options{{Threads: 1}, {Threads: 3}, {Threads: 2, MemoryLimit: 64 << 20, TempDir: t.TempDir()}} {
			got, err := summary(t, q, o)
			if err != nil || !slices.Equal(closeFloats(got), closeFloats(want)) {
				t.Fatalf("where %q, %d threads: %v\n%s\nwant\n%s", where, o.Threads, err, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
}

// closeFloats are lines whose numbers have the digits that sums of doubles have in any order.
func closeFloats(lines []string) (out []string) {
	for _, line := range lines {
		cells := strings.Split(line, "|")
		for i, cell := range cells {
			var f float64
			if n, err := fmt.Sscanf(cell, "%g", &f); n == 1 && err == nil && strings.Contains(cell, ".") {
				cells[i] = fmt.Sprintf("%.9g", f)
			}
		}
		out = append(out, strings.Join(cells, "|"))
	}
	return out
}

// All kinds of files have a summary: a row for each column.
func TestSummarizeCorpus(t *testing.T) {
	t.Parallel()
	files := 0
	all, err := filepath.Glob("testdata/corpus/valid/*.parquet")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		d, err := gagg.Describe(t.Context(), gagg.Files(c), gagg.Options{})
		if err != nil {
			continue
		}
		got, err := summary(t, gagg.Query{From: gagg.Files(c)}, gagg.Options{Threads: 2})
		if err != nil || len(got) != len(d.Columns) {
			t.Errorf("%s: %d rows, want %d: %v", c, len(got), len(d.Columns), err)
		}
		files++
	}
	if files == 0 {
		t.Fatal("no file was summarized")
	}
}

// What a summary has no use for is refused.
func TestSummarizeRefused(t *testing.T) {
	t.Parallel()
	for _, q := range []gagg.Query{
		{},
		{From: gagg.Files(orders), By: []string{"region"}},
		{From: gagg.Files(orders), Aggs: exprs("count(*)")},
		{From: gagg.Files(orders), Limit: 3},
		{From: gagg.Files(orders), Sets: gagg.Rollup},
		{From: gagg.Files(orders), Totals: true},
		{From: gagg.Files(orders), Having: "true"},
	} {
		if _, err := summary(t, q, gagg.Options{}); !errors.Is(err, gagg.ErrUsage) {
			t.Errorf("%+v: %v", q, err)
		}
	}
}
