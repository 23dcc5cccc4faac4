package cpu

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/merge"
)

// topRun is count(*) by texts and an integer, n rows a batch: a few groups of many rows, and many
// of few. flat: all groups have two.
func topRun(flat bool, nbatches, rows int) *pairRun {
	r := &pairRun{own: true, want: map[string][4]int64{}}
	rng := rand.New(rand.NewPCG(5, uint64(rows)))
	for n := range nbatches {
		texts, number := make([]string, rows), column.Vector{Type: int64Type, Len: rows, Int: make([]int64, rows)}
		for i := range rows {
			at := n*rows + i
			g := 100 + at/2
			if !flat && rng.IntN(4) == 0 {
				g = int(math.Exp(rng.Float64() * 5))
			}
			texts[i] = fmt.Sprintf("%0*d", 9+g%20, g)
			c := r.want[texts[i]]
			c[0]++
			r.want[texts[i]] = c
		}
		r.in = append(r.in, column.Batch{Rows: rows, First: int64(n * rows), Cols: []column.Vector{stringVector(texts), number}})
	}
	return r
}

// TOP-KEPT: the groups with the greatest counts come out whole, and those that count as much as the
// last of them; of the others few do, unless counts differ too little to tell. Tables that do not
// grow to the end leave none out.
func TestTop(t *testing.T) {
	for _, flat := range []bool{false, true} {
		r := topRun(flat, 48, 2000)
		var sorted []int64
		for _, c := range r.want {
			sorted = append(sorted, c[0])
		}
		slices.Sort(sorted)
		for _, threads := range []int{1, 3, 16} {
			for _, groups := range []int{1, 10, 500} {
				if testing.Short() && (threads == 1 || groups == 1) {
					continue
				}
				for _, given := range []bool{false, true} {
					t.Run(fmt.Sprintf("flat=%t/threads=%d/groups=%d/given up=%t", flat, threads, groups, given), func(t *testing.T) {
						cfg := r.config(0, keepsTable, noLimit)
						if given {
							cfg.Memory.Table = 16 << 10
						}
						rank, ok := cfg.States.RankOf(0, true)
						if !ok {
							t.Fatal("counts are in no word")
						}
						cfg.TopN = &TopN{groups, rank}
						got, _, err := r.run(t, cfg, threads)
						if err != nil {
							t.Fatal(err)
						}
						for key, c := range got {
							if want := r.want[key]; c != want {
								t.Fatalf("%q counts %d, want %d", key, c[0], want[0])
							}
						}
						bound := sorted[len(sorted)-groups]
						for key, c := range r.want {
							if _, there := got[key]; c[0] >= bound && !there {
								t.Fatalf("%q is not there, of %d rows where %d are enough", key, c[0], bound)
							}
						}
						few := len(got) < len(r.want)/10
						if all := len(got) == len(r.want); few == all || few != (!flat && !given && groups < 500) {
							t.Errorf("%d of %d groups came out", len(got), len(r.want))
						}
					})
				}
			}
		}
	}
}

// The counts of different values that pairs are counted for leave groups out as well, where groups
// of several tables have become one.
func TestTopOfPairs(t *testing.T) {
	r := newPairRun(false, []column.Type{int64Type}, 40, 2000, 18_000, 1000)
	for i := range r.in { // one group with all values
		text, rows := stringVector(slices.Repeat([]string{"the greatest of all"}, 100)), r.in[i].Rows
		v := column.Vector{Type: int64Type, Len: 100}
		for k := range 100 {
			v.Int = append(v.Int, int64(100*i+k))
		}
		number := column.Vector{Type: int64Type, Len: 100, Int: make([]int64, 100)}
		r.in = append(r.in, column.Batch{Rows: 100, First: int64(rows), Cols: []column.Vector{text, number, v}})
	}
	r.want["the greatest of all"] = [4]int64{0, 4000}
	for _, threads := range []int{1, 3} {
		cfg := r.config(1<<30, keepsTable, noLimit)
		rank, _ := cfg.States.RankOf(0, true)
		cfg.TopN = &TopN{1, rank}
		got, _, err := r.run(t, cfg, threads)
		if err != nil || len(got) > 100 || got["the greatest of all"][1] != 4000 {
			t.Errorf("%d threads: %d groups, error %v", threads, len(got), err)
		}
	}
}

