package cpu

import (
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/merge"
	"github.com/gagg-dev/gagg/partition"
)

// What merging needs beside the values of the groups is let go with each
// partition.
func TestMergeKeepsNothing(t *testing.T) {
	// the second divides: rows are left when values fill the memory
	for _, limit := range []int64{0, 1 << 20} {
		cfg := config(2, feedback.NoTables, noLimit)
		median, _, err := agg.Resolve("median", []column.Type{int64Type}, nil)
		if err != nil {
			t.Fatal(err)
		}
		call := agg.Call{Func: median, Args: []int{0}, Types: []column.Type{int64Type}}
		cfg.States = agg.Compile([]agg.Call{call}, 1+cfg.Keys.Words, agg.Options{MaxRows: -1})
		cfg.Stride = Stride(cfg.Keys, cfg.States)
		if limit > 0 {
			tight(t, cfg, 64<<20, 3)
			cfg.Memory.Merge = limit
		}
		in, _ := data(rand.New(rand.NewPCG(9, 9)), 60, 1000, 5000, "flat", false)
		g, err := run(t.Context(), cfg, in, false, 3)
		if err != nil {
			t.Fatal(err)
		}
		before := cfg.Arenas.Bytes()
		m := cfg.run().NewMerger(g.Buckets)
		groups := 0
		for p := range g.Buckets[0].Partitions() {
			err := m.Merge(t.Context(), merge.Range{First: p, N: 1}, func(rows []uint64) error {
				groups += len(rows) / cfg.Stride
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if now := cfg.Arenas.Bytes(); now > before {
				t.Fatalf("limit %d: %d bytes of values before merging, %d after partition %d", limit, before, now, p)
			}
		}
		if groups != 5000 {
			t.Errorf("limit %d: %d groups", limit, groups)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		closed(t, &g)
	}
}

// Partitions that are merged as one come out as one by one, in order of hash.
func TestMergeRanges(t *testing.T) {
	for _, n := range []int{1, 2, 8, 64} {
		cfg := config(64, feedback.NoTables, noLimit)
		in, want := data(rand.New(rand.NewPCG(3, 1)), 9, 1000, 5000, "flat", false)
		g, err := run(t.Context(), cfg, in, false, 3)
		if err != nil {
			t.Fatal(err)
		}
		total := int64(0)
		for _, rows := range g.Sizes() {
			total += rows
		}
		if total != g.Resident() || total < 8000 {
			t.Errorf("%d rows in all partitions", total)
		}
		m := cfg.run().NewMerger(g.Buckets)
		groups, last := 0, uint64(0)
		for first := 0; first < 64; first += n {
			r := merge.Range{First: first, N: n}
			m.Prefetch(r)
			err := m.Merge(t.Context(), r, func(rows []uint64) error {
				for ; len(rows) > 0; rows = rows[cfg.Stride:] {
					if rows[0] < last {
						t.Fatalf("hash %x after %x", rows[0], last)
					}
					last = rows[0]
					groups++
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if groups != len(want) {
			t.Errorf("%d at a time: %d groups, want %d", n, groups, len(want))
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		closed(t, &g)
	}
}

// Groups that wrap around to the front of a directory have their place among those of its last
// run, however early these could be emitted.
func TestMergeWrapped(t *testing.T) {
	cfg := config(0, feedback.NoTables, noLimit)
	const n = 300 // in the last slots of 1024
	st := newStore(cfg.Config, noLimit)
	st.open(0, 0)
	for i := range uint64(n) {
		row := make([]uint64, cfg.Stride)
		cfg.States.Init(row)
		row[0], row[1] = ^uint64(0)-i<<53, i // the greatest first: they take the last slots
		if err := st.place(row); err != nil {
			t.Fatal(err)
		}
	}
	for _, most := range []int{1, 7, n} {
		m := cfg.run().NewMerger([]*partition.Buckets{st.buckets})
		m.out.most = most
		m.begin(m.sources, merge.Range{N: 1}, 0)
		if err := m.load(t.Context()); err != nil {
			t.Fatal(err)
		}
		if m.dir.slots[0] == 0 {
			t.Fatal("no group has wrapped around")
		}
		groups, last := 0, uint64(0)
		m.out.emit = func(rows []uint64) error {
			for ; len(rows) > 0; rows = rows[cfg.Stride:] {
				if rows[0] < last {
					t.Errorf("%d at a time: hash %x after %x", most, rows[0], last)
				}
				last = rows[0]
				groups++
			}
			return nil
		}
		if err := m.collect(); err != nil {
			t.Fatal(err)
		}
		if groups != n {
			t.Errorf("%d groups, want %d", groups, n)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := st.close(); err != nil {
		t.Error(err)
	}
}
