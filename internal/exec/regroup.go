package exec

import (
	"context"
	"errors"
	"math"

	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/gpu"
	"github.com/gagg-dev/gagg/internal/key"
)

// This file is distinct values of queries of which devices make groups: by the keys and the value,
// with the states of all aggregates. These are grouped by the keys before anything is put out: by
// the device that has all of them (gpu.Regroup), or by the CPU (cpu.Run.Regroup). From there on
// devices have no part in the run, but for the first of these.

// regroup groups the groups of an attempt by the keys alone, on the CPU.
func (r *run) regroup(ctx context.Context, a *attempt) error {
	ranges := r.planRanges(a)
	from, groups := a.run, a.groups
	set := r.plan.Sets[0]
	cfg := a.cfg
	d := cpu.Distinct{Part: 1, Arg: set.Arg, Config: &cfg}
	outer := r.outer(a, r.plan.Layout)
	d.Values = outer.States.Part(d.Part).Takes(set.Arg)
	outer.Stride = cpu.Stride(outer.Keys, outer.States)
	outer.Rows, outer.TopN = int64(groups.Estimate), r.plan.TopN(outer.States)
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

// outer is the configuration of the run that an attempt's groups are grouped by the keys for.
func (r *run) outer(a *attempt, keys *key.Layout) cpu.Config {
	outer := a.cfg
	outer.Keys, outer.States = keys, r.plan.StatesOf(keys, nil, true, r.cancelled)
	outer.AtMost, outer.Memory = r.plan.AtMost, r.plan.Memory.Shares(0)
	return outer
}

// regroupOnDevice is how a device groups the groups of an attempt by the keys; nil: none does.
func (r *run) regroupOnDevice(a *attempt) *gpu.Regroup {
	plan := r.plan.Device.Regroup
	if plan == nil {
		return nil
	}
	outer := r.outer(a, r.plan.RegroupedKeys())
	layout := r.deviceLayout(outer.Keys, outer.States)
	outer.Stride = layout.Stride()
	a.outer = &attempt{cfg: outer, run: cpu.NewRun(outer)}
	rows := *plan
	rows.AtMost = math.MaxUint64
	if outer.AtMost >= 0 {
		rows.AtMost = uint64(outer.AtMost)
	}
	return &gpu.Regroup{Rows: &rows, Keys: outer.Keys, States: outer.States, Run: a.outer.run, Select: r.plan.Device.Select, Intern: a.cfg.Intern}
}
