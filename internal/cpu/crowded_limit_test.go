package cpu

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/spill"
	"github.com/gagg-dev/gagg/merge"
	"github.com/gagg-dev/gagg/partition"
)

// collidingBatches is rows of n keys with one hash, `times` rows of each key.
func collidingBatches(t *testing.T, n, times int) (in batches) {
	t.Helper()
	a, b := collidingKeys(t, n)
	ones := column.Vector{Type: int64Type, Len: n, Int: slices.Repeat([]int64{1}, n)}
	for range times {
		in = append(in, column.Batch{Rows: n, Cols: []column.Vector{a, b, ones}})
	}
	return in
}

// inOrder runs what emits the n groups of a merger, which come in order, each with a sum of times.
func inOrder(t *testing.T, m *Merger, n, times int, run func(emit func(rows []uint64) error) error) {
	t.Helper()
	groups, last := 0, []uint64(nil)
	err := run(func(rows []uint64) error {
		for row := range slices.Chunk(rows, m.cfg.Stride) {
			if last != nil && !m.less(last, row) {
				t.Fatalf("group %d is not in order", groups)
			}
			if sum := row[m.cfg.Keys.Base()+m.cfg.Keys.Words]; sum != uint64(times) {
				t.Fatalf("the sum of a group is %d, want %d", sum, times)
			}
			groups, last = groups+1, append(last[:0], row...)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if groups != n {
		t.Errorf("%d groups, want %d", groups, n)
	}
}

// F10: keys of one hash are in one partition, whose rows in memory may be too many for a directory
// with a slot for each. One for the groups is enough, and none of them goes to disk, for which
// there is no place here. Their index takes the memory of the directory.
func TestCrowdedGrows(t *testing.T) {
	for form, configOf := range configsTried {
		t.Run(form, func(t *testing.T) { checkCrowdedGrows(t, configOf) })
	}
}

func checkCrowdedGrows(t *testing.T, configOf func(int, feedback.TableConfig, budget.Lender) *setup) {
	const n, times, memory = 16_000, 12, 256 << 10
	cfg := configOf(1, feedback.NoTables, noLimit)
	g, err := run(t.Context(), cfg, collidingBatches(t, n, times), false, 1)
	if err != nil {
		t.Fatal(err)
	}
	cfg.run().cfg.Memory.Merge = memory
	m := cfg.run().NewMerger(g.Buckets)
	m.begin(m.sources, merge.Range{N: 1}, 0)
	if err := m.reset(m.rowsInMemory()); !refused(err) {
		t.Fatalf("a directory for all rows: %v", err)
	}
	if err := m.load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if far := farthest(&m.dir, func(g uint32) uint64 { return m.hashOf(m.row(g)) }); m.n != n || far > farMost {
		t.Errorf("of %d groups one lies %d slots from home", m.n, far)
	}
	if index := int64(n * rankedBytes); m.used()+index <= memory {
		t.Errorf("there is room for the directory, of %d bytes, and an index of %d", m.used(), index)
	}
	inOrder(t, m, n, times, func(emit func([]uint64) error) error {
		m.out.emit = emit
		return m.emitSorted(t.Context())
	})
	m.end()
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	closed(t, &g)
}

// F10: an index of all groups may not fit where their directory did: then they are sorted some at a
// time.
func TestCrowdedIndex(t *testing.T) {
	for form, configOf := range configsTried {
		t.Run(form, func(t *testing.T) { checkCrowdedIndex(t, configOf) })
	}
}

func checkCrowdedIndex(t *testing.T, configOf func(int, feedback.TableConfig, budget.Lender) *setup) {
	const n, memory = 16 << 10, 180_000
	cfg := configOf(1, feedback.NoTables, noLimit)
	space, err := spill.Open(spill.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Spill = space.File
	g, err := run(t.Context(), cfg, collidingBatches(t, n, 1), false, 1)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.run().cfg.Memory.Merge = memory; int64(n*rankedBytes) <= memory {
		t.Fatal("there is room for an index")
	}
	m := cfg.run().NewMerger(g.Buckets)
	inOrder(t, m, n, 1, func(emit func([]uint64) error) error {
		return m.Merge(t.Context(), merge.Range{N: 1}, emit)
	})
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	closed(t, &g)
	if err := space.Close(); err != nil {
		t.Error(err)
	}
}

// F10: the rows of a part by the seeded hash share its top bits, and still lie near the slots where
// they are looked for.
func TestSeededParts(t *testing.T) {
	for form, configOf := range configsTried {
		t.Run(form, func(t *testing.T) { checkSeededParts(t, configOf) })
	}
}

func checkSeededParts(t *testing.T, configOf func(int, feedback.TableConfig, budget.Lender) *setup) {
	const n, times, bits = 40_000, 2, 6
	cfg := configOf(1, feedback.NoTables, noLimit)
	tight(t, cfg, 1<<20, 1)
	g, err := run(t.Context(), cfg, collidingBatches(t, n, times), false, 1)
	if err != nil {
		t.Fatal(err)
	}
	m := cfg.run().NewMerger(g.Buckets)
	m.begin(m.sources, merge.Range{N: 1}, 0)
	if err := m.load(t.Context()); !refused(err) {
		t.Fatalf("loading: %v", err)
	}
	sub := newStore(cfg.Config, m.bucketMemory())
	sub.seeded = true
	sub.open(0, bits)
	if err := m.moveWhole(t.Context(), sub); err != nil {
		t.Fatal(err)
	}
	groups := 0
	for q := range sub.buckets.Partitions() {
		if err := m.loadSeeded(t.Context(), sub, q); err != nil {
			t.Fatal(err)
		}
		if far := farthest(&m.dir, func(g uint32) uint64 { return m.hashOf(m.row(g)) }); far > farMost {
			t.Fatalf("of %d groups of a part one lies %d slots from home", m.n, far)
		}
		groups += m.n
		m.end()
	}
	if groups != n {
		t.Errorf("%d groups, want %d", groups, n)
	}
	if err := errors.Join(sub.close(), m.Close()); err != nil {
		t.Error(err)
	}
	closed(t, &g)
}

// F10: workers estimate the number of groups of keys that have one hash, whether they flush a table
// or use none. Rows that crowd are divided by that number, not by the rows in memory.
func TestCrowdedEstimate(t *testing.T) {
	for form, configOf := range configsTried {
		t.Run(form, func(t *testing.T) { checkCrowdedEstimate(t, configOf) })
	}
}

func checkCrowdedEstimate(t *testing.T, configOf func(int, feedback.TableConfig, budget.Lender) *setup) {
	const n, times = 20_000, 8
	tile := feedback.DefaultTableConfig
	tile.MinRows, tile.MinReduction = n, 100 // no table is kept
	cfg := configOf(0, tile, noLimit)
	cfg.Rows = n * times
	g, err := run(t.Context(), cfg, collidingBatches(t, n, times), false, 1)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(g.Estimate-n) > n/5 { // some eight standard errors
		t.Errorf("about %.0f groups, want %d", g.Estimate, n)
	}
	m := cfg.run().NewMerger(g.Buckets)
	m.dir.seeded, m.n, m.loaded = true, n/2, n/2 // each so far is a group of its own
	m.in.blocks = []sourceBlock{{Block: partition.Block{Rows: n*times - n/2}}}
	cfg.run().cfg.Memory.Merge = n * cfg.groupBytes()
	if bits := m.seededBits(); bits == 0 {
		t.Error("rows that crowd are not divided")
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	closed(t, &g)
}

// F10: where most groups of rows that crowd are in memory, only rows of the others are written to
// disk again; twice if these do not fit either.
func TestCrowdedRest(t *testing.T) {
	for n, turns := range map[int]int{19_000: 1, 24_000: 2} {
		for form, configOf := range configsTried {
			t.Run(fmt.Sprintf("groups=%d/rows=%s", n, form), func(t *testing.T) { crowdedRest(t, configOf(1, feedback.NoTables, noLimit), n, turns) })
		}
	}
}

func crowdedRest(t *testing.T, cfg *setup, n, turns int) {
	const times = 8
	_, space := tight(t, cfg, 1<<30, 1)
	g, err := run(t.Context(), cfg, collidingBatches(t, n, times), false, 1)
	if err != nil {
		t.Fatal(err)
	}
	cfg.run().cfg.Memory.Merge, cfg.run().groups = 340_000, float64(n)
	m := cfg.run().NewMerger(g.Buckets)
	m.begin(m.sources, merge.Range{N: 1}, 0)
	if err := m.load(t.Context()); !refused(err) || !m.restPays() {
		t.Fatalf("loading: %v, with %d groups", err, m.n)
	}
	rows := (n - m.n) * times // of groups that are not in memory
	runs, err := m.makeRuns(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	groups := 0
	for _, r := range runs {
		for _, b := range r {
			groups += int(b.Rows)
		}
	}
	if groups != n {
		t.Errorf("runs of %d groups, want %d", groups, n)
	}
	if most := int64((turns*rows + n) * cfg.Stride * 8); space.RawBytes() > most {
		t.Errorf("%d bytes were written, %d rows set aside and %d groups have %d", space.RawBytes(), turns*rows, n, most)
	}
	inOrder(t, m, n, times, func(emit func([]uint64) error) error {
		m.out.emit = emit
		m.out.begin()
		return m.mergeRuns(t.Context(), runs, runEmitter{m})
	})
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	closed(t, &g)
}
