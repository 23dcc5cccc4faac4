// Package feedback decides from counts how a run goes on. Arithmetic only:
// counts in, a decision out, no clock, no memory.
//
//   - TileConfig: whether aggregating a tile in a table before it is
//     partitioned pays, from how many groups its rows made (DecideTile), and
//     the same for a table of limited size that is flushed when it is full
//     (DecideFlush).
//   - EstimateGroups and ExpectedGroups: how many groups there are in all,
//     from those that some of the rows made.
//   - ShareConfig: whether the blocks of a device combine the rows of a tile
//     among themselves first (DecideShare), from what they sent on of an
//     earlier one.
//   - BucketGain: whether devices aggregate the buckets of rows that have left
//     them, or the CPU does.
//   - Load: how many rows of a partition that may not fit are brought to its
//     table next, and when the table counts as full (paper 003, section
//     4.2.2).
//
// All of them take it that the rows seen are like those to come. Input sorted
// by its keys is not: then they find too few groups, and whoever relies on
// them must have another way when there are more.
package feedback

import "math"

// TileConfig holds the thresholds of DecideTile.
type TileConfig struct {
	// MinRows is how many rows a table must have seen before its count of
	// groups says anything.
	MinRows int64
	// MinReduction is the least rows for each group, over the whole input of
	// a worker, for which a table is kept: below it, most rows would only be
	// copied into the table and out of it again. A table takes less memory
	// than the rows would at any reduction, however large it is. Measured
	// (docs/experiments/0002): at 2.1 partitioning is 6 % faster, at 2.7 the
	// table is by 8 %, at 3.3 and 1e8 rows by 46 %.
	MinReduction float64
	// FlushReduction is the least rows for each group, since it was last
	// flushed, for which a table that memory keeps from growing is used
	// again. It is lower than MinReduction: each row that the table saves is
	// one less to write to disk and read back. A guess, not measured: at
	// MinReduction the table costs as much as placing and merging the 60 % of
	// rows that it saves, and 1.3 saves 23 %, which is as much if a row costs
	// 2.6 times more by way of the disk.
	FlushReduction float64
}

// DefaultTileConfig is the configuration that measurements chose.
var DefaultTileConfig = TileConfig{
	MinRows:        32 << 10,
	MinReduction:   2.5,
	FlushReduction: 1.3,
}

// NoTiles never finds that a table pays.
var NoTiles = TileConfig{MinReduction: math.Inf(1), FlushReduction: math.Inf(1)}

// TileDecision is what a worker does with its next rows.
type TileDecision uint8

const (
	KeepTable TileDecision = iota // aggregate in the worker's table
	Scatter                       // skip the table: partition the rows at once
)

// ExpectedGroups is how many groups total rows will have made, when rows of
// them have made groups; total negative: nobody knows.
func ExpectedGroups(rows, groups, total int64) float64 {
	if total < 0 {
		total = math.MaxInt64
	}
	n := float64(total)
	distinct := EstimateGroups(rows, groups)
	if distinct > n {
		return n
	}
	return distinct * -math.Expm1(-n/distinct)
}

// DecideTile says whether a worker keeps aggregating into its table, having
// seen rows rows that made groups groups, of total rows that it is to see
// (negative: nobody knows).
func (c TileConfig) DecideTile(rows, groups, total int64) TileDecision {
	if rows < c.MinRows {
		return KeepTable
	}
	if total < 0 {
		total = math.MaxInt64
	}
	expected := ExpectedGroups(rows, groups, total)
	if float64(total) < c.MinReduction*expected {
		return Scatter
	}
	return KeepTable
}

// DecideFlush says whether a worker goes on with a table that is full and may
// not grow, once its groups are flushed: rowsSinceFlush rows have filled it
// with groups groups. Unlike DecideTile it needs no least number of rows:
// nothing is estimated, a table of this size did no better.
func (c TileConfig) DecideFlush(rowsSinceFlush, groups int64) TileDecision {
	if float64(rowsSinceFlush) < c.FlushReduction*float64(groups) {
		return Scatter
	}
	return KeepTable
}

// EstimateGroups estimates how many groups there are in all, if rows drawn
// from them at random show groups different ones: the D with
// groups = D·(1 − e^(−rows/D)). It is +Inf where every row was a new group.
func EstimateGroups(rows, groups int64) float64 {
	if groups >= rows {
		return math.Inf(1)
	}
	n, g := float64(rows), float64(groups)
	lo, hi := g, g*n // the answer grows as g/n nears 1: at most about n²/(2(n−g))
	for range 64 {
		d := (lo + hi) / 2
		if d*-math.Expm1(-n/d) < g {
			lo = d
		} else {
			hi = d
		}
	}
	return hi
}
