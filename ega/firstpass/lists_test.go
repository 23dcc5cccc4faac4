package firstpass_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/combine"
	"github.com/gagg-dev/gagg/ega/egatest"
	"github.com/gagg-dev/gagg/ega/firstpass"
	"github.com/gagg-dev/gagg/ega/groups"
	"github.com/gagg-dev/gagg/internal/bounded"
	"github.com/gagg-dev/gagg/internal/budget/budgettest"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/cuda/emu"
	"github.com/gagg-dev/gagg/internal/gputest"
)

// twoLists are the lists of listLayout, of which the first counts as the chains of package agg do.
var twoLists = []combine.List{{Value: 1, Next: 2, Count: 3, Unit: 3 << 23}, {Value: 6, Next: 5, Count: 7, Unit: 1}}

// listLayout counts rows in its first state word.
func listLayout(keys int) ega.Layout {
	return ega.Layout{Hash: true, KeyWords: keys, Ops: []combine.Op{combine.Add, combine.Or, combine.Or, combine.Add, combine.MaxInt, combine.Or, combine.Or, combine.Add}}
}

// listRows are rows of one input row each; every fifth has no value in the second list.
func listRows(random *rand.Rand, l *ega.Layout, n int, key func(i int) uint64) []uint64 {
	rows := egatest.Rows(random, l, n, key)
	for i := range n {
		states := rows[i*l.Stride():][:l.Stride()][l.Stride()-len(l.Ops):]
		states[0] = 1
		for at, list := range twoLists {
			states[list.Value], states[list.Next], states[list.Count] = random.Uint64(), 0, list.Unit
			if at == 1 && i%5 == 0 {
				states[list.Value], states[list.Count] = 0, 0
			}
		}
	}
	return rows
}

// group is a group as it is expected, or as it came back: the number of rows, the greatest value of
// word 4, and the values in order.
type group struct {
	rows   uint64
	most   int64
	values [2][]uint64
}

// listedGroups is the groups of rows, by their keys.
func listedGroups(l *ega.Layout, rows []uint64) map[string]*group {
	groups := map[string]*group{}
	before := l.Stride() - len(l.Ops)
	for row := range slices.Chunk(rows, l.Stride()) {
		key, states := fmt.Sprint(row[1:before]), row[before:]
		g := groups[key]
		if g == nil {
			g = &group{most: -1 << 63}
			groups[key] = g
		}
		g.rows++
		g.most = max(g.most, int64(states[4]))
		for at, list := range twoLists {
			if states[list.Count] > 0 {
				g.values[at] = append(g.values[at], states[list.Value])
			}
		}
	}
	for _, g := range groups {
		slices.Sort(g.values[0])
		slices.Sort(g.values[1])
	}
	return groups
}

// listRig sends rows through a pass with lists.
type listRig struct {
	config  firstpass.Config
	chunk   int                     // rows of a job
	decline func(chunk int) uint64  // as of a madeFeed
	grant   func(bytes int64) error // by the host's budget; nil: all

	host     atomic.Int64 // bytes drawn from the host's budget
	taken    []uint64     // rows of the jobs that were taken
	declined map[uint64]int
	groups   map[string]*group
	empty    int // groups without rows
	stats    firstpass.Stats
}

// run sends rows through a pass. What was pinned has been given back then, and the device's memory
// was within the budget.
func (p *listRig) run(c *cuda.Context, rows []uint64) error {
	p.config.Lists, p.config.ListRows = twoLists, uint64(len(rows)/p.config.Layout.Stride())
	p.config.Made = firstpass.MadeConfig{Rows: p.chunk, WorkBytes: madeWork}
	p.config.Write = func(int, []uint64) error { return errors.New("a row was written") }
	p.config.Readers = 2
	p.host.Store(0)
	p.config.Host = budgettest.Lender(func(n int64) error {
		if n > 0 && p.grant != nil {
			if err := p.grant(n); err != nil {
				return err
			}
		}
		p.host.Add(n)
		return nil
	})
	ctx, cancel := bounded.Context("the end of a pass")
	defer cancel()
	m, err := firstpass.Start(ctx, c, p.config)
	if err != nil {
		return err
	}
	err = p.pass(m, rows)
	err = errors.Join(err, m.Close())
	if n := p.host.Load(); err == nil && n != 0 && c.Lost() == nil {
		err = fmt.Errorf("%d bytes are still drawn from the host's budget", n)
	}
	if peak := int64(c.Peak()); err == nil && peak > p.config.Device {
		err = fmt.Errorf("BUDGET: %d bytes of device memory were in use, %d were allowed", peak, p.config.Device)
	}
	return err
}

