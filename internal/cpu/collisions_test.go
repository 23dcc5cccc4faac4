package cpu

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
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
		for _, tile := range []feedback.TableConfig{{MinRows: 1 << 62}, feedback.NoTables} {
			for _, partitions := range []int{0, 1, 16} {
				for _, threads := range threadsTried {
					name := fmt.Sprintf("dict=%t/scatter=%t/partitions=%d/threads=%d", dict, tile == feedback.NoTables, partitions, threads)
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

// Sorting rows stops when its context ends.
func TestFuseStops(t *testing.T) {
	const n = 20_000
	a, b := collidingKeys(t, n)
	cfg := config(0, feedback.NoTables, noLimit)
	e := key.NewEncoder(cfg.Keys, cfg.Intern)
	e.Encode([]column.Vector{a, b}, n)
	m := cfg.run().NewMerger(nil)
	rows := make([]ranked, n)
	for i := range rows {
		row := make([]uint64, cfg.Stride)
		row[0], row[1], row[2] = e.Hash[i], e.Words[0][i], e.Words[1][i]
		var err error
		if rows[i].row, err = m.append(row); err != nil {
			t.Fatal(err)
		}
	}
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	if _, err := m.fuse(ctx, rows); !errors.Is(err, stopped) {
		t.Errorf("error %v", err)
	}
	if groups, err := m.fuse(t.Context(), rows); err != nil || len(groups) != n || !slices.IsSortedFunc(groups, func(a, b ranked) int { return m.compare(m.row(a.row), m.row(b.row)) }) {
		t.Errorf("%d groups, error %v, want %d in order", len(groups), err, n)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

// colliding is keys of one hash, a vector for each of their columns.
func colliding(t *testing.T, kind string, n int) []column.Vector {
	t.Helper()
	if kind == "integers" {
		a, b := collidingKeys(t, n)
		return []column.Vector{a, b}
	}
	strs := make([]string, n)
	for i := range strs {
		b := make([]byte, key.MaxInline)
		binary.LittleEndian.PutUint64(b, 0x589965cc75374cc3) // makes a factor of the hash zero
		if kind == "long texts" {
			b = make([]byte, 32)
			binary.LittleEndian.PutUint64(b, 0xbe4ba423396cfeb8) // the same, of xxh3
		}
		binary.LittleEndian.PutUint32(b[8:], uint32(i))
		strs[i] = string(b)
	}
	v := stringVector(strs)
	e := key.NewEncoder(key.NewLayout([]key.Column{{Type: stringType}}), key.NewInterner(nil))
	e.Encode([]column.Vector{v}, n)
	for i, h := range e.Hash {
		if h != e.Hash[0] {
			t.Fatalf("the hash has changed: key %d collides no more", i)
		}
	}
	return []column.Vector{v}
}

// farthest is how far from its home slot a group of a directory lies.
func farthest(d *directory, hashOf func(group uint32) uint64) (far int) {
	for s, e := range d.slots {
		if e != 0 {
			far = max(far, (s-int(d.home(hashOf(d.group(e)))))&(len(d.slots)-1))
		}
	}
	return far
}

// farMost is farther than any group of these tests lies from home in a directory that is half full,
// if keys were not chosen to collide: 100 would be much.
const farMost = 250

// F10: keys that were made to have one hash lie near the slots where they are looked for, in the
// tables of workers and in the directories of mergers. They come out in order, in every strategy.
func TestCrowded(t *testing.T) {
	const n, batch = 20_000, 1000
	for _, kind := range []string{"integers", "texts", "long texts"} {
		cols := colliding(t, kind, n)
		keys, pipe := make([]key.Column, len(cols)), Pipeline{Args: []Evaluator{columnAt(len(cols))}}
		for i := range cols {
			keys[i].Type = cols[i].Type
			pipe.Keys, pipe.Used = append(pipe.Keys, columnAt(i)), append(pipe.Used, i)
		}
		pipe.Used = append(pipe.Used, len(cols))
		all := column.Batch{Rows: n, Cols: append(cols, column.Vector{Type: int64Type, Len: n, Int: slices.Repeat([]int64{1}, n)})}
		for _, tile := range []feedback.TableConfig{{MinRows: 1 << 62}, feedback.NoTables} {
			for _, limit := range []int64{0, 1 << 20, 4 << 20} {
				name := fmt.Sprintf("%s/scatter=%t/limit=%d", kind, tile == feedback.NoTables, limit)
				t.Run(name, func(t *testing.T) {
					cfg := configOf(keys, 0, tile, noLimit)
					if limit > 0 {
						tight(t, cfg, limit, 1)
					}
					crowd(t, cfg, pipe, &all, batch)
				})
			}
		}
	}
}

// crowd runs over the keys of a batch twice.
func crowd(t *testing.T, cfg *setup, pipe Pipeline, all *column.Batch, batch int) {
	t.Helper()
	w, err := cfg.run().NewWorker(pipe)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for at := 0; at < all.Rows; at += batch {
			b := all.Slice(at, at+batch)
			if err := w.Add(&b); err != nil {
				t.Fatal(err)
			}
			if far := farthest(&w.table.dir, w.table.hashOf); w.phase == phaseTable && far > farMost && w.table.n > 5000 {
				t.Fatalf("of %d groups of the table one lies %d slots from home", w.table.n, far)
			}
		}
	}
	if err := w.Finish(0, nil); err != nil {
		t.Fatal(err)
	}
	afterRun()
	m := cfg.run().NewMerger([]*partition.Buckets{w.store.buckets})
	groups, last := 0, []uint64(nil)
	for p := range w.store.buckets.Partitions() {
		err := m.Merge(t.Context(), merge.Range{First: p, N: 1}, func(rows []uint64) error {
			if far := farthest(&m.dir, func(g uint32) uint64 { return m.hashOf(m.row(g)) }); groups == 0 && far > farMost {
				t.Errorf("of %d groups of the merger one lies %d slots from home", m.n, far)
			}
			for at := 0; at < len(rows); at += cfg.Stride {
				row := rows[at : at+cfg.Stride]
				if at > 0 && !m.less(rows[at-cfg.Stride:at], row) || at == 0 && last != nil && last[0] > row[0] {
					t.Fatalf("group %d is not in order", groups)
				}
				if row[1+cfg.Keys.Words] != 2 {
					t.Fatalf("the sum of a group is %d, want 2", row[1+cfg.Keys.Words])
				}
				groups, last = groups+1, append(last[:0], row...)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if groups != all.Rows {
		t.Errorf("%d groups, want %d", groups, all.Rows)
	}
	if err := errors.Join(m.Close(), w.store.close()); err != nil {
		t.Error(err)
	}
}

// F10: rows of groups that crowd and do not fit in memory are combined before they are sorted.
func TestCrowdedDivided(t *testing.T) {
	const n, times = 10_000, 8
	for _, kind := range []string{"integers", "long texts"} {
		t.Run(kind, func(t *testing.T) {
			cols := colliding(t, kind, n)
			keys, pipe := make([]key.Column, len(cols)), Pipeline{Args: []Evaluator{columnAt(len(cols))}}
			for i := range cols {
				keys[i].Type = cols[i].Type
				pipe.Keys, pipe.Used = append(pipe.Keys, columnAt(i)), append(pipe.Used, i)
			}
			pipe.Used = append(pipe.Used, len(cols))
			batch := column.Batch{Rows: n, Cols: append(cols, column.Vector{Type: int64Type, Len: n, Int: slices.Repeat([]int64{1}, n)})}
			cfg := configOf(keys, 1, feedback.NoTables, noLimit)
			tight(t, cfg, 1<<20, 1)
			w, err := cfg.run().NewWorker(pipe)
			if err != nil {
				t.Fatal(err)
			}
			rng, order := rand.New(rand.NewPCG(1, 1)), make([]int32, n)
			for range times {
				for i := range order {
					order[i] = int32(i)
				}
				rng.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
				shuffled := column.Batch{Rows: n}
				for i := range batch.Cols {
					shuffled.Cols = append(shuffled.Cols, column.Gather(&batch.Cols[i], order, new(column.Buffer)))
				}
				if err := w.Add(&shuffled); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Finish(0, nil); err != nil {
				t.Fatal(err)
			}
			afterRun()
			m := cfg.run().NewMerger([]*partition.Buckets{w.store.buckets})
			m.begin(m.sources, merge.Range{N: 1}, 0)
			if err := m.load(t.Context()); !refused(err) || !m.dir.seeded {
				t.Fatalf("loading: %v, a seeded directory: %t", err, m.dir.seeded)
			}
			runs, err := m.makeRuns(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			rows := 0
			for _, r := range runs {
				for _, b := range r {
					rows += int(b.Rows)
				}
			}
			if len(runs) < 2 || rows != n {
				t.Errorf("%d rows in %d runs, of %d groups", rows, len(runs), n)
			}
			if err := errors.Join(m.Close(), w.store.close()); err != nil {
				t.Error(err)
			}
		})
	}
}

// Groups come out the same, in the same order, if their directory is seeded.
func TestSeeded(t *testing.T) {
	for _, keys := range []string{"flat", "coded"} {
		cfg := configOf([]key.Column{{Type: stringType, Intern: keys == "coded"}, {Type: int64Type}}, 1, feedback.NoTables, noLimit)
		in, want := longInput(5, 1000, 2000, keys)
		g, err := run(t.Context(), cfg, in, false, 2)
		if err != nil {
			t.Fatal(err)
		}
		var out [2][]uint64
		for seeded := range out {
			m := cfg.run().NewMerger(g.Buckets)
			m.out.emit = func(rows []uint64) error {
				out[seeded] = append(out[seeded], rows...)
				return nil
			}
			m.begin(m.sources, merge.Range{N: 1}, 0)
			if err := m.load(t.Context()); err != nil {
				t.Fatal(err)
			}
			if seeded == 0 {
				err = m.collect()
			} else {
				m.dir.seed(func(g uint32) uint64 { return cfg.Keys.Secret(m.row(g), 1, cfg.Arenas) })
				for _, page := range m.pages {
					for ; len(page) > 0; page = page[cfg.Stride:] {
						if _, _, dst := m.find(page[:cfg.Stride]); dst == nil {
							t.Fatal("a key has no group")
						}
					}
				}
				err = m.emitSorted(t.Context())
			}
			if err := errors.Join(err, m.Close()); err != nil {
				t.Fatal(err)
			}
		}
		if len(out[0]) != len(want)*cfg.Stride {
			t.Errorf("%s: %d groups, want %d", keys, len(out[0])/cfg.Stride, len(want))
		}
		keysOf := func(rows []uint64) (keys [][]uint64) { // the sums have been joined twice
			for row := range slices.Chunk(rows, cfg.Stride) {
				keys = append(keys, row[:1+cfg.Keys.Words])
			}
			return keys
		}
		if !slices.EqualFunc(keysOf(out[0]), keysOf(out[1]), slices.Equal[[]uint64]) {
			t.Errorf("%s: a seeded directory gives other groups, or in another order", keys)
		}
		closed(t, &g)
	}
}

// As many groups as may be loaded have numbers that fit the entries of the directory.
func TestGroupNumbers(t *testing.T) {
	for rows := 1000; rows < 100_000; rows += rows / 7 {
		cfg := config(1, feedback.NoTables, noLimit)
		cfg.Memory.Merge = int64(float64(rows)*float64(cfg.groupBytes())/loadShare) + 1
		m := cfg.run().NewMerger(nil)
		m.in.blocks = []sourceBlock{{Block: partition.Block{Rows: 1 << 30}}}
		if err := m.reset(0); err != nil {
			t.Fatal(err)
		}
		if most, entries := m.room.NextLoad(0), int64(1)<<m.dir.groupBits; most >= entries {
			t.Errorf("%d rows: %d groups may be loaded, entries are for %d", rows, most, entries-1)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

// asked counts how often a context was looked at.
type asked struct {
	context.Context
	times int
}

func (a *asked) Err() error {
	a.times++
	return a.Context.Err()
}

// F10: in every strategy a merge looks at the context all the time.
func TestMergeAsks(t *testing.T) {
	const n, between = 40_000, 8192 // rows
	a, b := collidingKeys(t, n)
	ones := column.Vector{Type: int64Type, Len: n, Int: slices.Repeat([]int64{1}, n)}
	random := column.Vector{Type: int64Type, Len: n, Int: slices.Clone(a.Int)}
	for _, second := range []column.Vector{b, random} {
		for _, limit := range []int64{0, 3 << 20} {
			cfg := config(1, feedback.NoTables, noLimit)
			if limit > 0 {
				tight(t, cfg, limit, 1)
			}
			g, err := run(t.Context(), cfg, batches{{Rows: n, Cols: []column.Vector{a, second, ones}}}, false, 1)
			if err != nil {
				t.Fatal(err)
			}
			m := cfg.run().NewMerger(g.Buckets)
			ctx := &asked{Context: t.Context()}
			if err := m.Merge(ctx, merge.Range{N: 1}, func([]uint64) error { return nil }); err != nil {
				t.Fatal(err)
			}
			if ctx.times < n/between {
				t.Errorf("limit %d: asked %d times", limit, ctx.times)
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
			closed(t, &g)
		}
	}
}
