package gagg

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/expr"
	"github.com/gagg-dev/gagg/internal/gpu"
	"github.com/gagg-dev/gagg/internal/hostmem"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/internal/spill"
	"github.com/gagg-dev/gagg/internal/trace"
	"github.com/gagg-dev/gagg/merge"
	"github.com/gagg-dev/gagg/partition"
)

// Run runs the query until its groups are complete; the rows come from the
// returned reader. The caller releases it, also when not all rows were read.
// Cancelling the context stops the run and the reader.
func Run(ctx context.Context, q Query, o Options) (_ *Rows, err error) {
	defer func() { err = classify(err) }()
	started := time.Now()
	defer startDevices(o)()
	var timeline *trace.Recorder
	for l := (learnt{digits: map[int]int{}}); ; {
		more := false
		p, err := prepare(ctx, q, o, l)
		if err == nil {
			if timeline == nil {
				timeline = trace.New(o.Trace)
			}
			r := &run{prepared: p, started: started, trace: timeline}
			if err = r.aggregate(ctx); err == nil {
				r.outputDone = r.trace.Span(trace.Phases, "output")
				return newRows(ctx, r), nil
			}
			more, err = r.retries(&l, err)
			err = errors.Join(err, r.close())
		}
		if !l.add(err) && !more {
			timeline.Close()
			return nil, err
		}
		o.logger().Debug("read again, with what was learnt", slog.String("because", err.Error()))
	}
}

// run is a query that runs.
type run struct {
	*prepared
	started    time.Time
	partitions int
	ranges     []merge.Range // of partitions, which are merged one after the other
	disk       *spill.Space
	unwatch    func() bool // nil: nothing was opened
	noted      fallbacks
	trace      *trace.Recorder         // nil: nobody wants a timeline
	outputDone func()                  // ends the timeline's interval of the output; nil: it has not begun
	now        atomic.Pointer[attempt] // whose groups are put out
	failed     atomic.Pointer[attempt] // nil: the first attempt went well
	void       atomic.Bool             // nothing of the first attempt may be used any more
	redone     sync.Once               // the second attempt
	redoneErr  error

	bytesDone, rowsRead atomic.Int64
	bytesLeft           atomic.Int64 // of bytesDone: of units of which no row was read
	scanTime            time.Duration
	released            atomic.Bool // nobody reads the result any more
	slack               int64       // that the process has for the run
}

// diskGrace is how long what was spilled may outlive a cancelled context. A
// goroutine may look up late, and the process may end before it does.
const diskGrace = 300 * time.Millisecond

// aggregate reads the input and groups it.
func (r *run) aggregate(ctx context.Context) error {
	r.cancelled = func() error {
		if r.released.Load() {
			return context.Canceled
		}
		return context.Cause(ctx)
	}
	r.slack = r.opt.slack()
	hostmem.Slack(r.slack)
	if err := r.openDisk(); err != nil {
		return err
	}
	r.unwatch = context.AfterFunc(ctx, func() { time.AfterFunc(diskGrace, func() { _ = r.disk.Close() }) })
	first := r.configure()
	r.now.Store(first)
	if err := r.openDevices(ctx, first); err != nil {
		return err
	}
	err := r.group(ctx, first)
	first.logDevices(r.opt.logger())
	if r.mayRedo(err) {
		err = r.redo(ctx, err)
	}
	if err != nil {
		return err
	}
	groups := &r.now.Load().groups
	r.partitions = groups.Buckets[0].Partitions()
	r.ranges = r.planRanges()
	r.scanTime = time.Since(r.started)
	r.opt.logger().Debug("aggregated", slog.Int64("rows", r.rowsRead.Load()),
		slog.Bool("partitioned", groups.Partitioned), slog.Int64("spilled", r.disk.Written()))
	if text := r.now.Load().cfg.LongestText(); text >= leastLong {
		r.learnt.text = max(r.learnt.text, text)
	}
	return r.scan.Unchanged()
}

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
	r.budget.HoldBack(r.memory.heldBack(r.threads))
	defer r.budget.HoldBack(0)
	defer r.trace.Span(trace.Phases, "scan")()
	in := cpu.Input{
		Units: r.scan.Units(), Reader: r.trace.Readers(r.scan.Reader), Pipeline: func() cpu.Pipeline { return r.pipeline(a.cfg.States) }, Packer: a.packer, Done: r.unitDone,
		ReadAll: func() { r.budget.HoldBack(r.memory.afterMerge(r.threads)) },
	}
	if a.groups, err = cpu.Run(ctx, a.cfg, in, r.threads); err != nil || a.devices == nil {
		return err
	}
	r.budget.HoldBack(r.memory.later(r.threads)) // nobody reads any more
	return a.devices.Finish(&a.groups, r.threads)
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

// atMost is how many groups there can be, as far as the input's metadata tell.
func (p *prepared) atMost() int64 { return p.atMostBy(p.query.Keys) }

// atMostBy is how many groups there can be by the given keys.
func (p *prepared) atMostBy(keys []*expr.Expr) int64 {
	distinct := make([]int64, len(keys))
	for i, e := range keys {
		distinct[i] = -1
		if c, ok := e.Column(); ok && p.scan.RowGroups() == 1 && p.scan.DictAll(c) {
			distinct[i] = int64(p.scan.DictEntries(c)) + 1 // and NULL
		}
	}
	return partition.AtMost(distinct, p.facts.Rows)
}

// openDisk makes the place for what does not fit in memory. A folder that was
// asked for must be usable before hours of work, not after them.
func (r *run) openDisk() (err error) {
	r.disk, err = spill.Open(spill.Config{Dir: r.opt.TempDir, Limit: r.opt.TempLimit, FS: r.tuning.spillFS, Listed: r.budget.Count})
	if err == nil && r.opt.TempDir != "" {
		err = r.disk.Probe()
	}
	return err
}

