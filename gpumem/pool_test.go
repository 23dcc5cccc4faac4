package gpumem_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/gagg-dev/gagg/gpumem"
	"github.com/gagg-dev/gagg/gpumem/reference"
	"github.com/gagg-dev/gagg/internal/cuda"
)

// Shapes of the lanes that ask in each warp.
var askers = []uint32{0xffffffff, 1, 0xaaaaaaaa, 0x80000fff}

// Every way hands out each free page once, refuses a request only when no page is
// left, and has all pages again when they are given back.
func TestPoolGet(t *testing.T) {
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			r := newPoolRig(t)
			for _, pages := range []uint32{1, 31, 32, 33, 1000, 2049} {
				p := r.pool(gpumem.Config{Pages: pages, PageBytes: 32, Method: w.method, Seed: pages})
				for _, share := range []float64{1, 0.5, 0.1, 0.01, 0} {
					for _, lanes := range askers {
						r.getTwice(p, w, share, lanes)
					}
				}
			}
		})
	}
}

// The same in a pool that is large enough for walks to be long.
func TestPoolGetLarge(t *testing.T) {
	pages := uint32(scale(1<<14, 1<<16, 1<<21))
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			r := newPoolRig(t)
			p := r.pool(gpumem.Config{Pages: pages, PageBytes: 32, Method: w.method})
			for _, share := range []float64{0.1, 0.01, 0.005, 0.001} {
				r.getTwice(p, w, share, 0xffffffff)
			}
		})
	}
}

// getTwice asks for half of the free pages, then for more than are left, and gives
// all back.
func (r *poolRig) getTwice(p *gpumem.Pool, w way, share float64, lanes uint32) {
	r.TB.Helper()
	free := r.fill(p, share)
	before := r.bitmap(p)
	locks := r.locks(p)
	half := r.requests(locks, free/2+1, lanes, 1)
	rest := r.requests(locks, free-free/2+5, lanes, 1)
	got := r.taken(p, before, r.get(p, w.get, half))
	if want := min(free/2+1, free); got != want && !w.locked {
		r.TB.Fatalf("share %v, lanes %#x: %d requests served, want %d of %d", share, lanes, got, want, free)
	}
	got += r.taken(p, before, r.get(p, w.get, rest))
	if got != free && !w.locked {
		r.TB.Fatalf("share %v, lanes %#x: %d pages handed out, want all %d", share, lanes, got, free)
	}
	r.giveBack(p, w, half)
	r.giveBack(p, w, rest)
	if now := r.free(p); now != free {
		r.TB.Fatalf("share %v, lanes %#x: %d pages free at the end, want %d", share, lanes, now, free)
	}
}

// A thread that asks again and again gets other pages, with CRW those that follow.
func TestPoolGetRounds(t *testing.T) {
	const rounds = 20
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			r := newPoolRig(t)
			p := r.pool(gpumem.Config{Pages: 4000, PageBytes: 64, Method: w.method})
			before := r.bitmap(p)
			q := r.requests(r.locks(p), 96, 0x01010101, rounds)
			pages := r.get(p, w.get, q)
			if got := r.taken(p, before, pages); got != 96*rounds && !w.locked {
				t.Errorf("%d requests served, want %d", got, 96*rounds)
			}
			following := 0
			for i := range pages[96:] {
				if pages[i+96] == (pages[i]+1)%p.Capacity() {
					following++
				}
			}
			if w.method == gpumem.CRW && following < 96*rounds/3 {
				t.Errorf("%d of %d pages follow on the last one", following, 96*(rounds-1))
			}
		})
	}
}

// Lanes that do not ask help those that do: a warp of one asker finds the last free
// pages in as many steps as one of 32.
func TestPoolHelpers(t *testing.T) {
	r := newPoolRig(t)
	p := r.pool(gpumem.Config{Pages: 1 << 14, PageBytes: 32})
	free := r.fill(p, 0.01)
	before := r.bitmap(p)
	q := r.requests(0, free, 0x00010000, 1)
	q.ask.Help = 1
	counts, read := r.counts()
	q.ask.Counts = counts
	if got := r.taken(p, before, r.get(p, wayOf("corw").counted, q)); got != free {
		t.Errorf("%d requests served, want %d", got, free)
	}
	if c := read(); c.Requests != uint64(free) || c.Steps > 40*uint64(free) {
		t.Errorf("%+v: more steps than a warp that helps needs", c)
	}
}

// Without a sweep a walker takes as many steps as the limit says, no more, and no
// fewer if there is nothing.
func TestPoolInference(t *testing.T) {
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			r := newPoolRig(t)
			c := gpumem.Config{Pages: 5000, PageBytes: 32, Method: w.method, NoSweep: true, LowestFree: 0.1}
			p := r.pool(c)
			limit := uint64(gpumem.StepLimit(0.1, 1))
			if view := p.View(); uint64(view.StepLimit) != limit || view.Sweep != 0 {
				t.Fatalf("limit %d, sweep %d; want %d, 0", view.StepLimit, view.Sweep, limit)
			}
			q := r.requests(r.locks(p), 64, 0xffffffff, 1)
			counts, read := r.counts()
			q.ask.Counts = counts

			r.fill(p, 0)
			r.get(p, w.counted, q)
			steps := 64 * limit
			if w.method == gpumem.CoRW {
				// a line, which does not count, then stretches of 256 words
				steps = 64 * (1 + (limit+255)/256)
				if w.locked {
					steps = 64 * ((limit + 31) / 32) // 32 words a step
				}
			}
			if c := read(); c.Requests != 64 || c.Refused != 64 || c.Steps != steps || c.Warps != 2 || c.WarpSteps != steps/32 || c.Most != steps/64 {
				t.Errorf("no page free: %+v, want %d steps and 64 refused", c, steps)
			}

			r.fill(p, 0.5)
			before := r.bitmap(p)
			if got := r.taken(p, before, r.get(p, w.get, q)); got != 64 {
				t.Errorf("half of the pages free: %d of 64 requests served", got)
			}
		})
	}
}

