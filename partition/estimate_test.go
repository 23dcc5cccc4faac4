package partition

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// hashes are those of n integer keys, each step more than the one before, by
// the one multiplication that internal/key hashes a number with: the sketch
// gets no better ones in use.
func hashes(from, n, step int) []uint64 {
	h := make([]uint64, n)
	for i := range h {
		hi, lo := bits.Mul64(uint64((from+i)*step)^0xa0761d6478bd642f, 0xe7037ed1a0b428db)
		h[i] = hi ^ lo
	}
	return h
}

// The estimate lies within four standard errors of the truth, of the sketch
// and of the sample, however often each hash comes and however regular the
// keys are.
func TestSketch(t *testing.T) {
	t.Parallel()
	for _, step := range []int{1, 8, 1000, 86_400_000_000, 1 << 32, 1 << 40} {
		for _, n := range []int{0, 1, 100, 3000, 50_000, 500_000} {
			s := NewSketch()
			all := hashes(1, n, step)
			for range 3 {
				s.Add(all)
			}
			doubt := 4 * math.Sqrt(1.04*1.04/(1<<sketchBits)+7/float64(max(n, 1)))
			if got := s.Estimate(); math.Abs(got-float64(n)) > doubt*float64(n) {
				t.Errorf("%d keys %d apart: estimate %g, more than %.0f %% off", n, step, got, 100*doubt)
			}
			if s.Rows() != 3*int64(n) {
				t.Errorf("%d rows were added, not %d", s.Rows(), 3*n)
			}
		}
	}
}

// Sketches of workers make the sketch of all, however the rows were divided.
func TestSketchMerge(t *testing.T) {
	t.Parallel()
	all := hashes(1, 200_000, 1)
	whole, merged := NewSketch(), NewSketch()
	whole.Add(all)
	for _, part := range [][]uint64{all[:1], all[1:77_777], all[50_000:], nil} {
		s := NewSketch()
		s.Add(part)
		merged.Merge(s)
	}
	if merged.Estimate() != whole.Estimate() || merged.Rows() != 200_000+27_777 {
		t.Errorf("merged: %g of %d rows; whole: %g", merged.Estimate(), merged.Rows(), whole.Estimate())
	}
}

// From the first rows, the groups of the whole input are found, from few
// groups up to where every row is one.
func TestExpectedFromSketch(t *testing.T) {
	t.Parallel()
	const seen, total = 200_000, 10_000_000
	for _, groups := range []int64{10_000, 100_000, 1_000_000, math.MaxInt64} {
		rng := rand.New(rand.NewPCG(1, uint64(groups)))
		s := NewSketch()
		for range seen {
			s.Add(hashes(int(rng.Int64N(groups)), 1, 1))
		}
		truth := float64(min(groups, total))
		got := Expected(s.Estimate(), s.Rows(), total, -1)
		if got < 0.9*truth || got > 2*truth {
			t.Errorf("%g groups in %g rows: %g expected", truth, float64(total), got)
		}
	}
}

func TestExpected(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		why                 string
		estimate            float64
		seen, total, atMost int64
		least, most         float64
	}{
		{"no row was seen: whatever the rest is", 0, 0, 0, -1, 0, 0},
		{"few groups stay few", 1000, 1e6, 1e9, -1, 1000, 1050},
		{"every row a group, as exactly as a sketch knows", 0.98e6, 1e6, 1e9, -1, 1e9, 1e9},
		{"an estimate above the rows", 1.1e6, 1e6, 1e9, -1, 1e9, 1e9},
		{"dictionaries allow no more", 1e6, 1e6, 1e9, 5000, 5000, 5000},
		{"dictionaries allow more than there are", 1000, 1e6, 1e9, 5000, 1000, 1050},
		{"nobody knows the rows, but dictionaries bound the groups", 1e6, 1e6, -1, 5000, 5000, 5000},
		{"nobody knows anything", 1e6, 1e6, -1, -1, 1e18, math.Inf(1)},
		{"nobody knows the rows, groups repeat", 1000, 1e6, -1, -1, 1000, 1050},
	} {
		if got := Expected(x.estimate, x.seen, x.total, x.atMost); got < x.least || got > x.most || math.IsNaN(got) {
			t.Errorf("%s: %g, want %g to %g", x.why, got, x.least, x.most)
		}
	}
}

func TestAtMost(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		why      string
		distinct []int64
		rows     int64
		want     int64
	}{
		{"no keys: one group", nil, 1e9, 1},
		{"the product", []int64{10, 300}, 1e9, 3000},
		{"no more than rows", []int64{1e5, 1e5}, 1e9, 1e9},
		{"a key that nobody counted", []int64{10, -1}, 1e9, 1e9},
		{"nor are the rows known", []int64{10, -1}, -1, -1},
		{"the rows alone are not", []int64{10, 10}, -1, 100},
		{"more than an int64 holds", []int64{1e12, 1e12}, -1, -1},
		{"an empty column", []int64{0, -1}, -1, -1},
		{"an empty input", []int64{7}, 0, 0},
	} {
		if got := AtMost(x.distinct, x.rows); got != x.want {
			t.Errorf("%s: %d, want %d", x.why, got, x.want)
		}
	}
}

func BenchmarkSketchAdd(b *testing.B) {
	all := hashes(1, 1<<16, 1)
	s := NewSketch()
	for b.Loop() {
		s.Add(all)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(all)), "ns/hash")
}
