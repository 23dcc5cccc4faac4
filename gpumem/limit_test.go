package gpumem_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/gpumem"
	"github.com/gagg-dev/gagg/gpumem/reference"
)

func TestStepLimit(t *testing.T) {
	for _, c := range []struct {
		lowest float64
		pages  int
		want   uint32
	}{
		{0.005, 1, 1077}, // paper 000, §3.2.3
		{0.01, 1, 536},
		{0.5, 1, 7},  // the normal approximation has 6
		{0.1, 32, 2}, // and here 1
		{0.005, 32, 32},
		{0.005, 64, 15},
		{0.005, 32 * 32, 1}, // a warp's step
		{0.01, 32, 15},
		{0.999, 1, 1},
		{1e-12, 1, math.MaxUint32}, // a limit that is no limit, but a number
	} {
		if got := gpumem.StepLimit(c.lowest, c.pages); got != c.want {
			t.Errorf("StepLimit(%v, %d) = %d, want %d", c.lowest, c.pages, got, c.want)
		}
	}
}

// With the share L free, a walk passes the limit in less than a hundredth of
// all cases: false alarms are as rare as promised.
func TestFalseAlarmsAreRare(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 11))
	for _, w := range []int{1, 32} {
		for _, lowest := range []float64{0.5, 0.1, 0.02} {
			limit := int(gpumem.StepLimit(lowest, w)) * w
			const walks = 20_000
			alarms := 0
			for range walks {
				looks := 0
				for ; looks < limit && rng.Float64() >= lowest; looks++ {
				}
				if looks == limit {
					alarms++
				}
			}
			// 0.01 and 4.5 standard errors of 20,000 walks
			if share := float64(alarms) / walks; share > 0.01+0.0032 {
				t.Errorf("L = %v, w = %d: %v of the walks tell out of memory", lowest, w, share)
			}
		}
	}
}

// Theorem 1 of paper 000: E[X] falls by w as the share of free pages at the
// end goes to zero (N = A, few of them). Theorem 2: so does the bound of E[Y],
// V' = V/w + (w−1)/(2w).
func TestTheorems(t *testing.T) {
	for _, w := range []int{32, 64} {
		few := reference.Steps{Pages: 1 << 30, Free: 100, Threads: 100}
		if got := few.RW() / few.RWBM(w); math.Abs(got/float64(w)-1) > 1e-4 {
			t.Errorf("w = %d: RW-BM takes %v times fewer steps", w, got)
		}
		spare := reference.Steps{Pages: 1 << 22, Free: 101, Threads: 100}
		want := spare.RWWarp()/float64(w) + float64(w-1)/float64(2*w)
		if got := spare.RWBMWarp(w); math.Abs(got/want-1) > 1e-5 {
			t.Errorf("w = %d: bound of RW-BM %v, theorem 2 says %v", w, got, want)
		}
	}
}

// The closed form of the bound against the sum of equation (4), term by term.
func TestBoundIsTheSum(t *testing.T) {
	for _, s := range []reference.Steps{
		{Pages: 100, Free: 100, Threads: 1},
		{Pages: 100, Free: 51, Threads: 1},
		{Pages: 100_000, Free: 600, Threads: 100},
	} {
		p := float64(s.Free-s.Threads) / float64(s.Pages)
		sum, miss := 0.0, 1.0
		for ; miss > 1e-14; miss *= 1 - p {
			sum -= math.Expm1(32 * math.Log1p(-miss))
		}
		if got := s.RWWarp(); math.Abs(got/sum-1) > 1e-6 {
			t.Errorf("%+v: %v, the sum is %v", s, got, sum)
		}
	}
}

func TestStepsAtTheEdges(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"N = 1, all free", reference.Steps{Pages: 10, Free: 10, Threads: 1}.RW(), 1},
		{"N = 1 is geometric", reference.Steps{Pages: 10, Free: 2, Threads: 1}.RW(), 5},
		{"N = A = T is the coupon collector", reference.Steps{Pages: 3, Free: 3, Threads: 3}.RW(), 1 + 1.0/2 + 1.0/3},
		{"N > A", reference.Steps{Pages: 3, Free: 2, Threads: 3}.RW(), inf},
		{"N > A, words", reference.Steps{Pages: 64, Free: 2, Threads: 3}.RWBM(32), inf},
		{"N > A, words running dry", reference.Steps{Pages: 64, Free: 2, Threads: 3}.RWBMDrain(32), inf},
		{"none free", reference.Steps{Pages: 3, Free: 0, Threads: 1}.RW(), inf},
		{"N = A has no bound", reference.Steps{Pages: 3, Free: 2, Threads: 2}.RWWarp(), inf},
		{"N = A has no bound, words", reference.Steps{Pages: 64, Free: 2, Threads: 2}.RWBMWarp(32), inf},
		{"N = A has no bound, words running dry", reference.Steps{Pages: 64, Free: 2, Threads: 2}.RWBMDrainWarp(32), inf},
		{"N = A has no bound, warps", reference.Steps{Pages: 64, Free: 32, Threads: 32}.CoRW(32, 32), inf},
		{"N = A has no drift", reference.Steps{Pages: 64, Free: 32, Threads: 32}.CoRWDrift(32), inf},
		{"words of one page are pages", reference.Steps{Pages: 500, Free: 70, Threads: 40}.RWBM(1), reference.Steps{Pages: 500, Free: 70, Threads: 40}.RW()},
		{"so for a warp", reference.Steps{Pages: 500, Free: 70, Threads: 40}.RWBMWarp(1), reference.Steps{Pages: 500, Free: 70, Threads: 40}.RWWarp()},
		{"plenty: a warp takes one step", reference.Steps{Pages: 1 << 20, Free: 1 << 19, Threads: 32}.CoRW(32, 32), 1},
		{"a queue of one", reference.Steps{Pages: 1, Free: 1, Threads: 1}.Queue(), 1},
		{"a queue of one, warp", reference.Steps{Pages: 1, Free: 1, Threads: 1}.QueueWarp(), 1},
	} {
		if c.got != c.want && math.Abs(c.got-c.want) > 1e-6*c.want {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
	// the halves of RWBMDrain stand for the sum of RW
	s := reference.Steps{Pages: 5000, Free: 700, Threads: 690}
	if got, want := s.RWBMDrain(1), s.RW(); math.Abs(got/want-1) > 2e-3 {
		t.Errorf("words of one page running dry: %v, want %v", got, want)
	}
}
