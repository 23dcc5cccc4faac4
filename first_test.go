package gagg_test

import (
	"slices"
	"testing"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/datagen"
)

// A limit without an order gives the beginning of the answer without a limit, with complete
// groups, whatever the threads, partitions and memory.
func TestLimitIsTheBeginning(t *testing.T) {
	for _, shape := range []datagen.Shape{
		{Kind: "zipf", Rows: 60_000, Groups: 20_000, Seed: 3}, {Kind: "wide", Rows: 40_000, Groups: 15_000, Seed: 4},
	} {
		q := gagg.Query{From: shaped(t, shape), By: []string{"k"}, Aggs: []gagg.Agg{gagg.Expr("count(*), sum(v), first(v), max(v)")}}
		all := mustAnswer(t, q, gagg.Options{})
		for _, o := range []gagg.Options{{Threads: 1}, {Threads: 4, BatchRows: 100}, {Threads: 2, Partitions: 64}, {Threads: 2, MemoryLimit: 64 << 20}} {
			for _, limit := range []int{1, 10, 1500, len(all) - 20} {
				for _, offset := range []int{0, 7} {
					q.Limit, q.Offset = int64(limit), int64(offset)
					if got := mustAnswer(t, q, o); !slices.Equal(got, all[offset:offset+limit]) {
						t.Errorf("%s, %+v, limit %d offset %d: %d rows that differ", shape.Kind, o, limit, offset, len(got))
					}
				}
			}
		}
	}
}

// What is an error in a row is one whether its group is put out or not.
func TestLimitErrors(t *testing.T) {
	q := gagg.Query{From: manyGroups(t, 30_000, 1<<62), By: []string{"k"}, Aggs: []gagg.Agg{gagg.Expr("max(v * 4)")}, Limit: 3}
	if got, err := answer(t, q, gagg.Options{Threads: 1, BatchRows: 1000}); err == nil {
		t.Error("no error, but", got)
	}
}
