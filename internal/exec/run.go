// Package exec runs a plan: it opens the input of a query, has the query planned and the input
// grouped, merges the groups of all workers, and makes records of them, in order where one is asked
// for. A run goes through named phases (phase.go); at the first failure of a device it goes on
// without devices (failover.go).
//
//	Request ──prepare──▶ plan.Plan ──run──▶ groups ──Rows──▶ records
package exec

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/gagg-dev/gagg/internal/device"
	"github.com/gagg-dev/gagg/internal/hostmem"
	"github.com/gagg-dev/gagg/internal/plan"
	"github.com/gagg-dev/gagg/internal/spill"
	"github.com/gagg-dev/gagg/internal/trace"
	"github.com/gagg-dev/gagg/merge"
)

// Run runs a query until its groups are complete; the caller releases the rows. A hint that a plan
// rests on may turn out to be wrong: then the run ends, and another one begins with a plan that
// knows.
func Run(ctx context.Context, q Request) (_ *Rows, err error) {
	defer func() { err = Classify(err) }()
	started := time.Now()
	defer q.Options.beginDevices()()
	temp := q.Options.openTemp(ctx)
	m := newMerging(q)
	if m != nil {
		m.run = func(ctx context.Context, q Request) (*Rows, error) { return runIn(ctx, q, temp.lent(), nil, started) }
	}
	return runIn(ctx, q, temp, m, started)
}

// runIn is Run with a temp folder, which it closes. m is what prepares a query from states.
func runIn(ctx context.Context, q Request, temp *temp, m *merging, started time.Time) (*Rows, error) {
	var timeline *trace.Recorder
	var beside opening
	q.likely = func(spec device.Spec) { beside.begin(&q.Options, spec) }
	for l := (plan.Learnt{}); ; {
		more := false
		p, err := prepare(ctx, q, l, temp, m)
		if err == nil && p.subqueries != nil {
			rows, err := p.runSubqueries(ctx, q, temp, started)
			if rows != nil || err != nil {
				return rows, err
			}
		}
		if err == nil {
			if timeline == nil {
				timeline = trace.New(q.Options.Trace)
			}
			r := &run{prepared: p, temp: temp, started: started, trace: timeline, learnt: l, opening: &beside}
			r.watched()
			if err = r.aggregate(ctx); err == nil {
				r.outputDone = r.trace.Span(trace.Phases, "output")
				r.observe(true)
				return newRows(ctx, r), nil
			}
			more, err = p.plan.Retry(&l, err)
			err = errors.Join(err, r.close())
		}
		if !l.Add(err) && !more {
			timeline.Close()
			return nil, errors.Join(err, temp.close())
		}
		q.Options.logger().Debug("read again, with what was learnt", slog.String("because", err.Error()))
	}
}

// run is a query that runs.
type run struct {
	*prepared
	failover
	progress
	totals

	temp       *temp // which outlives the run if another attempt follows
	started    time.Time
	scanTime   time.Duration
	partitions int
	ranges     []merge.Range // of partitions, which are merged one after the other
	learnt     plan.Learnt
	samples    samples
	// what was last predicted while workers read; nil: nothing was
	reconsidered atomic.Pointer[plan.Choice]
	opening      *opening // of a device beside the planner and the workers
	disk         *spill.Space
	unwatch      func() bool     // nil: nothing was opened
	trace        *trace.Recorder // nil: there is no timeline
	outputDone   func()          // ends the timeline's interval of the output; nil: it has not begun
	makers       sync.WaitGroup  // goroutines that make the result
	released     atomic.Bool     // the result is not read any more
	cancelled    func() error    // says why the run has been cancelled; nil: it has not been
	slack        int64           // that the process has for the run
	written      *arrow.Schema   // of states that come out; nil: a result does
	// by range: of which set of values it is; 0: of the groups; nil: all are of these
	setOf []int
}

// progress is how far the run is.
type progress struct {
	bytesDone, rowsRead atomic.Int64
	bytesLeft           atomic.Int64 // of bytesDone: of units of which no row was read
	merged              atomic.Int64 // ranges of partitions
	sorted              atomic.Int64 // rows that sorters were given
	putOut              atomic.Int64 // groups
	streams             bool         // the source reports what it has read, in place of units
	streamed, came      atomic.Int64 // bytes and rows that it reported
}

// restart is for an input that is read again.
func (p *progress) restart() {
	p.bytesDone.Store(0)
	p.bytesLeft.Store(0)
	p.rowsRead.Store(0)
}

// diskGrace is how long spill files may outlive a cancelled context. A
// goroutine may look up late, and the process may end before it does.
const diskGrace = 300 * time.Millisecond

