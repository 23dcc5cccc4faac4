package exec

import (
	"context"
	"errors"

	"github.com/gagg-dev/gagg/internal/cpu"
)

// This file is distinct values of queries of which devices make groups: by the keys and the value,
// with the states of all aggregates. The CPU groups these by the keys (cpu.Run.Regroup), before
// anything is put out: from there on devices have no part in the run.

// regroup groups the groups of an attempt by the keys alone.
func (r *run) regroup(ctx context.Context, a *attempt) error {
	ranges := r.planRanges(a)
	from, groups := a.run, a.groups
	set := r.plan.Sets[0]
	cfg := a.cfg
	d := cpu.Distinct{Part: 1, Arg: set.Arg, Config: &cfg}
	outer := cfg
	outer.Keys, outer.States = r.plan.Layout, r.plan.States(nil, true, r.cancelled)
	d.Values = outer.States.Part(d.Part).Takes(set.Arg)
	outer.Stride = cpu.Stride(outer.Keys, outer.States)
	outer.AtMost, outer.Rows, outer.Memory = r.plan.AtMost, int64(groups.Estimate), r.plan.Memory.Shares(0)
	outer.TopN = r.plan.TopN(outer.States)
	by := cpu.NewRun(outer)
	pipe := cpu.Pipeline{Keys: make([]cpu.Evaluator, len(r.plan.Query.Keys)), Args: make([]cpu.Evaluator, len(r.plan.Query.Args))}
	out, err := by.Regroup(ctx, pipe, cpu.Regrouping{Distinct: &d, Ranges: ranges, Merger: func() (*cpu.Merger, error) {
		m := from.NewMerger(groups.Buckets)
		if err := a.devices.Attach(m); err != nil {
			return nil, errors.Join(err, m.Close())
		}
		return m, nil
	}})
	if err != nil {
		return err
	}
	a.cfg, a.run, a.groups, a.grouping = outer, by, out, regrouped
	return groups.Close()
}
