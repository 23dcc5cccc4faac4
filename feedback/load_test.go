package feedback

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestLoad(t *testing.T) {
	t.Parallel()
	l := DefaultLoadConfig.Of(1000)
	for _, x := range []struct {
		why    string
		groups int64
		next   int64
		full   bool
	}{
		{"an empty table takes rows up to its largest load", 0, 750, false},
		{"groups that are there take room", 300, 450, false},
		{"at the threshold it is not yet full, and takes the least load", 500, 250, false},
		{"above the threshold it counts as full", 501, 0, true},
		{"and at its largest load", 750, 0, true},
	} {
		if next, full := l.NextLoad(x.groups), l.Full(x.groups); next != x.next || full != x.full {
			t.Errorf("%s: %d groups: next %d, full %t", x.why, x.groups, next, full)
		}
	}
	if l.Least() != 250 {
		t.Errorf("the least load is %d", l.Least())
	}
}

// With any thresholds, capacity and groups of the rows, a table never exceeds its largest load
// (LOAD-MAX), each load but the last has the least size (LOAD-MIN), the loading ends, and a
// partition whose groups stay below the threshold is loaded whole.
func TestLoadSimulated(t *testing.T) {
	t.Parallel()
	stopped := 0
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		c := LoadConfig{Full: rng.Float64() * 0.9}
		c.Max = c.Full + (1-c.Full)*(0.01+0.99*rng.Float64())
		capacity := 1 + rng.Int64N(500)
		l := c.Of(capacity)
		rows := rng.Int64N(5000)
		group := distribution(rng)

		seen := map[int64]bool{}
		left, loads := rows, int64(0)
		for left > 0 && !l.Full(int64(len(seen))) {
			n := l.NextLoad(int64(len(seen)))
			if n < l.Least() || float64(n) < (c.Max-c.Full)*float64(capacity)-1 || n < 1 {
				t.Fatalf("seed %d: a load of %d rows, the least is %d", seed, n, l.Least())
			}
			n = min(n, left)
			for range n {
				seen[group()] = true
			}
			left, loads = left-n, loads+1
			if groups := float64(len(seen)); groups > 1 && groups > c.Max*float64(capacity) {
				t.Fatalf("seed %d: %g groups in a table of %d, at most %g", seed, groups, capacity, c.Max)
			}
		}
		if loads > rows/l.Least()+1 {
			t.Fatalf("seed %d: %d loads for %d rows of at least %d", seed, loads, rows, l.Least())
		}
		if left > 0 {
			stopped++
			if float64(len(seen)) <= math.Floor(min(c.Full, c.Max-1/float64(capacity))*float64(capacity)) {
				t.Fatalf("seed %d: stopped at %d groups of %d, full is %g", seed, len(seen), capacity, c.Full)
			}
		}
	}
	if stopped < 200 || stopped > 1800 {
		t.Errorf("%d of 2000 runs ended with a full table: the inputs test one way only", stopped)
	}
}

// distribution returns what the groups of rows may look like: all new, few,
// one, many but repeated, all new after a while.
func distribution(rng *rand.Rand) func() int64 {
	next, few := int64(0), 1+rng.Int64N(300)
	calm := rng.Int64N(2000)
	switch rng.IntN(5) {
	case 0:
		return func() int64 { next++; return next }
	case 1:
		return func() int64 { return rng.Int64N(few) }
	case 2:
		return func() int64 { return 0 }
	case 3:
		return func() int64 { return int64(rng.ExpFloat64() * float64(few)) }
	}
	return func() int64 { next++; return max(next, calm) }
}

// A table without room takes nothing; one with room for a single group takes
// a row.
func TestLoadSmallest(t *testing.T) {
	t.Parallel()
	for _, capacity := range []int64{0, -5} {
		if l := DefaultLoadConfig.Of(capacity); !l.Full(0) || l.NextLoad(0) != 0 {
			t.Errorf("capacity %d: not full", capacity)
		}
	}
	if l := DefaultLoadConfig.Of(1); l.Full(0) || l.NextLoad(0) != 1 || !l.Full(1) {
		t.Errorf("capacity 1: %+v", l)
	}
}

func TestLoadConfigValidate(t *testing.T) {
	t.Parallel()
	if err := DefaultLoadConfig.Validate(); err != nil {
		t.Error(err)
	}
	for _, x := range []struct {
		c        LoadConfig
		problems int
	}{
		{LoadConfig{Full: -0.1, Max: 0.5}, 1},
		{LoadConfig{Full: 0.5, Max: 1.5}, 1},
		{LoadConfig{Full: 0.5, Max: 0.5}, 1},
		{LoadConfig{Full: -2, Max: -3}, 2},
		{LoadConfig{Full: math.NaN(), Max: 0.5}, 2},
	} {
		err := x.c.Validate()
		if err == nil || strings.Count(err.Error(), "feedback: ") != x.problems {
			t.Errorf("%+v: %v, want %d problems", x.c, err, x.problems)
		}
	}
}
