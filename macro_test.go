package gagg_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg"
)

// Aggregates that are defined by others give what these give: with NULLs, groups of nothing else,
// a filter, in expressions, having and order.
func TestMacros(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "k", Type: arrow.BinaryTypes.String},
		{Name: "x", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "w", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	}, nil)
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(`[
		{"k": "a", "x": 2, "w": 1}, {"k": "a", "x": 8, "w": 3}, {"k": "a", "x": null, "w": 7}, {"k": "a", "x": 5, "w": null},
		{"k": "b", "x": 9, "w": 2}, {"k": "c", "x": null, "w": 1}]`))
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Release()
	ask := func(q gagg.Query) ([]string, error) {
		reader, err := array.NewRecordReader(schema, []arrow.Record{rec})
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Release()
		q.From = gagg.Records(reader)
		return answer(t, q, gagg.Options{Threads: 2})
	}
	by := []string{"k"}
	for _, c := range []struct {
		macros, others string
		by             []string
		having, order  [2]string
	}{
		{macros: "geomean(x), GEOMETRIC_MEAN(x)", others: "exp(avg(ln(x))), exp(avg(ln(x)))"},
		{macros: "geomean(x)", others: "exp(avg(ln(x)))", by: by},
		{macros: "2 * geomean(w) + sum(x)", others: "2 * exp(avg(ln(w))) + sum(x)", by: by},
		{macros: "geomean(x + 1) filter (where w > 1)", others: "exp(avg(ln(x + 1)) filter (where w > 1))", by: by},
		{macros: "weighted_avg(x, w)", others: "(2 * 1 + 8 * 3) / (1. + 3) * count(*) / 4", by: by, having: [2]string{"k = 'a'", "k = 'a'"}},
		{macros: "wavg(x, w)", others: "sum(x * w) / sum(w) filter (where x is not null)", by: by},
		{macros: "weighted_avg(x, w) filter (where x < 9)", others: "sum(x * w) filter (where x < 9) / sum(w) filter (where x < 9)", by: by},
		{macros: "count_if(x > 2), countif(true)", others: "count(*) filter (where x > 2), count(*)", by: by},
		{macros: "count_if(x > 2) filter (where w is null)", others: "count(*) filter (where x > 2 and w is null)", by: by},
		{macros: "sem(x), favg(w), fsum(x), sumkahan(x)", others: "stddev_pop(x) / sqrt(count(x)), avg(w), sum(x::double), sum(x::double)", by: by},
		{macros: "regr_count(w, x), regr_avgx(w, x), regr_avgy(w, x)", others: "3, 19e0 / 3, 2e0"},
		{macros: "round(regr_sxx(w, x), 9), round(regr_syy(w, x), 9), round(regr_sxy(w, x), 9)", others: "round(86e0 / 3, 9), 2e0, 6e0"},
		{macros: "round(regr_slope(w, x), 9), round(regr_intercept(w, x), 9), round(regr_r2(w, x), 9)", others: "round(18e0 / 86, 9), round(2 - 18e0 / 86 * 19 / 3, 9), round(54e0 / 86, 9)"},
		{macros: "regr_count(x, w) filter (where x > 2)", others: "count(*) filter (where x > 2 and w is not null)", by: by},
		{macros: "regr_slope(x, w), regr_intercept(x, w), regr_r2(x, w)", others: "null::double, null::double, null::double", by: []string{"k", "w"}},
		{
			macros: "percentile_cont(0.25) within group (order by x + 1), PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY k ASC), mode() within group (order by x)",
			others: "quantile(x + 1, 0.25), quantile_disc(k, 0.5), mode(x)", by: by,
		},
		{macros: "percentile_cont(0.25) within group (order by x) filter (where w > 1)", others: "quantile(x, 0.25) filter (where w > 1)", by: by},
		{
			macros: "k", others: "k", by: by,
			having: [2]string{"count_if(x > 2) > 0", "count(*) filter (where x > 2) > 0"}, order: [2]string{"-geomean(x)", "-exp(avg(ln(x)))"},
		},
	} {
		query := func(aggs string, which int) gagg.Query {
			q := gagg.Query{By: c.by, Having: c.having[which]}
			if c.order[which] != "" {
				q.OrderBy = []string{c.order[which]}
			}
			if aggs != "k" {
				q.Aggs = []gagg.Agg{gagg.Expr(aggs)}
			}
			return q
		}
		got, err := ask(query(c.macros, 0))
		want, wantErr := ask(query(c.others, 1))
		if err != nil || wantErr != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v; %v, %v", c.macros, got, want, err, wantErr)
		}
	}
	for aggs, want := range map[string]string{
		"geomean(distinct x)":                   "distinct is not supported in geomean",
		"quantile(x, [])":                       "expected an expression, found \"]\"",
		"quantile(x, [0.5, 2])":                 "the second argument of quantile must be a number between 0 and 1",
		"median(x, [0.5])":                      "a list of values stands only behind the argument of quantile and quantile_disc",
		"[x]":                                   "a list of values stands only behind the argument of quantile and quantile_disc",
		"approx_top_k(x, 0)":                    "the second argument of approx_top_k must be a whole number from 1 to 10000",
		"sum(x) within group (order by x)":      "within group stands behind percentile_cont(p), percentile_disc(p) and mode()",
		"mode() within group (order by x desc)": "desc is not there in within group",
		"percentile_cont(0.5, 1) within group (order by x)": "within group stands behind",
		"geomean(x, w)":         "geomean takes 1 argument, not 2",
		"weighted_avg(x)":       "weighted_avg takes 2 arguments, not 1",
		"sum(geomean(x))":       "the aggregate geomean cannot be inside the aggregate sum",
		"geomean(sum(x))":       "the aggregate sum cannot be inside the aggregate geomean",
		"max(w) + geomean(k)":   "geomean is exp(avg(ln(x))): ln needs a number, not string, at character 10",
		"geomean(none)":         `geomean is exp(avg(ln(x))): column "none" does not exist`,
		"geomeen(x)":            `did you mean "geomean"?`,
		"count_if(x)":           "count_if is count(*) filter (where x): ",
		"geomean(x - 2)":        "there is no logarithm of 0",
		"count_if(x > 2) + w":   `column "w" must be a key or inside an aggregate`,
		"count_if(*)":           "count_if",
		"geomean(x) + geomean)": "at character",
	} {
		if _, err := ask(gagg.Query{Aggs: []gagg.Agg{gagg.Expr(aggs)}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", aggs, err, want)
		}
	}
}
