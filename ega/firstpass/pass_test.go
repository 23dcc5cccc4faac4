package firstpass_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/combine"
	"github.com/gagg-dev/gagg/ega/egatest"
	"github.com/gagg-dev/gagg/ega/firstpass"
)

// passLayouts are layouts that a Pass takes: pairs with their hash, keys of two and three words,
// and every operation.
var passLayouts = []ega.Layout{
	{Hash: true, KeyWords: 1, Ops: []combine.Op{combine.Add}},
	egatest.EveryOp,
	{Hash: true, KeyWords: 3, Ops: []combine.Op{combine.Add, combine.MaxInt}},
}

// With any memory, the groups on the device and the rows that were written are those of the twin:
// with one lane and many, where the table grows, where it may not, where pages suffice, and where
// they run out.
func TestPass(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	zipf := rand.NewZipf(random, 1.1, 1, 1<<20)
	n, most := 12_000, []int{1, 3, 8}
	if testing.Short() {
		n, most = 3000, []int{3}
	}
	for _, keys := range []struct {
		name string
		key  func(i int) uint64
	}{
		{"one", func(int) uint64 { return 7 }},
		{"few", func(int) uint64 { return random.Uint64N(100) }},
		{"zipf", func(int) uint64 { return zipf.Uint64() }},
		{"distinct", func(i int) uint64 { return uint64(i) }},
	} {
		for _, l := range passLayouts {
			rows := egatest.Rows(random, &l, n, keys.key)
			for _, lanes := range most {
				for _, device := range []int64{8 << 20, int64(lanes) * 300_000} {
					t.Run(fmt.Sprintf("%s/keys=%d/lanes=%d/device=%d", keys.name, l.KeyWords, lanes, device), func(t *testing.T) {
						r := newRig(t)
						p := passRig{bits: 3, config: firstpass.Config{
							Layout: l, Streams: lanes, Depth: 2, SlotBytes: 20_000, Device: device, Writers: 2, Groups: 10, ReadBytes: 1000,
						}}
						r.Do(p.run(r.Thread.Context(), rows))
						p.check(t, rows)
					})
				}
			}
		}
	}
}

// What each amount of memory leads to.
func TestPassPhases(t *testing.T) {
	l := passLayouts[0]
	rows := egatest.Rows(rand.New(rand.NewPCG(5, 6)), &l, 30_000, func(i int) uint64 { return uint64(i) })
	for _, c := range []struct {
		name    string
		device  int64
		groups  uint64
		rows    int
		reached func(s firstpass.Stats) bool
	}{
		{"nothing", 8 << 20, 0, 0, func(s firstpass.Stats) bool { return s.InCore && s.Groups == 0 }},
		{"in core", 8 << 20, 30_000, 30_000, func(s firstpass.Stats) bool { return s.InCore && s.Growths == 0 }},
		{"grown", 8 << 20, 100, 30_000, func(s firstpass.Stats) bool { return s.InCore && s.Growths >= 2 }},
		{"rest", 1_200_000, 100, 24_000, func(s firstpass.Stats) bool {
			return s.Growths > 0 && s.RestRows > 0 && s.Evictions == 0 && s.Groups > 10_000
		}},
		{"evicted", 450_000, 0, 30_000, func(s firstpass.Stats) bool {
			return s.Evictions > 1 && s.Groups > 1000 && s.Bypassed > 0 && s.Bypassed < 23
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			p := passRig{bits: 0, config: firstpass.Config{
				Layout: l, Streams: 1, Depth: 2, SlotBytes: 30_000, Device: c.device, Groups: c.groups,
			}}
			rows := rows[:c.rows*l.Stride()]
			r.Do(p.run(r.Thread.Context(), rows))
			p.check(t, rows)
			if !c.reached(p.stats) {
				t.Errorf("%+v", p.stats)
			}
		})
	}
}

// F10: rows that have one hash find no slot however large the table is: it stops growing.
func TestPassEqualHashes(t *testing.T) {
	r := newRig(t)
	l := passLayouts[1]
	rows := egatest.Rows(rand.New(rand.NewPCG(5, 6)), &l, 3000, func(i int) uint64 { return uint64(i % 700) })
	for i := 0; i < len(rows); i += l.Stride() {
		rows[i] = 0xffffffffffffffff
	}
	p := passRig{bits: 2, config: firstpass.Config{Layout: l, Streams: 2, Depth: 2, SlotBytes: 20_000, Device: 8 << 20, Groups: 1000, ReadBytes: 1000}}
	r.Do(p.run(r.Thread.Context(), rows))
	p.check(t, rows)
	if p.stats.RestRows == 0 || p.stats.Slots > 1<<14 {
		t.Errorf("%+v", p.stats)
	}

	rows = rows[:100*l.Stride()] // the groups fit, in one fine bucket that is larger than a buffer
	r.Do(p.run(r.Thread.Context(), rows))
	p.check(t, rows)
	if !p.stats.InCore {
		t.Errorf("%+v", p.stats)
	}
}

// Where hashes crowd, which the first rows show, the others look at few slots.
func TestPassCrowds(t *testing.T) {
	const n, keys = 20_000, 1000
	r := newRig(t)
	l := passLayouts[1]
	rows := egatest.Rows(rand.New(rand.NewPCG(5, 6)), &l, n, func(i int) uint64 { return uint64(i % keys) })
	for i := 0; i < len(rows); i += l.Stride() {
		rows[i] = 0xffffffffffffffff
	}
	p := passRig{bits: 2, config: firstpass.Config{
		Layout: l, Streams: 1, Depth: 2, SlotBytes: n * int(l.RowBytes()), Device: 64 << 20, Groups: 100_000, ReadBytes: 1000,
	}}
	r.Do(p.run(r.Thread.Context(), rows))
	p.check(t, rows)
	if p.stats.RestRows < 0.9*n { // of 128 keys found a slot at first, then of 8
		t.Errorf("%+v", p.stats)
	}
}

