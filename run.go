package gagg

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/expr"
	"github.com/gagg-dev/gagg/internal/gpu"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/internal/parquetio"
	"github.com/gagg-dev/gagg/internal/spill"
	"github.com/gagg-dev/gagg/merge"
	"github.com/gagg-dev/gagg/partition"
)

const (
	defaultBatchRows = 4096
	maxBatchRows     = 64 << 10 // so that the strings of a result batch fit Arrow's 32-bit offsets
	maxPartitions    = 1 << 12

	// maxInternEntries is the largest dictionary whose strings are numbered
	// rather than held in the key: beyond it, numbering costs a cache miss
	// for each entry and the numbers save little.
	maxInternEntries = 64 << 10
	// fewInternEntries is the largest dictionary whose strings are numbered whatever the others
	// hold; those of a larger one are if internRepeats of them are in another one too. Numbering takes a look-up in a
	// table that all workers share for each entry of each dictionary, and saves comparing strings for each
	// row: with 2.6 % in common it takes twice the time, with all in common a third (docs/experiments/0013).
	fewInternEntries = 4 << 10
	internRepeats    = .5

	// maxInlineText is the length of texts up to which keys hold them themselves: longer ones make rows of
	// more than a cache line. Where they lie in an arena, each takes 24 bytes more, and a cache miss or two
	// whenever it is compared (docs/experiments/0013).
	maxInlineText = 55
)

// prepared is a query ready to run: all that Plan tells and Run needs.
type prepared struct {
	opt   Options
	in    input
	query *compiled
	scan  scan
	facts scanFacts

	limit, offset int64 // of the query

	learnt   learnt
	budget   budget // of the whole run, the input's metadata included
	metadata int64  // bytes of the budget that the input's metadata takes
	memory   MemoryPlan
	alloc    memory.Allocator // of records

	layout  *key.Layout
	keyCols []key.Column // by key
	sets    []keyedValue
	onCPU   bool       // no device takes part, whatever the facts are by now
	filled  cpu.Filled // keys and arguments that are not expected to be NULL
	threads int
	tile    feedback.TileConfig
}

// learnt is what runs have found out that had to begin again. It only grows.
type learnt struct {
	digits map[int]int // by column of the schema: what decimals have at least
	nulls  bool        // a column has NULLs that is said to have none

	text  int64 // bytes of the longest text
	read  int64 // what reading takes beside usual pages
	alone bool  // no plan has room for such texts; one thread may get by
}

// add adds what an error tells, and reports whether that is anything new. A type is widened a few times at most.
func (l *learnt) add(err error) (more bool) {
	if errors.Is(err, cpu.ErrFilled) && !l.nulls {
		l.nulls, more = true, true
	}
	var wider *parquetio.PrecisionError
	if errors.As(err, &wider) {
		for field, n := range wider.Digits {
			if n > l.digits[field] {
				l.digits[field], more = n, true
			}
		}
	}
	return more
}

// prepare opens the input and resolves the query against it. The caller closes p.in.
func prepare(ctx context.Context, q Query, o Options, l learnt) (_ *prepared, err error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if q.From == nil {
		return nil, usagef("no input: set From")
	}
	if q.Limit < NoRows {
		return nil, usagef("limit: %d is negative", q.Limit)
	}
	if q.Offset < 0 {
		return nil, usagef("offset: %d is negative", q.Offset)
	}
	p := &prepared{opt: o, limit: q.Limit, offset: q.Offset, budget: budget{limit: openLimit(o.MemoryLimit)}}
	if p.in, err = q.From.open(ctx, o, p.budget.grow); err != nil {
		return nil, whileOpening(err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.in.Close())
		}
	}()
	p.learnt = l
	p.in.widen(l.digits)
	if p.query, err = compile(p.in, q); err != nil {
		return nil, err
	}
	if p.scan, err = p.in.scan(p.scanOptions()); err != nil {
		return nil, whileOpening(err)
	}
	p.metadata = p.budget.opened(&o)
	p.facts = p.scan.facts()
	if err := p.planThreads(&o); err != nil {
		return nil, err
	}
	p.tile = feedback.DefaultTileConfig
	if o.Partitions > 0 {
		p.tile = feedback.NoTiles
	}
	p.placeKeys()
	if p.onCPU = !p.mayUseDevice(); p.onCPU && o.threads() > 1 { // a device takes row groups as they are
		p.scan.split(o.threads())
		if err := p.planThreads(&o); err != nil {
			return nil, err
		}
	}
	if p.onCPU && !l.nulls {
		p.fill()
	}
	p.alloc = o.allocator(p.memory.Output)
	return p, nil
}

// planThreads chooses how many workers there are, and shares out the memory.
func (p *prepared) planThreads(o *Options) (err error) {
	p.threads = max(1, min(o.threads(), p.scan.units()))
	p.memory, p.threads, err = planMemory(o.MemoryLimit, p.threads, p.scan.workerBytes(), len(p.query.cols), p.query.groupings())
	if err != nil {
		return p.budget.beside(p.metadata, err)
	}
	if m, threads, ok := p.planLearnt(o.MemoryLimit); ok {
		p.memory, p.threads = m, threads
	}
	return nil
}

