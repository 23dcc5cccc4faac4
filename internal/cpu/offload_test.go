package cpu

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/merge"
)

// fakeDevice is an Accelerator that keeps the rows. It takes none while refusals are left, and
// fails at tile number failAt.
type fakeDevice struct {
	stride, tileRows int

	most int // tiles at a time; 0: any number

	mu       sync.Mutex
	given    *sync.Cond // back
	refusals int
	failAt   int // 0: never
	must     bool
	absent   bool
	opening  bool
	tiles    int
	open     int // tiles out
	rows     []uint64

	units unitDevice
}

type fakeTile struct {
	of    *fakeDevice
	words []uint64
}

var (
	errFake  = errors.New("the device failed")
	errEmpty = errors.New("a tile without rows was submitted")
)

func (d *fakeDevice) Tile() (Tile, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refusals > 0 {
		d.refusals--
		return nil, nil
	}
	if d.tiles++; d.tiles == d.failAt {
		return nil, errFake
	}
	if d.given == nil {
		d.given = sync.NewCond(&d.mu)
	}
	for d.most > 0 && d.open >= d.most {
		d.given.Wait()
	}
	d.open++
	return &fakeTile{d, make([]uint64, d.tileRows*d.stride)}, nil
}

// Absent has workers whose rows alone it takes judge their tables as if there were none.
func (d *fakeDevice) Absent() bool { return d.units.in == nil || d.absent }

func (d *fakeDevice) Opening() bool { return d.opening }

// Await gives all rows back if the device does not come.
func (d *fakeDevice) Await() (bool, []Returned, error) {
	if !d.absent {
		return d.must, nil, nil
	}
	var back []Returned
	for rows := d.rows; len(rows) > 0; {
		n := min(len(rows), d.tileRows*d.stride)
		back, rows = append(back, Returned{Rows: rows[:n], Release: func() {}}), rows[n:]
	}
	d.rows = nil
	return false, back, nil
}

func (t *fakeTile) Words() []uint64 { return t.words }

func (t *fakeTile) Submit(rows int) error {
	t.Release()
	if rows == 0 {
		return errEmpty
	}
	t.of.mu.Lock()
	defer t.of.mu.Unlock()
	t.of.rows = append(t.of.rows, t.words[:rows*t.of.stride]...)
	return nil
}

func (t *fakeTile) Release() {
	t.of.mu.Lock()
	defer t.of.mu.Unlock()
	t.of.open--
	if t.of.open < 0 {
		panic("a tile was given back twice")
	}
	t.of.given.Signal()
}

// fakeResident is what has become of the rows: groups by partition, in order of hash but
// for a few.
type fakeResident struct{ partitions [][]uint64 }

func (r fakeResident) Close() error { return nil }
func (r fakeResident) Read(p int, _ *arena.Arena, emit func([]uint64) error) error {
	if len(r.partitions[p]) == 0 {
		return nil
	}
	return emit(r.partitions[p])
}

// combined is one row for each key of rows, whose words are compared as they are.
func combined(cfg *setup, rows []uint64) [][]uint64 {
	groups := map[string][]uint64{}
	for ; len(rows) > 0; rows = rows[cfg.Stride:] {
		row := rows[:cfg.Stride:cfg.Stride]
		k := fmt.Sprint(row[1 : 1+cfg.Keys.Words])
		if g, ok := groups[k]; ok {
			cfg.States.Combine(g, row, nil, nil)
		} else {
			groups[k] = slices.Clone(row)
		}
	}
	var out [][]uint64
	for _, g := range groups {
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b []uint64) int {
		return slices.Compare(a[:1+cfg.Keys.Words], b[:1+cfg.Keys.Words])
	})
	return out
}

// mergerOf is a merger for what a run has come to, that of its device included.
func mergerOf(t *testing.T, cfg *setup, g *Groups) *Merger {
	t.Helper()
	d, ok := cfg.run().accelerator.(*fakeDevice)
	if !ok {
		return cfg.run().NewMerger(g.Buckets)
	}
	if d.open != 0 {
		t.Fatalf("%d tiles are still out", d.open)
	}
	n := int64(0)
	for rows := d.rows; len(rows) > 0; rows = rows[cfg.Stride:] {
		n += int64(cfg.States.Rows(rows))
	}
	if n != g.Sent || n == 0 {
		t.Fatalf("the device has %d rows, and was given %d", n, g.Sent)
	}
	if g.Resident() > 0 {
		p := cfg.run().NewPartitionWriter(0)
		if err := p.Write(d.rows); err != nil {
			t.Fatal(err)
		}
		if err := g.Add(p); err != nil {
			t.Fatal(err)
		}
		return cfg.run().NewMerger(g.Buckets)
	}
	r := fakeResident{make([][]uint64, g.Buckets[0].Partitions())}
	for i, row := range combined(cfg, d.rows) {
		p := row[0] >> 1 >> (63 - g.Buckets[0].Bits())
		at := len(r.partitions[p])
		if i%5 == 0 && at > 0 {
			at -= cfg.Stride
		}
		r.partitions[p] = slices.Insert(r.partitions[p], at, row...)
	}
	m := cfg.run().NewMerger(g.Buckets)
	m.Accelerate(r, nil)
	return m
}

