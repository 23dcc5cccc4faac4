package exec

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/device"
	"github.com/gagg-dev/gagg/internal/input"
	"github.com/gagg-dev/gagg/internal/plan"
	"github.com/gagg-dev/gagg/internal/query"
)

// This file is queries that no device does as one, since it groups by one set of keys: with
// distinct values of several arguments, or all values of one beside distinct ones of another. Each
// subquery of such a query (internal/query/subquery.go) is a run within the run, on the devices,
// which are opened once. So are, on the CPU alone, those that count values where the whole query
// would keep all (docs/decisions/0034). The rows of all subqueries are the input of a last run, by
// the CPU, which has each group whole (SUBQUERY-GROUPS):
//
//	input ──┬─▶ run of the first subquery ──▶ records ──┐
//	        └─▶ then that of the second   ──▶ records ──┴─▶ run of Joined ──▶ Rows
//
// The last run takes records as they come. A limit of memory is shared by it and the subquery that
// runs.

// subquery is a part of a query that is a run of its own.
type subquery struct {
	calls []int // of the query, by call of the subquery
	plan  *plan.Plan
}

// leastShared is the least memory limit that is shared by a subquery and the last run: the whole
// query does with less (not measured).
const leastShared = 256 << 20

// chooseSubqueries divides the query, if no device does it as one, and devices that do the
// subqueries are asked for or predicted to be faster; or if the CPU does it, and counts values in a
// subquery that it would not count in the query.
func (p *prepared) chooseSubqueries(q Request) {
	d := &p.plan.Device
	if q.compile != nil || d.Use || d.Reconsiders || p.plan.Counted || !p.plan.Rereadable {
		return
	}
	if limit := p.opt.MemoryLimit; 0 < limit && limit < leastShared {
		return
	}
	if _, few := p.plan.HashLimit(); few { // most rows are dropped before they are grouped
		return
	}
	calls := p.compiled.Subqueries()
	if len(calls) < 2 {
		return
	}
	var subqueries []subquery
	var plans []*plan.Plan
	onDevices, counts := d.Facts.Unsupported != "" && d.Facts.Spec.Kind != device.CPU, false
	for i, of := range calls {
		s, err := p.planSubquery(of, i > 0)
		if err != nil {
			return // the whole query has a plan, which has more memory
		}
		onDevices, counts = onDevices && s.Device.Facts.Unsupported == "", counts || s.Counted
		subqueries, plans = append(subqueries, subquery{of, s}), append(plans, s)
	}
	p.joinedDevice = *d
	if onDevices {
		if joined := plan.JoinDevices(plans); joined.Use {
			p.subqueries, p.joinedDevice = subqueries, joined
			return
		}
	}
	if counts && !d.Facts.Spec.Required() {
		p.subqueries = subqueries
	}
}

// planSubquery plans a subquery, for the decision alone: its run plans once more.
func (p *prepared) planSubquery(calls []int, kept bool) (*plan.Plan, error) {
	b, err := p.compiled.Subquery(p.in, calls)
	if err != nil {
		return nil, err
	}
	o := p.plan.Options
	o.MemoryLimit, o.DeviceKept = p.shareOfLimit(), o.DeviceKept || kept
	scan, err := p.in.Scan(plan.Scan(b, o))
	if err != nil {
		return nil, err
	}
	return plan.Make(plan.Inputs{Query: b, Input: p.in, Scan: scan, Options: o})
}

// whole is the plan of a query that is run in subqueries, for people.
func (p *prepared) whole() *plan.Plan {
	whole := *p.plan
	whole.Device = p.joinedDevice
	return &whole
}

// shareOfLimit is the memory limit of a subquery, and that of the last run.
func (p *prepared) shareOfLimit() int64 {
	if p.opt.MemoryLimit == 0 {
		return 0
	}
	return max(p.opt.MemoryLimit-p.budget.Reserved(), 2) / 2
}

// lentInput is an input that stays open.
type lentInput struct{ input.Input }

func (lentInput) Close() error { return nil }

// subrun is the run of a query in subqueries.
type subrun struct {
	*prepared
	request Request
	temp    *temp
	gpus    *device.Set
	schema  *arrow.Schema // of the rows of all subqueries
	started time.Time

	stats []Stats // of the subqueries that have run
	err   error   // that ended one
	total int64   // bytes of all subqueries
}

