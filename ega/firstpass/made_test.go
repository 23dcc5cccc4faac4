package firstpass_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/egatest"
	"github.com/gagg-dev/gagg/ega/firstpass"
	"github.com/gagg-dev/gagg/internal/cuda/emu"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// Rows that are made on the device come to the groups of the twin wherever they go, alone, and
// beside rows of the host where jobs are declined whose rows come from the host then.
func TestMade(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	n := 5000
	if testing.Short() {
		n = 2000
	}
	for _, keys := range []struct {
		name string
		key  func(i int) uint64
	}{
		{"few", func(int) uint64 { return random.Uint64N(100) }},
		{"distinct", func(i int) uint64 { return uint64(i) }},
	} {
		for _, l := range passLayouts {
			base := egatest.Rows(random, &l, n, keys.key)
			for _, lanes := range []int{1, 3} {
				for _, device := range []int64{4 << 20, int64(lanes) * 700_000} {
					for _, alone := range []bool{true, false} {
						t.Run(fmt.Sprintf("%s/keys=%d/lanes=%d/device=%d/alone=%v", keys.name, l.KeyWords, lanes, device, alone), func(t *testing.T) {
							f, rows := newMadeFeed(&l, base, 20_000/int(l.RowBytes()), 3)
							if !alone {
								f.plain, f.decline = func(i int) bool { return i%3 == 0 }, func(i int) uint64 { return uint64(i % 5 / 3 * 7) }
							}
							r := newRig(t)
							p := passRig{bits: 3, feed: f.feed, config: firstpass.Config{
								Layout: l, Streams: lanes, Depth: 2, SlotBytes: 20_000, Made: f.config(), Device: device, Writers: 2, Groups: 10,
							}}
							r.Do(p.run(r.Thread.Context(), rows))
							p.check(t, rows)
							r.Do(f.check())
						})
					}
				}
			}
		}
	}
}

// What each amount of memory leads to; jobs are declined in each phase.
func TestMadePhases(t *testing.T) {
	l := passLayouts[0]
	base := egatest.Rows(rand.New(rand.NewPCG(5, 6)), &l, 26_000, func(i int) uint64 { return uint64(i) })
	for _, c := range []struct {
		name    string
		device  int64
		groups  uint64
		reached func(s firstpass.Stats) bool
	}{
		{"in core", 8 << 20, 30_000, func(s firstpass.Stats) bool { return s.InCore && s.Growths == 0 && s.Direct > 10 }},
		{"grown", 8 << 20, 100, func(s firstpass.Stats) bool { return s.InCore && s.Growths >= 2 }},
		{"rest", 1_700_000, 100, func(s firstpass.Stats) bool {
			return s.Growths > 0 && s.RestRows > 0 && s.Evictions == 0 && s.Groups > 10_000
		}},
		{"evicted", 630_000, 0, func(s firstpass.Stats) bool {
			return s.Evictions > 1 && s.Groups > 1000 && s.Bypassed > 0
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, rows := newMadeFeed(&l, base, 1000, 2)
			f.decline = func(i int) uint64 { return uint64(i % 4 / 3) }
			r := newRig(t)
			p := passRig{feed: f.feed, config: firstpass.Config{
				Layout: l, Streams: 1, Depth: 2, SlotBytes: 30_000, Made: f.config(), Device: c.device, Groups: c.groups,
			}}
			r.Do(p.run(r.Thread.Context(), rows))
			p.check(t, rows)
			r.Do(f.check())
			if !c.reached(p.stats) {
				t.Errorf("%+v", p.stats)
			}
		})
	}
}

// Rows that a filter drops make no group, with much memory or little. In some jobs one copy passes,
// in others none or all; some jobs are declined, or submitted as rows.
func TestMadeFiltered(t *testing.T) {
	for _, l := range passLayouts {
		base := egatest.Rows(rand.New(rand.NewPCG(7, 8)), &l, 3000, func(i int) uint64 { return uint64(i) })
		for _, device := range []int64{8 << 20, 700_000} {
			f, _ := newMadeFeed(&l, base, 20_000/int(l.RowBytes()), 3)
			f.keeps = func(i int) int { return []int{1, 0, 3, 2}[i%4] }
			f.plain, f.decline = func(i int) bool { return i%7 == 0 }, func(i int) uint64 { return uint64(i % 5 / 4) }
			r := newRig(t)
			p := passRig{feed: f.feed, config: firstpass.Config{
				Layout: l, Streams: 1, Depth: 2, SlotBytes: 20_000, Made: f.config(), Device: device, Writers: 2, Groups: 10,
			}}
			r.Do(p.run(r.Thread.Context(), f.passed()))
			p.check(t, f.passed())
			r.Do(f.check())
		}
	}
}

// Where all jobs are declined the device has no group of them.
func TestMadeAllDeclined(t *testing.T) {
	r := newRig(t)
	l := passLayouts[1]
	base := egatest.Rows(rand.New(rand.NewPCG(5, 6)), &l, 300, func(i int) uint64 { return uint64(i) })
	f, _ := newMadeFeed(&l, base, 100, 3)
	f.decline = func(int) uint64 { return 9 }
	f.settled = make(chan *copier, len(f.chunks))
	f.jobs = make([]*copier, len(f.chunks))
	p := passRig{config: firstpass.Config{
		Layout: l, Streams: 2, SlotBytes: 20_000, Made: f.config(), Device: 8 << 20,
	}}
	p.feed = func(m *firstpass.Pass) error { return errors.Join(f.submit(m, 0), f.submit(m, 1)) }
	r.Do(p.run(r.Thread.Context(), nil))
	p.check(t, nil)
	r.Do(f.check())
}

