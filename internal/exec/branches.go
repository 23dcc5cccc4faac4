package exec

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/device"
	"github.com/gagg-dev/gagg/internal/input"
	"github.com/gagg-dev/gagg/internal/plan"
	"github.com/gagg-dev/gagg/internal/query"
)

// This file is queries that no device does as one, since it groups by one set of keys: with distinct
// values of several arguments, or all values of one beside distinct ones of another. Each branch of
// such a query (internal/query/branch.go) is a run within the run, on the devices, which are opened
// once. The rows of all branches are the input of a last run, which the CPU does:
//
//	input ──┬─▶ run of the first branch ──▶ records ──┐
//	        └─▶ then of the second one  ──▶ records ──┴─▶ run of Joined ──▶ Rows
//
// The last run takes records as they come. A limit of memory is shared by it and the branch that
// runs.

// branch is a part of a query that is a run of its own.
type branch struct {
	calls []int // of the query, by call of the branch
	plan  *plan.Plan
}

// divide divides the query into branches, if no device does it as one and devices do these, and are
// asked for or predicted to be faster.
func (p *prepared) divide(q Request) {
	d := &p.plan.Device
	spec := d.Facts.Spec
	if q.compile != nil || d.Facts.Unsupported == "" || spec.Kind == device.CPU || !p.plan.Rereadable {
		return
	}
	calls := p.compiled.Branches()
	if len(calls) < 2 {
		return
	}
	var branches []branch
	var plans []*plan.Plan
	for i, of := range calls {
		b, err := p.planBranch(of, i > 0)
		if err != nil || b.Device.Facts.Unsupported != "" {
			return // the whole query has a plan, which has more memory
		}
		branches, plans = append(branches, branch{of, b}), append(plans, b)
	}
	if joined := plan.JoinDevices(plans); joined.Use {
		p.branches, p.joinedDevice = branches, joined
	}
}

// planBranch plans a branch, for the decision alone: its run plans once more.
func (p *prepared) planBranch(calls []int, kept bool) (*plan.Plan, error) {
	b, err := p.compiled.Branch(p.in, calls)
	if err != nil {
		return nil, err
	}
	o := p.plan.Options
	o.MemoryLimit, o.DeviceKept = p.shareOfLimit(), o.DeviceKept || kept
	scan, err := p.in.Scan(plan.Scan(b, o))
	if err != nil {
		return nil, err
	}
	return plan.Make(plan.Inputs{Query: b, Schema: p.in.Schema(), Scan: scan, Options: o})
}

// whole is the plan of a query that is run in branches, for people.
func (p *prepared) whole() *plan.Plan {
	whole := *p.plan
	whole.Device = p.joinedDevice
	return &whole
}

// shareOfLimit is the memory limit of a branch, and that of the last run.
func (p *prepared) shareOfLimit() int64 {
	if p.opt.MemoryLimit == 0 {
		return 0
	}
	return max(p.opt.MemoryLimit-p.budget.Reserved(), 2) / 2
}

// lentInput is an input that stays open.
type lentInput struct{ input.Input }

func (lentInput) Close() error { return nil }

// branching is the run of a query in branches.
type branching struct {
	*prepared
	request Request
	temp    *temp
	gpus    *device.Set
	schema  *arrow.Schema // of the rows of all branches
	started time.Time

	stats []Stats // of the branches that have run
	err   error   // that ended one
	total int64   // bytes of all branches
}

// runBranches runs the branches of a query, and then the query over their rows. It closes the input
// and the temp folder, unless both are nil: then no device can be opened, and the caller goes on
// without.
func (p *prepared) runBranches(ctx context.Context, q Request, temp *temp, started time.Time) (_ *Rows, err error) {
	b := &branching{prepared: p, request: q, temp: temp, gpus: q.Options.GPUs, started: started}
	if b.gpus == nil {
		spec := p.joinedDevice.Facts.Spec
		if b.gpus, err = device.Open(ctx, spec); err != nil {
			if !spec.Required() && ctx.Err() == nil {
				q.Options.logger().Debug("no GPU", slog.String("reason", device.Problem(err)))
				return nil, nil
			}
			return nil, errors.Join(err, p.in.Close(), temp.close())
		}
		if !q.Options.LastRun {
			defer func() { err = errors.Join(err, b.gpus.Close()) }()
		}
	}
	defer func() { err = errors.Join(err, p.in.Close()) }()
	for _, of := range p.branches {
		b.total += of.plan.Facts.Bytes
	}
	b.schema = arrow.NewSchema(fieldsOf(p.compiled.JoinedFields()), nil)
	rows, err := runIn(ctx, b.last(ctx), temp, nil, started)
	if err != nil {
		if b.err != nil {
			err = b.err
		}
		return nil, err
	}
	rows.branching = b
	return rows, nil
}

// fieldsOf is columns in Arrow.
func fieldsOf(columns []column.Field) (fields []arrow.Field) {
	for _, f := range columns {
		fields = append(fields, column.ArrowField(f.Name, f.Type, true))
	}
	return fields
}

