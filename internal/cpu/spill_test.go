package cpu

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/budget/budgettest"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/internal/spill"
	"github.com/gagg-dev/gagg/merge"
	"github.com/gagg-dev/gagg/partition"
)

// tight gives a configuration a budget of so many bytes and a disk.
func tight(t *testing.T, cfg *setup, limit int64, threads int) (*budget.Budget, *spill.Space) {
	n := int64(threads)
	cfg.Memory = Memory{Worker: limit / 2 / n, Table: limit / 4 / n, Pages: limit / 8, Merge: limit / 3 / n}
	l := budget.New(budget.Memory, limit-n*cfg.Memory.Merge)
	afterRun = func() { l.SetLimit(limit) }
	cfg.Budget, cfg.Arenas = l, arena.New(l)
	space, err := spill.Open(spill.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Spill = space.File
	t.Cleanup(func() {
		afterRun = func() {}
		if err := space.Close(); err != nil {
			t.Error(err)
		}
		if l.Reserved() != 0 || l.Committed() != 0 {
			t.Errorf("%d bytes are still reserved, %d committed", l.Reserved(), l.Committed())
		}
	})
	return l, space
}

// Under any limit groups go to disk and come back: the same sums, each group once, in order of
// hash.
func TestSpillRoads(t *testing.T) {
	for _, groups := range []int{1, 5000, 60_000} {
		in, want := data(rand.New(rand.NewPCG(7, uint64(groups))), 100, 1000, groups, "flat", false)
		for _, limit := range []int64{2 << 20, 64 << 20} {
			for _, tile := range []feedback.TableConfig{{MinRows: 1 << 62}, feedback.NoTables} {
				for _, threads := range threadsTried {
					for form, configOf := range configsTried {
						name := fmt.Sprintf("groups=%d/limit=%dMiB/scatter=%t/threads=%d/rows=%s", groups, limit>>20, tile == feedback.NoTables, threads, form)
						t.Run(name, func(t *testing.T) {
							cfg := configOf(0, tile, nil)
							_, space := tight(t, cfg, limit*int64(threads), threads)
							checkSums(t, cfg, in, false, threads, want)
							if spills := space.Written() > 0; spills != (limit < 64<<20 && (groups == 60_000 || tile == feedback.NoTables)) {
								t.Fatalf("%d bytes were spilled", space.Written())
							}
						})
					}
				}
			}
		}
	}
}

// A partition with so many rows in memory that the merger may not even have their directory is
// divided like others, rows in memory included.
func TestSpillNoDirectory(t *testing.T) {
	for _, groups := range []int{1, 60_000} {
		cfg := config(1, feedback.NoTables, nil)
		_, space := tight(t, cfg, 32<<20, 3)
		cfg.Memory.Merge = 1 << 20
		in, want := data(rand.New(rand.NewPCG(8, uint64(groups))), 100, 1000, groups, "flat", false)
		checkSums(t, cfg, in, false, 3, want)
		if space.Written() == 0 {
			t.Errorf("%d groups: nothing was spilled", groups)
		}
	}
}

// A refusal that emit returns is not the merger's: it has emitted some groups, and divides nothing.
func TestSpillEmitRefused(t *testing.T) {
	cfg := config(1, feedback.NoTables, nil)
	tight(t, cfg, 32<<20, 1)
	in, _ := data(rand.New(rand.NewPCG(8, 1)), 10, 1000, 5000, "flat", false)
	g, err := run(t.Context(), cfg, in, false, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, &g)
	m := mergerOf(t, cfg, &g)
	refused, calls := budgettest.Refused(), 0
	err = m.Merge(t.Context(), merge.Range{N: 1}, func([]uint64) error {
		if calls++; calls == 2 {
			return refused
		}
		return nil
	})
	if !errors.Is(err, refused) || calls != 2 {
		t.Errorf("error %v after %d calls", err, calls)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

// The pages that are being filled stay within their share, so that blocks are of a size that a disk
// can stream, even if an unknown number of groups asks for as many partitions as there can be.
func TestSpillBlockSize(t *testing.T) {
	for _, limit := range []int64{8 << 20, 64 << 20} {
		cfg := config(0, feedback.NoTables, nil)
		tight(t, cfg, limit, 2)
		cfg.Threads = 2
		n := int64(1) << cfg.run().choose(0, 0, 0, cfg.Rows, 0)
		if open := n * 2 * partition.PageBytes; open > cfg.Memory.Pages || 4*open < cfg.Memory.Pages {
			t.Errorf("limit %d: %d partitions, whose pages take %d of %d bytes", limit, n, open, cfg.Memory.Pages)
		}
	}
}

// Long keys travel with their rows to disk and back.
func TestSpillLongKeys(t *testing.T) {
	for _, keys := range []string{"flat", "mixed"} {
		in, want := longInput(60, 1000, 10_000, keys)
		for _, tile := range []feedback.TableConfig{{MinRows: 1 << 62}, feedback.NoTables} {
			for _, threads := range threadsTried {
				t.Run(fmt.Sprintf("keys=%s/scatter=%t/threads=%d", keys, tile == feedback.NoTables, threads), func(t *testing.T) {
					for _, inline := range []int{0, 16} {
						cfg := configOf([]key.Column{{Type: stringType, Inline: inline}, {Type: int64Type}}, 0, tile, nil)
						_, space := tight(t, cfg, int64(threads)*5<<19, threads)
						mustCount(t, cfg, in, threads, want)
						if space.Written() == 0 {
							t.Fatal("nothing was spilled")
						}
					}
				})
			}
		}
	}
}

// Rows whose hashes are all equal cannot be divided: they are sorted.
func TestSpillEqualHashes(t *testing.T) {
	const n, batchesOf = 20_000, 8
	a, b := collidingKeys(t, n)
	ones := column.Vector{Type: int64Type, Len: n, Int: make([]int64, n)}
	for i := range n {
		ones.Int[i] = 1
	}
	var in batches
	for k := range batchesOf {
		in = append(in, column.Batch{Rows: n, First: int64(k * n), Cols: []column.Vector{a, b, ones}})
	}
	for form, configOf := range configsTried {
		t.Run(form, func(t *testing.T) {
			cfg := configOf(0, feedback.NoTables, nil)
			tight(t, cfg, 5<<20, 1)
			got := sumsOf(t, cfg, in, false, 1)
			if len(got) != n {
				t.Fatalf("%d groups, want %d", len(got), n)
			}
			for k, sum := range got {
				if sum != batchesOf {
					t.Fatalf("group %v: sum %d, want %d", k, sum, batchesOf)
				}
			}
		})
	}
}

// Workers take no reserved memory, but each keeps enough to put its rows to disk: no more than that
// can be reserved. Reserved memory that is given back is theirs again.
func TestShareBesideReserved(t *testing.T) {
	cfg := config(16, feedback.NoTables, nil)
	cfg.Threads = 2
	l, _ := tight(t, cfg, 8<<20, cfg.Threads)
	each := cfg.Memory.Worker
	want := func(share int64) {
		t.Helper()
		if got := cfg.run().share(); got != share {
			t.Errorf("a worker may take %d of %d bytes, want %d", got, each, share)
		}
	}
	want(each)
	some, err := cfg.run().Reserve(each)
	if err != nil {
		t.Fatal(err)
	}
	want(each / 2)
	if _, err := cfg.run().Reserve(each/2 + 1); !refused(err) {
		t.Errorf("error %v where workers would keep too little", err)
	}
	want(each / 2)
	most, err := cfg.run().Reserve(each / 2)
	if err != nil {
		t.Fatal(err)
	}
	want(each / leastShare)
	most.Close()
	half := some.Split(each / 2)
	some.Close()
	want(each - each/4)
	if !half.Commit(each / 2) {
		t.Fatal("it is not there")
	}
	want(each - each/4)
	half.Uncommit(each / 2)
	half.Close()
	if want(each); l.Reserved() != 0 {
		t.Errorf("%d bytes are reserved in the end", l.Reserved())
	}
	cfg.Memory.Worker, cfg.last = 0, nil
	want(0)
}

// A worker whose share has become less than what it has gets a few pages to empty its table into
// buckets, and no more.
func TestPagesBesideShare(t *testing.T) {
	cfg := config(16, feedback.NoTables, nil)
	cfg.Threads = 2
	l, _ := tight(t, cfg, 8<<20, cfg.Threads)
	w := Worker{run: cfg.run(), cfg: cfg.Config}
	w.store = newStore(cfg.Config, w.pages())
	w.batchHeld = w.run.share() - cfg.openPages() - partition.LeastBytes
	most, err := cfg.run().Reserve(2 * (cfg.Memory.Worker - cfg.Memory.Worker/leastShare))
	if err != nil {
		t.Fatal(err)
	}
	defer most.Close()
	l.SetLimit(0)
	if w.batchHeld <= cfg.run().share() {
		t.Fatalf("%d bytes are within %d", w.batchHeld, cfg.run().share())
	}
	if err := w.pages().Draw(2 * partition.LeastBytes); err != nil {
		t.Error(err)
	}
	defer l.Release(2 * partition.LeastBytes)
	if err := w.pages().Draw(2*partition.LeastBytes + 1); !refused(err) {
		t.Errorf("error %v", err)
	}
}
