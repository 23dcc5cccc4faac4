package gagg

import (
	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/expr"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/internal/query"
)

// This file is what a query with aggregates of distinct values groups by beside its keys: package cpu says how they are made of that
// (internal/cpu/distinct.go).

// keyedValue is a distinct value as it stands in a grouping by the keys and itself.
type keyedValue struct {
	arg    int // of which argument
	value  key.Column
	layout *key.Layout // the keys, then the value
}

// groupingsOf is what a query groups by.
func groupingsOf(q *query.Compiled) groupings {
	g := groupings{ordered: len(q.Order) > 0, sets: len(q.Distinct), own: len(q.Calls) == 0}
	for _, c := range q.Calls {
		g.own = g.own || c.Part == 0
	}
	return g
}

// configureSets makes ready for grouping by the keys and each distinct value. What the groupings are grouped into is cfg.
func (r *run) configureSets(cfg *cpu.Config) {
	if len(r.sets) == 0 {
		return
	}
	if !cfg.States.Part(0).Updates() {
		cfg.Rows = -1 // those of the input do not come to it
	}
	for i, s := range r.sets {
		states := agg.Compile(nil, s.layout.Base()+s.layout.Words, agg.Options{MaxRows: r.facts.Rows})
		inner := &cpu.Config{
			Keys: s.layout, Intern: cfg.Intern, States: states, Arenas: cfg.Arenas,
			Stride:     s.layout.Base() + s.layout.Words, // without cpu.Stride's room behind: more rows are copied than looked up
			Partitions: cfg.Partitions, Tile: cfg.Tile, Budget: cfg.Budget, Spill: cfg.Spill,
			Rows: r.facts.Rows, AtMost: r.atMostBy(r.setKeys(s)), Threads: cfg.Threads,
		}
		shared := int64(0)
		part := i + 1
		values, pair := cfg.States.Part(part).Takes(s.arg), key.NewLayout([]key.Column{s.value})
		if values || !cpu.MayPair(cfg.Keys, pair) {
			pair = nil
		}
		if (cpu.MayShare(s.layout) || pair != nil) && cfg.Partitions == 0 { // else they are asked for
			shared = r.memory.sharedSet(len(r.sets), cfg.Threads, r.tuning.shared)
		}
		if pair != nil && shared > 0 {
			cfg.Rows = r.facts.Rows // they come all the same
		}
		inner.Memory = r.memory.setShares(len(r.sets), shared/int64(cfg.Threads))
		if placesAll(inner) {
			inner.CacheBytes = setCacheBytes
		}
		cfg.Distinct = append(cfg.Distinct, cpu.Distinct{
			Part: part, Config: inner, Arg: s.arg, Values: values, Shared: shared, Pair: pair,
		})
	}
}

// setCacheBytes is how large the groups of its partitions should be: the rows are some times as many, and the directory
// has room for as many groups. Measured against 128 and 512 KiB: 10 % more than at 512 KiB where all values differ, a third less where
// three in four do not.
const setCacheBytes = 256 << 10

// placesAll reports whether a grouping has memory for all rows of the input, and these refer to nothing.
func placesAll(c *cpu.Config) bool {
	if c.Keys.HasRefs() || c.Rows < 0 {
		return false
	}
	most := c.Memory.Worker * int64(c.Threads) / 2
	return most == 0 || c.Rows <= most/int64(8*c.Stride)
}

// setKeys is the keys of a grouping.
func (p *prepared) setKeys(s keyedValue) []*expr.Expr {
	return append(append([]*expr.Expr(nil), p.query.Keys...), p.query.Args[s.arg])
}
