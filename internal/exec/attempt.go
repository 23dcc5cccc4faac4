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

// attempt is one reading of the input and what came of it.
type attempt struct {
	cfg     *cpu.Config
	runs    agg.Runs // of cfg.States
	groups  cpu.Groups
	devices *gpu.Devices // nil: none takes part

	packer func(cpu.Reader) cpu.Packer // nil: workers make all rows
}

// group reads the input and groups it.
func (r *run) group(ctx context.Context, a *attempt) (err error) {
	r.budget.HoldBack(r.plan.Memory.HeldBack(r.plan.Threads))
	defer r.budget.HoldBack(0)
	defer r.trace.Span(trace.Phases, "scan")()
	in := cpu.Input{
		Units: r.scan.Units(), Reader: r.trace.Readers(r.sampled(r.scan.Reader)),
		Pipeline: func() cpu.Pipeline { return r.pipeline(a.cfg.States) },
		Packer:   a.packer, Done: r.unitDone,
		ReadAll: func() { r.budget.HoldBack(r.plan.Memory.AfterMerge(r.plan.Threads)) },
	}
	if a.groups, err = cpu.Run(ctx, a.cfg, in, r.plan.Threads); err != nil || a.devices == nil {
		return err
	}
	r.budget.HoldBack(r.plan.Memory.Later(r.plan.Threads)) // nobody reads any more
	return a.devices.Finish(&a.groups, r.plan.Threads)
}

// close lets go of the groups and what they refer to.
func (a *attempt) close() error {
	err := a.groups.Close()
	if a.devices != nil {
		err = errors.Join(err, a.devices.Close())
	}
	a.cfg.Arenas.Close()
	a.cfg.Intern.Close()
	return err
}

// configure makes ready for reading the input, on the CPU alone.
func (r *run) configure() *attempt {
	var runs agg.Runs
	if r.plan.Memory.Spill {
		runs = &valueRuns{open: r.disk.File}
	}
	states := r.plan.States(runs, false, r.cancelled)
	cfg := &cpu.Config{
		Keys: r.plan.Layout, Intern: key.NewInterner(r.budget), States: states, Arenas: arena.New(r.budget),
		Stride: cpu.Stride(r.plan.Layout, states), Partitions: r.opt.Partitions, Tile: r.plan.Tile,
		Filled: r.plan.Filled, Ranges: r.plan.Ranges, Memory: r.plan.Memory.Shares(len(r.plan.Query.Groupings)),
		Budget: r.budget,
		Rows:   r.plan.Facts.Rows, AtMost: r.plan.AtMost, Threads: r.plan.Threads, PassLeast: r.opt.Tuning.PassLeast,
	}
	if r.plan.Memory.Spill {
		cfg.Spill, cfg.LongText = r.disk.File, r.plan.ObserveText
	}
	r.configureGroupings(cfg)
	r.configureSets(cfg)
	if n, ok := r.plan.FirstGroups(); ok {
		cfg.First = cpu.NewFirst(n)
	}
	cfg.Top = r.plan.TopGroups(states)
	return &attempt{cfg: cfg, runs: runs}
}
