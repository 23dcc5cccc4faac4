package cpu

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/merge"
	"github.com/gagg-dev/gagg/partition"
)

// collidingKeys returns n different pairs of integers with one hash. The hash
// of a pair mixes the hash of its first field with the second, so a second
// field that cancels the first one's hash makes any number of them.
func collidingKeys(t *testing.T, n int) (a, b column.Vector) {
	t.Helper()
	a, b = column.Vector{Type: int64Type, Len: n}, column.Vector{Type: int64Type, Len: n}
	for i := range n {
		a.Int = append(a.Int, int64(i))
	}
	one := key.NewEncoder(key.NewLayout([]key.Column{{Type: int64Type}}), key.NewInterner(nil))
	one.Encode([]column.Vector{a}, n)
	for _, h := range one.Hash {
		b.Int = append(b.Int, int64(h^0x0123456789abcdef))
	}
	two := key.NewEncoder(key.NewLayout([]key.Column{{Type: int64Type}, {Type: int64Type}}), key.NewInterner(nil))
	two.Encode([]column.Vector{a, b}, n)
	for i, h := range two.Hash {
		if h != two.Hash[0] {
			t.Fatalf("the hash has changed: key %d collides no more", i)
		}
	}
	return a, b
}

// F56: keys with equal hashes, all 64 bits of them, are still different
// groups, in tables, codes, partitions and merges.
func TestEqualHashes(t *testing.T) {
	const n, batchesOf = 600, 4
	a, b := collidingKeys(t, n)
	ones := column.Vector{Type: int64Type, Len: n, Int: make([]int64, n)}
	want := map[[2]int64]int64{}
	for i := range n {
		ones.Int[i] = int64(i) + 1
		want[[2]int64{a.Int[i], b.Int[i]}] = batchesOf * ones.Int[i]
	}
	for _, dict := range []bool{false, true} {
		var in batches
		for k := range batchesOf {
			cols := []column.Vector{a, b, ones}
			if dict {
				cols[0], cols[1] = coded(a), coded(b)
			}
			in = append(in, column.Batch{Rows: n, First: int64(k * n), Cols: cols})
		}
		for _, tile := range []feedback.TileConfig{{MinRows: 1 << 62}, feedback.NoTiles} {
			for _, partitions := range []int{0, 1, 16} {
				for _, threads := range threadsTried {
					name := fmt.Sprintf("dict=%t/scatter=%t/partitions=%d/threads=%d", dict, tile == feedback.NoTiles, partitions, threads)
					t.Run(name, func(t *testing.T) {
						got := sumsOf(t, config(partitions, tile, noLimit), in, false, threads)
						if len(got) != len(want) {
							t.Fatalf("%d groups, want %d", len(got), len(want))
						}
						for k, w := range want {
							if got[k] != w {
								t.Fatalf("group %v: sum %d, want %d", k, got[k], w)
							}
						}
					})
				}
			}
		}
	}
}

// Sorting rows stops when it is told to.
func TestFuseStops(t *testing.T) {
	const n = 20_000
	a, b := collidingKeys(t, n)
	cfg := config(0, feedback.NoTiles, noLimit)
	e := key.NewEncoder(cfg.Keys, cfg.Intern)
	e.Encode([]column.Vector{a, b}, n)
	m := NewMerger(cfg, nil)
	rows := make([]uint32, n)
	for i := range rows {
		row := make([]uint64, cfg.Stride)
		row[0], row[1], row[2] = e.Hash[i], e.Words[0][i], e.Words[1][i]
		var err error
		if rows[i], err = m.append(row); err != nil {
			t.Fatal(err)
		}
	}
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	if _, err := m.fuse(ctx, rows); !errors.Is(err, stopped) {
		t.Errorf("error %v", err)
	}
	if groups, err := m.fuse(t.Context(), rows); err != nil || len(groups) != n || !slices.IsSortedFunc(groups, func(a, b uint32) int { return m.compare(m.row(a), m.row(b)) }) {
		t.Errorf("%d groups, error %v, want %d in order", len(groups), err, n)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

// F10: keys that were made to have one hash are not looked up among each other
// but for the first of them: the work, which is what a look-up passes, is
// bounded by a number for each row.
func TestCrowded(t *testing.T) {
	const n, batch = 100_000, 1000
	a, b := collidingKeys(t, n)
	ones := column.Vector{Type: int64Type, Len: n, Int: make([]int64, n)}
	for i := range n {
		ones.Int[i] = 1
	}
	all := column.Batch{Rows: n, Cols: []column.Vector{a, b, ones}}
	var in batches
	for range 2 { // each key comes twice
		for at := 0; at < n; at += batch {
			in = append(in, all.Slice(at, at+batch))
		}
	}
	for _, limited := range []bool{false, true} {
		t.Run(fmt.Sprintf("limited=%t", limited), func(t *testing.T) {
			cfg := config(0, feedback.TileConfig{MinRows: 1 << 62}, noLimit)
			if limited {
				tight(t, cfg, 8<<20, 1)
			}
			w, err := NewWorker(cfg, pipeline(false))
			if err != nil {
				t.Fatal(err)
			}
			for i := range in {
				if w.phase == phaseTable && i*batch > mostFar+batch {
					t.Fatalf("the table is still in use after %d rows", i*batch)
				}
				if err := w.Add(&in[i]); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Finish(0); err != nil {
				t.Fatal(err)
			}
			afterRun()
			m := NewMerger(cfg, []*partition.Buckets{w.store.buckets})
			groups := 0
			for p := range w.store.buckets.Partitions() {
				err := m.Merge(t.Context(), merge.Range{First: p, N: 1}, func(rows []uint64) error {
					for ; len(rows) > 0; rows = rows[cfg.Stride:] {
						groups++
						if rows[1+cfg.Keys.Words] != 2 {
							t.Fatalf("the sum of a group is %d, want 2", rows[1+cfg.Keys.Words])
						}
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				if most := mostFar + partition.BlockBytes/8/cfg.Stride; m.n > most {
					t.Errorf("%d groups are in a directory, want %d at most", m.n, most)
				}
			}
			if groups != n {
				t.Errorf("%d groups, want %d", groups, n)
			}
			if err := errors.Join(m.Close(), w.store.close()); err != nil {
				t.Error(err)
			}
		})
	}
}
