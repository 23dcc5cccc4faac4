package cpu

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/budget/budgettest"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/merge"
)

// pairRun is count(distinct x) by a text and an integer, of one column x or more, beside count(*)
// if own is set.
type pairRun struct {
	own  bool
	cols []column.Type // what is counted
	in   batches
	want map[string][4]int64 // by key: rows, if own is set, then the counts
}

// newPairRun makes batches of texts of some groups, every other one coded, and of values, some
// NULL. Groups and values come again.
func newPairRun(own bool, cols []column.Type, nbatches, rows, groups, values int) *pairRun {
	r := &pairRun{own: own, cols: cols, want: map[string][4]int64{}}
	rng := rand.New(rand.NewPCG(uint64(groups), uint64(values)))
	met := map[string]bool{}
	for n := range nbatches {
		texts, number := make([]string, rows), column.Vector{Type: int64Type, Len: rows}
		xs := make([][]string, len(cols))
		nulls := make([][]bool, len(cols))
		for i := range rows {
			g := rng.IntN(groups)
			texts[i] = fmt.Sprintf("%s%0*d", strings.Repeat("p", []int{0, 1, 200}[g%3]), 9+g%9, g)
			number.Int = append(number.Int, int64(g%2))
			key := texts[i]
			counts := r.want[key]
			if own {
				counts[0]++
			}
			for c := range cols {
				x, null := fmt.Sprint(rng.IntN(values)-5), rng.IntN(9) == 0
				xs[c], nulls[c] = append(xs[c], x), append(nulls[c], null)
				if pair := fmt.Sprint(c, " ", key, " ", x); !null && !met[pair] {
					met[pair] = true
					counts[1+c]++
				}
			}
			r.want[key] = counts
		}
		text := stringVector(texts)
		if n%2 == 1 {
			text = codedStrings(text)
		}
		b := column.Batch{Rows: rows, First: int64(n * rows), Cols: []column.Vector{text, number}}
		for c, typ := range cols {
			v := column.Vector{Type: typ, Len: rows}
			if typ == stringType {
				v = stringVector(xs[c])
			} else {
				for _, x := range xs[c] {
					var i int64
					_, _ = fmt.Sscan(x, &i)
					v.Int = append(v.Int, i)
				}
				if n%3 == 1 {
					v = coded(v)
				}
			}
			v.Null = nulls[c]
			b.Cols = append(b.Cols, v)
		}
		r.in = append(r.in, b)
	}
	return r
}

// config is the run's, with so many bytes for pairs.
func (r *pairRun) config(shared int64, tile feedback.TableConfig, from budget.Lender) *setup {
	keys := []key.Column{{Type: stringType, Filled: true}, {Type: int64Type, Filled: true}}
	l := key.NewLayout(keys)
	count, _, err := agg.Resolve("count", []column.Type{int64Type}, nil)
	if err != nil {
		panic(err)
	}
	rows, _, err := agg.Resolve("count", nil, nil)
	if err != nil {
		panic(err)
	}
	var calls []agg.Call
	if r.own {
		calls = append(calls, agg.Call{Func: rows})
	}
	filled := make([]bool, len(r.cols))
	for i := range r.cols {
		filled[i] = true
		calls = append(calls, agg.Call{Func: count, Args: []int{i}, Types: []column.Type{int64Type}, Part: i + 1})
	}
	states := agg.Compile(calls, 1+l.Words, agg.Options{MaxRows: -1, Filled: filled})
	all := int64(len(r.in)) * int64(r.in[0].Rows)
	cfg := &setup{Config: &Config{
		Keys: l, Intern: key.NewInterner(nil), States: states, Arenas: arena.New(from), Stride: Stride(l, states),
		Rows: all, AtMost: -1, Table: tile, Budget: from,
	}}
	for i, typ := range r.cols {
		value := key.Column{Type: typ, Filled: true}
		inner := key.NewLayout([]key.Column{keys[0], keys[1], value})
		d := Distinct{
			Part: i + 1, Arg: i,
			Config: &Config{
				Keys: inner, Intern: cfg.Intern, States: agg.Compile(nil, 1+inner.Words, agg.Options{MaxRows: -1}), Arenas: cfg.Arenas,
				Stride: 1 + inner.Words, Partitions: 4, Rows: all, AtMost: -1, Table: tile, Budget: from,
			},
		}
		if pair := key.NewLayout([]key.Column{value}); MayPair(l, pair) {
			d.Pair, d.Shared = pair, shared
		}
		cfg.Distinct = append(cfg.Distinct, d)
	}
	return cfg
}

