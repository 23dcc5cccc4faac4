package reference_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/gpumem/reference"
)

// sigmas is how far a mean of simulations may lie from a formula, in standard
// errors: 4.5 is passed by chance once in 150,000 times. Seeds are fixed, so a
// failure stays a failure.
const sigmas = 4.5

// sample is the mean of many values and its standard error.
type sample struct{ n, sum, squares float64 }

func (s *sample) add(v float64) { s.n++; s.sum += v; s.squares += v * v }

func (s *sample) mean() (mean, deviation float64) {
	mean = s.sum / s.n
	return mean, math.Sqrt(max(s.squares/s.n-mean*mean, 0) / s.n)
}

// near wants a sample whose mean is the formula's value.
func near(t *testing.T, what string, s sample, want float64) {
	t.Helper()
	if mean, dev := s.mean(); math.Abs(mean-want) > sigmas*dev+1e-9 {
		t.Errorf("%s: simulated %.4f ± %.4f, the formula says %.4f", what, mean, dev, want)
	}
}

// below wants a sample whose mean the formula bounds.
func below(t *testing.T, what string, s sample, bound float64) {
	t.Helper()
	if mean, dev := s.mean(); mean > bound+sigmas*dev {
		t.Errorf("%s: simulated %.4f ± %.4f, above the bound %.4f", what, mean, dev, bound)
	}
}

// bursts is pools of 8192 pages: half, a tenth, a hundredth and 0.5 % free, for
// few requests and for as many as there are pages; and the smallest ones.
var bursts = []reference.Steps{
	{Pages: 8192, Free: 4096, Threads: 32},
	{Pages: 8192, Free: 4096, Threads: 2048},
	{Pages: 8192, Free: 819, Threads: 416},
	{Pages: 8192, Free: 819, Threads: 800},
	{Pages: 8192, Free: 82, Threads: 32},
	{Pages: 8192, Free: 41, Threads: 1},
	{Pages: 8192, Free: 41, Threads: 41},
	{Pages: 8192, Free: 8192, Threads: 8192},
	{Pages: 32, Free: 1, Threads: 1},
	{Pages: 1024, Free: 1024, Threads: 32},
}

func name(s reference.Steps) string {
	return fmt.Sprintf("pages=%d/free=%d/threads=%d", s.Pages, s.Free, s.Threads)
}

// walk is a pool of words of w pages, simulated one step at a time.
type walk struct {
	rng  *rand.Rand
	free []int // pages of the word
	w    int
}

// newWalk spreads the free pages over all.
func newWalk(s reference.Steps, w int, seed uint64) *walk {
	k := &walk{rng: rand.New(rand.NewPCG(seed, 1)), free: make([]int, s.Pages/w), w: w}
	for _, page := range k.rng.Perm(s.Pages)[:s.Free] {
		k.free[page/w]++
	}
	return k
}

// look takes up to n pages of a random word.
func (k *walk) look(n int) int {
	word := k.rng.IntN(len(k.free))
	got := min(n, k.free[word])
	k.free[word] -= got
	return got
}

// burst lets all threads walk at once, a step each in turn, and adds up the
// steps of threads and of the slowest of each whole warp.
func (k *walk) burst(threads int, thread, warp *sample) {
	steps := make([]float64, threads)
	waiting := k.rng.Perm(threads)
	for len(waiting) > 0 {
		still := waiting[:0]
		for _, id := range waiting {
			steps[id]++
			if k.look(1) == 0 {
				still = append(still, id)
			}
		}
		waiting = still
	}
	mean := 0.0
	for _, n := range steps {
		mean += n / float64(threads)
	}
	thread.add(mean)
	for ; len(steps) >= 32; steps = steps[32:] {
		slowest := 0.0
		for _, n := range steps[:32] {
			slowest = max(slowest, n)
		}
		warp.add(slowest)
	}
}

func simulate(s reference.Steps, w int) (thread, warp sample) {
	for seed := range uint64(max(20, 2_000/s.Threads)) {
		newWalk(s, w, seed).burst(s.Threads, &thread, &warp)
	}
	return thread, warp
}

func TestStepsOfSinglePages(t *testing.T) {
	for _, s := range bursts {
		t.Run(name(s), func(t *testing.T) {
			thread, warp := simulate(s, 1)
			near(t, "steps of a thread", thread, s.RW())
			if warp.n > 0 {
				below(t, "steps of a warp", warp, s.RWWarp())
			}
			if log := float64(s.Pages) / float64(s.Threads) * math.Log(float64(s.Free)/float64(s.Free-s.Threads)); s.Free > 2*s.Threads &&
				math.Abs(log/s.RW()-1) > 0.02 {
				t.Errorf("equation (3) gives %v, the sum %v", log, s.RW())
			}
		})
	}
}

// The formulas for words hold for many words: not for the pool of one.
func TestStepsOfWords(t *testing.T) {
	for _, s := range bursts {
		if s.Pages <= 32 {
			continue
		}
		t.Run(name(s), func(t *testing.T) {
			thread, warp := simulate(s, 32)
			mean, dev := thread.mean()
			spread, drain := s.RWBM(32), s.RWBMDrain(32)
			t.Logf("simulated %.3f ± %.3f, equation (5) %.3f (%+.1f %%), RWBMDrain %.3f (%+.1f %%)",
				mean, dev, spread, 100*(spread/mean-1), drain, 100*(drain/mean-1))
			if math.Abs(mean-drain) > sigmas*dev+0.01*mean {
				t.Errorf("RWBMDrain %.4f, simulated %.4f ± %.4f", drain, mean, dev)
			}
			if spread > mean+sigmas*dev+1e-6 {
				t.Errorf("equation (5), %.4f, is above the simulated %.4f ± %.4f", spread, mean, dev)
			}
			if warp.n > 0 {
				below(t, "steps of a warp", warp, s.RWBMDrainWarp(32))
			}
		})
	}
}
