package reference

import (
	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
)

// Strategy is a way to aggregate rows on the device.
type Strategy int

const (
	StrategyShared Strategy = iota // ega.Table.AddShared
	// ega.Table.AddShared too, whose tables in shared memory keep frequent keys off the Table
	StrategyTable
	StrategyBuckets // a scatter by hash, then Buckets
	StrategySingle  // SinglePass
)

// String is the name of a strategy.
func (r Strategy) String() string { return [...]string{"shared", "table", "buckets", "single"}[r] }

// Facts is what the choice of a strategy depends on.
type Facts struct {
	Rows   uint64 // to aggregate
	Groups uint64 // an estimate of how many they have
	Spare  uint64 // rows that device memory has room for beside them
	// Frequent is an estimate of the share of the rows that the FrequentGroups groups with the most
	// rows have; 0: not known, as if all groups were alike.
	Frequent float64
}

// What a row costs, in nanoseconds for a thousand pairs on an H200 (docs/experiments/0006). Other
// layouts and devices move all of them much alike, and only their relations count.
const (
	costHit     = 1 / .17  // in the table of a block
	costMiss    = 1 / .03  // in a Table in the L2 cache, after a look at the block's
	costFarMiss = 1 / .016 // in one that is larger
	costBuckets = 1 / .045 // scattered once, and combined
	costLevels  = 1 / .029 // scattered twice
)

// FrequentGroups is how many groups a block's table keeps off the Table.
func FrequentGroups(l *ega.Layout, d cuda.Device) uint64 {
	return ega.SharedFits(ega.PlanShared(l, d, 1<<63).Slots)
}

// sharedMost is how many groups the largest table of a block takes.
func sharedMost(l *ega.Layout, d cuda.Device) uint64 {
	return ega.SharedFits(ega.SharedSlots(l, d.SharedPerBlock-min(d.SharedPerBlock, kernels.EgaStaticShared)))
}

// scatterSlack is the part of the rows' memory that Scattered takes at most beside as many rows:
// its counters take 4 bytes for each tile and part, a sixteenth for tiles of 4,000 rows of 16 bytes
// in 2^bucketLevel parts.
const scatterSlack = 1. / 16

// Choose chooses the strategy, as a pure function of counts and of facts of the device. A wrong
// estimate costs time, nothing else. If there is too little memory for any strategy, it returns
// StrategySingle, which needs as much memory as the rows.
func Choose(l *ega.Layout, d cuda.Device, f Facts) Strategy {
	groups := min(f.Groups, f.Rows)
	table := uint64(float64(groups) / ega.TableLoad)
	switch {
	case groups <= sharedMost(l, d) && table <= f.Spare:
		return StrategyShared
	case scatters(l) && f.Rows+uint64(scatterSlack*float64(f.Rows)) <= f.Spare:
		if table <= f.Spare && tableCost(l, d, f, groups) < bucketsCost(l, d, f, groups) {
			return StrategyTable
		}
		return StrategyBuckets
	case table <= f.Spare:
		return StrategyTable
	}
	return StrategySingle
}

// tableCost is that of StrategyTable: frequent groups meet in the blocks' tables, the others in the
// Table.
func tableCost(l *ega.Layout, d cuda.Device, f Facts, groups uint64) float64 {
	alike := float64(FrequentGroups(l, d)) / float64(max(groups, 1))
	hits := min(max(f.Frequent, alike), 1)
	miss := costMiss
	if cuda.Size(float64(groups)/ega.TableLoad)*l.RowBytes() > d.L2 {
		miss = costFarMiss
	}
	return hits*costHit + (1-hits)*miss
}

// bucketsCost is that of StrategyBuckets.
func bucketsCost(l *ega.Layout, d cuda.Device, f Facts, groups uint64) float64 {
	if planBuckets(l, d, f.Rows, groups).bits > bucketLevel {
		return costLevels
	}
	return costBuckets
}