// run returns the groups, and what came of the distinct values.
func (r *pairRun) run(t *testing.T, cfg *setup, threads int) (map[string][4]int64, []Folded, error) {
	t.Helper()
	var args []Evaluator
	for i := range r.cols {
		args = append(args, columnAt(2+i))
		cfg.Distinct[i].Config.Threads = threads
	}
	g, err := cfg.group(t.Context(), Input{
		Units: len(r.in), Reader: func() Reader { return &batchReader{all: r.in} }, Done: func(int, int64) {},
		Pipeline: func() Pipeline { return Pipeline{Keys: []Evaluator{columnAt(0), columnAt(1)}, Args: args} },
	}, threads)
	if err != nil {
		return nil, nil, err
	}
	defer closed(t, &g)
	m := cfg.run().NewMerger(g.Buckets)
	out := map[string][4]int64{}
	for p := range g.Buckets[0].Partitions() {
		err = errors.Join(err, m.Merge(t.Context(), merge.Range{First: p, N: 1}, func(rows []uint64) error {
			return r.read(cfg, rows, out)
		}))
	}
	return out, g.Distinct, errors.Join(err, m.Close())
}

// read adds groups to out.
func (r *pairRun) read(cfg *setup, rows []uint64, out map[string][4]int64) error {
	d := key.Decoder{Layout: cfg.Keys, Intern: cfg.Intern, Arenas: cfg.Arenas, Base: 1, Stride: cfg.Stride}
	d.Begin(rows)
	var text column.Vector
	d.Decode(0, rows, &text)
	counts := make([][4]int64, text.Len)
	var places []int // in counts, by call
	if r.own {
		places = append(places, 0)
	}
	for i := range r.cols {
		places = append(places, 1+i)
	}
	for call, at := range places {
		var v column.Vector
		if err := cfg.States.Finish(call, rows, cfg.Stride, cfg.Arenas, &v); err != nil {
			return err
		}
		for i := range counts {
			counts[i][at] = v.Int[i]
		}
	}
	for i, c := range counts {
		s := string(text.Bytes(i))
		if _, twice := out[s]; twice {
			return fmt.Errorf("group %q twice", s)
		}
		out[s] = c
	}
	return nil
}

// check runs with `threads` threads and wants the right answer. It returns which of the distinct
// values were counted by numbers.
func (r *pairRun) check(t *testing.T, cfg *setup, threads int) (byNumber []bool) {
	t.Helper()
	got, folded, err := r.run(t, cfg, threads)
	if err != nil || !maps.Equal(got, r.want) {
		t.Fatalf("%d groups that differ from %d, or error %v", len(got), len(r.want), err)
	}
	for _, f := range folded {
		byNumber = append(byNumber, f.Partitions >= 1<<leastPairBits)
	}
	return byNumber
}

var (
	keepsTable  = feedback.TableConfig{MinRows: 1 << 62}
	savesTooFew = feedback.TableConfig{MinRows: 500, MinReduction: 1e6, CacheReduction: 1, CacheBytes: 64 << 10}
	givesTable  = feedback.TableConfig{MinRows: 500, MinReduction: math.Inf(1), CacheReduction: 1e6, CacheBytes: 64 << 10}
	cachesTable = feedback.TableConfig{MinRows: 500, MinReduction: math.Inf(1), CacheReduction: 1, CacheBytes: 64 << 10}
)

