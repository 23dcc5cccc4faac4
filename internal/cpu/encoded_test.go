package cpu

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/encoded"
)

// unitDevice is how a fakeDevice takes encoded batches: a little later, and it makes the rows of
// their units by a worker of its own.
type unitDevice struct {
	in       batches
	declines func(unit int) bool // batches with such a unit
	batches  int                 // submitted
	largest  int                 // units of one
	packed   int                 // units of all

	cfg      *setup
	settled  sync.Cond // of the device's mutex
	underWay int
	list     []int // declined
}

// builderOf makes encoded batches for a device; unpackable are units that cannot be put into one.
type builderOf struct {
	device     *fakeDevice
	unitBytes  int
	unpackable func(unit int) bool
	failAt     int // the unit that cannot be read; -1: none
	least      int // bytes of a batch

	busy  func(n int) bool // when it is asked for the nth time; nil: never
	asked int

	tile  Tile
	left  int // bytes of it
	units []int
	rows  int
}

var errUnit = errors.New("a unit cannot be read")

func (p *builderOf) Busy() bool {
	p.asked++
	return p.busy != nil && p.busy(p.asked)
}

func (p *builderOf) Begin() (bool, error) {
	t, err := p.device.Tile()
	if err != nil || t == nil {
		return false, err
	}
	p.tile, p.left, p.units, p.rows = t, 8*len(t.Words()), nil, 0
	if p.left < p.least {
		t.Release()
		return false, nil
	}
	return true, nil
}

func (p *builderOf) Add(unit int) (int64, encoded.Added, error) {
	rows := p.device.units.in[unit].Rows
	switch {
	case unit == p.failAt:
		return 0, encoded.AddedNone, errUnit
	case p.unpackable != nil && p.unpackable(unit):
		return 0, encoded.AddedNone, nil
	case p.unitBytes > p.left:
		return 0, encoded.AddedFull, nil
	}
	p.left -= p.unitBytes
	p.units = append(p.units, unit)
	p.rows += rows
	return int64(rows), encoded.AddedUnit, nil
}

func (p *builderOf) RowBytes(int) float64 { return math.MaxFloat64 } // as where selectivity alone counts

func (p *builderOf) Computes() bool { return false }

func (p *builderOf) Release() { p.tile.Release() }

func (p *builderOf) Submit() error {
	p.Release()
	if p.rows == 0 {
		return errEmpty
	}
	d, units, rows := p.device, p.units, p.rows
	u := &d.units
	d.mu.Lock()
	u.batches++
	u.largest = max(u.largest, len(units))
	u.packed += len(units)
	u.underWay++
	d.mu.Unlock()
	go func() {
		defer u.settle(d)
		time.Sleep(time.Millisecond)
		if u.declines != nil && slices.ContainsFunc(units, u.declines) {
			u.cfg.run().Unsent(rows)
			d.mu.Lock()
			defer d.mu.Unlock()
			u.list = append(u.list, units...)
			return
		}
		made := u.make(units)
		d.mu.Lock()
		defer d.mu.Unlock()
		d.rows = append(d.rows, made...)
	}()
	return nil
}

func (u *unitDevice) settle(d *fakeDevice) {
	d.mu.Lock()
	defer d.mu.Unlock()
	u.underWay--
	u.settled.Broadcast()
}

// wait waits until no batch is under way. The device's mutex is held.
func (u *unitDevice) wait() {
	for u.underWay > 0 {
		u.settled.Wait()
	}
}

// make is the rows of units.
func (u *unitDevice) make(units []int) []uint64 {
	device := &fakeDevice{stride: u.cfg.Stride, tileRows: 10_000}
	cfg := &setup{accelerator: device, Config: &Config{
		Keys: u.cfg.Keys, Intern: u.cfg.Intern, States: u.cfg.States, Arenas: u.cfg.Arenas, Stride: u.cfg.Stride,
		Rows: -1, AtMost: -1, Table: feedback.NoTables, Budget: noLimit,
	}}
	w, err := cfg.run().NewWorker(pipeline(false))
	for _, unit := range units {
		err = errors.Join(err, w.Add(&u.in[unit]))
	}
	if err = errors.Join(err, w.submit(), w.store.close()); err != nil {
		panic(err)
	}
	return device.rows
}

func (d *fakeDevice) Declined(ctx context.Context) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.units.wait()
	n := len(d.units.list)
	if n == 0 || ctx.Err() != nil {
		return -1, context.Cause(ctx)
	}
	unit := d.units.list[n-1]
	d.units.list = d.units.list[:n-1]
	return unit, nil
}

