package exec

import (
	"context"
	"errors"

	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/gpu"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/internal/trace"
)

// attempt is one reading of the input and the groups that it made.
type attempt struct {
	cfg     cpu.Config // of run
	run     *cpu.Run
	groups  cpu.Groups
	devices *gpu.Devices // nil: none takes part

	grouping grouping
	states   func(keys *key.Layout) *agg.Layout // those of all its runs, behind the keys of each
	outer    *attempt                           // what it is once a device has grouped byOther's groups; nil: none does

	builder func(cpu.Reader) cpu.BatchBuilder // nil: workers make all rows
	texts   *texts                            // nil: no device has any
}

// grouping is what the groups of an attempt are grouped by. configure says how it begins:
//
//	byKeys    to the end
//	byOther   until all rows are read and devices have finished, if they take part. One that has all
//	          groups may group them by the keys, and it is regroupedByDevice; else the CPU does, and
//	          it is regrouped
type grouping uint8

const (
	byKeys            grouping = iota // the keys of the query
	byOther                           // parts of the keys, or the keys, and a value (regroup.go)
	regrouped                         // the keys, by the CPU: devices have no groups any more
	regroupedByDevice                 // the keys, by a device, which has all groups
)

// onDevices reports whether devices may have groups of the attempt.
func (a *attempt) onDevices() bool { return a.devices != nil && a.grouping != regrouped }

// group reads the input and groups it.
func (r *run) group(ctx context.Context, a *attempt) (err error) {
	r.budget.HoldBack(r.plan.Memory.HeldBack(r.plan.Threads))
	defer r.budget.HoldBack(0)
	defer r.trace.Span(trace.Phases, "scan")()
	keys := r.plan.Query.Keys
	if a.grouping == byOther {
		keys = r.plan.DeviceExprs()
	}
	in := cpu.Input{
		Units: r.scan.Units(), Reader: r.trace.Readers(r.taken(a.cfg.States, r.sampled(r.scan.Reader))),
		Pipeline: func() cpu.Pipeline { return r.pipeline(keys, a.cfg.States, a.grouping == byOther) },
		Builder:  a.builder, Done: r.unitDone,
		ReadAll: func() { r.budget.HoldBack(r.plan.Memory.AfterMerge(r.plan.Threads)) },
	}
	a.groups, err = a.run.Group(ctx, in)
	a.texts.read()
	if err == nil && a.devices != nil {
		r.budget.HoldBack(r.plan.Memory.Later(r.plan.Threads)) // reading has ended
		err = a.devices.Finish(&a.groups, r.plan.Threads)
		a.texts.end()
	}
	if err != nil || a.grouping != byOther {
		return err
	}
	if a.devices != nil && a.devices.Regrouped() {
		a.cfg, a.run, a.grouping = a.outer.cfg, a.outer.run, regroupedByDevice
		return nil
	}
	r.budget.HoldBack(r.plan.Memory.AfterMerge(r.plan.Threads))
	return r.regroup(ctx, a)
}

// close frees the groups and the memory that they refer to.
func (a *attempt) close() error {
	err := a.groups.Close()
	if a.devices != nil {
		err = errors.Join(err, a.devices.Close())
	}
	a.texts.end() // of an attempt that did not come to group
	a.cfg.Arenas.Close()
	a.cfg.Intern.Close()
	return err
}

// configure makes an attempt that reads the input into a number of partitions (0: chosen by the
// number of groups), on the CPU alone or with states that devices can combine.
func (r *run) configure(partitions int, onDevices bool) *attempt {
	var runs agg.Runs
	if r.plan.Memory.Spill {
		runs = &valueRuns{open: r.disk.File}
	}
	keys, byOthers := r.plan.Layout, r.plan.Counted || r.plan.Parted || onDevices && r.plan.Regroups()
	if byOthers {
		keys = r.plan.DeviceKeys()
	}
	statesOf := func(keys *key.Layout) *agg.Layout { return r.plan.StatesOf(keys, runs, onDevices, r.cancelled) }
	states := statesOf(keys)
	cfg := cpu.Config{
		Keys: keys, Intern: key.NewInterner(r.budget), States: states, Arenas: arena.New(r.budget),
		Stride: cpu.Stride(keys, states), Partitions: partitions, Table: r.plan.Table,
		Filled: r.plan.Filled, Ranges: r.plan.Ranges, Memory: r.plan.Memory.Shares(r.plan.Query.RowSets()),
		Budget: r.budget,
		Rows:   r.plan.Facts.Rows, AtMost: r.plan.AtMost, Threads: r.plan.Threads, PassLeast: r.opt.Tuning.PassLeast, Share: onDevices && r.plan.Facts.Rows >= r.opt.Tuning.ShareFrom,
	}
	if onDevices {
		cfg.Expected = r.plan.Device.Facts.Expected()
		layout := r.deviceLayout(keys, states)
		cfg.Stride = layout.Stride()
	}
	if r.plan.Memory.Spill {
		cfg.Spill, cfg.LongText = r.disk.File, r.plan.ObserveText
	}
	if byOthers {
		if d := r.plan.Divided; d != nil {
			cfg.AtMost = d.AtMost
		} else {
			cfg.AtMost = r.plan.Sets[0].AtMost
		}
		if len(r.plan.Sets) > 0 {
			cfg.Memory = r.plan.Memory.SetShares(1, 0, 0)
		}
		return &attempt{cfg: cfg, run: cpu.NewRun(cfg), grouping: byOther, states: statesOf}
	}
	cfg.TopN = r.plan.TopN(states)
	if r.plan.Query.RowSets() > 0 {
		cfg.Groupings = r.groupings()
	}
	cfg.KeepDistinct = r.plan.Query.Mode.Writes()
	if n, ok := r.plan.HashLimit(); ok {
		cfg.Limit = n
	}
	cfg.Distinct, cfg.Rows = r.distinct(cfg)
	return &attempt{cfg: cfg, run: cpu.NewRun(cfg)}
}