// Tiles of several lanes that fill the table before any of them has been looked at do not crowd.
func TestPassFillsAtOnce(t *testing.T) {
	const n, lanes = 50_000, 4
	r := newRig(t)
	l := passLayouts[0]
	rows := egatest.Rows(rand.New(rand.NewPCG(5, 6)), &l, lanes*n, func(i int) uint64 { return uint64(i) })
	for range 2 {
		p := passRig{bits: 0, config: firstpass.Config{
			Layout: l, Streams: lanes, Depth: 1, SlotBytes: n * int(l.RowBytes()), Device: 64 << 20, Groups: 20_000,
		}}
		r.Do(p.run(r.Thread.Context(), rows))
		p.check(t, rows)
		if !p.stats.InCore || p.stats.Growths == 0 {
			t.Fatalf("%+v", p.stats)
		}
	}
}

// An error of Write stops the pass with that error, and so does the end of its context; goroutines
// that wait for a slot return.
func TestPassStops(t *testing.T) {
	r := newRig(t)
	l := passLayouts[0]
	rows := egatest.Rows(rand.New(rand.NewPCG(5, 6)), &l, 30_000, func(i int) uint64 { return uint64(i) })
	full, gone := errors.New("the disk is full"), errors.New("nobody waits for it any more")
	for _, want := range []error{full, gone} {
		ctx, cancel := context.WithCancelCause(context.Background())
		m, err := firstpass.Start(ctx, r.Thread.Context(), firstpass.Config{
			Layout: l, Streams: 2, Depth: 2, SlotBytes: 20_000, Device: 700_000,
			Write: func(int, []uint64) error {
				if errors.Is(want, gone) {
					cancel(gone)
					return nil
				}
				return full
			},
		})
		r.Do(err)
		fed := feed(m, &l, rows)
		_, err = m.Finish(0)
		if !errors.Is(err, want) || fed != nil && !errors.Is(fed, want) {
			t.Errorf("%v, and who submits is told %v, want %v", err, fed, want)
		}
		r.Do(m.Close())
		cancel(nil)
	}
}

// A pass that is closed early lets go of everything.
func TestPassCloses(t *testing.T) {
	r := newRig(t)
	l := passLayouts[0]
	m, err := firstpass.Start(r.Within("the end of a pass"), r.Thread.Context(), firstpass.Config{
		Layout: l, SlotBytes: 20_000, Device: 1 << 20, Write: func(int, []uint64) error { return nil },
	})
	r.Do(err)
	s, err := m.Slot(r.Within("a slot"))
	r.Do(err)
	if m.Submit(s, 20_000/24+1) == nil {
		t.Error("more rows than fit were taken")
	}
	r.Do(m.Submit(s, 10))
	r.Do(m.Close())
}

// Configurations that make no sense are refused; too little memory with how much there has to be,
// which then suffices.
func TestPassRefuses(t *testing.T) {
	r := newRig(t)
	write := func(int, []uint64) error { return nil }
	start := func(c firstpass.Config) error {
		m, err := firstpass.Start(r.Within("the end of a pass"), r.Thread.Context(), c)
		if err == nil {
			r.Do(m.Close())
		}
		return err
	}
	for _, c := range []firstpass.Config{
		{Layout: ega.Pairs, Device: 1 << 20, Write: write},
		{Layout: passLayouts[0], Device: 1 << 20},
		{Layout: passLayouts[0], Device: 1 << 20, Write: write, Streams: -1},
		{Layout: passLayouts[0], Device: 1 << 20, Write: write, RetainBytes: -1},
		{Layout: passLayouts[0], Device: 1 << 20, Write: write, SlotBytes: 8},
		{Layout: passLayouts[0], Write: write},
	} {
		if start(c) == nil {
			t.Errorf("%+v was taken", c)
		}
	}
	c := firstpass.Config{Layout: passLayouts[0], Device: 1, Write: write, Streams: 1, SlotBytes: 20_000}
	err := start(c)
	var small *ega.SmallError
	if !errors.As(err, &small) || small.Has != 1 || !errors.Is(err, ega.ErrTooSmall) {
		t.Fatalf("%v", err)
	}
	c.Device = int64(small.Need)
	r.Do(start(c))
	c.Device--
	if start(c) == nil {
		t.Error("less than what is needed was taken")
	}
}

// The end of a context stops the pass and ends a wait for a slot: here no slot is given back.
func TestSlotContext(t *testing.T) {
	r := newRig(t)
	m, err := firstpass.Start(r.Within("the end of a pass"), r.Thread.Context(), firstpass.Config{
		Layout: passLayouts[0], Slots: 2, SlotBytes: 20_000, Device: 4 << 20, Write: func(int, []uint64) error { return nil },
	})
	r.Do(err)
	first, err := m.Slot(r.Within("a slot"))
	r.Do(err)
	second, err := m.Slot(r.Within("a slot"))
	r.Do(err)
	ctx, cancel := context.WithCancel(context.Background())
	go cancel()
	if _, err := m.Slot(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	m.Release(first)
	m.Release(second)
	if _, err := m.Finish(0); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	r.Do(m.Close())
}
