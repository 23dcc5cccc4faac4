package gagg_test

import (
	"os"
	"testing"

	"github.com/gagg-dev/gagg"
)

// questions are those of db-benchmark.
var questions = []struct {
	name string
	by   string
	aggs string
}{
	{"q1", "id1", "sum(v1)"},
	{"q2", "id1,id2", "sum(v1)"},
	{"q3", "id3", "sum(v1), mean(v3)"},
	{"q4", "id4", "mean(v1), mean(v2), mean(v3)"},
	{"q5", "id6", "sum(v1), sum(v2), sum(v3)"},
	{"q6", "id4,id5", "median(v3), stddev(v3)"},
	{"q7", "id3", "max(v1)-min(v2)"},
	{"q8", "id6", "max(v3,2)"},
	{"q9", "id2,id4", "corr(v1,v2)"},
	{"q10", "id1,id2,id3,id4,id5,id6", "sum(v3), count(*)"},
}

// BenchmarkH2O answers the questions on the file that GAGG_BENCH_FILE names
// (`go run ./bench/h2o` makes one).
func BenchmarkH2O(b *testing.B) {
	file := os.Getenv("GAGG_BENCH_FILE")
	if file == "" {
		b.Skip("GAGG_BENCH_FILE names no file")
	}
	for _, q := range questions {
		b.Run("question="+q.name, func(b *testing.B) {
			for b.Loop() {
				rows, err := gagg.Run(b.Context(), gagg.Query{
					From: gagg.Files(file), By: []string{q.by}, Aggs: []gagg.Agg{gagg.Expr(q.aggs)},
				}, gagg.Options{})
				if err != nil {
					b.Fatal(err)
				}
				for rows.Next() {
				}
				n := rows.Stats().Rows
				rows.Release()
				if err := rows.Err(); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			}
		})
	}
}