// runSubqueries runs the subqueries of a query, and then the query over their rows. It closes the
// input, and the temp folder with the rows or an error. Neither rows nor an error: no device can be
// opened, nothing was closed, and the caller goes on without.
func (p *prepared) runSubqueries(ctx context.Context, q Request, temp *temp, started time.Time) (rows *Rows, err error) {
	b := &subrun{prepared: p, request: q, temp: temp, gpus: q.Options.GPUs, started: started}
	if !p.joinedDevice.Use {
		b.request.Options.Device = "cpu"
	} else if b.gpus == nil {
		spec := p.joinedDevice.Facts.Spec
		if b.gpus, err = device.Open(ctx, spec); err != nil {
			if !spec.Required() && ctx.Err() == nil {
				q.Options.logger().Debug("no GPU", slog.String("reason", device.Problem(err)))
				return nil, nil
			}
			return nil, errors.Join(err, p.in.Close(), temp.close())
		}
		if !q.Options.LastRun {
			defer func() { rows, err = b.closeDevices(rows, err) }()
		}
	}
	defer func() {
		if closed := p.in.Close(); closed != nil && err == nil {
			rows.Release()
			rows, err = nil, closed
		}
	}()
	for _, of := range p.subqueries {
		b.total += of.plan.Facts.Bytes
	}
	b.schema = arrow.NewSchema(fieldsOf(p.compiled.JoinedFields()), nil)
	if rows, err = runIn(ctx, b.last(ctx), temp, nil, started); err != nil {
		return nil, cmp.Or(b.err, err)
	}
	rows.subrun = b
	return rows, nil
}

// closeDevices closes the devices once all subqueries have run. That one fails then matters to who
// has asked for it.
func (b *subrun) closeDevices(rows *Rows, err error) (*Rows, error) {
	failed := b.gpus.Close()
	if failed == nil || !b.joinedDevice.Facts.Spec.Required() {
		return rows, err
	}
	if rows != nil {
		rows.Release()
	}
	return nil, errors.Join(err, b.joinedDevice.Facts.Spec.Refused(failed))
}

// fieldsOf is columns in Arrow.
func fieldsOf(columns []column.Field) (fields []arrow.Field) {
	for _, f := range columns {
		fields = append(fields, column.ArrowField(f.Name, f.Type, true))
	}
	return fields
}

// last is the request for the query over the rows of all subqueries.
func (b *subrun) last(ctx context.Context) Request {
	q := b.request
	q.From = input.RecordSeq(b.schema, func(yield func(arrow.Record, error) bool) { b.records(ctx, yield) })
	q.compile = func(query.Columns) (*query.Compiled, error) { return b.compiled.Joined() }
	o := &q.Options
	o.Device, o.GPUs, o.MemoryLimit = "cpu", nil, b.shareOfLimit()
	if observe := o.Observe; observe != nil {
		o.Observe = func(p Progress) {
			if !p.Output { // records come: the subqueries tell
				return
			}
			rows := b.plan.Facts.Rows
			p.BytesDone, p.BytesTotal, p.RowsDone, p.RowsTotal = b.total, b.total, rows, rows
			observe(p)
		}
	}
	return q
}

// records runs the subqueries, one after the other.
func (b *subrun) records(ctx context.Context, yield func(arrow.Record, error) bool) {
	done := int64(0) // bytes of subqueries that have ended
	for i := range b.subqueries {
		more, err := b.runSubquery(ctx, i, done, func(rec arrow.Record) bool { return yield(rec, nil) })
		if err != nil {
			b.err = err
			yield(nil, err)
			return
		}
		if !more {
			return
		}
		done += b.subqueries[i].plan.Facts.Bytes
	}
}

// runSubquery runs a subquery, and gives its rows to yield until that wants no more.
func (b *subrun) runSubquery(ctx context.Context, i int, done int64, yield func(arrow.Record) bool) (more bool, err error) {
	of := &b.subqueries[i]
	q := b.request
	q.input = lentInput{b.in}
	q.compile = func(in query.Columns) (*query.Compiled, error) { return b.compiled.Subquery(in, of.calls) }
	o := &q.Options
	o.GPUs, o.MemoryLimit, o.LastRun, o.Trace, o.Allocator = b.gpus, b.shareOfLimit(), false, nil, nil
	if observe := o.Observe; observe != nil {
		o.Observe = func(p Progress) {
			if p.Output {
				return
			}
			n := int64(len(b.subqueries))
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

// widen puts NULL in the place of the aggregates that a subquery does not have. MakeArrayOfNull
// wants memory that is zero, which an allocator that keeps some does not give.
func (b *subrun) widen(of *subquery, rec arrow.Record) arrow.Record {
	keys := len(b.compiled.Keys)
	cols := make([]arrow.Array, b.schema.NumFields())
	for i := range cols {
		if i < keys {
			cols[i] = rec.Column(i)
		} else if call := slices.Index(of.calls, i-keys); call >= 0 {
			cols[i] = rec.Column(keys + call)
		} else {
			null := array.MakeArrayOfNull(memory.DefaultAllocator, b.schema.Field(i).Type, int(rec.NumRows()))
			defer null.Release()
			cols[i] = null
		}
	}
	return array.NewRecord(b.schema, cols, rec.NumRows())
}

// add makes the counts of the last run those of the query.
func (b *subrun) add(s *Stats) {
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