func (d *fakeDevice) Groups() float64 { return 0 }

// pieceReader gives units in batches of 100 rows.
type pieceReader struct {
	batchReader
	first int
}

func (r *pieceReader) Open(unit int) error {
	r.first = 0
	return r.batchReader.Open(unit)
}

func (r *pieceReader) Next(b *column.Batch) (bool, error) {
	if r.first == r.next.Rows {
		return false, nil
	}
	end := min(r.first+100, r.next.Rows)
	*b = r.next.Slice(r.first, end)
	r.first = end
	return true, nil
}

// runEncoded runs the sum with builders beside the device of cfg.
func runEncoded(ctx context.Context, cfg *setup, in batches, threads int, p builderOf) (Groups, error) {
	d := cfg.accelerator.(*fakeDevice)
	d.units.in, d.units.cfg, d.units.settled.L, p.device = in, cfg, &d.mu, d
	return cfg.group(ctx, Input{
		Units:    len(in),
		Reader:   func() Reader { return &pieceReader{batchReader: batchReader{all: in}} },
		Pipeline: func() Pipeline { return pipeline(false) },
		Builder:  func(Reader) BatchBuilder { own := p; return &own },
		Done:     func(int, int64) {},
	}, threads)
}

// Units that go to the device in batches, those that cannot, those that it declines and those that
// never fit give the same sums, and every input row is counted once.
func TestEncoded(t *testing.T) {
	odd := func(unit int) bool { return unit%2 == 1 }
	all := func(int) bool { return true }
	for _, test := range []struct {
		name                 string
		unpackable, declines func(int) bool
		unitBytes            int
		batches, largest     int // at least, at most
	}{
		{"all", nil, nil, 1000, 1, 9},
		{"one by one", nil, nil, 40_000, 9, 1},
		{"odd ones cannot", odd, nil, 1000, 1, 9},
		{"none can", all, nil, 1000, 0, 0},
		{"odd ones declined", nil, odd, 40_000, 9, 1},
		{"all declined", nil, all, 1000, 1, 9},
		{"no room", nil, nil, 1 << 20, 0, 0},
		{"tiles too small", nil, nil, 2 << 20, 0, 0},
	} {
		for _, refusals := range []int{0, 4} {
			for _, threads := range []int{1, 3} {
				for _, most := range []int{0, 1} {
					t.Run(fmt.Sprintf("%s/refusals=%d/threads=%d/tiles=%d", test.name, refusals, threads, most), func(t *testing.T) {
						cfg := config(0, feedback.DefaultTableConfig, noLimit)
						d := &fakeDevice{stride: cfg.Stride, tileRows: 1000, refusals: refusals, most: most, must: true}
						d.units.declines, cfg.accelerator = test.declines, d
						in, want := data(rand.New(rand.NewPCG(7, 1)), 9, 900, 5000, "mixed", false)
						g, err := runEncoded(t.Context(), cfg, in, threads, builderOf{unitBytes: test.unitBytes, unpackable: test.unpackable, failAt: -1, least: test.unitBytes / 32})
						if err != nil {
							t.Fatal(err)
						}
						defer closed(t, &g)
						checkSumsOf(t, mergedSums(t, cfg, &g, mergerOf(t, cfg, &g)), want)
						if g.Sent != 9*900 && refusals == 0 {
							t.Errorf("%d input rows are counted", g.Sent)
						}
						if refusals == 0 && (d.units.batches < test.batches || d.units.largest > test.largest) {
							t.Errorf("%d batches, the largest of %d units", d.units.batches, d.units.largest)
						}
					})
				}
			}
		}
	}
}