// Rows that go to a device, from the first on, when a table does not pay, or when the device
// is there at last, and rows that stay, give the same sums.
func TestOffload(t *testing.T) {
	early := feedback.TableConfig{MinRows: 500, MinReduction: 2, FlushReduction: 1.3}
	for _, groups := range []int{1, 5000, 200_000} {
		in, want := data(rand.New(rand.NewPCG(7, uint64(groups))), 9, 1000, groups, "mixed", false)
		for _, tile := range []feedback.TableConfig{early, feedback.NoTables} {
			for _, tileRows := range []int{1, 300, 100_000} {
				for _, refusals := range []int{0, 3, 40} {
					for _, threads := range threadsTried {
						name := fmt.Sprintf("groups=%d/scatter=%t/tile=%d/refusals=%d/threads=%d", groups, tile == feedback.NoTables, tileRows, refusals, threads)
						t.Run(name, func(t *testing.T) {
							cfg := config(0, tile, noLimit)
							cfg.accelerator = &fakeDevice{stride: cfg.Stride, tileRows: tileRows, refusals: refusals}
							checkSums(t, cfg, in, false, threads, want)
						})
					}
				}
			}
		}
	}
}

// A worker that has come to its end keeps no tile for which others wait.
func TestOffloadFew(t *testing.T) {
	cfg := config(0, feedback.NoTables, noLimit)
	cfg.accelerator = &fakeDevice{stride: cfg.Stride, tileRows: 5000, most: 1}
	checkRoad(t, 20_000, "mixed", false, cfg, 3)
}

// A device that must have a part gets the groups of tables that were kept to the end.
func TestOffloadMust(t *testing.T) {
	for _, groups := range []int{1, 5000} {
		cfg := config(0, feedback.DefaultTableConfig, noLimit)
		cfg.accelerator = &fakeDevice{stride: cfg.Stride, tileRows: 100, must: true}
		checkRoad(t, groups, "mixed", false, cfg, 3)
		if cfg.run().sent.Load() != 9000 {
			t.Errorf("%d groups: %d rows were sent", groups, cfg.run().sent.Load())
		}
	}
}

// Rows for a device that never comes are the CPU's again.
func TestOffloadAbsent(t *testing.T) {
	for _, groups := range []int{1, 5000, 200_000} {
		for _, tile := range []feedback.TableConfig{{MinRows: 500, MinReduction: 2, FlushReduction: 1.3}, feedback.NoTables} {
			cfg := config(0, tile, noLimit)
			cfg.accelerator = &fakeDevice{stride: cfg.Stride, tileRows: 300, absent: true}
			checkRoad(t, groups, "mixed", false, cfg, 3)
			if cfg.run().accelerator != nil {
				t.Error("the device is still there")
			}
		}
	}
}

// Rows with long strings stay, and meet those that the device has no room for.
func TestOffloadLong(t *testing.T) {
	for _, groups := range []int{100, 20_000} {
		for _, refusals := range []int{0, 5} {
			cfg := configOf([]key.Column{{Type: stringType}, {Type: int64Type}}, 0, feedback.NoTables, noLimit)
			cfg.accelerator = &fakeDevice{stride: cfg.Stride, tileRows: 1000, refusals: refusals}
			in, want := longInput(9, 500, groups, "mixed")
			half, _ := longInput(9, 500, groups, "flat")
			for i := range half { // batches without a long string
				half[i].Cols[0] = stringVector(shortened(half[i].Cols[0].Len, i))
			}
			for i := range half {
				b := half[i]
				for r := range b.Rows {
					want[fmt.Sprint(string(b.Cols[0].Bytes(r)), b.Cols[1].Int[r])]++
				}
			}
			mustCount(t, cfg, append(in, half...), 2, want)
			cfg.Arenas.Close()
		}
	}
}

func shortened(n, seed int) []string {
	rng := rand.New(rand.NewPCG(uint64(seed), 5))
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprint("short", rng.IntN(300))
	}
	return out
}

// A device that fails ends the run with its error, and gets its tiles back.
func TestOffloadFails(t *testing.T) {
	for failAt := 1; failAt < 8; failAt++ {
		cfg := config(0, feedback.NoTables, noLimit)
		d := &fakeDevice{stride: cfg.Stride, tileRows: 1000, failAt: failAt}
		cfg.accelerator = d
		in, _ := data(rand.New(rand.NewPCG(1, 1)), 9, 1000, 20_000, "flat", false)
		if _, err := run(t.Context(), cfg, in, false, 2); !errors.Is(err, errFake) {
			t.Fatalf("tile %d fails: error %v", failAt, err)
		}
		if d.open != 0 {
			t.Fatalf("tile %d fails: %d tiles are still out", failAt, d.open)
		}
	}
}

// fakePass has room for few groups.
type fakePass struct {
	cfg      *setup
	capacity int
	rows     []uint64
	buckets  int
}

func (p *fakePass) Capacity() int64         { return int64(p.capacity) }
func (p *fakePass) Begin(uint, int64) error { p.rows = nil; p.buckets++; return nil }
func (p *fakePass) Close() error            { return nil }

