package expr

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// BenchmarkEval measures values and BenchmarkFilter row numbers, in rows a
// second, on batches that stay in cache.
func BenchmarkEval(b *testing.B) {
	for _, text := range []string{"i + j", "i * 2", "d * d", "p * (1 - p)", "w + p", "d / i", "i < 3", "s = 'a'"} {
		benchmark(b, text, func(v *Eval, batch *column.Batch) error {
			var out column.Vector
			return v.Eval(batch, &out)
		})
	}
}

func BenchmarkFilter(b *testing.B) {
	sel := make([]int32, 0, 1<<13)
	for _, text := range []string{
		"i < 3", "d > 0.5", "s = 'a'", "day <= '2000-01-02'", "i < 3 and d > 0.5", "i = 1 or j = 2", "i between 1 and 2", "i in (1, 2, 3)", "s like 'a%'",
	} {
		benchmark(b, text, func(v *Eval, batch *column.Batch) error {
			var err error
			sel, err = v.Filter(batch, sel[:0])
			return err
		})
	}
}

// BenchmarkFunction measures functions on plain pages: times and addresses as
// logs have them.
func BenchmarkFunction(b *testing.B) {
	const rows = 8192
	r := rand.New(rand.NewPCG(1, 1))
	var times, urls []column.Value
	at := int64(1.37e9)
	for range rows {
		at += r.Int64N(20)
		times = append(times, column.Value{Type: testColumns[10].Type, Int: at * 1000})
		urls = append(urls, stringValue(fmt.Sprintf("http%s://%s%s.example%d.ru/%s?id=%d", pick(r, "", "s"), pick(r, "", "www."), pick(r, "shop", "news"), r.IntN(1000),
			strings.Repeat("path/", r.IntN(12)), r.IntN(1<<30))))
	}
	batch := &column.Batch{Rows: rows, Cols: make([]column.Vector, len(testColumns))}
	batch.Cols[8], batch.Cols[10] = flatVector(stringType, urls), flatVector(testColumns[10].Type, times)
	for _, text := range []string{
		"extract(minute from ms)", "year(ms)", "date_trunc('minute', ms)", "date_trunc('month', ms)", "strlen(s)", "length(s)", "substr(s, 1, 20)", "upper(s)",
		"contains(s, 'news')", "replace(s, 'path', 'p')", "regexp_matches(s, 'id=[0-9]+7$')", "regexp_replace(s, '^https?://(?:www\\.)?([^/]+)/.*$', '\\1')",
	} {
		b.Run("expr="+text, func(b *testing.B) {
			v := bindText(b, text).NewEval()
			var out column.Vector
			for b.Loop() {
				if err := v.Eval(batch, &out); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(rows)/float64(b.N)*1e9, "ns/row")
		})
	}
}

func benchmark(b *testing.B, text string, run func(*Eval, *column.Batch) error) {
	const rows = 8192
	r := rand.New(rand.NewPCG(1, 1))
	data := randomRows(r, rows, false)
	for _, coded := range []bool{false, true} {
		for _, nulls := range []bool{false, true} {
			batch := data.batch(r, coded)
			for i := range batch.Cols {
				if coded {
					batch.Cols[i] = dictVector(r, batch.Cols[i].Type, data.values[i])
				}
				if !nulls {
					batch.Cols[i].Null = nil
				}
			}
			if !nulls {
				clearGarbage(batch)
			}
			b.Run(fmt.Sprintf("expr=%s/dict=%t/nulls=%t", text, coded, nulls), func(b *testing.B) {
				v := bindText(b, text).NewEval()
				for b.Loop() {
					if err := run(v, batch); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
			})
		}
	}
}

// clearGarbage makes the values of rows that were NULL ordinary ones, and
// those of the entry that no row has.
func clearGarbage(b *column.Batch) {
	for i := range b.Cols {
		v := &b.Cols[i]
		if v.Dict != nil {
			v = &v.Dict.Values
		}
		for k := range v.Int {
			v.Int[k] %= 1000
		}
		for k := range v.Wide {
			v.Wide[k] = column.Value{}.Wide
		}
	}
}
