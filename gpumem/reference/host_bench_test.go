package reference_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkHostPool gets pages, and puts them when it has some, so that about the
// given share is free; at 0 every get sweeps. It reports looks at words a get.
func BenchmarkHostPool(b *testing.B) {
	for _, pages := range []int{1 << 10, 1 << 16} {
		for _, free := range []float64{0.5, 0.1, 0.01, 0.005, 0} {
			b.Run(fmt.Sprintf("pages=%d/free=%g", pages, free), func(b *testing.B) {
				p, rng := hostPool(b, pages), rand.New(rand.NewPCG(1, 1))
				p.Walker().GetRun(pages)
				for _, page := range rng.Perm(pages)[:int(free*float64(pages))] {
					p.Put(uint32(page))
				}
				w := p.Walker()
				held := make([]uint32, 0, max(1, min(64, p.Free()/2)))
				for b.Loop() {
					if page, ok := w.Get(); ok {
						held = append(held, page)
					}
					if len(held) == cap(held) {
						for _, page := range held {
							p.Put(page)
						}
						held = held[:0]
					}
				}
				b.ReportMetric(float64(w.Stats().Steps)/float64(w.Stats().Gets), "steps/get")
				b.ReportMetric(float64(w.Stats().Sweeps)/float64(w.Stats().Gets), "sweeps/get")
			})
		}
	}
}

// BenchmarkHostPoolParallel is the same by all processors at once, and, for
// comparison, from a buffered channel as a queue of free pages.
func BenchmarkHostPoolParallel(b *testing.B) {
	const pages = 1 << 16
	b.Run("by=walk", func(b *testing.B) {
		p := hostPool(b, pages)
		b.RunParallel(func(pb *testing.PB) {
			for w := p.Walker(); pb.Next(); {
				if page, ok := w.Get(); ok {
					p.Put(page)
				}
			}
		})
	})
	b.Run("by=queue", func(b *testing.B) {
		free := make(chan uint32, pages)
		for page := range uint32(pages) {
			free <- page
		}
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				free <- <-free
			}
		})
	})
}

// BenchmarkHostRun gets and puts a run in a pool of which every other page of a
// half is in use.
func BenchmarkHostRun(b *testing.B) {
	for _, n := range []int{2, 32, 100} {
		b.Run(fmt.Sprintf("run=%d", n), func(b *testing.B) {
			p := hostPool(b, 1<<16)
			p.Walker().GetRun(1 << 15)
			for page := uint32(0); page < 1<<15; page += 2 {
				p.Put(page)
			}
			w := p.Walker()
			for b.Loop() {
				if first, ok := w.GetRun(n); ok {
					p.PutRun(first, n)
				}
			}
		})
	}
}
