package plan

import (
	"math"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/expr"
	"github.com/gagg-dev/gagg/internal/input"
	"github.com/gagg-dev/gagg/internal/query"
	"github.com/gagg-dev/gagg/partition"
)

// Groups is how groups would be divided.
type Groups struct {
	AtMost     int64 // most groups by the footers; -1: not known
	Fit        int64 // groups that a partition may have to be merged in memory; -1: any number
	Theorem1   int64 // partitions that leave none with more, by Theorem 1 of EGA
	Chernoff   int64 // the same by Chernoff's bound
	Partitions int   // a power of two
	Reason     string
}

// Groups is into how many partitions groups are divided if there are as many as there can be. A run
// divides by what it estimates from the rows it has seen, and not at all while its tables reduce
// them.
func (p *Plan) Groups() Groups {
	states := p.States(nil, false, nil)
	cfg := cpu.Config{States: states, Stride: cpu.Stride(p.Layout, states), Threads: p.Threads, Memory: p.Memory.Shares(p.Query.RowSets())}
	g := Groups{AtMost: p.AtMost}
	groups := math.Inf(1)
	if g.AtMost >= 0 {
		groups = float64(g.AtMost)
	}
	level := cfg.Level(groups).Plan()
	g.Fit, g.Theorem1, g.Chernoff = level.Fit, level.Enough.Theorem1, level.Enough.Chernoff
	if g.Fit == math.MaxInt64 {
		g.Fit = -1
	}
	g.Partitions, g.Reason = 1<<level.Bits, level.Limit.String()
	if p.Options.Partitions > 0 {
		g.Partitions, g.Reason = p.Options.Partitions, "as asked for, from the first row on"
	}
	return g
}

// groupingsOf is the groupings of a query.
func groupingsOf(q *query.Compiled) groupings {
	g := groupings{keySets: max(q.RowSets(), 1), ordered: len(q.Order) > 0, sets: len(q.Distinct), own: len(q.Calls) == 0}
	for _, c := range q.Calls {
		g.own = g.own || c.Part == 0
	}
	return g
}

// atMostBy is how many groups there can be by the given keys, in all grouping sets.
func (p *planner) atMostBy(keys []*expr.Expr) int64 {
	distinct := make([]int64, len(keys))
	for i, e := range keys {
		distinct[i] = -1
		if sets := p.Query.RowSets(); sets > 0 && i == len(p.Query.Keys)-1 {
			distinct[i] = int64(sets)
			continue
		}
		if c, ok := e.Column(); ok && p.scan.RowGroups() == 1 && p.scan.DictAll(c) {
			distinct[i] = int64(p.scan.DictEntries(c)) + 1 // and NULL
		}
	}
	rows := p.Facts.Rows
	// each may have a group for each row, or one for none
	if sets := p.Query.RowSets(); sets > 0 && rows >= 0 {
		rows = int64(sets) * (rows + 1)
	}
	return partition.AtMost(distinct, rows)
}

// sampledRepeats is in how many rows a group has to come, by what dictionaries tell, for no sample
// to be taken.
const sampledRepeats = 64

// expect adds to the facts of a choice, which have the groups expected by dictionaries, what a
// sample tells where that is not clear, or where something is computed.
func (p *planner) expect(f *DeviceFacts) {
	if f.Groups*sampledRepeats <= float64(f.Rows) && f.Operations == 0 {
		return
	}
	s := p.sample(p.DeviceExprs())
	if f.Sampled = s.ok; s.ok {
		f.Groups, f.Computing, f.Together = min(f.Groups, s.groups), s.computing, s.together
		if p.Divided != nil {
			f.Keyed = s.keyed
			if p.mayPart() {
				f.ByParts = s.byParts
			}
		}
		if f.Filtered {
			f.Selectivity = s.selectivity
		}
	}
}

// ExpectedGroups is about how many groups devices have, as far as the dictionaries of a scan tell,
// which may read some pages.
func ExpectedGroups(p *Plan, scan input.Scan) float64 {
	product := 1.0
	for _, e := range p.DeviceExprs() {
		product *= expectedDistinct(e, p.Facts.Rows, scan)
	}
	if rows := p.Facts.Rows; rows >= 0 {
		product = min(product, float64(rows))
	}
	return product
}

// expectedDistinct is about how many values an expression has: no more than follows from what it
// computes and the ends of its columns, and than its columns have together. A column has as many as
// make, among the rows of a unit, as many different ones as its largest dictionary holds; +Inf: not
// known.
func expectedDistinct(e *expr.Expr, rows int64, scan input.Scan) float64 {
	return min(mostValues(e, scan), distinctColumns(e, rows, scan))
}

// mostValues is how many values an expression has at most, by the ends of its columns.
func mostValues(e *expr.Expr, scan input.Scan) float64 {
	return e.MostValues(func(c int) (least, most int64, ok bool) {
		from, to, ok := scan.Ends(c)
		if ok = ok && from.Type.Rep() == column.RepInt64 && from.Type.Kind != column.Uint64; !ok {
			return 0, 0, false
		}
		return from.Int, to.Int, true
	})
}

// distinctColumns is how many values the columns of an expression have together, about.
func distinctColumns(e *expr.Expr, rows int64, scan input.Scan) float64 {
	product := 1.0
	for _, c := range e.Columns() {
		entries := int64(scan.DictEntries(c))
		if !scan.DictAll(c) || entries < 0 || rows < 0 || scan.RowGroups() == 0 {
			return math.Inf(1)
		}
		product *= feedback.EstimateGroups(rows/int64(scan.RowGroups()), entries) + 1 // and NULL
	}
	return product
}
