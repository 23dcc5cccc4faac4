package reference

import (
	"testing"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/combine"
	"github.com/gagg-dev/gagg/internal/cuda"
)

// h200 is what the plans look at.
var h200 = cuda.Device{Multiprocessors: 132, L2: 50 << 20, SharedPerBlock: 227 << 10, SharedPerMultiprocessor: 228 << 10}

// Buckets are as many as tables need, in one level while that can be, and as
// blocks need to be busy.
func TestPlanBuckets(t *testing.T) {
	for _, c := range []struct {
		rows, groups uint64
		bits         uint
		threads      uint32
	}{
		{0, 0, 0, 512},
		{1000, 1, 0, 512},
		{1000, 1000, 0, 512},
		{1 << 14, 1, 2, 512},
		{1 << 28, 1, 9, 512},
		{1 << 28, 500_000, 9, 512},
		{1 << 28, 1_000_000, 10, 512},
		{1 << 28, 3_000_000, 10, 1024},
		{1 << 28, 6_000_000, 10, 1024},
		{1 << 28, 7_000_000, 13, 512},
		{1 << 28, 1 << 28, 18, 512},
	} {
		p := planBuckets(&ega.Pairs, h200, c.rows, c.groups)
		if p.bits != c.bits || p.threads != c.threads {
			t.Errorf("%d rows, %d groups: %+v, want %+v", c.rows, c.groups, p, c)
		}
		if ega.SharedTable(&ega.Pairs, p.slots) > h200.SharedPerBlock || float64(c.groups) > bucketLoad*float64(p.slots)*float64(uint64(1)<<p.bits)+1 {
			t.Errorf("%d groups: %+v does not fit", c.groups, p)
		}
	}
}

func TestChoose(t *testing.T) {
	const rows, more = 1 << 28, 1<<28 + 1<<24
	for _, c := range []struct {
		groups, spare uint64
		frequent      float64
		want          Strategy
	}{
		{1, more, 0, StrategyShared},
		{10_000, 1 << 20, 0, StrategyShared},
		{12_000, more, 0, StrategyTable},
		{20_000, more, 0, StrategyBuckets},
		{100_000, more, 0, StrategyBuckets},
		{1_000_000, more, 0, StrategyBuckets},
		{1_000_000, more, .07, StrategyBuckets}, // Zipf .5
		{1_000_000, more, .64, StrategyTable},   // Zipf 1
		{1_000_000, more, .48, StrategyTable},   // self-similar
		{10_000_000, more, .07, StrategyBuckets},
		{10_000_000, more, .55, StrategyTable},
		{10_000_000, more, .35, StrategyBuckets},
		{10_000_000, more, .99, StrategyTable}, // Zipf 1.5
		{rows, more, 0, StrategyBuckets},
		{rows, more, .99, StrategyBuckets}, // no room for the table
		{rows * 2, more, 0, StrategyBuckets},
		{1_000_000, rows, 0, StrategyTable},
		{rows / 2, rows, 0, StrategyTable},
		{rows/2 + 1, rows, 0, StrategySingle},
		{rows, rows, 0, StrategySingle},
	} {
		if got := Choose(&ega.Pairs, h200, Facts{Rows: rows, Groups: c.groups, Spare: c.spare, Frequent: c.frequent}); got != c.want {
			t.Errorf("%d groups, room for %d rows, frequent %v: %v, want %v", c.groups, c.spare, c.frequent, got, c.want)
		}
	}
}

// Rows that cannot be scattered go to a Table, or through SP-EGA.
func TestChooseWithoutHash(t *testing.T) {
	l := ega.Layout{KeyWords: 2, Ops: []combine.Op{combine.Add}}
	for groups, want := range map[uint64]Strategy{1: StrategyShared, 1e6: StrategyTable, 1e7: StrategyTable, 3e7: StrategySingle} {
		if got := Choose(&l, h200, Facts{Rows: 5e7, Groups: groups, Spare: 5e7}); got != want {
			t.Errorf("%d groups: %v, want %v", groups, got, want)
		}
	}
}