// Values of groups with texts are counted by the groups' numbers, or by these until memory is
// refused or the table's groups leave it, or not at all: the answer is the same, for one worker and
// for several, of one column and more, also of one that has texts and is never counted so.
func TestPairs(t *testing.T) {
	one, two, mixed := []column.Type{int64Type}, []column.Type{int64Type, int64Type}, []column.Type{int64Type, stringType, int64Type}
	cases := []struct {
		name   string
		groups int
		shared int64
		tile   feedback.TableConfig
		table  int64
		number bool
	}{
		{"no pairs", 1500, 0, keepsTable, 0, false},
		{"to the end", 1500, 1 << 30, keepsTable, 0, true},
		{"rows that differ", 1e9, 1 << 30, keepsTable, 0, true},
		{"table that saves too few rows", 1e9, 1 << 30, savesTooFew, 0, true},
		{"memory refused", 1500, 1 << 18, keepsTable, 0, false},
		{"table full", 1500, 1 << 30, keepsTable, 16 << 10, false},
		{"table given up", 1e9, 1 << 30, givesTable, 0, false},
		{"table in the cache", 1e9, 1 << 30, cachesTable, 0, false},
	}
	for i, cols := range [][]column.Type{one, two, mixed} {
		for _, own := range []bool{false, true} {
			runs := map[int]*pairRun{}
			for _, c := range cases {
				if runs[c.groups] == nil {
					runs[c.groups] = newPairRun(own, cols, 12, 1500, c.groups, []int{5000, 3, 40}[i])
				}
				r := runs[c.groups]
				for _, threads := range []int{1, 3} {
					if testing.Short() && threads == 1 {
						continue
					}
					t.Run(fmt.Sprintf("%s/columns=%d/own=%t/threads=%d", c.name, len(cols), own, threads), func(t *testing.T) {
						cfg := r.config(c.shared, c.tile, noLimit)
						cfg.Memory.Table = c.table
						for i, by := range r.check(t, cfg, threads) {
							if by != (c.number && cols[i] != stringType) {
								t.Errorf("column %d counted by number: %t", i, by)
							}
						}
					})
				}
			}
		}
	}
}

// Pairs that come again and again are dropped when there are many.
func TestPairsRepeated(t *testing.T) {
	r := newPairRun(false, []column.Type{int64Type}, 150, 2000, 300, 100)
	var held, most atomic.Int64
	cfg := r.config(1<<30, keepsTable, budgettest.Lender(func(bytes int64) error {
		most.Store(max(most.Load(), held.Add(bytes)))
		return nil
	}))
	if by := r.check(t, cfg, 1); !by[0] {
		t.Error("not counted by number")
	}
	if all := int64(150 * 2000 * 8 * pairWords); most.Load() > all*3/4 {
		t.Errorf("%d bytes at most, where all pairs are %d", most.Load(), all)
	}
}

// Keys that were made to have one hash are counted too, though not by number.
func TestPairsCrowded(t *testing.T) {
	const n = 3000
	r := &pairRun{cols: []column.Type{int64Type}, want: map[string][4]int64{}}
	text, number, x := colliding(t, "long texts", n)[0], column.Vector{Type: int64Type, Len: n, Int: make([]int64, n)}, column.Vector{Type: int64Type, Len: n}
	for i := range n {
		x.Int = append(x.Int, int64(i%7))
		r.want[string(text.Bytes(i))] = [4]int64{0, 1}
	}
	for k := range 4 {
		r.in = append(r.in, column.Batch{Rows: n, First: int64(k * n), Cols: []column.Vector{text, number, x}})
	}
	for _, threads := range []int{1, 3} {
		if by := r.check(t, r.config(1<<30, keepsTable, noLimit), threads); by[0] {
			t.Error("counted by number")
		}
	}
}

// Whichever request for memory is refused, the answer is right or the refusal is the error, and all
// memory is given back.
func TestPairsRefused(t *testing.T) {
	refusal := budgettest.Refused()
	r := newPairRun(false, []column.Type{int64Type}, 40, 2000, 500, 1000)
	right, byNumber := 0, 0
	for n := int64(1); ; n++ {
		var requests, held atomic.Int64
		cfg := r.config(1<<30, keepsTable, budgettest.Lender(func(bytes int64) error {
			if bytes > 0 && requests.Add(1) == n {
				return refusal
			}
			held.Add(bytes)
			return nil
		}))
		got, folded, err := r.run(t, cfg, 2)
		cfg.Arenas.Close()
		if held.Load() != 0 {
			t.Fatalf("request %d refused: %d bytes are held, error %v", n, held.Load(), err)
		}
		if err != nil && !errors.Is(err, refusal) || err == nil && !maps.Equal(got, r.want) {
			t.Fatalf("request %d refused: %d groups, error %v", n, len(got), err)
		}
		if err == nil {
			right++
			if folded[0].Partitions >= 1<<leastPairBits {
				byNumber++
			}
		}
		if requests.Load() < n {
			break
		}
	}
	// pairs' memory was refused while reading, and at the end
	if byNumber < 1 || right < byNumber+2 {
		t.Errorf("the answer was right %d times, %d times by number", right, byNumber)
	}
}