// Workers read units themselves while the device is busy, as long as their rows become few. A unit
// of which a worker sees that they do not goes to the device as a whole, unless the table holds
// rows of others too.
func TestShare(t *testing.T) {
	odd := func(n int) bool { return n%2 == 1 }
	always := func(int) bool { return true }
	for _, test := range []struct {
		name   string
		rows   int // of each of 9 units
		groups int
		first  int // those of the first three units; 0: as many
		busy   func(n int) bool
		packed int // units, with one worker; -1: some, not all
		absent bool

		expected float64 // groups; 0: not known
	}{
		{name: "always busy", rows: 10_000, groups: 50, busy: always},
		{name: "never busy", rows: 10_000, groups: 50, packed: 9},
		{name: "by turns", rows: 10_000, groups: 50, busy: odd, packed: -1},
		{name: "groups in the first unit", rows: 2 * soonRows, groups: 1 << 20, busy: always, packed: 9},
		{name: "groups from the fourth unit on", rows: 10_000, groups: 1 << 20, first: 50, busy: always, packed: 5},
		{name: "groups, by turns", rows: 2 * soonRows, groups: 1 << 20, busy: odd, packed: 9},
		{name: "groups that are expected", rows: 30_000, groups: 1400, expected: 1400, busy: always},
		{name: "groups that are not", rows: 30_000, groups: 1400, busy: always, packed: 9},
		{name: "more groups than expected", rows: 2 * soonRows, groups: 3000, expected: 100, busy: always, packed: 9},
		{name: "groups and no device", rows: 2 * soonRows, groups: 1 << 20, busy: always, absent: true},
	} {
		for _, threads := range []int{1, 3} {
			for _, tile := range []feedback.TableConfig{feedback.DefaultTableConfig, {MinRows: 1000, MinReduction: 2, CacheReduction: 1.5, FlushReduction: 1.3, CacheBytes: 1 << 14}} {
				t.Run(fmt.Sprintf("%s/threads=%d/table=%d", test.name, threads, tile.MinRows), func(t *testing.T) {
					cfg := config(0, tile, noLimit)
					if cfg.Share, cfg.Expected = true, test.expected; cfg.Expected > 0 {
						cfg.Rows, cfg.Threads = int64(9*test.rows), threads
					}
					d := &fakeDevice{stride: cfg.Stride, tileRows: 1000, must: !test.absent, absent: test.absent}
					cfg.accelerator = d
					rng := rand.New(rand.NewPCG(7, 1))
					first := cmp.Or(test.first, test.groups)
					in, want := data(rng, 3, test.rows, first, "flat", false)
					rest, more := data(rng, 6, test.rows, test.groups, "flat", false)
					in = append(in, rest...)
					for k, sum := range more {
						want[k] += sum
					}
					g, err := runEncoded(t.Context(), cfg, in, threads, builderOf{unitBytes: 40_000, failAt: -1, busy: test.busy})
					if err != nil {
						t.Fatal(err)
					}
					defer closed(t, &g)
					checkSumsOf(t, mergedSums(t, cfg, &g, mergerOf(t, cfg, &g)), want)
					if all := int64(9 * test.rows); g.Sent != all && !test.absent {
						t.Errorf("%d input rows of %d are counted", g.Sent, all)
					}
					got := d.units.packed
					if test.packed < 0 && got > 0 && got < 9 {
						got = test.packed
					}
					if threads == 1 && got != test.packed {
						t.Errorf("%d units in batches, want %d", d.units.packed, test.packed)
					}
				})
			}
		}
	}
}

// As long as it is not known that rows become few one worker reads, then half of them, and all of
// them before a device is there to be fed. What they pack until then tells nothing of its pace.
func TestReaders(t *testing.T) {
	cfg := config(0, feedback.DefaultTableConfig, noLimit)
	cfg.Threads = 8
	d := &fakeDevice{opening: true}
	cfg.accelerator = d
	r := cfg.run()
	most := func(want int64) {
		t.Helper()
		if got := r.mostReaders(); got != want {
			t.Errorf("%d workers read, want %d", got, want)
		}
	}
	most(1)
	r.sharing.few.Store(true)
	most(8)
	for _, opening := range []bool{true, false} {
		d.opening = opening
		r.begin()
		r.sharing.added()
		if n := r.sharing.packed.Load(); opening != (n == 0) {
			t.Errorf("opening %t: %d units count", opening, n)
		}
	}
	most(4)
}

func checkSumsOf(t *testing.T, got, want map[[2]int64]int64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d groups, want %d", len(got), len(want))
	}
	for k, sum := range want {
		if got[k] != sum {
			t.Fatalf("group %v: %d, want %d", k, got[k], sum)
		}
	}
}

// A unit that cannot be read ends the run, with any worker building a batch, and the tiles are
// given back.
func TestEncodedFails(t *testing.T) {
	for failAt := range 9 {
		cfg := config(0, feedback.DefaultTableConfig, noLimit)
		d := &fakeDevice{stride: cfg.Stride, tileRows: 1000}
		cfg.accelerator = d
		in, _ := data(rand.New(rand.NewPCG(1, 1)), 9, 100, 500, "flat", false)
		_, err := runEncoded(t.Context(), cfg, in, 2, builderOf{unitBytes: 20_000, failAt: failAt})
		d.mu.Lock()
		d.units.wait()
		if !errors.Is(err, errUnit) || d.open != 0 {
			t.Errorf("unit %d fails: error %v, %d tiles are out", failAt, err, d.open)
		}
		d.mu.Unlock()
	}
}