func (p *listRig) pass(m *firstpass.Pass, rows []uint64) error {
	if err := p.submit(m, rows); err != nil {
		return err
	}
	g, err := m.Finish(3)
	if err != nil {
		return err
	}
	p.stats = m.Stats()
	p.groups = map[string]*group{}
	return errors.Join(p.read(g), g.Close(), g.Close())
}

// submit submits all rows from two goroutines, and waits until all jobs are settled.
func (p *listRig) submit(m *firstpass.Pass, rows []uint64) error {
	p.taken, p.declined = nil, map[uint64]int{}
	l := &p.config.Layout
	chunks := slices.Collect(slices.Chunk(rows, p.chunk*l.Stride()))
	var mu sync.Mutex
	var jobs sync.WaitGroup
	settled := func(chunk int, stop uint64) {
		mu.Lock()
		defer mu.Unlock()
		if stop != 0 {
			p.declined[stop]++
		} else {
			p.taken = append(p.taken, chunks[chunk]...)
		}
	}
	errs := make(chan error, 2)
	ctx, cancel := bounded.Context("a slot, or jobs that are settled")
	defer cancel()
	for first := range 2 {
		go func() {
			errs <- func() error {
				for i := first; i < len(chunks); i += 2 {
					s, err := m.Slot(ctx)
					if err != nil {
						return err
					}
					n := copy(wordsIn(s), chunks[i])
					job := &listJob{of: p, chunk: i, done: func(stop uint64) { settled(i, stop); jobs.Done() }}
					jobs.Add(1)
					err = m.SubmitMade(s, 8*n, n/l.Stride(), job)
					if err != nil {
						m.Release(s)
						jobs.Done()
					}
					if errors.Is(err, firstpass.ErrListsFull) {
						settled(i, fullAtOnce)
					} else if err != nil {
						return err
					}
				}
				return nil
			}()
		}()
	}
	if err := bounded.Errors("goroutines that submit jobs", 2, errs); err != nil {
		return err
	}
	all := make(chan struct{})
	go func() { jobs.Wait(); close(all) }()
	select {
	case <-all:
	case <-m.Stopped():
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// fullAtOnce stands for ErrListsFull among reasons.
const fullAtOnce = 1 << 40

// listJob is a Maker whose rows lie in the slot.
type listJob struct {
	of    *listRig
	chunk int
	told  atomic.Int32
	done  func(stop uint64)
}

func (j *listJob) Make(s *cuda.Stream, in, _ cuda.Span, out firstpass.Made) error {
	if j.of.decline != nil && j.of.decline(j.chunk) != 0 {
		return errors.Join(s.Fill(out.Rows, 0x5a), s.Fill(out.Stop.Slice(0, 1), byte(j.of.decline(j.chunk))))
	}
	return s.Copy(out.Rows, in)
}

func (j *listJob) Filters() bool { return false }

func (j *listJob) Settled(stop uint64, _ int) {
	if j.told.Add(1) == 1 {
		j.done(stop)
	}
}

// read reads all groups with their values.
func (p *listRig) read(g *groups.Groups) error {
	if err := g.Open(); err != nil {
		return err
	}
	r, err := g.Reader()
	if err != nil {
		return err
	}
	l := &p.config.Layout
	for part := range 8 {
		err = errors.Join(err, r.Read(part, func(rows []uint64) error {
			for row := range slices.Chunk(rows, l.Stride()) {
				if err := p.group(r, row); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	return errors.Join(err, r.Close())
}

func (p *listRig) group(r *groups.Reader, row []uint64) error {
	before := len(row) - len(p.config.Layout.Ops)
	states := row[before:]
	if states[0] == 0 {
		p.empty++
		return nil
	}
	got := &group{rows: states[0], most: int64(states[4])}
	for at, list := range twoLists {
		n := states[list.Count] / list.Unit
		if states[list.Count]%list.Unit != 0 {
			return fmt.Errorf("count %#x", states[list.Count])
		}
		last := false
		err := r.Values(at, states[list.Value], n, func(values []uint64) error {
			if last {
				return fmt.Errorf("%d values come behind fewer than LeastValues", len(values))
			}
			last = len(values) < combine.LeastValues
			got.values[at] = append(got.values[at], values...)
			return nil
		})
		if err != nil {
			return err
		}
		slices.Sort(got.values[at])
	}
	p.groups[fmt.Sprint(row[1:before])] = got
	return nil
}

// check compares the groups with those of the rows that were taken.
func (p *listRig) check(t *testing.T) {
	t.Helper()
	want := listedGroups(&p.config.Layout, p.taken)
	if len(p.groups) != len(want) {
		t.Errorf("%d groups, want %d: %+v", len(p.groups), len(want), p.stats)
	}
	for key, w := range want {
		g := p.groups[key]
		if g == nil || g.rows != w.rows || g.most != w.most || !slices.Equal(g.values[0], w.values[0]) || !slices.Equal(g.values[1], w.values[1]) {
			t.Fatalf("group %s is %+v, want %+v", key, g, w)
		}
	}
	if n := uint64(len(p.taken) / p.config.Layout.Stride()); p.stats.Rows != n {
		t.Errorf("%d rows are said to be taken, %d were", p.stats.Rows, n)
	}
}

// Every group has all of its values, with few groups or many, also where makers decline their jobs.
func TestLists(t *testing.T) {
	n := 12_000
	if testing.Short() {
		n = 3000
	}
	random := rand.New(rand.NewPCG(3, 4))
	zipf := rand.NewZipf(random, 1.3, 1, 1<<20)
	for _, keys := range []struct {
		name string
		key  func(i int) uint64
	}{
		{"one", func(int) uint64 { return 7 }},
		{"few", func(int) uint64 { return random.Uint64N(100) }},
		{"zipf", func(int) uint64 { return zipf.Uint64() }},
		{"distinct", func(i int) uint64 { return uint64(i) }},
		{"empty", func(i int) uint64 { return []uint64{egatest.Empty, 0, 1}[i%3] }},
	} {
		for _, words := range []int{1, 2, 5} {
			l := listLayout(words)
			rows := listRows(random, &l, n, keys.key)
			for _, lanes := range []int{1, 3} {
				t.Run(fmt.Sprintf("%s/keys=%d/lanes=%d", keys.name, words, lanes), func(t *testing.T) {
					r := newRig(t)
					p := listRig{chunk: 170, config: firstpass.Config{
						Layout: l, Streams: lanes, Depth: 2, SlotBytes: 20_000, Device: 16 << 20, Groups: 10, ReadBytes: 1000,
					}}
					if lanes > 1 {
						p.decline = func(chunk int) uint64 { return uint64(chunk % 5 / 4 * 9) }
					}
					r.Do(p.run(r.Thread.Context(), rows))
					p.check(t)
					if lanes == 1 && (len(p.declined) > 0 || p.empty > 0 || p.stats.Rows != uint64(n)) {
						t.Errorf("declined %v, %d empty groups: %+v", p.declined, p.empty, p.stats)
					}
				})
			}
		}
	}
}

// What there is no room for is declined, and what was taken is whole: jobs whose groups find no
// slot, and jobs whose values find no place.
func TestListsFull(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	l := listLayout(2)
	for _, c := range []struct {
		name   string
		device int64
		key    func(i int) uint64
		reason uint64
	}{
		{"slots", 2_200_000, func(i int) uint64 { return uint64(i) }, firstpass.StopFull},
		{"records", 1_500_000, func(i int) uint64 { return uint64(i % 50) }, fullAtOnce},
		{"nothing", 450_000, func(i int) uint64 { return uint64(i % 50) }, fullAtOnce},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			p := listRig{chunk: 150, config: firstpass.Config{Layout: l, Streams: 2, Depth: 2, SlotBytes: 20_000, Device: c.device, Groups: 100}}
			rows := listRows(random, &l, 20_000, c.key)
			r.Do(p.run(r.Thread.Context(), rows))
			p.check(t)
			if p.declined[c.reason] == 0 || c.name != "nothing" && p.stats.Rows == 0 {
				t.Errorf("declined %v: %+v", p.declined, p.stats)
			}
		})
	}
}

// Values of a list are read in pieces, the smallest there are where the host allows no others.
func TestListsLarge(t *testing.T) {
	r := newRig(t)
	l := listLayout(1)
	n := 200_000
	if gputest.Emulated() {
		n = 150_000 // of 8 bytes: more than two buffers
	}
	rows := listRows(rand.New(rand.NewPCG(7, 8)), &l, n, func(int) uint64 { return 3 })
	const slot = 1 << 20
	p := listRig{chunk: 5000, config: firstpass.Config{Layout: l, Streams: 2, Depth: 2, SlotBytes: slot, Device: 64 << 20}}
	for _, least := range []bool{false, true} {
		p.grant = func(n int64) error {
			if least && n < slot && n > leastPinned {
				return budgettest.Refused()
			}
			return nil
		}
		r.Do(p.run(r.Thread.Context(), rows))
		p.check(t)
	}
}

// Rows of the host have no place in a pass with lists.
func TestListsSubmit(t *testing.T) {
	r := newRig(t)
	p := listRig{chunk: 10}
	l := listLayout(1)
	p.config = firstpass.Config{
		Layout: l, Streams: 1, SlotBytes: 20_000, Device: 8 << 20, Lists: twoLists, ListRows: 100,
		Made: firstpass.MadeConfig{Rows: 10, WorkBytes: madeWork}, Write: func(int, []uint64) error { return nil },
	}
	m, err := firstpass.Start(r.Within("the end of a pass"), r.Thread.Context(), p.config)
	r.Do(err)
	s, err := m.Slot(r.Within("a slot"))
	r.Do(err)
	if m.Submit(s, 1) == nil {
		t.Error("no error")
	}
	m.Release(s)
	r.Do(m.Close())
	for _, lists := range [][]combine.List{
		{{Value: 0, Next: 2, Count: 3, Unit: 1}},
		{{Value: 1, Next: 2, Count: 8, Unit: 1}},
		{{Value: 1, Next: 2, Count: 3}},
	} {
		p.config.Lists = lists
		if _, err := firstpass.Start(r.Within("the end of a pass"), r.Thread.Context(), p.config); err == nil {
			t.Errorf("%+v: no error", lists)
		}
	}
}

// Whichever driver call fails, the error says so or every group that came back has all of its
// values. Nothing stays open, and the host's budget is as before.
func TestListsFaults(t *testing.T) {
	e, emulated := emu.Control()
	if !emulated {
		t.Skip("faults are the emulator's")
	}
	l := listLayout(1)
	rows := listRows(rand.New(rand.NewPCG(5, 6)), &l, 1000, func(i int) uint64 { return uint64(i) })
	p := listRig{chunk: 200, config: firstpass.Config{Layout: l, Streams: 1, Depth: 1, SlotBytes: 40_000, Device: 8 << 20, Groups: 40}}
	run := func(c *cuda.Context) error { return p.run(c, rows) }
	stride := 67 // from anywhere on: some runs of the tests have every call
	if testing.Short() {
		stride = 97
	}
	for code, class := range map[int]error{egatest.OutOfMemory: cuda.ErrOutOfMemory, egatest.DeviceLost: cuda.ErrLost} {
		calls, err := egatest.WithFault(t, e, gputest.Call{}, 0, run)
		if p.check(t); err != nil || p.stats.Growths == 0 || len(p.declined) > 0 {
			t.Fatalf("%v, %v, %+v", err, p.declined, p.stats)
		}
		for i := rand.IntN(stride); i < len(calls); i += stride {
			_, err := egatest.WithFault(t, e, calls[i], code, run)
			if n := p.host.Load(); n != 0 && !errors.Is(err, cuda.ErrLost) {
				t.Errorf("%v: %d bytes are still drawn from the host's budget", err, n)
			}
			if err == nil {
				p.check(t)
			} else if !errors.Is(err, class) {
				t.Errorf("error %v", err)
			}
			if t.Failed() {
				t.Fatalf("%v fails with %d", calls[i], code)
			}
		}
	}
}