// last is the request for the query over the rows of all branches.
func (b *branching) last(ctx context.Context) Request {
	q := b.request
	q.From = input.RecordSeq(b.schema, func(yield func(arrow.Record, error) bool) { b.records(ctx, yield) })
	q.compile = func(query.Columns) (*query.Compiled, error) { return b.compiled.Joined() }
	o := &q.Options
	o.Device, o.GPUs, o.MemoryLimit = "cpu", nil, b.shareOfLimit()
	if observe := o.Observe; observe != nil {
		o.Observe = func(p Progress) {
			if !p.Output { // records come: the branches tell
				return
			}
			rows := b.plan.Facts.Rows
			p.BytesDone, p.BytesTotal, p.RowsDone, p.RowsTotal = b.total, b.total, rows, rows
			observe(p)
		}
	}
	return q
}

// records runs the branches, one after the other.
func (b *branching) records(ctx context.Context, yield func(arrow.Record, error) bool) {
	done := int64(0) // bytes of branches that have ended
	for i := range b.branches {
		more, err := b.runBranch(ctx, i, done, func(rec arrow.Record) bool { return yield(rec, nil) })
		if err != nil {
			b.err = err
			yield(nil, err)
			return
		}
		if !more {
			return
		}
		done += b.branches[i].plan.Facts.Bytes
	}
}

// runBranch runs a branch, and gives its rows to yield until that wants no more.
func (b *branching) runBranch(ctx context.Context, i int, done int64, yield func(arrow.Record) bool) (more bool, err error) {
	of := &b.branches[i]
	q := b.request
	q.input = lentInput{b.in}
	q.compile = func(in query.Columns) (*query.Compiled, error) { return b.compiled.Branch(in, of.calls) }
	o := &q.Options
	o.GPUs, o.MemoryLimit, o.LastRun, o.Trace, o.Allocator = b.gpus, b.shareOfLimit(), false, nil, nil
	if observe := o.Observe; observe != nil {
		o.Observe = func(p Progress) {
			if p.Output {
				return
			}
			n := int64(len(b.branches))
			p.BytesDone, p.BytesTotal = done+p.BytesDone, b.total
			p.RowsDone, p.RowsTotal = (int64(i)*b.plan.Facts.Rows+p.RowsDone)/n, b.plan.Facts.Rows
			observe(p)
		}
	}
	rows, err := runIn(ctx, q, b.temp.lent(), nil, b.started)
	if err != nil {
		return false, err
	}
	for more = true; more && rows.Next(); {
		rec := b.widen(of, rows.Record())
		more = yield(rec)
		rec.Release()
	}
	b.stats = append(b.stats, rows.Stats())
	rows.Release()
	return more, rows.Err()
}

// widen puts NULL in the place of the aggregates that a branch does not have.
func (b *branching) widen(of *branch, rec arrow.Record) arrow.Record {
	keys := len(b.compiled.Keys)
	cols := make([]arrow.Array, b.schema.NumFields())
	for i := range cols {
		if i < keys {
			cols[i] = rec.Column(i)
		} else if call := slices.Index(of.calls, i-keys); call >= 0 {
			cols[i] = rec.Column(keys + call)
		} else {
			null := array.MakeArrayOfNull(b.alloc, b.schema.Field(i).Type, int(rec.NumRows()))
			defer null.Release()
			cols[i] = null
		}
	}
	return array.NewRecord(b.schema, cols, rec.NumRows())
}

// add makes the counts of the last run those of the query.
func (b *branching) add(s *Stats) {
	s.Plan, s.Device = b.whole(), device.Names(nil)
	for i := range b.stats {
		of := &b.stats[i]
		if i == 0 {
			s.Rows, s.RowGroups, s.GroupsSkipped, s.PagesSkipped, s.RowsSkipped = of.Rows, of.RowGroups, of.GroupsSkipped, of.PagesSkipped, of.RowsSkipped
			s.FoldersSkipped, s.FilesSkipped = of.FoldersSkipped, of.FilesSkipped
			s.BytesRead, s.BytesSkipped = 0, 0
		}
		if len(of.Devices) > 0 && s.Device == device.Names(nil) {
			s.Device = of.Device
		}
		s.BytesRead, s.BytesSkipped = s.BytesRead+of.BytesRead, s.BytesSkipped+of.BytesSkipped
		s.PeakMemory, s.SpilledBytes = max(s.PeakMemory, of.PeakMemory), s.SpilledBytes+of.SpilledBytes
		s.Texts, s.TextBytes = s.Texts+of.Texts, s.TextBytes+of.TextBytes
		s.Distinct, s.Devices, s.Fallbacks = append(s.Distinct, of.Distinct...), append(s.Devices, of.Devices...), append(s.Fallbacks, of.Fallbacks...)
		if i == 0 {
			s.Batches = of.Batches
		} else {
			s.Batches.Join(of.Batches)
		}
	}
}
