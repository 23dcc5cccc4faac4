package cpu

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/budget/budgettest"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/merge"
)

var stringType = column.Type{Kind: column.String}

// stringVector is a flat vector of strings.
func stringVector(strs []string) column.Vector {
	v := column.Vector{Type: stringType, Len: len(strs)}
	for _, s := range strs {
		v.Span = append(v.Span, column.Span{Off: uint32(len(v.Data)), Len: uint32(len(s))})
		v.Data = append(v.Data, s...)
	}
	v.Data = append(v.Data, make([]byte, column.SpanPadding)...)[:len(v.Data)]
	return v
}

// codedStrings is v coded by a dictionary of its rows.
func codedStrings(v column.Vector) column.Vector {
	out := column.Vector{Type: v.Type, Len: v.Len, Dict: &column.Dict{Values: v}}
	for i := range v.Len {
		out.Codes = append(out.Codes, int32(i))
	}
	return out
}

// randomKey is one of many strings: short and long ones of the same beginning,
// of few lengths, so that some have equal words but for the ref.
func randomKey(rng *rand.Rand, groups int) string {
	n := rng.IntN(groups)
	return fmt.Sprintf("%s%0*d", strings.Repeat("p", []int{0, 1, 200}[n%3]), 9+n%9, n)
}

// Strings whose hashes are all equal are groups of their own, found again in
// every batch, however they are coded.
func TestLongKeysOfOneHash(t *testing.T) {
	cfg := configOf([]key.Column{{Type: stringType}, {Type: int64Type}}, 1, feedback.NoTables, noLimit)
	defer cfg.Arenas.Close()
	w, err := cfg.run().NewWorker(Pipeline{})
	if err != nil {
		t.Fatal(err)
	}
	tab, err := newTable(cfg.Stride, cfg.Keys.Words, make([]uint64, cfg.Stride), noLimit)
	if err != nil {
		t.Fatal(err)
	}
	tab.rows.Arena, tab.keys = w.store.arena, cfg.Keys
	rng := rand.New(rand.NewPCG(1, 1))
	want := map[string]uint32{}
	for batch := range 20 {
		const n = 100
		strs, ints := make([]string, n), column.Vector{Type: int64Type, Len: n}
		for i := range strs {
			strs[i] = randomKey(rng, 300)
			ints.Int = append(ints.Int, rng.Int64N(2))
		}
		v := stringVector(strs)
		if batch%2 == 1 {
			v = codedStrings(v)
		}
		w.encoder.Encode([]column.Vector{v, ints}, n)
		if err := errors.Join(w.store.room(w.encoder.LongBytes()), tab.secure(n)); err != nil {
			t.Fatal(err)
		}
		for i := range w.encoder.Hash {
			w.encoder.Hash[i] = 42
		}
		groups := make([]uint32, n)
		if firstNew := tab.find(w.encoder, groups); int(firstNew) != len(want) {
			t.Fatalf("%d groups before, want %d", firstNew, len(want))
		}
		for i, g := range groups {
			k := fmt.Sprint(strs[i], ints.Int[i])
			if old, ok := want[k]; ok && old != g {
				t.Fatalf("%s has the groups %d and %d", k, old, g)
			}
			want[k] = g
		}
		if int(tab.n) != len(want) {
			t.Fatalf("%d groups, want %d", tab.n, len(want))
		}
	}
}

// longInput is batches of a string, an integer and a value of 1, and how many
// rows there are of each key.
func longInput(nbatches, rows, groups int, keys string) (batches, map[string]int64) {
	rng := rand.New(rand.NewPCG(3, uint64(groups)))
	var out batches
	want := map[string]int64{}
	for n := range nbatches {
		strs := make([]string, rows)
		b, ones := column.Vector{Type: int64Type, Len: rows}, column.Vector{Type: int64Type, Len: rows}
		for i := range strs {
			strs[i] = randomKey(rng, groups)
			b.Int, ones.Int = append(b.Int, rng.Int64N(3)), append(ones.Int, 1)
			want[fmt.Sprint(strs[i], b.Int[i])]++
		}
		a := stringVector(strs)
		if keys == "coded" || keys == "mixed" && n%2 == 0 {
			a, b = codedStrings(a), coded(b)
		}
		out = append(out, column.Batch{Rows: rows, First: int64(n * rows), Cols: []column.Vector{a, b, ones}})
	}
	return out, want
}