// scanOptions is what is read, and how.
func (p *prepared) scanOptions() parquetio.ScanOptions {
	o := parquetio.ScanOptions{Columns: p.query.cols, BatchRows: p.opt.BatchRows}
	if p.query.where != nil && !p.opt.NoPruning {
		o.Skip, o.SkipColumns = p.query.where.CanSkip, p.query.where.Columns() // the test that row groups and pages must pass
	}
	o.Repeat = !slices.ContainsFunc(p.query.calls, func(c agg.Call) bool { return c.Part == 0 && !c.Func.Repeats() })
	return o
}

// placeKeys chooses the form of each key, and of what is grouped by beside them.
func (p *prepared) placeKeys() {
	p.keyCols = make([]key.Column, len(p.query.keys))
	for i, e := range p.query.keys {
		p.keyCols[i] = p.keyColumn(e)
	}
	for _, arg := range p.query.distinct {
		value := p.keyColumn(p.query.args[arg])
		value.Filled = true
		p.sets = append(p.sets, keyedValue{arg: arg, value: value})
	}
	p.layOut()
}

// layOut places the keys in words.
func (p *prepared) layOut() {
	for i, filled := range p.filled.Keys {
		p.keyCols[i].Filled = filled
	}
	p.layout = key.NewLayout(p.keyCols)
	for i := range p.sets {
		p.sets[i].layout = key.NewLayout(append(slices.Clone(p.keyCols), p.sets[i].value))
	}
}

// keyColumn is the form of an expression as a key.
func (p *prepared) keyColumn(e *expr.Expr) key.Column {
	k := key.Column{Type: e.Type()}
	if c, ok := e.Column(); ok && e.Type().Rep() == column.RepBytes {
		k.Intern = p.interns(c)
		if n, ok := p.scan.textLength(c); ok && n <= maxInlineText && !k.Intern {
			k.Inline = n
		}
	}
	return k
}

// fill finds the keys and the arguments that have no NULL, as far as the input's metadata tell: rows need no place for it. Where one has
// NULLs all the same, the run begins again without this. A query without keys has a group without rows where nothing passes.
func (p *prepared) fill() {
	if len(p.query.keys) == 0 {
		return
	}
	known := map[int]bool{}
	filled := func(exprs []*expr.Expr) (out []bool) {
		for _, e := range exprs {
			out = append(out, e.Filled(func(col int) bool {
				if _, ok := known[col]; !ok {
					known[col] = p.scan.filled(col)
				}
				return known[col]
			}))
		}
		return out
	}
	p.filled = cpu.Filled{Keys: filled(p.query.keys), Args: filled(p.query.args)}
	p.layOut()
}

// internShare is what part of the memory limit the strings of a key may take
// at most to be numbered: numbered strings stay in memory until the end.
const internShare = 32

// interns reports whether the strings of column c of the scan are numbered
// when they are a key.
func (p *prepared) interns(c int) bool {
	n := p.scan.dictEntries(c)
	if !p.scan.dictAll(c) || n < 0 || n > maxInternEntries {
		return false
	}
	if p.opt.MemoryLimit > 0 {
		if bytes := p.scan.dictBytes(c); bytes < 0 || bytes >= p.opt.MemoryLimit/internShare {
			return false
		}
	}
	if n <= fewInternEntries {
		return true
	}
	share, ok := p.scan.dictRepeats(c)
	return !ok || share >= internRepeats
}

