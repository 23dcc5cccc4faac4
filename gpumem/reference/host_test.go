package reference_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/gagg-dev/gagg/gpumem/reference"
	"github.com/gagg-dev/gagg/internal/bounded"
)

func hostPool(t testing.TB, pages int) *reference.HostPool {
	t.Helper()
	p, err := reference.NewHostPool(make([]byte, pages*8+7), reference.HostConfig{PageBytes: 8, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if p.Pages() != pages || p.Free() != pages {
		t.Fatalf("%d pages, %d free, want %d", p.Pages(), p.Free(), pages)
	}
	return p
}

func TestHostConfig(t *testing.T) {
	_, err := reference.NewHostPool(make([]byte, 64), reference.HostConfig{PageBytes: 0, LowestFree: math.NaN()})
	if err == nil || !strings.Contains(err.Error(), "0 bytes") || !strings.Contains(err.Error(), "NaN") {
		t.Errorf("%v does not report both problems", err)
	}
	for _, c := range []reference.HostConfig{{PageBytes: 65}, {PageBytes: 8, LowestFree: 1}, {PageBytes: 8, LowestFree: -0.1}} {
		if _, err := reference.NewHostPool(make([]byte, 64), c); err == nil {
			t.Errorf("%+v makes a pool of 64 bytes", c)
		}
	}
}

// The pool gives every page once, then none; pages that were put can be had again.
func TestHostPoolGivesEveryPageOnce(t *testing.T) {
	for _, pages := range []int{1, 2, 31, 32, 33, 63, 64, 65, 127, 129, 1000, 1 << 16} {
		t.Run(fmt.Sprintf("pages=%d", pages), func(t *testing.T) {
			p := hostPool(t, pages)
			w := p.Walker()
			seen := make([]bool, pages)
			for range pages {
				page, ok := w.Get()
				if !ok || seen[page] {
					t.Fatalf("page %d, %v, with %d free", page, ok, p.Free())
				}
				seen[page] = true
			}
			for range 3 {
				if page, ok := w.Get(); ok {
					t.Fatalf("page %d of a pool with none left", page)
				}
			}
			if s := w.Stats(); s.Gets != uint64(pages)+3 || s.Refused != 3 || s.Sweeps < 3 || s.Steps < s.Gets || s.Most < 1 {
				t.Errorf("%+v", s)
			}
			back := uint32(pages / 2)
			p.Put(back)
			if page, ok := w.Get(); !ok || page != back {
				t.Errorf("page %d, %v, want %d", page, ok, back)
			}
			p.PutRun(0, pages)
			if p.Free() != pages {
				t.Errorf("%d pages free of %d", p.Free(), pages)
			}
		})
	}
}

func TestHostPages(t *testing.T) {
	p := hostPool(t, 10)
	w := p.Walker()
	a, _ := w.GetRun(3)
	if run := p.Run(a, 3); len(run) != 24 || cap(run) != 24 || &run[8] != &p.Page(a + 1)[0] {
		t.Errorf("a run of 3 pages has %d bytes, room for %d, or other pages", len(run), cap(run))
	}
}

// GetRun against a list of used pages: it finds a run exactly if there is one.
func TestHostRunsAgainstAList(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 0))
		pages := 1 + rng.IntN(400)
		p := hostPool(t, pages)
		w := p.Walker()
		used := make([]bool, pages)
		type run struct{ first, n int }
		var held []run
		for range 400 {
			if len(held) > 0 && rng.IntN(5) < 2 {
				i := rng.IntN(len(held))
				r := held[i]
				held[i] = held[len(held)-1]
				held = held[:len(held)-1]
				p.PutRun(uint32(r.first), r.n)
				fill(used[r.first:r.first+r.n], false)
				continue
			}
			n := 1 + rng.IntN(1+rng.IntN(200))
			first, ok := w.GetRun(n)
			if ok != hasRun(used, n) {
				t.Fatalf("seed %d: run of %d in %d pages: %v", seed, n, pages, ok)
			}
			if !ok {
				continue
			}
			for _, u := range used[first : int(first)+n] {
				if u {
					t.Fatalf("seed %d: run of %d from %d is in use", seed, n, first)
				}
			}
			fill(used[first:int(first)+n], true)
			held = append(held, run{int(first), n})
		}
	}
}

func fill(b []bool, v bool) {
	for i := range b {
		b[i] = v
	}
}

