package agg

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
)

// holisticBench is the shapes of db-benchmark's q6 (median, stddev of v3 by
// 1e4 groups) and q8 (the two largest v3 by 1e5 groups), and what lies around
// them.
var holisticBench = []struct {
	name  string
	param any
	kind  string
}{
	{"median", nil, "double"},
	{"list", nil, "small"},
	{"mode", nil, "small"},
	{"approx_count_distinct", nil, "double"},
	{"approx_quantile", 0.5, "double"},
	{"max", 2, "double"},
	{"max", 100, "double"},
	{"median", nil, "string"},
	{"string_agg", ",", "string"},
}

func benchData(kind string, groups int) *testData {
	gens := map[string]generator{
		"double": floatsOf(column.Float64, func(r *rand.Rand) float64 { return r.Float64() * 100 }),
		"small":  intsOf(column.Int32, func(r *rand.Rand) int64 { return int64(1 + r.IntN(15)) }),
		"string": func(r *rand.Rand) column.Value {
			return column.Value{Type: column.Type{Kind: column.String}, Bytes: fmt.Sprintf("id%010d", r.IntN(1e6))}
		},
	}
	return randomData(testRand(), benchRows, groups, "none", []generator{gens[kind]})
}

// BenchmarkHolistic measures Update of 4e6 rows into empty groups, then
// Finish of all groups, in ns/row.
func BenchmarkHolistic(b *testing.B) {
	for _, c := range holisticBench {
		for _, groups := range []int{1, 10_000, 100_000} {
			b.Run(fmt.Sprintf("op=%s/arg=%s/groups=%d", c.name, c.kind, groups), func(b *testing.B) {
				d := benchData(c.kind, groups)
				l := Compile([]Call{holistic{c.name, c.param}.call(b, d)}, testBase, Options{MaxRows: 1e9})
				benchHolistic(b, l, d, 4_000_000)
			})
		}
	}
}

func benchHolistic(b *testing.B, l *Layout, d *testData, rows int) {
	stride := testBase + l.Words()
	in := d.input(seq(benchRows))
	rng := testRand()
	batches := make([][]uint32, 64)
	for i := range batches {
		batches[i] = make([]uint32, benchRows)
		for k := range batches[i] {
			batches[i][k] = uint32(rng.IntN(d.groups))
		}
	}
	words := make([]uint64, d.groups*stride)
	list := make([][]uint64, d.groups)
	for g := range list {
		list[g] = words[g*stride:][:stride]
	}
	var update, finish float64
	var out column.Vector
	for range b.N {
		b.StopTimer()
		reg := new(arena.Arenas)
		t := Table{Stride: stride, Rows: words, Arena: reg.New()}
		for g := range list {
			l.Init(list[g])
		}
		b.StartTimer()
		start := b.Elapsed()
		for i := range rows / benchRows {
			for r := range in.Pos {
				in.Pos[r] = int64(i*benchRows + r)
			}
			if d.groups == 1 {
				l.UpdateOne(&t, 0, false, in)
			} else {
				l.Update(&t, batches[i%len(batches)], uint32(d.groups), in)
			}
		}
		mid := b.Elapsed()
		for from := 0; from < d.groups; from += 2048 {
			if err := l.Finish(0, words[from*stride:min(from+2048, d.groups)*stride], stride, reg, &out); err != nil {
				b.Fatal(err)
			}
		}
		update += float64(mid - start)
		finish += float64(b.Elapsed() - mid)
		b.StopTimer()
		reg.Close()
		b.StartTimer()
	}
	b.ReportMetric(update/float64(b.N)/float64(rows), "update-ns/row")
	b.ReportMetric(finish/float64(b.N)/float64(rows), "finish-ns/row")
	b.ReportMetric(0, "ns/op")
}