// Every strategy counts the rows of each long key right, and the budget knows of
// the strings.
func TestLongKeyRoads(t *testing.T) {
	for _, groups := range []int{1, 100, 20_000} {
		for _, keys := range []string{"flat", "coded", "mixed"} {
			in, want := longInput(9, 500, groups, keys)
			for _, tile := range []feedback.TableConfig{{MinRows: 1 << 62}, feedback.NoTables} {
				for _, partitions := range []int{1, 16} {
					for _, threads := range threadsTried {
						name := fmt.Sprintf("groups=%d/keys=%s/scatter=%t/partitions=%d/threads=%d", groups, keys, tile == feedback.NoTables, partitions, threads)
						t.Run(name, func(t *testing.T) {
							// of keys with 9 to 17 bytes, and 200 more
							for _, inline := range []int{0, 16, 40} {
								cfg := configOf([]key.Column{{Type: stringType, Inline: inline}, {Type: int64Type}}, partitions, tile, noLimit)
								defer cfg.Arenas.Close()
								mustCount(t, cfg, in, threads, want)
							}
						})
					}
				}
			}
		}
	}
}

func mustCount(t *testing.T, cfg *setup, in batches, threads int, want map[string]int64) {
	t.Helper()
	g, err := run(t.Context(), cfg, in, false, threads)
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, &g)
	m := mergerOf(t, cfg, &g)
	n := 0
	for p := range g.Buckets[0].Partitions() {
		err := m.Merge(t.Context(), merge.Range{First: p, N: 1}, func(rows []uint64) error {
			var a, b, sum column.Vector
			d := key.Decoder{Layout: cfg.Keys, Intern: cfg.Intern, Arenas: cfg.Arenas, Base: 1, Stride: cfg.Stride}
			d.Begin(rows)
			d.Decode(0, rows, &a)
			d.Decode(1, rows, &b)
			if err := cfg.States.Finish(0, rows, cfg.Stride, cfg.Arenas, &sum); err != nil {
				return err
			}
			for i := range a.Len {
				k := fmt.Sprint(string(a.Bytes(i)), b.Int[i])
				if got := int64(sum.At(i).Wide.LowBits()); got != want[k] {
					t.Fatalf("group %q has %d rows, want %d", k, got, want[k])
				}
			}
			n += len(rows) / cfg.Stride
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if n != len(want) {
		t.Fatalf("%d groups, want %d", n, len(want))
	}
}

// A budget that has no room for the strings refuses them by an error, and no
// more memory is taken for them than it granted.
func TestLongKeysBudget(t *testing.T) {
	refused := budgettest.Refused()
	for _, tile := range []feedback.TableConfig{{MinRows: 1 << 62}, feedback.NoTables} {
		cfg := configOf([]key.Column{{Type: stringType}, {Type: int64Type}}, 4, tile, noLimit)
		left := int64(1 << 20)
		cfg.Arenas = arena.New(budgettest.Lender(func(bytes int64) error {
			if left < bytes {
				return refused
			}
			left -= bytes
			return nil
		}))
		in, _ := longInput(40, 500, 1_000_000, "flat")
		_, err := run(t.Context(), cfg, in, false, 1)
		if !errors.Is(err, refused) || cfg.Arenas.Bytes() > 1<<20 {
			t.Errorf("error %v, %d bytes of strings", err, cfg.Arenas.Bytes())
		}
		cfg.Arenas.Close()
		if left != 1<<20 {
			t.Errorf("%d bytes were not given back", 1<<20-left)
		}
	}
}
