package cpu

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
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

// columnAt evaluates to a column of the batch.
type columnAt int

func (c columnAt) Eval(b *column.Batch, out *column.Vector) error {
	*out = b.Cols[c]
	return nil
}

// evenRows is a filter that passes rows whose number in the batch is even.
type evenRows struct{}

func (evenRows) Filter(b *column.Batch, sel []int32) ([]int32, error) {
	for i := 0; i < b.Rows; i += 2 {
		sel = append(sel, int32(i))
	}
	return sel, nil
}

// batches is an input of prepared batches, one a unit.
type batches []column.Batch

type batchReader struct {
	all  batches
	next *column.Batch
}

func (r *batchReader) Where(func(*column.Batch, []int32) ([]int32, error), []int) bool {
	return false
}
func (r *batchReader) Open(unit int) error { r.next = &r.all[unit]; return nil }
func (r *batchReader) Close()              {}
func (r *batchReader) Next(b *column.Batch) (bool, error) {
	if r.next == nil {
		return false, nil
	}
	*b, r.next = *r.next, nil
	return true, nil
}

var int64Type = column.Type{Kind: column.Int64}

// data makes batches of two key columns, flat, coded or (mixed) coded in every
// other batch, and one value column,
// with about the given number of groups, and the sums that are right.
func data(rng *rand.Rand, nbatches, rows, groups int, keys string, filter bool) (batches, map[[2]int64]int64) {
	var out batches
	want := map[[2]int64]int64{}
	first := int64(0)
	for n := range nbatches {
		var a, b, v column.Vector
		for i := range rows {
			g := rng.IntN(groups)
			x, y, z := int64(g%97), int64(g/97), rng.Int64N(1000)-500
			a.Int, b.Int, v.Int = append(a.Int, x), append(b.Int, y), append(v.Int, z)
			if !filter || i%2 == 0 {
				want[[2]int64{x, y}] += z
			}
		}
		for _, c := range []*column.Vector{&a, &b, &v} {
			c.Type, c.Len = int64Type, rows
		}
		if keys == "coded" || keys == "mixed" && n%2 == 0 {
			a, b = coded(a), coded(b)
		}
		out = append(out, column.Batch{Rows: rows, First: first, Cols: []column.Vector{a, b, v}})
		first += int64(rows)
	}
	return out, want
}

func coded(v column.Vector) column.Vector {
	out := column.Vector{Type: v.Type, Len: v.Len, Dict: &column.Dict{Values: column.Vector{Type: v.Type}}}
	index := map[int64]int32{}
	for _, x := range v.Int {
		c, ok := index[x]
		if !ok {
			c = int32(len(index))
			index[x] = c
			out.Dict.Values.Int = append(out.Dict.Values.Int, x)
			out.Dict.Values.Len++
		}
		out.Codes = append(out.Codes, c)
	}
	return out
}

// config is a run of sum by two integers.
func config(partitions int, tile feedback.TableConfig, from budget.Lender) *setup {
	return configOf([]key.Column{{Type: int64Type}, {Type: int64Type}}, partitions, tile, from)
}

// configOf is a run of sum by the keys.
func configOf(keys []key.Column, partitions int, tile feedback.TableConfig, from budget.Lender) *setup {
	return configIn(key.NewLayout(keys), partitions, tile, from)
}

// bareConfig is config, but rows have no hash (HASH-OMITTED).
func bareConfig(partitions int, tile feedback.TableConfig, from budget.Lender) *setup {
	l := key.NewLayout([]key.Column{{Type: int64Type}, {Type: int64Type}})
	l.OmitHash()
	return configIn(l, partitions, tile, from)
}

// configsTried is config by what rows begin with.
var configsTried = map[string]func(int, feedback.TableConfig, budget.Lender) *setup{"hash": config, "key": bareConfig}

