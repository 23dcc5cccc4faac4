package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gagg-dev/gagg/bench/device"
	"github.com/gagg-dev/gagg/ega/secondpass"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/merge"
)

// figures are what one run of a case came to.
type figures struct {
	Rate   float64 `json:"million_rows_per_s"`
	GB     float64 `json:"gb_per_s"` // of rows
	Groups int64   `json:"groups"`
	Device float64 `json:"device_rows"` // share of the rows that the device took
	Full   int     `json:"full"`        // buckets that it took in part
	Rounds int64   `json:"rounds"`
	// share of the time in which mergers with a pass waited for the device
	Wait float64 `json:"wait"`
}

// bench is what all cases have in common.
type bench struct {
	*query
	context *cuda.Context
	shift   uint
}

// measure takes every case once a round, after a round that does not count.
func (r *report) measure(rig *device.Rig, a amounts, rounds int) (err error) {
	b := bench{context: rig.Thread.Context(), shift: a.shift}
	if b.query, err = newQuery(); err != nil {
		return err
	}
	r.RowBytes = int(b.layout.RowBytes())
	cases := a.cases()
	taken := make([][]figures, len(cases))
	for round := range rounds + 1 {
		fmt.Fprintf(os.Stderr, "round %d of %d\n", round, rounds)
		for i, c := range cases {
			f, err := b.measure(c)
			if err != nil {
				return fmt.Errorf("%+v: %w", c, err)
			}
			if round > 0 {
				taken[i] = append(taken[i], f)
			}
		}
	}
	for i, c := range cases {
		r.Points = append(r.Points, point{testCase: c, figures: median(taken[i])})
	}
	return r.agree()
}

// median has the medians of times, and else what all rounds have in common.
func median(of []figures) (f figures) {
	f = of[0]
	var rate, gb, wait []float64
	for _, x := range of {
		rate, gb, wait = append(rate, x.Rate), append(gb, x.GB), append(wait, x.Wait)
	}
	f.Rate, f.GB, f.Wait = device.Median(rate), device.Median(gb), device.Median(wait)
	return f
}

// team is the mergers of a case at work.
type team struct {
	*bench
	testCase
	rows  *rows
	ready sync.WaitGroup // all are made
	start chan struct{}
	ended sync.WaitGroup // all have merged

	next            atomic.Int64 // partition
	groups, counted atomic.Int64
	stats           []secondpass.Stats
}

// measure makes rows and has the mergers of a case aggregate them.
func (b *bench) measure(c testCase) (f figures, err error) {
	r, err := b.newRows(b.shift, c)
	if err != nil {
		return f, err
	}
	defer r.free()
	t := &team{bench: b, testCase: c, rows: r, start: make(chan struct{}), stats: make([]secondpass.Stats, c.Passes)}
	t.ready.Add(c.Mergers)
	t.ended.Add(c.Mergers)
	var gone sync.WaitGroup
	errs := make([]error, c.Mergers)
	for i := range c.Mergers {
		gone.Go(func() { errs[i] = t.member(i) })
	}
	t.ready.Wait()
	from := time.Now()
	close(t.start)
	t.ended.Wait()
	took := time.Since(from)
	gone.Wait()
	if err := errors.Join(errs...); err != nil {
		return f, err
	}
	if n := t.counted.Load(); n != 1<<b.shift {
		return f, fmt.Errorf("the counts of the groups add up to %d, not to %d", n, 1<<b.shift)
	}
	f = figures{Rate: float64(uint64(1)<<b.shift) / took.Seconds() / 1e6, Groups: t.groups.Load()}
	f.GB = f.Rate * float64(b.layout.RowBytes()) / 1e3
	f.add(t.stats, b.shift, took)
	return f, nil
}

// member is one merger's life, on a goroutine of its own.
func (t *team) member(i int) error {
	m, pass, err := t.merger(i < t.Passes)
	t.ready.Done()
	<-t.start
	if err == nil {
		err = t.merge(m)
	}
	t.ended.Done()
	if pass != nil {
		t.stats[i] = pass.Stats()
	}
	if m != nil {
		err = errors.Join(err, m.Close())
	}
	return err
}

// merge merges partitions until none is left.
func (t *team) merge(m *cpu.Merger) error {
	for p := t.next.Add(1) - 1; p < 1<<t.Bits; p = t.next.Add(1) - 1 {
		err := m.Merge(context.Background(), merge.Range{First: int(p), N: 1}, func(rows []uint64) error {
			sum, n := uint64(0), 0
			for ; len(rows) > 0; rows = rows[t.config.Stride:] {
				sum += rows[t.count]
				n++
			}
			t.groups.Add(int64(n))
			t.counted.Add(int64(sum))
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// add has what the passes did.
func (f *figures) add(stats []secondpass.Stats, shift uint, took time.Duration) {
	var rows int64
	var wait time.Duration
	for _, s := range stats {
		rows, wait = rows+s.Rows, wait+s.Wait
		f.Full += s.Full
		f.Rounds += s.Rounds
	}
	f.Device = float64(rows) / float64(uint64(1)<<shift)
	f.Wait = wait.Seconds() / took.Seconds() / float64(max(len(stats), 1))
}

// merger is one for the calling goroutine, with a pass or without.
func (t *team) merger(passes bool) (*cpu.Merger, *secondpass.Pass, error) {
	m := cpu.NewRun(*t.config).NewMerger(t.rows.buckets)
	if !passes {
		return m, nil, nil
	}
	p, err := secondpass.New(t.context, secondpass.Config{Layout: t.layout, Device: t.Memory})
	if err != nil {
		return nil, nil, errors.Join(err, m.Close())
	}
	m.Accelerate(nil, p)
	return m, p, nil
}

// spread calls do for 0 … n-1, from so many goroutines, each with its number, until one fails.
func spread(goroutines, n int, do func(goroutine, i int) error) error {
	var all sync.WaitGroup
	var next atomic.Int64
	errs := make([]error, goroutines)
	for g := range goroutines {
		all.Go(func() {
			for i := next.Add(1) - 1; int(i) < n && errs[g] == nil; i = next.Add(1) - 1 {
				errs[g] = do(g, int(i))
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
