package gagg_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/datagen"
)

// The bounds of docs/semantics.md.
const (
	exactDistinct = 4096
	distinctError = 0.008 // standard error
	quantileError = 1.0 / 256
)

func approximated(t *testing.T, typ column.Type, rows, distinct int) gagg.Source {
	t.Helper()
	table := datagen.New(datagen.Spec{Rows: rows, Seed: uint64(distinct), Columns: []datagen.Column{
		{Name: "x", Type: typ, Distinct: distinct, Nulls: 0.1, Special: distinct == 100},
		{Name: "k", Type: column.Type{Kind: column.Int32}, Distinct: 3},
	}})
	var b bytes.Buffer
	if err := table.WriteParquet(&b, datagen.Layout{RowGroup: rows/5 + 1}); err != nil {
		t.Fatal(err)
	}
	return gagg.Parquet("approximated", bytes.NewReader(b.Bytes()), int64(b.Len()))
}

var approximatedTypes = []column.Type{
	{Kind: column.Int32},
	{Kind: column.Uint64},
	{Kind: column.Float32},
	{Kind: column.Float64},
	{Kind: column.String},
	{Kind: column.Date},
	column.DecimalType(9, 2), column.DecimalType(38, 10),
}

// The estimates are within their bounds, and the same in every configuration.
func TestApproximate(t *testing.T) {
	for i, typ := range approximatedTypes {
		if testing.Short() && i%4 != 0 {
			continue
		}
		for _, distinct := range []int{1, 100, 3000, 12_000} {
			if testing.Short() && distinct != 12_000 {
				continue
			}
			from := approximated(t, typ, 15_000, distinct)
			for _, by := range [][]string{nil, {"k"}} {
				t.Run(fmt.Sprintf("%s/distinct=%d/by=%v", typ, distinct, by), func(t *testing.T) {
					checkDistinct(t, from, by)
					if typ.IsNumeric() {
						checkQuantiles(t, from, by)
					}
				})
			}
		}
	}
}

func checkDistinct(t *testing.T, from gagg.Source, by []string) {
	t.Helper()
	for _, row := range numbersOf(t, from, by, "approx_count_distinct(x)", "count(distinct x)") {
		estimate, exact := row[0], row[1]
		if exact <= exactDistinct && estimate != exact || math.Abs(estimate-exact) > 5*distinctError*exact {
			t.Errorf("%g distinct values, the estimate is %g", exact, estimate)
		}
	}
}

// The estimate lies near one of the values around the place that p names.
func checkQuantiles(t *testing.T, from gagg.Source, by []string) {
	t.Helper()
	var aggs []string
	for _, p := range []string{"0", "0.01", "0.5", "0.9", "1"} {
		aggs = append(aggs, "approx_quantile(x, "+p+")", "quantile_disc(x, "+p+")", "quantile(x, "+p+")")
	}
	for _, row := range numbersOf(t, from, by, aggs...) {
		for ; len(row) > 0; row = row[3:] {
			if estimate := row[0]; !near(estimate, row[1]) && !near(estimate, row[2]) {
				t.Errorf("a quantile of %g or %g is estimated as %g", row[1], row[2], estimate)
			}
		}
	}
}

func near(estimate, x float64) bool {
	return estimate == x || math.IsNaN(estimate) && math.IsNaN(x) || math.Abs(estimate-x) <= quantileError*math.Abs(x)
}

// numbersOf is the results of aggregates, which all configurations agree on.
func numbersOf(t *testing.T, from gagg.Source, by []string, aggs ...string) (rows [][]float64) {
	t.Helper()
	q := gagg.Query{From: from, By: by}
	for i, a := range aggs {
		q.Aggs = append(q.Aggs, gagg.Expr(fmt.Sprintf("(%s)::double as a%d", a, i)))
	}
	want := mustAnswer(t, q, gagg.Options{Threads: 1})
	for _, o := range []gagg.Options{{Threads: 4}, {Threads: 2, Partitions: 8, BatchRows: 1000}} {
		if got := mustAnswer(t, q, o); !slices.Equal(got, want) {
			t.Errorf("%v: %+v gives %v, not %v", aggs, o, got, want)
		}
	}
	for _, line := range want {
		var row []float64
		for _, cell := range strings.Split(line, "|")[len(by):] {
			x, err := strconv.ParseFloat(cell, 64)
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, x)
		}
		rows = append(rows, row)
	}
	return rows
}