// configure makes ready for reading the input, on the CPU alone.
func (r *run) configure() *attempt {
	var runs agg.Runs
	if r.memory.Spill {
		runs = &valueRuns{open: r.disk.File}
	}
	states := r.states(runs, false)
	cfg := &cpu.Config{
		Keys: r.layout, Intern: key.NewInterner(r.budget), States: states, Arenas: arena.New(r.budget),
		Stride: cpu.Stride(r.layout, states), Partitions: r.opt.Partitions, Tile: r.tile,
		Filled: r.filled, Ranges: r.argRanges, Memory: r.memory.shares(), Budget: r.budget, Rows: r.facts.Rows, AtMost: r.atMost(), Threads: r.threads, PassLeast: r.tuning.passLeast,
	}
	if r.memory.Spill {
		cfg.Spill, cfg.LongText = r.disk.File, r.longText
	}
	r.configureSets(cfg)
	if n, ok := r.firstGroups(); ok {
		cfg.First = cpu.NewFirst(n)
	}
	cfg.Top = r.topGroups(states)
	return &attempt{cfg: cfg, runs: runs}
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
	for _, a := range []*attempt{r.failed.Load(), r.now.Load()} {
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

// states lays out the aggregates behind the hash and the key. Long chains of
// values go to runs. device: rows may be combined
// on a device.
func (p *prepared) states(runs agg.Runs, device bool) *agg.Layout {
	return agg.Compile(p.query.Calls, p.layout.Base()+p.layout.Words, agg.Options{
		MaxRows: p.facts.Rows, Filled: p.filled.Args, Ranges: p.argRanges, Device: device, Runs: runs, BatchBytes: p.memory.batchBytes(), ScratchBytes: p.memory.scratchBytes(),
		Cancelled: p.cancelled,
	})
}

func (r *run) unitDone(unit int, rows int64) {
	bytes := r.scan.UnitBytes(unit)
	if rows == 0 { // nothing in it could count
		r.bytesLeft.Add(bytes)
	}
	done := r.rowsRead.Add(rows)
	r.observe(Progress{Phase: PhaseScan, BytesDone: r.bytesDone.Add(bytes), BytesTotal: r.facts.Bytes, RowsDone: done})
}

func (r *run) observe(p Progress) {
	if r.opt.Observer != nil {
		r.opt.Observer.Progress(p)
	}
}

// pipeline makes the evaluators of one worker, for aggregates laid out as states.
func (r *run) pipeline(states *agg.Layout) cpu.Pipeline {
	var p cpu.Pipeline
	group := expr.NewGroup()
	p.Begin = group.Begin
	used := map[int]bool{}
	evals := func(exprs []*expr.Expr) []cpu.Evaluator {
		out := make([]cpu.Evaluator, len(exprs))
		for i, e := range exprs {
			out[i] = r.evaluator(e, group)
			for _, c := range e.Columns() {
				if !used[c] {
					used[c] = true
					p.Used = append(p.Used, c)
				}
			}
		}
		return out
	}
	p.Keys, p.Args = evals(r.query.Keys), evals(r.query.Args)
	for i, a := range p.Args {
		if e, ok := a.(*expr.Eval); ok && states.TakesNarrow(i) && !slices.Contains(r.query.Distinct, i) {
			e.TakeNarrow()
		}
	}
	if r.query.Where != nil {
		first, rest := r.query.Where.Split()
		p.Where, p.First, p.Rest = condition(r.query.Where), condition(first), condition(rest)
	}
	return p
}

// condition makes the evaluator of a filter; nil: there is none.
func condition(e *expr.Expr) cpu.Condition {
	if e == nil {
		return cpu.Condition{}
	}
	return cpu.Condition{Filter: e.NewEval(), Cols: e.Columns()}
}

// mostFirst is the most groups of which workers tell early that they are the only ones wanted: beyond, looking for the last
// of them takes longer than it saves. A guess.
const mostFirst = 1 << 16

// firstGroups is how many groups are put out where these are simply the first ones; false: they are not, or too many.
func (r *run) firstGroups() (int, bool) {
	q := r.query
	if q.Query.Limit <= 0 || len(q.Order) > 0 || q.Having != nil || len(q.Distinct) > 0 || len(q.Keys) == 0 {
		return 0, false
	}
	return int(q.Query.Limit + q.Query.Offset), q.Query.Offset < mostFirst && q.Query.Limit+q.Query.Offset <= mostFirst
}

// topGroups is how many groups are put out where these are those with the greatest counts, and where rows have these; nil: they are not, or too many. Of
// the others nothing is computed, so nothing of them may be an error (STAGE-ERRORS).
func (r *run) topGroups(states *agg.Layout) *cpu.Top {
	q := r.query
	if q.Query.Limit <= 0 || q.Query.Offset >= cpu.MostTop || q.Query.Limit+q.Query.Offset > cpu.MostTop || len(q.Order) == 0 || !q.Order[0].Desc || q.Having != nil || len(q.FallibleKeys()) > 0 {
		return nil
	}
	col, plain := q.Order[0].Expr.Column()
	call := col - len(q.Keys)
	if !plain || call < 0 || !states.CountsRows(call) {
		return nil
	}
	for _, out := range q.Out {
		if out.Expr.MayFail() {
			return nil
		}
	}
	for i := range q.Calls {
		if states.MayOverflow(i) {
			return nil
		}
	}
	word, _ := states.ResultWord(call)
	return &cpu.Top{Groups: int(q.Query.Limit + q.Query.Offset), Word: word.Word, Shift: word.Shift, Mask: word.Mask}
}
