package reference_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/gpumem/reference"
)

// together lets warps of 32 threads search together (Algorithm 3): in a step
// every lane looks at a word, no two at the same, and the warp takes what it
// still needs. Warps take turns. A warp's steps go into s.
func (k *walk) together(warps int, s *sample) {
	need := make([]int, warps)
	steps := make([]float64, warps)
	for i := range need {
		need[i] = 32
	}
	for left := warps; left > 0; {
		for i := range need {
			if need[i] == 0 {
				continue
			}
			steps[i]++
			locked := map[int]bool{}
			for range 32 {
				word := k.rng.IntN(len(k.free))
				if !locked[word] {
					got := min(need[i], k.free[word])
					k.free[word] -= got
					need[i] -= got
				}
				locked[word] = true
			}
			if need[i] == 0 {
				left--
				s.add(steps[i])
			}
		}
	}
}

func TestStepsOfCoRW(t *testing.T) {
	for _, b := range []reference.Steps{
		{Pages: 1 << 15, Free: 1 << 14, Threads: 4096},
		{Pages: 1 << 15, Free: 3277, Threads: 1024},
		{Pages: 1 << 15, Free: 328, Threads: 160},
		{Pages: 1 << 15, Free: 164, Threads: 96},
		{Pages: 1 << 15, Free: 164, Threads: 160},
	} {
		t.Run(name(b), func(t *testing.T) {
			var steps sample
			for seed := range uint64(60) {
				newWalk(b, 32, seed).together(b.Threads/32, &steps)
			}
			mean, dev := steps.mean()
			t.Logf("simulated %.3f ± %.3f, bound %.3f, equation (11) %.3f", mean, dev, b.CoRW(32, 32), b.CoRWDrift(32))
			below(t, "steps of a warp", steps, b.CoRW(32, 32))
			if drift := b.CoRWDrift(32); drift > b.CoRW(32, 32) {
				t.Errorf("equation (11), %v, counts more than whole steps", drift)
			}
		})
	}
}

// The bound of CoRW is a first passage of binomial sums: simulated as such it
// must come out exactly.
func TestCoRWIsAFirstPassage(t *testing.T) {
	b := reference.Steps{Pages: 1 << 14, Free: 200, Threads: 50}
	p := float64(b.Free-b.Threads) / float64(b.Pages)
	for _, active := range []int{1, 7, 32} {
		var steps sample
		rng := rand.New(rand.NewPCG(7, uint64(active)))
		for range 3000 {
			found, n := 0, 0.0
			for ; found < active; n++ {
				for range active * 32 {
					if rng.Float64() < p {
						found++
					}
				}
			}
			steps.add(n)
		}
		near(t, "first passage", steps, b.CoRW(32, active))
	}
}

// A line, then stretches until they have enough, simulated with pages that are free each
// for itself: the bound holds, and where a line never or always suffices it is exact.
func TestCoRWWideIsALineAndStretches(t *testing.T) {
	const line, stretch, active = 32, 256, 32
	for _, c := range []struct {
		p     float64
		exact bool
	}{{0.2, true}, {0.033, false}, {0.03, false}, {0.02, true}, {0.004, true}, {0.001, true}} {
		b := reference.Steps{Pages: 1_000_000, Free: int(c.p*1_000_000) + 32, Threads: 32}
		rng := rand.New(rand.NewPCG(9, uint64(c.p*1e6)))
		var steps sample
		for range 1000 {
			found, seers := 0, 0
			for range active {
				before := found
				for range line {
					if rng.Float64() < c.p {
						found++
					}
				}
				if found > before {
					seers++
				}
			}
			n := 1.0
			if found < active || 2*seers < active {
				for found = 0; found < active; n++ {
					for range active * stretch {
						if rng.Float64() < c.p {
							found++
						}
					}
				}
			}
			steps.add(n)
		}
		if want := b.CoRWWide(line, stretch, active); c.exact {
			near(t, "steps", steps, want)
		} else {
			below(t, "steps", steps, want)
		}
	}
	none := reference.Steps{Pages: 64, Free: 32, Threads: 32}
	if got := none.CoRWWide(line, stretch, active); !math.IsInf(got, 1) {
		t.Errorf("none to spare: %v steps", got)
	}
}

// Equation (11) as printed, integrated: the closed form is its value.
func TestDriftIsTheMeanOfTheInverseGaussian(t *testing.T) {
	for _, b := range []reference.Steps{{Pages: 1_000_000, Free: 500_000, Threads: 5000}, {Pages: 1_000_000, Free: 7000, Threads: 5000}} {
		p := float64(b.Free-b.Threads) / float64(b.Pages)
		mu, variance, a := 32*32*p, 32*32*p*(1-p), 32.0
		sum, dt := 0.0, a/mu/2000
		for i := 1; i < 200_000; i++ {
			x := float64(i) * dt
			sum += dt * a / math.Sqrt(2*math.Pi*variance*x) * math.Exp(-(a-mu*x)*(a-mu*x)/(2*variance*x))
		}
		if got := b.CoRWDrift(32); math.Abs(sum/got-1) > 1e-3 {
			t.Errorf("free %d: the integral is %v, the closed form %v", b.Free, sum, got)
		}
	}
}

// A free pages in M runs, each division as likely as the others (some runs may
// have been used up, as in the paper), stars and bars: the last run is used up
// with probability p, and then a walk follows.
func TestStepsOfCRW(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, c := range []struct{ free, runs, pages int }{{40, 10, 4000}, {10, 4, 100}, {5, 5, 50}, {100, 2, 200}} {
		var steps sample
		for range 20_000 {
			n := 1.0
			// one symbol of A stars and M−1 bars comes first: a bar, and the first run is empty
			if rng.IntN(c.free+c.runs-1) < c.runs-1 {
				for n++; rng.IntN(c.pages) >= c.free; n++ {
				}
			}
			steps.add(n)
		}
		s := reference.Steps{Pages: c.pages, Free: c.free, Threads: 1}
		near(t, "clustered walk", steps, s.CRW(c.runs, s.RW()))
	}
	one := reference.Steps{Pages: 100, Free: 10, Threads: 1}
	if got := one.CRW(1, one.RW()); got != 1 {
		t.Errorf("one run of free pages: %v steps, want 1", got)
	}
}

func TestStepsOfAQueue(t *testing.T) {
	s := reference.Steps{Pages: 1000, Free: 1000, Threads: 100}
	rng := rand.New(rand.NewPCG(5, 5))
	var thread, warp sample
	for range 20_000 {
		last := 0
		for range 32 {
			last = max(last, 1+rng.IntN(s.Threads))
		}
		thread.add(float64(1 + rng.IntN(s.Threads)))
		warp.add(float64(last))
	}
	near(t, "place", thread, s.Queue())
	near(t, "last place", warp, s.QueueWarp())
}