// The groups in the table can be counted while the pass goes on.
func TestTableGroups(t *testing.T) {
	r := newRig(t)
	l := passLayouts[1]
	base := egatest.Rows(rand.New(rand.NewPCG(5, 6)), &l, 3000, func(i int) uint64 { return uint64(i % 1234) })
	f, rows := newMadeFeed(&l, base, 100, 2)
	p := passRig{config: firstpass.Config{Layout: l, Streams: 2, SlotBytes: 20_000, Made: f.config(), Device: 8 << 20, Groups: 10}}
	p.feed = func(m *firstpass.Pass) error {
		errs := make(chan error)
		go func() { errs <- f.feed(m) }()
		last := uint64(0)
		for {
			n, err := m.TableGroups()
			if err != nil || n < last || n > 1234 {
				t.Errorf("%d groups after %d, of 1234: %v", n, last, err)
			}
			last = n
			select {
			case err := <-errs:
				n, counted := m.TableGroups()
				if n != 1234 {
					t.Errorf("%d groups at the end, want 1234", n)
				}
				return errors.Join(err, counted)
			default:
			}
		}
	}
	r.Do(p.run(r.Thread.Context(), rows))
	p.check(t, rows)
}

// A Make that fails stops the pass: Stopped tells goroutines that wait, and jobs that were not
// settled stay so.
func TestMadeStops(t *testing.T) {
	r := newRig(t)
	l := passLayouts[0]
	base := egatest.Rows(rand.New(rand.NewPCG(5, 6)), &l, 10_000, func(i int) uint64 { return uint64(i) })
	f, rows := newMadeFeed(&l, base, 500, 2)
	f.fails = 7
	p := passRig{feed: f.feed, config: firstpass.Config{
		Layout: l, Streams: 2, Depth: 2, SlotBytes: 20_000, Made: f.config(), Device: 8 << 20,
	}}
	if err := p.run(r.Thread.Context(), rows); !errors.Is(err, errMake) {
		t.Fatalf("%v, want %v", err, errMake)
	}
	if n := f.jobs[6].told.Load(); n != 0 {
		t.Errorf("the job that failed was settled %d times", n)
	}
}

// What a slot, or the stages, have no room for is refused, and the slot stays the caller's.
func TestSubmitMadeRefuses(t *testing.T) {
	r := newRig(t)
	start := func(c firstpass.Config) (*firstpass.Pass, error) {
		c.Layout, c.Streams, c.SlotBytes, c.Write = passLayouts[0], 1, 20_000, func(int, []uint64) error { return nil }
		return firstpass.Start(r.Within("the end of a pass"), r.Thread.Context(), c)
	}
	for _, made := range []firstpass.MadeConfig{{}, {Rows: 5000, WorkBytes: 100}} {
		m, err := start(firstpass.Config{Device: 4 << 20, Made: made})
		r.Do(err)
		s, err := m.Slot(r.Within("a slot"))
		r.Do(err)
		for _, c := range []struct{ size, rows int }{{20_001, 1}, {-1, 1}, {100, 0}, {100, -1}, {100, made.Rows + 1}} {
			if m.SubmitMade(s, c.size, c.rows, &copier{}) == nil {
				t.Errorf("%+v: %+v is taken", made, c)
			}
		}
		m.Release(s)
		r.Do(m.Close())
	}
	for _, made := range []firstpass.MadeConfig{{Rows: -1}, {Rows: 1, WorkBytes: -1}, {Rows: 1<<24 + 1}} {
		if _, err := start(firstpass.Config{Device: 4 << 30, Made: made}); err == nil || errors.Is(err, ega.ErrTooSmall) {
			t.Errorf("%+v: %v", made, err)
		}
	}
	c := firstpass.Config{Device: 1 << 20, Made: firstpass.MadeConfig{Rows: 10_000, WorkBytes: 100_000}}
	_, err := start(c)
	var small *ega.SmallError
	if !errors.As(err, &small) {
		t.Fatalf("%v", err)
	}
	c.Device = int64(small.Need)
	m, err := start(c)
	r.Do(err)
	r.Do(m.Close())
}

// Whichever driver call fails, the answer is right or the error says so, and no job is settled
// twice.
func TestMadeFaults(t *testing.T) {
	e, emulated := emu.Control()
	if !emulated {
		t.Skip("faults are the emulator's")
	}
	l := passLayouts[0]
	base := egatest.Rows(rand.New(rand.NewPCG(5, 6)), &l, 1500, func(i int) uint64 { return uint64(i) })
	f, rows := newMadeFeed(&l, base, 200, 2)
	f.decline = func(i int) uint64 { return uint64(i % 3 / 2) }
	stride := 13 // from anywhere on: some runs of the tests have every call
	if testing.Short() {
		stride = 97
	}
	for name, device := range map[string]int64{"in core": 4 << 20, "evicted": 112_000} {
		for _, code := range []int{egatest.OutOfMemory, egatest.DeviceLost} {
			t.Run(fmt.Sprintf("%s/code=%d", name, code), func(t *testing.T) {
				p := passRig{bits: 1, feed: f.feed, config: firstpass.Config{
					Layout: l, Streams: 1, Depth: 1, SlotBytes: 10_000, Made: f.config(), Device: device, Groups: 40,
				}}
				calls, err := p.faulty(t, e, rows, gputest.Call{}, 0)
				if err != nil || name == "evicted" != (p.stats.Evictions > 0) {
					t.Fatalf("%v, %+v", err, p.stats)
				}
				for i := rand.IntN(stride); i < len(calls); i += stride {
					p.failing(t, e, rows, calls[i], code)
					for chunk, j := range f.jobs {
						if j != nil && j.told.Load() > 1 {
							t.Fatalf("%v fails: chunk %d is settled %d times", calls[i], chunk, j.told.Load())
						}
					}
				}
			})
		}
	}
}
