package feedback

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The estimate must find the number of groups that a uniform sample came from.
func TestEstimateGroups(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, d := range []int{1, 10, 1000, 50_000} {
		for _, n := range []int64{int64(d) / 2, int64(d), 4 * int64(d)} {
			if n < 10 {
				continue
			}
			seen := map[int]bool{}
			for range n {
				seen[rng.IntN(d)] = true
			}
			got := EstimateGroups(n, int64(len(seen)))
			if n >= 1000 && math.Abs(got-float64(d)) > 0.15*float64(d) {
				t.Errorf("groups=%d rows=%d: estimate %.0f", d, n, got)
			}
		}
	}
	if got := EstimateGroups(100, 100); !math.IsInf(got, 1) {
		t.Errorf("all rows distinct: estimate %v, want +Inf", got)
	}
}

func TestDecideTile(t *testing.T) {
	c := DefaultTileConfig
	for _, x := range []struct {
		why                 string
		rows, groups, total int64
		want                TileDecision
	}{
		{"too few rows seen to tell", 100, 100, 1e9, KeepTable},
		{"every row a group", 65536, 65536, 5e6, Scatter},
		{"1e5 groups in 5e6 rows", 65536, 48000, 5e6, KeepTable},
		{"one group", 65536, 1, 5e6, KeepTable},
		{"the rest of the input is too short to repeat", 65536, 63000, 70000, Scatter},
		{"an unknown number of rows is taken for many", 65536, 48000, -1, KeepTable},
		{"reduces tenfold, in a table of gigabytes", 65536, 65520, 1e10, KeepTable},
		{"two rows a group", 65536, 64900, 6.6e6, Scatter},
	} {
		if got := c.DecideTile(x.rows, x.groups, x.total); got != x.want {
			t.Errorf("%s: got %d, want %d", x.why, got, x.want)
		}
	}
}

func TestDecideFlush(t *testing.T) {
	c := DefaultTileConfig
	for _, x := range []struct {
		why          string
		rows, groups int64
		want         TileDecision
	}{
		{"every row was a group", 100_000, 100_000, Scatter},
		{"a tenth of the rows was saved", 100_000, 90_000, Scatter},
		{"a third was saved: too little in memory, enough before a disk", 100_000, 66_000, KeepTable},
		{"a small table that saved little", 1100, 1000, Scatter},
		{"a small table that saved much", 5000, 1000, KeepTable},
		{"nothing since the last flush", 0, 0, KeepTable},
	} {
		if got := c.DecideFlush(x.rows, x.groups); got != x.want {
			t.Errorf("%s: got %d, want %d", x.why, got, x.want)
		}
	}
	if NoTiles.DecideFlush(1e9, 1) != Scatter {
		t.Error("NoTiles keeps a table")
	}
	if c.FlushReduction >= c.MinReduction {
		t.Error("a row on disk is no dearer than one in memory")
	}
}
