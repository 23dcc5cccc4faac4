// Package feedback decides from counts how a run goes on. Arithmetic only:
// counts in, a decision out, no clock, no memory.
//
//   - TableConfig: whether aggregating rows in a table before they are
//     partitioned pays, from how many groups they made: in a table that
//     grows with its groups (DecideTable), in one that stays in the cache and is
//     flushed when it is full (DecideCached), in one that memory keeps from
//     growing (DecideFlush); and whether it would by now (DecideGrow).
//   - EstimateGroups, ExpectedGroups and Observation: how many groups there are in all,
//     from those that some of the rows made.
//   - PreaggregateConfig: whether the blocks of a device combine the rows of a tile
//     among themselves first (DecidePreaggregate), from what they sent on of an
//     earlier one.
//   - BucketGain: whether devices aggregate the buckets of rows that have left
//     them, or the CPU does.
//   - Load: how many rows of a partition that may not fit are brought to its
//     table next, and when the table counts as full (paper 003, §4.2.2).
//
// All of them take it that the rows seen are like those to come. Input sorted
// by its keys is not: then they find too few groups, and whoever relies on
// them must have another way when there are more.
package feedback

import "math"

// TableConfig holds the thresholds of DecideTable.
type TableConfig struct {
	// MinRows is how many rows a table must have seen before its count of
	// groups says anything.
	MinRows int64
	// MinReduction is the least rows for each group, over the whole input of
	// a worker, for which its table grows beyond the cache: below it, most
	// rows would only be copied into the table and out of it again, each by way
	// of a cache miss or two. Measured, as the others (docs/experiments/0017).
	MinReduction float64
	// CacheReduction is the least rows for each group, since it was last
	// flushed, for which a table that is kept in the cache is used again.
	CacheReduction float64
	// CacheBytes is how large a table is that is kept in the cache: about a quarter of
	// the second-level cache of a core.
	CacheBytes int64
	// FlushReduction is the least rows for each group, since it was last
	// flushed, for which a table that memory keeps from growing is used
	// again. It is lower than CacheReduction: each row that the table saves is
	// one less to write to disk and read back, which takes longer than a look-up in the cache
	// even at 5 GB/s: 10 ns for 24 bytes both ways.
	FlushReduction float64
}

// DefaultTableConfig is the configuration that measurements chose.
var DefaultTableConfig = TableConfig{
	MinRows:        32 << 10,
	MinReduction:   6,
	CacheReduction: 1.5,
	CacheBytes:     512 << 10,
	FlushReduction: 1.3,
}

// NoTables never finds that a table pays.
var NoTables = TableConfig{MinReduction: math.Inf(1), CacheReduction: math.Inf(1), FlushReduction: math.Inf(1)}

// TableDecision is what a worker does with its next rows.
type TableDecision uint8

const (
	KeepTable TableDecision = iota // aggregate in the worker's table
	Scatter                        // skip the table: partition the rows at once
)

// ExpectedGroups is how many groups total rows will have made, when rows of
// them have made groups; total negative: not known.
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

// Observation is the groups that the rows of a worker have made so far.
type Observation struct {
	Rows, Groups int64
	// Once and Twice are the shares of the groups that have one row, and two, among so many groups
	// that were counted; 0: nobody has counted.
	Once, Twice float64
	Counted     int
	// Before is what AtRandom expected of all rows when half of these were seen; 0: nobody has
	// asked.
	Before float64
	// Grown is how many times as many these were as what AtRandom expected at half of that; 0:
	// nobody has asked twice before.
	Grown float64
	// Lately is how many groups each row since then has made; 0: nobody has counted.
	Lately float64
}