func hasRun(used []bool, n int) bool {
	free := 0
	for _, u := range used {
		if free++; u {
			free = 0
		}
		if free >= n {
			return true
		}
	}
	return false
}

// As many goroutines as pages, each with at most one: a free page is there at
// every moment of each get, so none may be refused (PAGE-TRUE). Holders write
// into their pages, without atomics, which the race detector watches.
func TestHostPoolRaisesNoFalseAlarm(t *testing.T) {
	for _, goroutines := range []int{2, 8, 65, 130} {
		t.Run(fmt.Sprintf("pages=%d", goroutines), func(t *testing.T) {
			p := hostPool(t, goroutines)
			var all sync.WaitGroup
			for id := range goroutines {
				all.Go(func() {
					w := p.Walker()
					for range max(20, 20_000/goroutines) {
						page, ok := w.Get()
						if !ok {
							t.Errorf("goroutine %d was refused", id)
							return
						}
						mark(t, p, page, 1, uint64(id))
						p.Put(page)
					}
				})
			}
			bounded.Wait(t, "the goroutines of the test", all.Wait)
			if p.Free() != p.Pages() {
				t.Errorf("%d pages free of %d", p.Free(), p.Pages())
			}
		})
	}
}

// mark writes an owner into pages and wants to find it again.
func mark(t *testing.T, p *reference.HostPool, first uint32, n int, id uint64) {
	t.Helper()
	for i := range n {
		binary.LittleEndian.PutUint64(p.Page(first+uint32(i)), id)
	}
	for i := range n {
		if got := binary.LittleEndian.Uint64(p.Page(first + uint32(i))); got != id {
			t.Errorf("page %d of owner %d belongs to %d too", first+uint32(i), id, got)
		}
	}
}

// Pages and runs, taken and put at random by goroutines, some of them refused.
func TestHostPoolUnderStress(t *testing.T) {
	const goroutines, rounds = 8, 3000
	p := hostPool(t, 300)
	var all sync.WaitGroup
	for id := range uint64(goroutines) {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(id, 9))
			w := p.Walker()
			type run struct {
				first uint32
				n     int
			}
			var held []run
			for range rounds {
				if len(held) > 0 && rng.IntN(2) == 0 {
					last := held[len(held)-1]
					held = held[:len(held)-1]
					mark(t, p, last.first, last.n, id)
					p.PutRun(last.first, last.n)
					continue
				}
				n := 1 + rng.IntN(1+rng.IntN(100))
				if first, ok := w.GetRun(n); ok {
					mark(t, p, first, n, id)
					held = append(held, run{first, n})
				}
			}
			for _, r := range held {
				p.PutRun(r.first, r.n)
			}
		})
	}
	bounded.Wait(t, "the goroutines of the test", all.Wait)
	if p.Free() != p.Pages() {
		t.Errorf("%d pages free of %d", p.Free(), p.Pages())
	}
}

// Walkers that ask once each walk like threads: their steps are those of the
// formula, as long as no walk gives way to a sweep.
func TestHostStepsAreThoseOfTheFormula(t *testing.T) {
	const pages, threads = 1 << 15, 1000
	burst := reference.Steps{Pages: pages, Free: 1600, Threads: threads}
	var steps sample
	for seed := range uint64(20) {
		c := reference.HostConfig{PageBytes: 1, Seed: seed, LowestFree: 1e-6}
		p, err := reference.NewHostPool(make([]byte, pages), c)
		if err != nil {
			t.Fatal(err)
		}
		p.Walker().GetRun(pages)
		for _, page := range rand.New(rand.NewPCG(seed, 2)).Perm(pages)[:burst.Free] {
			p.Put(uint32(page))
		}
		sum := 0.0
		for range threads {
			w := p.Walker()
			w.Get()
			if s := w.Stats(); s.Sweeps == 0 {
				sum += float64(s.Steps)
			}
		}
		steps.add(sum / threads)
	}
	mean, dev := steps.mean()
	if want := burst.RWBMDrain(64); math.Abs(mean-want) > sigmas*dev+0.01*want {
		t.Errorf("%.3f ± %.3f steps, the formula says %.3f", mean, dev, want)
	}
}

func TestHostPoolAllocatesNothing(t *testing.T) {
	p := hostPool(t, 1000)
	w := p.Walker()
	if n := testing.AllocsPerRun(100, func() {
		page, _ := w.Get()
		first, _ := w.GetRun(100)
		w.GetRun(2000)
		p.PutRun(first, 100)
		p.Put(page)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