func configIn(l *key.Layout, partitions int, tile feedback.TableConfig, from budget.Lender) *setup {
	sum, _, err := agg.Resolve("sum", []column.Type{int64Type}, nil)
	if err != nil {
		panic(err)
	}
	states := agg.Compile([]agg.Call{{Func: sum, Args: []int{0}, Types: []column.Type{int64Type}}}, l.Base()+l.Words, agg.Options{MaxRows: -1, Device: true})
	return &setup{Config: &Config{
		Keys: l, Intern: key.NewInterner(nil), States: states, Arenas: arena.New(from),
		Stride:     Stride(l, states),
		Partitions: partitions, Rows: 1 << 40, AtMost: -1, Table: tile, Budget: from,
	}}
}

// afterRun is called between the two halves of a run.
var afterRun = func() {}

func run(ctx context.Context, cfg *setup, in batches, filter bool, threads int) (Groups, error) {
	defer func() { afterRun() }()
	return cfg.group(ctx, Input{
		Units:    len(in),
		Reader:   func() Reader { return &batchReader{all: in} },
		Pipeline: func() Pipeline { return pipeline(filter) },
		Done:     func(int, int64) {},
	}, threads)
}

// pipeline takes two keys and an argument from the columns.
func pipeline(filter bool) Pipeline {
	p := Pipeline{Used: []int{0, 1, 2}, Keys: []Evaluator{columnAt(0), columnAt(1)}, Args: []Evaluator{columnAt(2)}}
	if filter {
		p.Where.Filter = evenRows{}
	}
	return p
}

// Every strategy gives the same sums, each group once, in order of hash: coded
// and plain keys, tables that grow, tables that are flushed when they are full
// and forced partitioning, one and several workers.
func TestStrategies(t *testing.T) {
	strategies := map[string]feedback.TableConfig{
		"table":   {MinRows: 1 << 62},
		"cached":  {MinReduction: math.Inf(1), CacheBytes: 64 << 10},
		"scatter": feedback.NoTables,
	}
	for _, groups := range []int{1, 50, 5000, 200_000} {
		for _, keys := range []string{"flat", "coded", "mixed"} {
			for _, filter := range []bool{false, true} {
				in, want := data(rand.New(rand.NewPCG(7, uint64(groups))), 9, 1000, groups, keys, filter)
				for strategy, table := range strategies {
					for _, partitions := range []int{0, 1, 2, 256} {
						for _, threads := range threadsTried {
							for form, configOf := range configsTried {
								name := fmt.Sprintf("groups=%d/keys=%s/filter=%t/%s/partitions=%d/threads=%d/rows=%s",
									groups, keys, filter, strategy, partitions, threads, form)
								t.Run(name, func(t *testing.T) {
									checkSums(t, configOf(partitions, table, noLimit), in, filter, threads, want)
								})
							}
						}
					}
				}
			}
		}
	}
}

var noLimit = budget.Or(nil)

// checkRoad is checkSums of some thousand rows.
func checkRoad(t *testing.T, groups int, keys string, filter bool, cfg *setup, threads int) {
	t.Helper()
	in, want := data(rand.New(rand.NewPCG(7, uint64(groups))), 9, 1000, groups, keys, filter)
	checkSums(t, cfg, in, filter, threads, want)
}

func checkSums(t *testing.T, cfg *setup, in batches, filter bool, threads int, want map[[2]int64]int64) {
	t.Helper()
	if got := sumsOf(t, cfg, in, filter, threads); !maps.Equal(got, want) {
		t.Fatalf("sums differ, of %d groups, want %d", len(got), len(want))
	}
}

// sumsOf runs the sum by two keys, and wants each group once, in order of
// hash.
func sumsOf(t *testing.T, cfg *setup, in batches, filter bool, threads int) map[[2]int64]int64 {
	t.Helper()
	g, err := run(t.Context(), cfg, in, filter, threads)
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, &g)
	return mergedSums(t, cfg, &g, mergerOf(t, cfg, &g))
}