// AtRandom is how many groups total rows will have made if they come in random order; total
// negative: the number of rows is not known.
//
// Where some groups have many rows and most have few, EstimateGroups finds far too few: it takes
// all for equal, and rows of the large ones for a sign that there are no more. The groups with one
// row and those with two say how many have none yet: f1²/2f2 at least (Chao, Nonparametric
// estimation of the number of classes in a population, 1984), of which more rows will show a part
// (Colwell et al., Models and estimators linking individual-based and sample-based rarefaction,
// 2012, equation 9).
func (s Observation) AtRandom(total int64) float64 {
	equal := ExpectedGroups(s.Rows, s.Groups, total)
	if s.Once <= 0 || total <= s.Rows {
		return equal
	}
	once, twice := s.Once*float64(s.Groups), s.Twice*float64(s.Groups)
	unseen := once * once / (2 * max(twice, 1))
	more := float64(total-s.Rows) / float64(s.Rows)
	return max(equal, float64(s.Groups)-unseen*math.Expm1(-more*once/unseen))
}

// Expected is how many groups total rows will have made; total negative: the number of rows is not
// known.
//
// More and more groups are expected the more rows were seen, for two reasons. Rows of a file are
// seldom in random order: those of a day or a place come together. And where a few groups have most
// of the rows AtRandom knows too little of the others. In the first case what is expected grows as
// much with each doubling of the rows; in the second one by less and less. So the logarithm of the
// growth is taken to change by the same factor from doubling to doubling, as it did between the
// last two, or to halve if the one before was not more than chance. But no more groups are expected
// than the last rows have made, since a row is the less often a new group the more groups there
// are.
func (s Observation) Expected(total int64) float64 {
	n := s.AtRandom(total)
	if growth := n / s.Before; s.Before > 0 && growth > s.leastGrowth() && total > s.Rows {
		change := .5
		if s.Grown > s.leastGrowth() {
			change = min(math.Log(min(growth, 2))/math.Log(min(s.Grown, 2)), 1)
		}
		doublings := math.Log2(float64(total) / float64(s.Rows))
		if change < 1 { // the sum of change to the powers from 1 to doublings
			doublings = change * (1 - math.Pow(change, doublings)) / (1 - change)
		}
		n = min(n*math.Pow(min(growth, 2), doublings), float64(total))
	}
	if s.Lately > 0 && total > s.Rows {
		n = min(n, float64(s.Groups)+s.Lately*float64(total-s.Rows))
	}
	return n
}

// leastGrowth is by how much an estimate has to grow, while the rows seen double, to be more than
// chance: by a tenth and twice the standard deviation. The estimate goes by the t groups that were
// seen twice, so its relative variance is 1/t; when half of the rows were seen t was a quarter, and
// the variance 4/t; the quotient of both has 5/t. The tenth was not measured: a growth within it
// only has a decision wait for as many rows again.
func (s Observation) leastGrowth() float64 {
	twice := float64(s.Rows - s.Groups) // rows that made no new group, if not counted
	if s.Once > 0 {
		twice = s.Twice * float64(s.Counted)
	}
	return 1.1 + 2*math.Sqrt(5/max(twice, 1))
}

// DecideTable says whether a worker keeps aggregating into a table that grows
// with its groups, having seen some rows of total rows that it is to see
// (negative: not known).
func (c TableConfig) DecideTable(o Observation, total int64) TableDecision {
	if o.Rows < c.MinRows {
		return KeepTable
	}
	if total < 0 {
		total = math.MaxInt64
	}
	if float64(total) < c.MinReduction*o.Expected(total) {
		return Scatter
	}
	return KeepTable
}

// DecideGrow says whether a worker takes a table that grows again, when rows that came after it was
// given up have made so many groups that had not come before.
func (c TableConfig) DecideGrow(rows int64, groups float64) TableDecision {
	if float64(rows) >= c.MinReduction*groups { // not so if that is no number
		return KeepTable
	}
	return Scatter
}

// DecideCached says whether a worker goes on with a table that is kept in the
// cache, once its groups are flushed.
func (c TableConfig) DecideCached(rowsSinceFlush, groups int64) TableDecision {
	if float64(rowsSinceFlush) < c.CacheReduction*float64(groups) {
		return Scatter
	}
	return KeepTable
}

// DecideFlush says whether a worker goes on with a table that is full and may
// not grow, once its groups are flushed: rowsSinceFlush rows have filled it
// with groups groups. Unlike DecideTable it needs no least number of rows:
// nothing is estimated, a table of this size did no better.
func (c TableConfig) DecideFlush(rowsSinceFlush, groups int64) TableDecision {
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
