package agg

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
)

// Calls of several parts give what those of each part give alone, whichever rows come first,
// however tables are merged and moved; also in groups that have rows of some parts, or of none.
func TestParts(t *testing.T) {
	t.Parallel()
	// the last counts all rows of its part
	any := []string{"count", "min", "max", "median", "count_distinct"}
	numbers := append([]string{"sum", "mean", "stddev_samp", "product"}, any...)
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 2))
		parts := 1 + rng.IntN(3)
		data := make([]*testData, parts)
		var calls []Call
		alone := make([][]Call, parts)
		for p := range data {
			gens := []generator{kinds["int64"], kinds["decimal(30,2)"], kinds["string"]}
			data[p] = randomData(rng, 1+rng.IntN(200), 9, []string{"none", "some", "all"}[rng.IntN(3)], gens)
			for range 1 + rng.IntN(4) {
				arg, names := rng.IntN(3), numbers
				if arg == 2 {
					names = any
				}
				c := callOf(t, data[p], names[rng.IntN(len(names))], arg)
				c.Part = p
				calls = append(calls, c)
				alone[p] = append(alone[p], c)
			}
		}
		rng.Shuffle(len(calls), func(i, j int) { calls[i], calls[j] = calls[j], calls[i] })
		for _, maxRows := range []int64{-1, 1000} {
			t.Run(fmt.Sprintf("seed=%d/rows=%d", seed, maxRows), func(t *testing.T) {
				got := partResults(t, Compile(calls, testBase, Options{MaxRows: maxRows}), data, rng)
				for i, c := range calls {
					c.Part = 0
					w := newWorker(Compile([]Call{c}, testBase, Options{MaxRows: maxRows}), new(arena.Arenas))
					d := data[calls[i].Part]
					w.update(d, seq(len(d.gids)))
					want, err := w.results(t, d.groups)
					if err != nil {
						t.Fatal(err)
					}
					for g := range want[0] {
						if !same(got[i][g], want[0][g], 1e-12) {
							t.Errorf("%s of part %d, group %d = %s, alone %s", c.Func.Name(), calls[i].Part, g, show(got[i][g]), show(want[0][g]))
						}
					}
				}
			})
		}
	}
}

// partResults has two workers take the rows of each part, one part after the other, some of the
// rows by way of a block, and merges them.
func partResults(t *testing.T, l *Layout, data []*testData, rng *rand.Rand) [][]column.Value {
	t.Helper()
	reg := new(arena.Arenas)
	workers := []*worker{newWorker(l, reg), newWorker(l, reg)}
	var blocks []block
	for _, p := range rng.Perm(len(data)) {
		for _, rows := range split(seq(len(data[p].gids)), rng) {
			w := workers[rng.IntN(2)]
			w.l = l.Part(p)
			w.t.Unseen = true
			w.update(data[p], rows)
			if rng.IntN(5) == 0 {
				w.l = l
				b, err := w.spill()
				if err != nil {
					t.Fatal(err)
				}
				blocks = append(blocks, b)
			}
		}
	}
	workers[0].l, workers[1].l = l, l
	for _, b := range blocks {
		if err := workers[rng.IntN(2)].read(b); err != nil {
			t.Fatal(err)
		}
	}
	got, err := mergeTwo(workers, rng)[0].results(t, data[0].groups)
	if err != nil {
		t.Fatal(err)
	}
	return got
}