// TOP-KEPT by other ranks than counts: sums of values that are not negative, greatest and least
// values, some NULL. The wanted groups come out whole, and most others do not.
func TestTopOfRanks(t *testing.T) {
	const nbatches, rows, all, wanted, most = 40, 2000, 30_000, 20, 1 << 21
	rng := rand.New(rand.NewPCG(6, 7))
	var in batches
	type values struct {
		rows, sum, most int64
		any             bool
	}
	want := map[int64]*values{}
	for n := range nbatches {
		keys := column.Vector{Type: int64Type, Len: rows, Int: make([]int64, rows)}
		x := column.Vector{Type: int64Type, Len: rows, Int: make([]int64, rows), Null: make([]bool, rows)}
		for i := range rows {
			key, v := rng.Int64N(all), int64(math.Exp(math.Pow(rng.Float64(), 8)*14)) // few are large
			keys.Int[i], x.Int[i], x.Null[i] = key, v, rng.IntN(5) == 0
			if want[key] == nil {
				want[key] = &values{}
			}
			w := want[key]
			w.rows, w.sum = w.rows+1, w.sum+v
			if !x.Null[i] {
				w.most, w.any = max(w.most, v), true
			}
		}
		full, less := x, x
		full.Null, less.Int = nil, make([]int64, rows)
		for i, v := range x.Int {
			less.Int[i] = most - v
		}
		in = append(in, column.Batch{Rows: rows, First: int64(n * rows), Cols: []column.Vector{keys, x, full, less}})
	}
	for _, c := range []struct {
		name       string
		col        int
		descending bool
		of         func(w *values) int64 // the least is first
	}{
		{"sum", 2, true, func(w *values) int64 { return -w.sum }},
		{"max", 1, true, func(w *values) int64 { return -w.most }},
		{"min", 3, false, func(w *values) int64 { return most - w.most }},
	} {
		for _, threads := range []int{1, 3, 8} {
			keys := key.NewLayout([]key.Column{{Type: int64Type, Filled: true}})
			call, _, err := agg.Resolve(c.name, []column.Type{int64Type}, nil)
			if err != nil {
				t.Fatal(err)
			}
			count, _, _ := agg.Resolve("count", nil, nil)
			states := agg.Compile([]agg.Call{{Func: call, Args: []int{0}, Types: []column.Type{int64Type}}, {Func: count}}, 1+keys.Words,
				agg.Options{MaxRows: nbatches * rows, Filled: []bool{c.col == 2}, Ranges: []column.Range{{Most: most}}})
			rank, ok := states.RankOf(0, c.descending)
			if !ok {
				t.Fatalf("%s has no rank", c.name)
			}
			if _, ok := states.RankOf(0, !c.descending); ok {
				t.Fatalf("%s has a rank the other way round", c.name)
			}
			cfg := &setup{Config: &Config{
				Keys: keys, Intern: key.NewInterner(nil), States: states, Arenas: arena.New(noLimit), Stride: Stride(keys, states),
				Rows: nbatches * rows, AtMost: -1, Table: keepsTable, Budget: noLimit, TopN: &TopN{wanted, rank},
			}}
			g, err := cfg.group(t.Context(), Input{
				Units: len(in), Reader: func() Reader { return &batchReader{all: in} }, Done: func(int, int64) {},
				Pipeline: func() Pipeline { return Pipeline{Keys: []Evaluator{columnAt(0)}, Args: []Evaluator{columnAt(c.col)}} },
			}, threads)
			if err != nil {
				t.Fatal(err)
			}
			m := cfg.run().NewMerger(g.Buckets)
			got := map[int64]bool{}
			for p := range g.Buckets[0].Partitions() {
				err = errors.Join(err, m.Merge(t.Context(), merge.Range{First: p, N: 1}, func(rows []uint64) error {
					d := key.Decoder{Layout: keys, Intern: cfg.Intern, Arenas: cfg.Arenas, Base: 1, Stride: cfg.Stride}
					d.Begin(rows)
					var k, n column.Vector
					d.Decode(0, rows, &k)
					if err := states.Finish(1, rows, cfg.Stride, cfg.Arenas, &n); err != nil {
						return err
					}
					for i, key := range k.Int {
						if got[key] = true; n.Int[i] != want[key].rows {
							t.Errorf("%s, %d threads: group %d counts %d, want %d", c.name, threads, key, n.Int[i], want[key].rows)
						}
					}
					return nil
				}))
			}
			closed(t, &g)
			if err = errors.Join(err, m.Close()); err != nil {
				t.Fatal(err)
			}
			var order []int64
			for _, w := range want {
				if w.any {
					order = append(order, c.of(w))
				}
			}
			slices.Sort(order)
			for key, w := range want {
				if w.any && c.of(w) <= order[wanted-1] && !got[key] {
					t.Errorf("%s, %d threads: group %d is not there", c.name, threads, key)
				}
			}
			if few := rank.Greatest || threads < 8; few && len(got) > len(want)/10 { // of a sum an eighth may be in each table
				t.Errorf("%s, %d threads: %d of %d groups came out", c.name, threads, len(got), len(want))
			}
		}
	}
}
