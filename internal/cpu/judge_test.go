package cpu

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/merge"
)

// textRows is batches of n rows each, of a text and an integer as keys; text tells that of a row.
// Every other batch is coded.
func textRows(batchesOf, n int, text func(row int) string) (in batches, want map[string]int64) {
	want = map[string]int64{}
	for b := range batchesOf {
		strs := make([]string, n)
		none, ones := column.Vector{Type: int64Type, Len: n, Int: make([]int64, n)}, column.Vector{Type: int64Type, Len: n}
		for i := range strs {
			strs[i] = text(b*n + i)
			want[strs[i]]++
			ones.Int = append(ones.Int, 1)
		}
		v := stringVector(strs)
		if b%2 == 1 {
			v = codedStrings(v)
		}
		in = append(in, column.Batch{Rows: n, First: int64(b * n), Cols: []column.Vector{v, none, ones}})
	}
	return in, want
}

// checkTexts merges the groups of textRows, and wants the sums that are right.
func checkTexts(t *testing.T, cfg *setup, g *Groups, want map[string]int64) {
	t.Helper()
	defer closed(t, g)
	got := map[string]int64{}
	m := mergerOf(t, cfg, g)
	last := uint64(0)
	for p := range g.Buckets[0].Partitions() {
		err := m.Merge(t.Context(), merge.Range{First: p, N: 1}, func(rows []uint64) error {
			var text, sum column.Vector
			d := key.Decoder{Layout: cfg.Keys, Intern: cfg.Intern, Arenas: cfg.Arenas, Base: 1, Stride: cfg.Stride}
			d.Begin(rows)
			d.Decode(0, rows, &text)
			if err := cfg.States.Finish(0, rows, cfg.Stride, cfg.Arenas, &sum); err != nil {
				return err
			}
			for i := range text.Len {
				if rows[i*cfg.Stride] < last {
					t.Fatalf("partition %d: not in order of hash", p)
				}
				last = rows[i*cfg.Stride]
				s := string(text.Bytes(i))
				if _, twice := got[s]; twice {
					t.Fatalf("group %q twice", s)
				}
				got[s] = int64(sum.At(i).Wide.LowBits())
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
	if len(got) != len(want) {
		t.Fatalf("%d groups, want %d", len(got), len(want))
	}
	for s, n := range want {
		if got[s] != n {
			t.Fatalf("%q has %d rows, want %d", s, got[s], n)
		}
	}
}

// textConfig is a run of sum by a text and an integer.
func textConfig(partitions int, tile feedback.TableConfig, rows int64) *setup {
	cfg := configOf([]key.Column{{Type: stringType}, {Type: int64Type}}, partitions, tile, noLimit)
	cfg.Rows = rows
	return cfg
}

// A worker whose first rows have long texts that all differ does without a table that grows, and
// takes one again when the next ones repeat those that have come: their texts are stored once, not
// once for each row. Short texts do without.
func TestRegrow(t *testing.T) {
	const n, half, again = 1000, 100, 20
	for _, length := range []int{200, 3} {
		rng := rand.New(rand.NewPCG(1, 1))
		in, want := textRows(2*half, n, func(row int) string {
			if row >= half*n {
				row = rng.IntN(again * n)
			}
			return fmt.Sprintf("%0*d%s", 12, row, strings.Repeat("x", length))
		})
		cfg := textConfig(16, feedback.TableConfig{MinRows: 2000, MinReduction: 6, CacheReduction: 1.5, CacheBytes: 64 << 10}, 2*half*n)
		g, err := run(t.Context(), cfg, in, false, 1)
		if err != nil {
			t.Fatal(err)
		}
		texts, placed := cfg.Arenas.Bytes()/int64(length+20), g.stores[0].placed
		if length > 15 && texts > half*n*3/2 {
			t.Errorf("%d texts are stored, of %d groups", texts, len(want))
		}
		if length <= 3 && placed < half*n*3/2 {
			t.Errorf("%d rows of short texts were placed of %d", placed, 2*half*n)
		}
		checkTexts(t, cfg, &g, want)
	}
}
