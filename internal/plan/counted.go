package plan

import (
	"slices"

	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/device"
	"github.com/gagg-dev/gagg/internal/query"
)

// This file is values that are counted. median(x), mode(x) and their like need the values of a
// group, of which each may come often. Where x has few different values, rows are grouped by the
// keys and x first, as for distinct values, by the CPU as by devices; and of each such group x and
// how many rows it has go to the aggregates of the group by the keys (decision 0034).

// Counting says when values are counted.
type Counting struct {
	From int64 // the least number of rows
	// Repeats is in how many rows a group by the keys and x is to come, at least. Where an
	// aggregate would keep a list of all values else, there are also to be no more than Listed such
	// groups.
	Repeats, Listed float64

	// Tried: of so many rows or more, where an argument has at most TriedValues values and nothing
	// tells how many of them come with the same keys, the CPU begins to count, until workers see
	// that a group comes in fewer than Repeats rows, or TriedRepeats where a list is kept else.
	Tried                     int64
	TriedValues, TriedRepeats float64
}

// defaultCounting was measured with two threads (decision 0034). Where a list is kept, what pays is
// that groups stay in the cache: of 350,000 groups in 28 rows each, counting took as long as a
// list, and twice as long of 227,000 in 22. Of fewer rows than From, grouping groups once more is
// not worth it; from how many on it is was not measured.
//
// `median(ResolutionWidth)` by RegionID has 115,000 groups by both, and dictionaries allow 2.7e7:
// of 1e7 rows counting took as long as a list (.36 s), of two copies of them .40 s in place of .92,
// of four .52 in place of 1.40; `mode` of two .36 in place of 1.05.
var defaultCounting = Counting{From: 1 << 16, Repeats: 8, Listed: 1 << 15, Tried: 1 << 22, TriedValues: 1 << 16, TriedRepeats: 64}

// countValues has the values of an argument counted, if that is expected to pay. The query changes
// in the plan, whose threads and memory are planned once more. Where the memory limit is too small
// for two groupings nothing is counted. A device that pays goes on with what the CPU has begun to
// count: workers have not seen values come too seldom.
func (p *planner) countValues() error {
	arg, pays := p.countedPays()
	tried := !pays && p.triesCounting(arg)
	if !pays && !tried && (arg < 0 || !p.deviceCounts()) {
		return nil
	}
	before := p.Query
	q := *before
	q.Distinct, q.Calls = []int{arg}, slices.Clone(q.Calls)
	for i := range q.Calls {
		if c := &q.Calls[i]; c.Func.Holistic() {
			c.Part, c.Counted = distinctPart, true
		}
	}
	p.Query, p.Counted, p.Tried = &q, true, tried && !p.Learnt.Device
	if err := p.planThreads(); err == nil {
		return nil
	}
	p.Query, p.Counted, p.Tried = before, false, false
	return p.planThreads()
}

// triesCounting reports whether to begin to count the values of an argument; -1: of none.
func (p *planner) triesCounting(arg int) bool {
	how := &p.Options.Tuning.Counting
	return arg >= 0 && !p.Learnt.Uncounted && p.Rereadable && p.Facts.Rows >= how.Tried &&
		expectedDistinct(p.Query.Args[arg], p.Facts.Rows, p.scan) <= how.TriedValues
}

// deviceCounts reports whether to count because a device has no other way: the lists that it keeps
// are those of all values alone. It groups by the keys and the argument as fast as by any keys,
// however many groups these are. The device is asked for, or workers have seen that it pays.
func (p *planner) deviceCounts() bool {
	return (p.Options.Device.Required() || p.Learnt.Device || p.forced) && !p.Learnt.Uncounted &&
		slices.ContainsFunc(p.Query.Calls, func(c agg.Call) bool { return c.Func.Holistic() && !c.Func.Lists() })
}

// deviceOfCounted is the decision of the plan that counts the values of an argument, where no
// device can do the query in another way and the CPU is better off with lists. The CPU begins: what
// it takes is known by its pace alone. It is not ok if there is no such plan, or no device is
// expected to pay.
func (p *planner) deviceOfCounted(in Inputs) (d Device, ok bool) {
	if f := &p.Device.Facts; f.Unsupported == "" || f.NoDevice != "" || f.Spec.Kind != device.Auto || p.Counted || p.countable == 0 {
		return d, false
	}
	counts := newPlanner(in)
	counts.forced = true
	if err := counts.decide(); err != nil || !counts.Counted || counts.Device.Choice.Device == 0 {
		return d, false
	}
	d = counts.Device
	d.Facts.Unseen, d.doubtful, d.Use = true, true, d.Choice.Device < d.costs.Near*d.Choice.CPU
	return d, d.Use
}

// Uncounts reports, by what a worker has seen, whether the values that a run has begun to count
// come too seldom. It does not once an eighth of the rows was read: beginning anew would cost more.
func (p *Plan) Uncounts(seen cpu.Sample) bool {
	const part = 8
	if !p.Tried || seen.Read == 0 || part*int64(p.Threads)*seen.Read > p.Facts.Rows {
		return false
	}
	how := &p.Options.Tuning.Counting
	repeats := how.Repeats
	if slices.ContainsFunc(p.Query.Calls, func(c agg.Call) bool { return c.Func.Lists() }) {
		repeats = how.TriedRepeats
	}
	rows := float64(p.Facts.Rows) * float64(seen.Selected) / float64(seen.Read)
	return expected(seen, rows)*repeats > rows
}

// countedPays reports whether to count the values of an argument is expected to pay, and which it
// is; -1: those of none may be.
func (p *planner) countedPays() (arg int, pays bool) {
	arg, ok := countedArg(p.Query)
	how := &p.Options.Tuning.Counting
	if !ok || p.Facts.Rows < how.From {
		return -1, false
	}
	groups := expectedDistinct(p.Query.Args[arg], p.Facts.Rows, p.scan)
	of := p.Query.Args[arg].Columns()
	for _, e := range p.Query.Keys {
		if !slices.ContainsFunc(e.Columns(), func(c int) bool { return !slices.Contains(of, c) }) {
			continue // the argument's columns tell the key
		}
		groups *= expectedDistinct(e, p.Facts.Rows, p.scan)
	}
	p.countable = groups
	if groups*how.Repeats > float64(p.Facts.Rows) {
		return arg, false
	}
	lists := slices.ContainsFunc(p.Query.Calls, func(c agg.Call) bool { return c.Func.Lists() })
	return arg, !lists || groups <= how.Listed
}

// countedArg is the argument of which a query needs all values of each group. It is not ok if
// there are several, or none, or an aggregate needs more than its values and how often they come.
// Aggregates of its distinct values may be there too: each comes once in a group.
func countedArg(q *query.Compiled) (arg int, ok bool) {
	if q.Mode != query.Whole || len(q.Groupings) > 0 {
		return 0, false
	}
	for _, c := range q.Calls {
		switch {
		case !c.Func.Holistic():
			continue
		case c.Types[0].Kind == column.Null || !c.Func.TakesCounts(c.Types[0]), ok && c.Args[0] != arg:
			return 0, false
		}
		arg, ok = c.Args[0], true
	}
	others := slices.ContainsFunc(q.Distinct, func(i int) bool { return i != arg })
	return arg, ok && !others
}