// Run runs the query until its groups are complete; the rows come from the
// returned reader. The caller releases it, also when not all rows were read.
// Cancelling the context stops the run and the reader.
func Run(ctx context.Context, q Query, o Options) (_ *Rows, err error) {
	defer func() { err = classify(err) }()
	started := time.Now()
	defer startDemanded(o)()
	var trace *recorder
	for l := (learnt{digits: map[int]int{}}); ; {
		more := false
		p, err := prepare(ctx, q, o, l)
		if err == nil {
			if trace == nil {
				trace = newRecorder(o.Trace)
			}
			r := &run{prepared: p, started: started, trace: trace}
			if err = r.aggregate(ctx); err == nil {
				r.outputDone = r.trace.span(rowOfRun, "output")
				return newRows(ctx, r), nil
			}
			more, err = r.retries(&l, err)
			err = errors.Join(err, r.close())
			if more {
				debug.FreeOSMemory() // dictionaries of long texts are Go memory
			}
		}
		if !l.add(err) && !more {
			trace.close()
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
	trace      *recorder               // nil: nobody wants a timeline
	outputDone func()                  // ends the timeline's interval of the output; nil: it has not begun
	now        atomic.Pointer[attempt] // whose groups are put out
	failed     atomic.Pointer[attempt] // nil: the first attempt went well
	void       atomic.Bool             // nothing of the first attempt may be used any more
	redone     sync.Once               // the second attempt
	redoneErr  error

	bytesRead, rowsRead atomic.Int64
	scanTime            time.Duration
}

// diskGrace is how long what was spilled may outlive a cancelled context. A
// goroutine that sorts the values of one large group looks up late, and the
// process may end before it does.
const diskGrace = 300 * time.Millisecond

// aggregate reads the input and groups it.
func (r *run) aggregate(ctx context.Context) error {
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
	return r.scan.unchanged()
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
	r.budget.heldBack.Store(r.memory.heldBack(r.threads))
	defer r.budget.heldBack.Store(0)
	defer r.trace.span(rowOfRun, "scan")()
	in := cpu.Input{
		Units: r.scan.units(), Reader: r.trace.readers(r.scan.reader), Pipeline: func() cpu.Pipeline { return r.pipeline(a.cfg.States) }, Packer: a.packer, Done: r.unitDone,
		ReadAll: func() { r.budget.heldBack.Store(r.memory.afterMerge(r.threads)) },
	}
	if a.groups, err = cpu.Run(ctx, a.cfg, in, r.threads); err != nil || a.devices == nil {
		return err
	}
	r.budget.heldBack.Store(r.memory.later(r.threads)) // nobody reads any more
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

// spillFS is the file system of spill files; nil: the system's. Tests have it
// fail.
var spillFS spill.FS

// passLeast is that of cpu.Config, which tests lower.
var passLeast = cpu.DefaultPassLeast

// atMost is how many groups there can be, as far as the input's metadata tell.
func (p *prepared) atMost() int64 { return p.atMostBy(p.query.keys) }

// atMostBy is how many groups there can be by the given keys.
func (p *prepared) atMostBy(keys []*expr.Expr) int64 {
	distinct := make([]int64, len(keys))
	for i, e := range keys {
		distinct[i] = -1
		if c, ok := e.Column(); ok && p.scan.rowGroups() == 1 && p.scan.dictAll(c) {
			distinct[i] = int64(p.scan.dictEntries(c)) + 1 // and NULL
		}
	}
	return partition.AtMost(distinct, p.facts.rows)
}

// openDisk makes the place for what does not fit in memory. A folder that was
// asked for must be usable before hours of work, not after them.
func (r *run) openDisk() (err error) {
	r.disk, err = spill.Open(spill.Config{Dir: r.opt.TempDir, Limit: r.opt.TempLimit, FS: spillFS, Listed: r.budget.count})
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
		Keys: r.layout, Intern: key.NewInterner(r.budget.grow), States: states, Arenas: arena.New(r.budget.grow),
		Stride: cpu.Stride(r.layout, states), Partitions: r.opt.Partitions, Tile: r.tile,
		Filled: r.filled, Memory: r.memory.shares(), Grow: r.budget.grow, Aside: r.budget.setAside, Made: r.budget.made, Rows: r.facts.rows, AtMost: r.atMost(), Threads: r.threads, PassLeast: passLeast,
	}
	if r.memory.Spill {
		cfg.Spill, cfg.LongText = r.disk.File, r.longText
	}
	r.configureSets(cfg)
	if n, ok := r.firstGroups(); ok {
		cfg.First = cpu.NewFirst(n)
	}
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
	return errors.Join(err, r.in.Close())
}

// states lays out the aggregates behind the hash and the key. Long chains of
// values go to runs. device: rows may be combined
// on a device.
func (p *prepared) states(runs agg.Runs, device bool) *agg.Layout {
	return agg.Compile(p.query.calls, 1+p.layout.Words, agg.Options{
		MaxRows: p.facts.rows, Filled: p.filled.Args, Device: device, Runs: runs, BatchBytes: p.memory.batchBytes(), ScratchBytes: p.memory.scratchBytes(),
	})
}

func (r *run) unitDone(unit int, rows int64) {
	bytes := r.bytesRead.Add(r.scan.unitBytes(unit))
	done := r.rowsRead.Add(rows)
	r.observe(Progress{Phase: PhaseScan, BytesDone: bytes, BytesTotal: r.facts.bytes, RowsDone: done})
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
	p.Keys, p.Args = evals(r.query.keys), evals(r.query.args)
	for i, a := range p.Args {
		if e, ok := a.(*expr.Eval); ok && states.TakesNarrow(i) && !slices.Contains(r.query.distinct, i) {
			e.TakeNarrow()
		}
	}
	if r.query.where != nil {
		first, rest := r.query.where.Split()
		p.Where, p.First, p.Rest = condition(r.query.where), condition(first), condition(rest)
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
	if r.limit <= 0 || len(q.order) > 0 || q.having != nil || len(q.distinct) > 0 || len(q.keys) == 0 {
		return 0, false
	}
	return int(r.limit + r.offset), r.offset < mostFirst && r.limit+r.offset <= mostFirst
}