// mergedSums is the sums that m merges, and closes m.
func mergedSums(t *testing.T, cfg *setup, g *Groups, m *Merger) map[[2]int64]int64 {
	t.Helper()
	out := map[[2]int64]int64{}
	var last uint64
	for p := range g.Buckets[0].Partitions() {
		err := m.Merge(t.Context(), merge.Range{First: p, N: 1}, func(rows []uint64) error {
			var a, b, sum column.Vector
			d := key.Decoder{Layout: cfg.Keys, Intern: cfg.Intern, Arenas: cfg.Arenas, Base: cfg.Keys.Base(), Stride: cfg.Stride}
			d.Begin(rows)
			d.Decode(0, rows, &a)
			d.Decode(1, rows, &b)
			if err := cfg.States.Finish(0, rows, cfg.Stride, cfg.Arenas, &sum); err != nil {
				return err
			}
			for i := range a.Len {
				hash := cfg.Keys.RowHash(rows[i*cfg.Stride:])
				if hash < last {
					t.Fatalf("partition %d: hash %x after %x", p, hash, last)
				}
				last = hash
				k := [2]int64{a.Int[i], b.Int[i]}
				if _, twice := out[k]; twice {
					t.Fatalf("group %v twice", k)
				}
				out[k] = int64(sum.At(i).Wide.LowBits())
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	return out
}

func closed(t *testing.T, g *Groups) {
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// Memory that is refused from some request on ends the run with that error, and all drawn memory is
// released.
func TestBudget(t *testing.T) {
	refused := budgettest.Refused()
	for _, tile := range []feedback.TableConfig{{MinRows: 1 << 62}, feedback.NoTables} {
		for n := 0; ; n++ {
			requests, held := 0, int64(0)
			cfg := config(4, tile, budgettest.Lender(func(bytes int64) error {
				if bytes > 0 {
					if requests++; requests > n {
						return refused
					}
				}
				held += bytes
				return nil
			}))
			in, _ := data(rand.New(rand.NewPCG(1, 1)), 4, 1000, 20_000, "flat", false)
			g, err := run(t.Context(), cfg, in, false, 1)
			if err == nil {
				err = mergeAll(cfg, g)
			}
			if held != 0 {
				t.Fatalf("request %d refused: %d bytes are still held", n, held)
			}
			if requests <= n { // nothing was refused
				if err != nil {
					t.Fatalf("without refusal: error %v", err)
				}
				if n < 3 {
					t.Fatalf("only %d requests for memory", n)
				}
				break
			}
			if !errors.Is(err, refused) {
				t.Fatalf("request %d refused: error %v", n, err)
			}
		}
	}
}

func mergeAll(cfg *setup, g Groups) error {
	m := cfg.run().NewMerger(g.Buckets)
	var err error
	for p := range g.Buckets[0].Partitions() {
		if err = m.Merge(context.Background(), merge.Range{First: p, N: 1}, func([]uint64) error { return nil }); err != nil {
			break
		}
	}
	return errors.Join(err, m.Close(), g.Close())
}

// A cancelled context stops the run with the context's error.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in, _ := data(rand.New(rand.NewPCG(1, 1)), 4, 100, 10, "flat", false)
	if _, err := run(ctx, config(4, feedback.DefaultTableConfig, noLimit), in, false, 2); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
}

// Hashes that crowd at the end of a directory wrap around to its front.
func TestCrowdedEnd(t *testing.T) {
	tab, err := newTable(2, 1, make([]uint64, 2), noLimit)
	if err != nil {
		t.Fatal(err)
	}
	const n = 200 // fewer than make it crowded (CROWDED)
	hash, w := make([]uint64, n), [][]uint64{make([]uint64, n)}
	for i := range hash {
		hash[i], w[0][i] = ^uint64(0)-uint64(n-i), uint64(i)
	}
	groups := make([]uint32, n)
	for range 2 {
		if err := tab.secure(n); err != nil {
			t.Fatal(err)
		}
		tab.find(&key.Encoder{Hash: hash, Words: w}, groups)
	}
	for i, g := range groups {
		if int(g) != i {
			t.Fatalf("key %d has group %d", i, g)
		}
	}
}
