package partition

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestPlan(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for _, x := range []struct {
		why   string
		level Level
		bits  uint
		limit Limit
		again bool
	}{
		{
			"few groups: partitions for all workers",
			Level{Groups: 1000, RowBytes: 64, Left: 64},
			4, ByMinimum, false,
		},
		{
			"more of them if the caller wants that",
			Level{Groups: 1000, RowBytes: 64, Least: 65, Left: 64},
			7, ByMinimum, false,
		},
		{
			"as far as there is memory for pages",
			Level{Groups: 1000, RowBytes: 64, Least: 65, PageBytes: 8192, Workers: 2, OpenBytes: 1 << 19, Left: 64},
			5, ByPages, false,
		},
		{
			"without a limit of memory partitions are of cache size",
			Level{Groups: 1e7, RowBytes: 72, Left: 64},
			11, ByCache, false,
		},
		{
			"nor does a generous limit change that",
			Level{Groups: 1e7, RowBytes: 72, MergeBytes: 64 * mib, Left: 64},
			11, ByCache, false,
		},
		{
			"the size wanted of a partition is the caller's if he names one",
			Level{Groups: 1e7, RowBytes: 72, CacheBytes: 8 * mib, Left: 64},
			7, ByCache, false,
		},
		{
			"no more partitions than are quick to fill",
			Level{Groups: 1e9, RowBytes: 72, Left: 64},
			maxBits, ByMaximum, false,
		},
		{
			"a number of groups that nobody knows",
			Level{Groups: math.Inf(1), RowBytes: 72, Left: 64},
			maxBits, ByMaximum, false,
		},
		{
			"little memory to merge asks for smaller partitions than the cache does",
			Level{Groups: 1e6, RowBytes: 64, MergeBytes: mib / 8, Left: 64},
			10, ByMerge, false,
		},
		{
			"what a group takes while it is merged counts, not its row alone",
			Level{Groups: 1e6, RowBytes: 64, GroupBytes: 200, MergeBytes: mib / 4, Left: 64},
			10, ByMerge, false,
		},
		{
			"pages being filled have a memory of their own: 2 workers, 8 KiB each, 1024 partitions fit 16 MiB",
			Level{Groups: 1e8, RowBytes: 72, PageBytes: 8192, Workers: 2, OpenBytes: 16 * mib, Left: 64},
			10, ByPages, false,
		},
		{
			"a byte less, and only half as many do",
			Level{Groups: 1e8, RowBytes: 72, PageBytes: 8192, Workers: 2, OpenBytes: 16*mib - 1, Left: 64},
			9, ByPages, false,
		},
		{
			"what pages do not allow is left to the next level",
			Level{Groups: 1e9, RowBytes: 72, MergeBytes: 16 * mib, PageBytes: 8192, Workers: 2, OpenBytes: 16 * mib, Left: 64},
			10, ByPages, true,
		},
		{
			"nor is the most enough for very many groups",
			Level{Groups: 1e11, RowBytes: 72, MergeBytes: 16 * mib, Left: 64},
			maxBits, ByMaximum, true,
		},
		{
			"no memory for two pages: a level divides nevertheless",
			Level{Groups: 1e8, RowBytes: 72, PageBytes: 8192, Workers: 2, OpenBytes: 1, Left: 64},
			1, ByPages, false,
		},
		{
			"the last bits of the hash",
			Level{Groups: 1e8, RowBytes: 72, MergeBytes: mib, Left: 3},
			3, ByHash, true,
		},
		{
			"all bits are spent: the strategy for equal hashes",
			Level{Groups: 1e8, RowBytes: 72, MergeBytes: mib, OpenBytes: 1, PageBytes: 1, Workers: 1, Left: 0},
			0, ByHash, true,
		},
	} {
		p := x.level.Plan()
		if p.Bits != x.bits || p.Limit != x.limit || p.Again != x.again {
			t.Errorf("%s: 2^%d partitions (%v), again %t; want 2^%d (%v), %t",
				x.why, p.Bits, p.Limit, p.Again, x.bits, x.limit, x.again)
		}
	}
}

// The facts of a plan are those that it was made from.
func TestPlanFacts(t *testing.T) {
	t.Parallel()
	p := Level{Groups: 1e9, RowBytes: 64, GroupBytes: 80, MergeBytes: 80e6, Left: 64}.Plan()
	if p.Fit != 1e6 || p.Enough != BoundOf(1e9, 1e6+1, 1e-6) {
		t.Errorf("%+v", p)
	}
	p = Level{Groups: 1e9, RowBytes: 64, Left: 64}.Plan()
	if p.Fit != math.MaxInt64 || p.Enough != (Bound{1, 1}) {
		t.Errorf("without a limit: %+v", p)
	}
}

// From any facts, even senseless ones, a plan keeps its limits and has enough partitions unless it
// says so, and a level with bits left divides.
func TestPlanRules(t *testing.T) {
	t.Parallel()
	limits := map[Limit]int{}
	for seed := range uint64(20_000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		size := func(most float64) int64 { return int64(math.Exp(rng.Float64()*math.Log(most))) - 1 }
		l := Level{
			Groups: float64(size(1e15)), RowBytes: size(1e4), GroupBytes: size(1e5), MergeBytes: size(1e11),
			PageBytes: size(1e6), Workers: rng.IntN(64), OpenBytes: size(1e9), CacheBytes: size(1e7), Left: uint(rng.IntN(65)),
		}
		p := l.Plan()
		limits[p.Limit]++
		pages := l.PageBytes * int64(l.Workers) << p.Bits
		switch {
		case p.Bits > maxBits || p.Bits > l.Left:
			t.Errorf("%+v: 2^%d partitions", l, p.Bits)
		case p.Bits == 0 && l.Left > 0:
			t.Errorf("%+v: does not divide", l)
		case l.OpenBytes > 0 && pages > l.OpenBytes && p.Bits > 1:
			t.Errorf("%+v: pages of %d bytes are open", l, pages)
		case p.Again != (1<<p.Bits < p.Enough.Partitions()):
			t.Errorf("%+v: %+v", l, p)
		case !p.Again && l.MergeBytes > 0 && float64(p.Fit)*math.Exp2(float64(p.Bits)) < l.Groups:
			t.Errorf("%+v: %d groups fit each of 2^%d partitions", l, p.Fit, p.Bits)
		}
	}
	for l := ByMinimum; l <= ByHash; l++ {
		if limits[l] < 50 || l.String() == "" {
			t.Errorf("%v decided only %d times", l, limits[l])
		}
	}
}

// Level by level, partitions become small enough for any memory, and no level
// spends a bit twice: the rule that the division ends.
func TestPlanLevels(t *testing.T) {
	t.Parallel()
	l := Level{
		Groups: 1e12, RowBytes: 100, MergeBytes: 4 << 20,
		PageBytes: 8192, Workers: 2, OpenBytes: 1 << 20, Left: 64,
	}
	levels := 0
	for again := true; again; levels++ {
		p := l.Plan()
		l.Left -= p.Bits
		l.Groups /= math.Exp2(float64(p.Bits))
		again = p.Again
	}
	if l.Groups*100 > 4<<20 || levels > 5 {
		t.Errorf("%d levels end with %g groups", levels, l.Groups)
	}
}
