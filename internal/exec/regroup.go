package exec

import (
	"context"
	"errors"
	"math"

	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/expr"
	"github.com/gagg-dev/gagg/internal/gpu"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/internal/plan"
)

// This file is queries of which groups are made by other keys first, with the states of all
// aggregates: by the keys and a distinct value, or by parts of the keys and that, where devices
// make them; by the keys and a value that is counted, with devices or without. These are grouped by
// the keys before anything is put out: by the device that has all of them (gpu.Regroup), or by the
// CPU (cpu.Run.Regroup). From there on devices have no part in the run, but for the first of these.

// regroup groups the groups of an attempt by the keys alone, on the CPU.
func (r *run) regroup(ctx context.Context, a *attempt) error {
	ranges := r.planRanges(a)
	from, groups := a.run, a.groups
	cfg := a.cfg
	outer := r.outer(a, r.plan.Layout)
	how := cpu.Regrouping{From: &cfg, Ranges: ranges}
	if divided := r.plan.Divided; divided != nil {
		how.Keys = func() cpu.Pipeline { return r.keysOf(divided) }
		outer.Distinct, _ = r.distinct(outer)
	} else {
		set := r.plan.Sets[0]
		how.Distinct = &cpu.Distinct{Part: 1, Arg: set.Arg, Config: &cfg, Values: outer.States.Part(1).Takes(set.Arg)}
	}
	outer.Stride = cpu.Stride(outer.Keys, outer.States)
	outer.Rows, outer.TopN = int64(groups.Estimate), r.plan.TopN(outer.States)
	by := cpu.NewRun(outer)
	pipe := cpu.Pipeline{Keys: make([]cpu.Evaluator, len(r.plan.Query.Keys)), Args: make([]cpu.Evaluator, len(r.plan.Query.Args))}
	how.Merger = func() (*cpu.Merger, error) {
		m := from.NewMerger(groups.Buckets)
		if !a.onDevices() {
			return m, nil
		}
		if err := a.devices.Attach(m); err != nil {
			return nil, errors.Join(err, m.Close())
		}
		return m, nil
	}
	out, err := by.Regroup(ctx, pipe, how)
	if err != nil {
		return err
	}
	a.cfg, a.run, a.groups, a.grouping = outer, by, out, regrouped
	return groups.Close()
}

// keysOf makes the evaluators of the keys of one worker, over batches of their parts.
func (r *run) keysOf(d *plan.Divided) (p cpu.Pipeline) {
	group := expr.NewGroup()
	p.Begin = group.Begin
	for _, e := range d.Keys { // INT96 was checked where the parts were read
		p.Keys = append(p.Keys, group.NewEval(e))
	}
	return p
}

// outer is the configuration of the run that an attempt's groups are grouped by the keys for.
func (r *run) outer(a *attempt, keys *key.Layout) cpu.Config {
	outer := a.cfg
	outer.Keys, outer.States = keys, a.states(keys)
	outer.AtMost, outer.Memory = r.plan.AtMost, r.plan.Memory.Shares(0)
	return outer
}

// regroupOnDevice is how a device groups the groups of an attempt by the keys; nil: none does.
func (r *run) regroupOnDevice(a *attempt) *gpu.Regroup {
	how := r.plan.Device.Regroup
	if how == nil {
		return nil
	}
	outer := r.outer(a, r.plan.RegroupedKeys())
	layout := r.deviceLayout(outer.Keys, outer.States)
	outer.Stride = layout.Stride()
	a.outer = &attempt{cfg: outer, run: cpu.NewRun(outer)}
	rows := *how
	rows.AtMost = math.MaxUint64
	if outer.AtMost >= 0 {
		rows.AtMost = uint64(outer.AtMost)
	}
	return &gpu.Regroup{Rows: &rows, Keys: outer.Keys, States: outer.States, Run: a.outer.run, Select: r.plan.Device.Select, Intern: a.cfg.Intern}
}
