package feedback

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The estimate must find the number of groups that a uniform sample came from.
func TestEstimateGroups(t *testing.T) {
	t.Parallel()
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

// Groups that differ in size are found to be many more than those met, and groups of one size to be
// as many as they are.
func TestSeenExpected(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	const rows, total = 10_000, 400_000
	for _, x := range []struct {
		why         string
		draw        func() int
		least, most float64 // of the groups that total rows make
	}{
		{"equal groups", func() int { return rng.IntN(20_000) }, .85, 1.15},
		{"few groups", func() int { return rng.IntN(100) }, .99, 1.01},
		{"half of the rows in one group", func() int { return rng.IntN(200_000) * rng.IntN(2) }, .6, 1.2},
		{"the greater, the rarer", func() int { return int(rng.Float64() * rng.Float64() * rng.Float64() * 200_000) }, .4, 1.2},
	} {
		sizes := map[int]int{}
		seen := Observation{Rows: rows}
		for n := range total {
			sizes[x.draw()]++
			if n+1 == rows {
				seen.Groups = int64(len(sizes))
				for _, size := range sizes {
					switch size {
					case 1:
						seen.Once += 1 / float64(len(sizes))
					case 2:
						seen.Twice += 1 / float64(len(sizes))
					}
				}
			}
		}
		if share := seen.Expected(total) / float64(len(sizes)); share < x.least || share > x.most {
			t.Errorf("%s: expects %.2f of the groups", x.why, share)
		}
	}
}

func TestDecideTable(t *testing.T) {
	t.Parallel()
	c := DefaultTableConfig
	for _, x := range []struct {
		why                 string
		rows, groups, total int64
		want                TableDecision
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
		if got := c.DecideTable(Observation{Rows: x.rows, Groups: x.groups}, x.total); got != x.want {
			t.Errorf("%s: got %d, want %d", x.why, got, x.want)
		}
	}
}

// Where a few groups have most of the rows, what is expected grows with the rows, but by less and
// less; where rows of a group come together, it grows with the rows. The figures are of accounts of
// payments, of which there are 569,670.
func TestGrowth(t *testing.T) {
	t.Parallel()
	const total = 20_000_000
	skewed := Observation{Rows: 65_536, Groups: 53_121, Once: .887, Twice: .078, Counted: 1660, Before: 195_075, Grown: 1.34}
	for _, grown := range []float64{0, 1.34} {
		if skewed.Grown = grown; skewed.Expected(total) < 4e5 || skewed.Expected(total) > 9e5 {
			t.Errorf("%.0f groups are expected where they grew by %v before", skewed.Expected(total), grown)
		}
	}
	together := Observation{Rows: 65_536, Groups: 6_554, Counted: 205, Before: 3_277, Grown: 2}
	if got := together.Expected(total); got < 1.9e6 || got > 2.1e6 {
		t.Errorf("%.0f groups are expected where each ten rows make one", got)
	}
}

// Where groups come and go, the number of groups of the last rows bounds the number of all.
func TestLately(t *testing.T) {
	t.Parallel()
	c := DefaultTableConfig
	c.MinReduction = 2.5
	// Referer of hits
	seen := Observation{Rows: 36_864, Groups: 14_902, Once: .33, Twice: .03, Counted: 466, Before: 9_379, Grown: 2.5}
	const total = 5_000_000
	if got := seen.Expected(total); got < 4e6 || c.DecideTable(seen, total) != Scatter {
		t.Errorf("expects %.0f groups by their growth alone", got)
	}
	seen.Lately = 6_837. / 18_432
	if got := seen.Expected(total); got < 1.8e6 || got > 1.9e6 || c.DecideTable(seen, total) != KeepTable {
		t.Errorf("expects %.0f groups, of which the last half of the rows made %.2f each", got, seen.Lately)
	}
	few := Observation{Rows: 10_000, Groups: 100, Lately: .5}
	if got := few.Expected(total); got > 101 {
		t.Errorf("expects %.0f groups of 100", got)
	}
}

// That more groups are expected than when half of the rows were seen means nothing where few groups
// have come twice.
func TestGrowthByChance(t *testing.T) {
	t.Parallel()
	c := DefaultTableConfig
	// l_partkey, of 333,333
	seen := Observation{Rows: 32_768, Groups: 31_165, Once: .96, Twice: .037, Counted: 974, Before: 300_000}
	if got := seen.Expected(5_000_000); got > 5e5 || c.DecideTable(seen, 5_000_000) != KeepTable {
		t.Errorf("expects %.0f groups", got)
	}
}

func TestDecideGrow(t *testing.T) {
	t.Parallel()
	c := TableConfig{MinReduction: 1.5}
	for _, x := range []struct {
		rows   int64
		groups float64
		want   TableDecision
	}{{1500, 1000, KeepTable}, {1400, 1000, Scatter}, {100, 0, KeepTable}} {
		if got := c.DecideGrow(x.rows, x.groups); got != x.want {
			t.Errorf("%d rows, %.0f groups: got %d", x.rows, x.groups, got)
		}
	}
	if NoTables.DecideGrow(1e9, 1) != Scatter || NoTables.DecideGrow(1e9, 0) != Scatter {
		t.Error("NoTables grows a table")
	}
}

func TestDecideFlush(t *testing.T) {
	t.Parallel()
	c := DefaultTableConfig
	for _, x := range []struct {
		why          string
		rows, groups int64
		want         TableDecision
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
	if NoTables.DecideFlush(1e9, 1) != Scatter {
		t.Error("NoTables keeps a table")
	}
	if c.FlushReduction >= c.CacheReduction {
		t.Error("a row on disk is no dearer than one in memory")
	}
}
