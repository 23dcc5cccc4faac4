package agg

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
)

const benchRows = 4096

// BenchmarkUpdate measures whole calls of Update; ns/row is the figure.
func BenchmarkUpdate(b *testing.B) {
	small := intsOf(column.Int32, func(r *rand.Rand) int64 { return int64(1 + r.IntN(15)) })
	long := intsOf(column.Int64, func(r *rand.Rand) int64 { return int64(1 + r.IntN(15)) })
	price := floatsOf(column.Float64, func(r *rand.Rand) float64 { return r.Float64() * 100 })
	id := func(r *rand.Rand) column.Value {
		return column.Value{Type: column.Type{Kind: column.String}, Bytes: fmt.Sprintf("id%010d", r.IntN(1e6))}
	}
	type calls []string
	cases := []struct {
		op   string
		gens []generator
		aggs calls // with the arguments 0, or 0 and 1
	}{
		{"count", []generator{small}, calls{"count"}},
		{"sum(int32)", []generator{small}, calls{"sum"}},
		{"sum(int64)", []generator{long}, calls{"sum"}},
		{"sum(double)", []generator{price}, calls{"sum"}},
		{"min(int32)", []generator{small}, calls{"min"}},
		{"max(double)", []generator{price}, calls{"max"}},
		{"max(string)", []generator{id}, calls{"max"}},
		{"mean(int32)", []generator{small}, calls{"mean"}},
		{"mean(double)", []generator{price}, calls{"mean"}},
		{"stddev(double)", []generator{price}, calls{"stddev"}},
		{"stddev(int32)", []generator{small}, calls{"stddev"}},
		{"corr(int32)", []generator{small, small}, calls{"corr"}},
		{"corr(double)", []generator{price, price}, calls{"corr"}},
		{"first(int32)", []generator{small}, calls{"first"}},
		{"arg_max(int32)", []generator{small, price}, calls{"arg_max"}},
	}
	for _, c := range cases {
		for _, groups := range []int{1, 4, 60, 100, 100_000} {
			b.Run(fmt.Sprintf("op=%s/groups=%d", c.op, groups), func(b *testing.B) {
				d := randomData(testRand(), benchRows, groups, "none", c.gens)
				var list []Call
				for _, name := range c.aggs {
					list = append(list, callOf(b, d, name, seq(len(c.gens))...))
				}
				benchUpdate(b, d, list, Options{MaxRows: 1e9})
			})
		}
	}
}

// BenchmarkUpdateFloat compares exact sums of doubles with compensated ones.
func BenchmarkUpdateFloat(b *testing.B) {
	price := floatsOf(column.Float64, func(r *rand.Rand) float64 { return r.Float64()*100 - 20 })
	for _, name := range []string{"sum", "stddev", "corr", "kurtosis"} {
		for _, groups := range []int{1, 4, 60, 1000, 100_000, 1_000_000} {
			for _, deterministic := range []bool{false, true} {
				b.Run(fmt.Sprintf("op=%s/groups=%d/deterministic=%v", name, groups, deterministic), func(b *testing.B) {
					args := seq(signatures[byName[name]].args)
					d := randomData(testRand(), benchRows, groups, "none", []generator{price, price}[:len(args)])
					o := Options{MaxRows: 1e9, Deterministic: deterministic}
					for range args {
						o.Windows = append(o.Windows, Fit(7, 2, o.MaxRows))
					}
					benchUpdate(b, d, []Call{callOf(b, d, name, args...)}, o)
				})
			}
		}
	}
}

func benchUpdate(b *testing.B, d *testData, calls []Call, o Options) {
	l := Compile(calls, testBase, o)
	t := Table{Stride: testBase + l.Words(), Arena: new(arena.Arenas).New()}
	t.Rows = make([]uint64, d.groups*t.Stride)
	for g := range d.groups {
		l.Init(t.Rows[g*t.Stride:])
	}
	in := d.input(seq(benchRows))
	// Random groups of a large table, other ones for each batch.
	rng := testRand()
	batches := make([][]uint32, 64)
	for i := range batches {
		batches[i] = make([]uint32, benchRows)
		for k := range batches[i] {
			batches[i][k] = uint32(rng.IntN(d.groups))
		}
	}
	b.ResetTimer()
	for i := range b.N {
		if d.groups == 1 {
			l.UpdateOne(&t, 0, false, in)
		} else {
			l.Update(&t, batches[i%len(batches)], uint32(d.groups), in)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
}