// The steps that threads and warps take are those of the formulas.
func TestPoolSteps(t *testing.T) {
	for _, c := range []struct {
		way          string
		share        float64
		thread, warp func(reference.Steps) float64 // nil: not compared
	}{
		{"rw", 0.5, reference.Steps.RW, nil},
		{"rw", 0.1, reference.Steps.RW, nil},
		{"rwbm", 0.5, func(s reference.Steps) float64 { return s.RWBM(32) }, nil},
		{"rwbm", 0.01, func(s reference.Steps) float64 { return s.RWBM(32) }, func(s reference.Steps) float64 { return s.RWBMWarp(32) }},
		{"corw", 0.5, nil, func(s reference.Steps) float64 { return s.CoRWWide(32, 256, 32) }},
		{"corw", 0.03, nil, func(s reference.Steps) float64 { return s.CoRWWide(32, 256, 32) }},
		{"corw", 0.01, nil, func(s reference.Steps) float64 { return s.CoRWWide(32, 256, 32) }},
		{"corw", 0.004, nil, func(s reference.Steps) float64 { return s.CoRWWide(32, 256, 32) }},
		{"corw-lock", 0.01, nil, func(s reference.Steps) float64 { return s.CoRW(32, 32) }},
	} {
		t.Run(fmt.Sprintf("%s/free=%v", c.way, c.share), func(t *testing.T) {
			w := wayOf(c.way)
			r := newPoolRig(t)
			p := r.pool(gpumem.Config{Pages: 1 << 19, PageBytes: 32, Method: w.method, LowestFree: 1e-4})
			s := reference.Steps{Pages: 1 << 19, Free: r.fill(p, c.share), Threads: 1024}
			q := r.requests(r.locks(p), s.Threads, 0xffffffff, 1)
			counts, read := r.counts()
			q.ask.Counts = counts
			r.get(p, w.counted, q)
			found := read()
			perThread, perWarp := float64(found.Steps)/float64(found.Requests), float64(found.WarpSteps)/float64(found.Warps)
			// A walk's deviation is about its mean; 5 deviations of the mean of 1024.
			if c.thread != nil && math.Abs(perThread/c.thread(s)-1) > 5/math.Sqrt(1024) {
				t.Errorf("%.2f steps a thread, want %.2f", perThread, c.thread(s))
			}
			if c.warp != nil && perWarp > c.warp(s)*1.1 {
				t.Errorf("%.2f steps a warp, bound %.2f", perWarp, c.warp(s))
			}
		})
	}
}

// Two launches have different random numbers, two pools of one seed the same.
func TestPoolSeeds(t *testing.T) {
	r := newPoolRig(t)
	a := r.pool(gpumem.Config{Pages: 10, PageBytes: 32, Seed: 7})
	b := r.pool(gpumem.Config{Pages: 10, PageBytes: 32, Seed: 7})
	first, second := a.View(), a.View()
	if first.Seed == second.Seed || b.View().Seed != first.Seed {
		t.Errorf("seeds %d, %d", first.Seed, second.Seed)
	}
}

// Every problem of a configuration is reported.
func TestPoolConfig(t *testing.T) {
	good := gpumem.Config{Pages: 1, PageBytes: 32}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for name, bad := range map[string]gpumem.Config{
		"no pages":       {PageBytes: 32},
		"too many pages": {Pages: math.MaxUint32, PageBytes: 32},
		"small pages":    {Pages: 1, PageBytes: 16},
		"odd pages":      {Pages: 1, PageBytes: 96},
		"large pages":    {Pages: 1, PageBytes: 1 << 31},
		"no method":      {Pages: 1, PageBytes: 32, Method: 9},
		"share":          {Pages: 1, PageBytes: 32, LowestFree: 1},
		"parts of flags": {Pages: 1, PageBytes: 32, Method: gpumem.RW, Parts: true},
	} {
		if bad.Validate() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	all := gpumem.Config{PageBytes: 5, Method: 9, LowestFree: -1}.Validate()
	var joined interface{ Unwrap() []error }
	if !errors.As(all, &joined) || len(joined.Unwrap()) != 4 {
		t.Errorf("want 4 problems: %v", all)
	}
}

// A pool that there is no memory for leaves nothing behind.
func TestPoolOutOfMemory(t *testing.T) {
	r := newPoolRig(t)
	_, err := gpumem.New(r.Thread, r.pages, gpumem.Config{Pages: 1 << 20, PageBytes: 1 << 30})
	if !errors.Is(err, cuda.ErrOutOfMemory) {
		t.Errorf("a petabyte: %v", err)
	}
}

func TestMethodNames(t *testing.T) {
	if got := fmt.Sprint(gpumem.CoRW, gpumem.CRW, gpumem.RWBM, gpumem.RW, gpumem.Method(9)); got != "CoRW CRW RW-BM RW method 9" {
		t.Error(got)
	}
}
