package gagg_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/datagen"
)

// TestListFunctions protects that what is taken out of a list of all values is what aggregates of
// these values give, for every type, in groups of many values, of one and of none.
func TestListFunctions(t *testing.T) {
	spec := datagen.Spec{Rows: 600, Seed: 5, Columns: []datagen.Column{{Name: "k", Type: datagen.Types()[1], Distinct: 33, Special: false}}}
	for i, typ := range datagen.Types() {
		spec.Columns = append(spec.Columns, datagen.Column{Name: fmt.Sprintf("c%d", i), Type: typ, Nulls: 0.7, Special: i%2 == 0, Distinct: 40})
	}
	var file bytes.Buffer
	if err := datagen.New(spec).WriteParquet(&file, datagen.Layout{RowGroup: 100}); err != nil {
		t.Fatal(err)
	}
	for _, c := range spec.Columns[1:] {
		checks := []string{
			"list_max(list($)) is not distinct from max($)", "list_min(list($)) is not distinct from min($)",
			"coalesce(list_contains(list($), max($)), count($) = 0)", "coalesce(len(list($)), 0) = count($)",
			"list($)[1] is not distinct from first($)", "list($)[-1] is not distinct from last($)", "list($)[count($)] is not distinct from last($)",
			"list($)[count($) + 1] is null", "list($)[0] is null", "list_extract(list($), -1 - count($)) is null", "max($, 2)[1] is not distinct from max($)",
		}
		if c.Type.IsInteger() && !c.Special {
			checks = append(checks, "list_sum(list($)) is not distinct from sum($)")
		}
		q := gagg.Query{From: gagg.Parquet("types", bytes.NewReader(file.Bytes()), int64(file.Len())), By: []string{"k"}}
		for _, check := range checks {
			q.Aggs = append(q.Aggs, gagg.Expr(strings.ReplaceAll(check, "$", c.Name)))
		}
		lines, err := answer(t, q, gagg.Options{Threads: 2})
		if err != nil {
			t.Errorf("%s: %v", c.Type, err)
		}
		for _, line := range lines {
			for i, got := range strings.Split(line, "|")[1:] {
				if got != "true" {
					t.Errorf("%s of %s: %s in group %s", checks[i], c.Type, got, line)
				}
			}
		}
	}
}

// TestListMistakes protects that what lists do not have is told with what to do.
func TestListMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"list_contains(list(quantity), 'x')": "'x' is not a value of type int32",
		"list_contains(list(quantity), 1.5)": "looks for int32, not for decimal(2,1): cast it",
		"list_sum(list(region))":             "list_sum needs a list of numbers, not string[]",
		"quantity[1]":                        "list_extract needs a list, not int32",
		"len(histogram(region))":             "len needs a string or a list, not map(string, int64)",
		"list(region) || 'x'":                "or taken apart by functions of lists",
		"list(region)[1":                     `expected "]"`,
	} {
		q := gagg.Query{From: gagg.Files("testdata/orders.parquet"), Aggs: exprs(text)}
		if strings.HasPrefix(text, "quantity") {
			q.By, q.Aggs = []string{text}, nil
		}
		if _, err := gagg.Plan(t.Context(), q, gagg.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want …%s…", text, err, want)
		}
	}
	lines := mustAnswer(t, gagg.Query{From: gagg.Files("testdata/orders.parquet"), Aggs: exprs("max(quantity, 3)[1] - max(quantity)", "list_sum(quantile(price, [0.5, 0.5])) / 2 - median(price)")}, gagg.Options{})
	if !slices.Equal(lines, []string{"0|0"}) {
		t.Errorf("%q", lines)
	}
}