func (p *fakePass) Add(rows []uint64) (int, error) {
	for taken := range len(rows) / p.cfg.Stride {
		if len(combined(p.cfg, p.rows)) >= p.capacity {
			return taken, nil
		}
		p.rows = append(p.rows, rows[taken*p.cfg.Stride:][:p.cfg.Stride]...)
	}
	return len(rows) / p.cfg.Stride, nil
}

// End gives the groups as from a table whose last ones have wrapped around.
func (p *fakePass) End(emit func([]uint64) error) error {
	groups := combined(p.cfg, p.rows)
	if n := len(groups); n > 3 {
		groups = append(groups[n-2:], groups[:n-2]...)
	}
	for _, g := range groups {
		if err := emit(g); err != nil {
			return err
		}
	}
	return nil
}

// Partitions that a device aggregates in part, or whole, come out as by the CPU.
func TestPass(t *testing.T) {
	for _, capacity := range []int{1, 7, 40, 1000} {
		cfg := config(16, feedback.NoTables, noLimit)
		in, want := data(rand.New(rand.NewPCG(3, 1)), 9, 100, 300, "flat", false)
		g, err := run(t.Context(), cfg, in, false, 2)
		if err != nil {
			t.Fatal(err)
		}
		m := cfg.run().NewMerger(g.Buckets)
		pass := &fakePass{cfg: cfg, capacity: capacity}
		m.Accelerate(nil, pass)
		got := mergedSums(t, cfg, &g, m)
		if pass.buckets == 0 {
			t.Fatal("the device was never asked")
		}
		if len(got) != len(want) {
			t.Fatalf("room for %d groups: %d groups, want %d", capacity, len(got), len(want))
		}
		for k, sum := range want {
			if got[k] != sum {
				t.Fatalf("room for %d groups: group %v: %d, want %d", capacity, k, got[k], sum)
			}
		}
		closed(t, &g)
	}
}

// A device is given rows with long strings as they are, and none that come back from a disk with
// copies of their strings: it would find equal ones different (DEVICE-REFS).
func TestPassKnowsRefs(t *testing.T) {
	const n = 3000
	for _, text := range []string{"short %d", "a text of more than fifteen bytes %d"} {
		for _, onDisk := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/onDisk=%t", text, onDisk), func(t *testing.T) {
				cfg := configOf([]key.Column{{Type: stringType}, {Type: int64Type}}, 1, feedback.NoTables, noLimit)
				tight(t, cfg, 4<<20, 1)
				keys := column.Vector{Type: stringType, Len: n}
				for i := range n {
					s := fmt.Sprintf(text, i)
					keys.Span = append(keys.Span, column.Span{Off: uint32(len(keys.Data)), Len: uint32(len(s))})
					keys.Data = append(keys.Data, s...)
				}
				keys.Data = append(keys.Data, make([]byte, column.SpanPadding)...)[:len(keys.Data)]
				ones := column.Vector{Type: int64Type, Len: n, Int: slices.Repeat([]int64{1}, n)}
				g, err := run(t.Context(), cfg, batches{{Rows: n, Cols: []column.Vector{keys, ones, ones}}}, false, 1)
				if err != nil {
					t.Fatal(err)
				}
				defer closed(t, &g)
				if onDisk {
					if err := g.stores[0].clear(); err != nil {
						t.Fatal(err)
					}
				}
				pass := &takingPass{stride: cfg.Stride}
				m := cfg.run().NewMerger(g.Buckets)
				m.Accelerate(nil, pass)
				groups := 0
				if err := errors.Join(m.Merge(t.Context(), merge.Range{N: 1}, func(rows []uint64) error {
					groups += len(rows) / cfg.Stride
					return nil
				}), m.Close()); err != nil {
					t.Fatal(err)
				}
				if taken := len(pass.rows) > 0; taken != (!onDisk || len(text) <= key.MaxInline) || groups != n {
					t.Errorf("the device was given %d of %d rows, there are %d groups", len(pass.rows)/cfg.Stride, n, groups)
				}
			})
		}
	}
}

// The pace of a worker is that of its rows behind the first batch.
func TestPace(t *testing.T) {
	if got := (&pace{}).of(5); got != 0 {
		t.Errorf("%v s for rows of a worker that has no pace", got)
	}
	p := pace{paceMark: paceMark{time.Now().Add(-2 * time.Second), 100}}
	p.begin(300)
	if got := p.of(100); got != 0 {
		t.Errorf("%v s for the first batch", got)
	}
	if got := p.of(300); got < 3 || got > 60 { // 200 rows in 2 s
		t.Errorf("%v s for 300 rows", got)
	}
	// it has asked twice since, so that the slow beginning counts no more
	p.next = p.paceMark
	p.turn(300)
	if got := p.of(300); got < 3 {
		t.Errorf("%v s for 300 rows, when it asks for the first time", got)
	}
	p.turn(1000)
	if got := p.of(1000); got > 2 { // 700 rows in no time
		t.Errorf("%v s for 1000 rows, when it asks again", got)
	}
}
