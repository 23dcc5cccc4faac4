package exec

import (
	"slices"

	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/key"
)

// groupings is the sets of keys that groups are of; none: one set, of all keys.
func (r *run) groupings() (g cpu.Groupings) {
	q := r.plan.Query
	if len(q.Groupings) == 0 {
		return g
	}
	g.Sets = q.Groupings
	for _, k := range q.Keys {
		g.Types = append(g.Types, k.Type())
	}
	return g
}

// distinct makes the configurations of the inner runs, which group by the keys and a distinct
// value. cfg is the configuration of the outer run, and rows how many rows come to that (-1: not
// known).
func (r *run) distinct(cfg cpu.Config) (list []cpu.Distinct, rows int64) {
	rows = cfg.Rows
	if len(r.plan.Sets) > 0 && !cfg.States.Part(0).Updates() {
		rows = -1 // those of the input do not come to it
	}
	for i, s := range r.plan.Sets {
		states := agg.Compile(nil, s.Layout.Base()+s.Layout.Words, agg.Options{MaxRows: r.plan.Facts.Rows})
		inner := cpu.Config{
			Keys: s.Layout, Intern: cfg.Intern, States: states, Arenas: cfg.Arenas,
			// without cpu.Stride's room behind: more rows are copied than looked up
			Stride:     s.Layout.Base() + s.Layout.Words,
			Partitions: cfg.Partitions, Table: cfg.Table, Budget: cfg.Budget, Spill: cfg.Spill,
			Rows: r.plan.Facts.Rows, AtMost: s.AtMost, Threads: cfg.Threads,
		}
		shared := int64(0)
		part := i + 1
		values, pair := cfg.States.Part(part).Takes(s.Arg), key.NewLayout([]key.Column{s.Value})
		if values || cfg.KeepDistinct || len(cfg.Groupings.Sets) > 0 || !cpu.MayPair(cfg.Keys, pair) {
			pair = nil
		}
		// else they are asked for
		if (slices.ContainsFunc(s.Shared, cpu.MayShare) || pair != nil) && cfg.Partitions == 0 && !cfg.KeepDistinct {
			shared = r.plan.Memory.SharedSet(len(r.plan.Sets), cfg.Threads, r.opt.Tuning.Plan.Shared)
		}
		if pair != nil && shared > 0 {
			rows = r.plan.Facts.Rows // all rows come, whether they are paired or not
		}
		inner.Memory = r.plan.Memory.SetShares(len(r.plan.Sets), shared/int64(cfg.Threads), len(cfg.Groupings.Sets))
		inner.Groupings = cfg.Groupings
		if inner.Rows > 0 { // a worker of each set sees all
			inner.Rows *= int64(max(len(cfg.Groupings.Sets), 1))
		}
		if placesAll(&inner) {
			inner.CacheBytes = setCacheBytes
		}
		list = append(list, cpu.Distinct{
			Part: part, Config: &inner, Arg: s.Arg, Values: values, Shared: shared, Sets: s.Shared, Pair: pair,
		})
	}
	return list, rows
}

// setCacheBytes is how large the groups of its partitions should be: the rows are some times as
// many, and the directory has room for as many groups. Measured against 128 and 512 KiB: 10 % more
// than at 512 KiB where all values differ, a third less where three in four do not.
const setCacheBytes = 256 << 10

// placesAll reports whether a grouping has memory for all rows of the input, and these refer to
// nothing.
func placesAll(c *cpu.Config) bool {
	if c.Keys.HasRefs() || c.Rows < 0 {
		return false
	}
	most := c.Memory.Worker * int64(c.Threads) / 2
	return most == 0 || c.Rows <= most/int64(8*c.Stride)
}