// aggregate reads the input and groups it.
func (r *run) aggregate(ctx context.Context) error {
	if err := r.begin(ctx); err != nil {
		return err
	}
	if r.plan.Query.Mode.Writes() {
		var err error
		if r.written, err = r.stateSchema(); err != nil {
			return err
		}
	}
	first := r.configure(r.opt.Partitions, r.plan.Device.Use)
	r.current.Store(first)
	if err := r.openDevices(ctx, first); err != nil {
		return err
	}
	if r.plan.Device.Reconsiders || r.plan.Tried {
		first.run.Reconsider(r.reconsider)
	}
	if r.plan.Device.Reconsiders {
		r.opening.begin(&r.opt, r.plan.Device.Facts.Spec)
	}
	err := r.group(ctx, first)
	first.logDevices(r.opt.logger())
	switch {
	case r.mayFailOver(err):
		err = r.failOver(ctx, err)
	case err == nil:
		r.step(grouped)
	}
	if err != nil {
		return err
	}
	groups := &r.current.Load().groups
	r.partitions = groups.Buckets[0].Partitions()
	r.ranges = r.planRanges(r.current.Load())
	r.addInnerStates()
	r.scanTime = time.Since(r.started)
	r.opt.logger().Debug("aggregated", slog.Int64("rows", r.rowsRead.Load()),
		slog.Bool("partitioned", groups.Partitioned), slog.Int64("spilled", r.disk.Written()))
	if last := r.reconsidered.Load(); last != nil {
		r.opt.logger().Debug("no device paid", slog.String("reason", last.Reason))
	}
	r.learnt = r.learnt.Longest(r.current.Load().run.LongestText())
	return r.scan.Unchanged()
}

// begin takes what any reading needs.
func (r *run) begin(ctx context.Context) error {
	r.cancelled = func() error {
		if r.released.Load() {
			return context.Canceled
		}
		return context.Cause(ctx)
	}
	r.streams = r.scan.Observe(r.arrived)
	r.slack = r.opt.slack()
	hostmem.Slack(r.slack)
	if err := r.openDisk(); err != nil {
		return err
	}
	r.unwatch = context.AfterFunc(ctx, func() { time.AfterFunc(diskGrace, func() { _ = r.disk.Close() }) })
	return nil
}

// openDisk makes the place for what does not fit in memory. A folder that was
// asked for must be usable before hours of work, not after them.
func (r *run) openDisk() (err error) {
	r.disk, err = spill.Open(spill.Config{Dir: r.opt.TempDir, Disk: r.temp.disk, FS: r.opt.Tuning.SpillFS, Listed: r.budget.Count})
	if err == nil && r.opt.TempDir != "" {
		err = r.disk.Probe()
	}
	return err
}

// close lets go of everything that the run holds but the timeline, which may go on.
func (r *run) close() error {
	if r.unwatch != nil {
		r.unwatch()
	}
	if r.outputDone != nil {
		r.outputDone()
	}
	var err error
	for _, a := range []*attempt{r.invalidated.Load(), r.current.Load()} {
		if a != nil {
			err = errors.Join(err, a.close())
		}
	}
	if r.disk != nil {
		err = errors.Join(err, r.disk.Close())
	}
	err = errors.Join(err, r.in.Close())
	hostmem.Slack(-r.slack)
	r.slack = 0
	return err
}

func (r *run) unitDone(unit int, rows int64) {
	bytes := r.scan.UnitBytes(unit)
	if rows == 0 { // nothing in it could count
		r.bytesLeft.Add(bytes)
	}
	r.bytesDone.Add(bytes)
	r.rowsRead.Add(rows)
	if !r.streams {
		r.observe(false)
	}
}

// arrived counts bytes and rows of a source whose size is not known.
func (r *run) arrived(bytes, rows int64) {
	r.streamed.Add(bytes)
	r.came.Add(rows)
	r.observe(false)
}

// observe tells the observer how far the run is.
func (r *run) observe(output bool) {
	if r.opt.Observe == nil {
		return
	}
	p := Progress{
		Output: output, BytesDone: r.bytesDone.Load(), BytesTotal: r.plan.Facts.Bytes, RowsDone: r.rowsRead.Load(), RowsTotal: r.plan.Facts.Rows,
		GroupsTotal: r.groupsTotal(output), Groups: r.putOut.Load(), Spilled: r.disk.Written(),
	}
	if r.streams {
		p.BytesDone, p.BytesTotal, p.RowsDone, p.RowsTotal = r.streamed.Load(), -1, r.came.Load(), -1
	}
	if output {
		p.BytesDone, p.Ranges, p.Merged = max(p.BytesDone, p.BytesTotal), len(r.ranges), int(r.merged.Load())
		p.BytesTotal, p.RowsTotal = p.BytesDone, p.RowsDone
	}
	r.opt.Observe(p)
}

// groupsTotal is about how many groups there are, as far as it is known: after merging, how many
// there are to sort.
func (r *run) groupsTotal(output bool) int64 {
	q := r.plan.Query
	a := r.current.Load()
	total := a.run.Expected()
	if output && len(q.Order) > 0 && int(r.merged.Load()) == len(r.ranges) {
		total = r.sorted.Load()
	}
	return total
}
