package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
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
						word, ok := cfg.States.ResultWord(0)
						if !ok || !cfg.States.CountsRows(0) {
							t.Fatal("counts are in no word")
						}
						cfg.TopN = &TopN{Groups: groups, Word: word.Word, Shift: word.Shift, Mask: word.Mask}
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
		word, _ := cfg.States.ResultWord(0)
		cfg.TopN = &TopN{Groups: 1, Word: word.Word, Shift: word.Shift, Mask: word.Mask}
		got, _, err := r.run(t, cfg, threads)
		if err != nil || len(got) > 100 || got["the greatest of all"][1] != 4000 {
			t.Errorf("%d threads: %d groups, error %v", threads, len(got), err)
		}
	}
}
