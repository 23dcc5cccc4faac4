package cpu

import (
	"errors"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/invariant"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/partition"
)

// Pipeline is how one worker computes what it needs from a batch; its parts
// hold state and are not shared.
type Pipeline struct {
	Where Condition
	// First and Residual are Where in two steps, for a reader that filters rows by First
	// (Reader.Where).
	First, Residual Condition
	Used            []int // columns that Keys and Args use
	// is called with each batch before Keys and Args are evaluated; nil: it is not
	Begin func(b *column.Batch)
	Keys  []Evaluator
	Args  []Evaluator // nil: the argument is not needed
}

// Condition is what rows must pass.
type Condition struct {
	Filter Filter // nil: all do
	Cols   []int  // columns that it uses
}

// phase is what a worker does with its rows.
type phase uint8

const (
	phaseGlobal  phase = iota // no keys: one group until the end
	phaseTable                // into the table; ends when feedback says Scatter
	phaseScatter              // rows of batches into buckets, until the end
)

// Worker groups and aggregates the batches it is given.
type Worker struct {
	run         *Run
	cfg         *Config     // of the run
	part        int         // of the aggregates: whose rows it is given
	states      *agg.Layout // of cfg.States, for these
	sets        *sets       // distinct values of the rows of part 0; nil: none
	grouping    *grouping   // its set of the keys; nil: there is one set, of all keys
	others      []*Worker   // those of the other sets, in its thread
	pipe        Pipeline
	phase       phase
	table       *table
	store       *store // its arena holds the values of the table too
	codes       codes
	recentCodes recentCodes
	encoder     *key.Encoder
	sketch      *partition.Sketch // of all rows placed
	crowded     bool              // it is shown seeded hashes
	noted       bool              // it was shown the table's, after the input

	filtered       bool  // the query has a filter
	looked         bool  // it, or another worker, has looked how many rows pass it: sample
	read, selected int64 // rows of the input that came, and those of them that passed the filter
	asks           bool  // the run reconsiders, and rows of the input come
	pace           pace  // where it asks
	// of an inner worker: what share of the rows of the input come to it; else 0
	comes           float64
	rows, nextCheck int64 // rows that went into the table; how many at its next check
	told            told
	scattered       int64   // rows that took no table, or left it with their unit
	sizes           sizes   // of some of the table's groups
	judged          judged  // the table
	without         without // it, if rows is not 0
	expected        float64 // groups in all, when that was decided

	sel     []int32
	compact column.Batch
	compBuf []column.Buffer
	left    column.Batch // of the columns that Where uses: the rows that the reader has left
	leftBuf []column.Buffer

	limiter *hashLimiter // nil: all groups are wanted

	keys       []column.Vector
	keyBuf     []column.Buffer
	argBuf     []column.Buffer
	coded      []bool // by argument: it may stay dictionary-coded
	in         agg.Input
	groups     []uint32
	found      []uint32
	missing    []int32
	missKeys   []column.Vector
	batchTable agg.Table
	batchRows  []uint64       // memory for the rows of a batch, unless the device takes them
	checked    []*column.Dict // by argument: the last dictionary whose entries were checked
	template   []uint64       // a fresh row
	identity   []uint32
	batchHeld  int64        // bytes of batchRows
	out        outgoing     // the tile that is being filled for the device
	builder    BatchBuilder // nil: the device does not take units as they are
	sharing    *worksShare  // nil: it does not aggregate beside the accelerator
	whole      whole        // the input rows that rows with states stand for (regroup.go)
}

// NewWorker returns a worker that takes its input through pipe.
func (r *Run) NewWorker(pipe Pipeline) (*Worker, error) {
	w, err := r.newWorker(pipe)
	if err != nil {
		return nil, err
	}
	if sets := &r.cfg.Groupings; len(sets.Sets) > 0 {
		if err = w.groupBy(sets); err != nil {
			err = errors.Join(err, w.close())
		}
		return w, err
	}
	w.join(0)
	return w, nil
}

// newWorker is NewWorker for one grouping set.
func (r *Run) newWorker(pipe Pipeline) (*Worker, error) {
	cfg := r.cfg
	template := make([]uint64, cfg.Stride)
	states := cfg.States.Part(0)
	states.Init(template)
	w := &Worker{
		run: r, cfg: cfg, states: states, pipe: pipe, phase: phaseTable,
		encoder:  key.NewEncoder(cfg.Keys, cfg.Intern),
		sketch:   partition.NewSketch(),
		keys:     make([]column.Vector, len(pipe.Keys)),
		keyBuf:   make([]column.Buffer, len(pipe.Keys)),
		missKeys: make([]column.Vector, len(pipe.Keys)),
		argBuf:   make([]column.Buffer, len(pipe.Args)),
		template: template,
		asks:     r.reconsider != nil,
	}
	w.store = newStore(cfg, w.pages())
	var err error
	if w.table, err = w.newTable(); err != nil {
		return nil, errors.Join(err, w.store.close())
	}
	w.batchTable = agg.Table{Stride: cfg.Stride, Arena: w.store.arena}
	w.in.Args = make([]column.Vector, len(pipe.Args))
	w.coded = make([]bool, len(pipe.Args))
	takesCodes := states.TakesCodes
	if len(pipe.Keys) == 0 {
		takesCodes = states.TakesCodesOne
	}
	for i := range w.coded {
		w.coded[i] = takesCodes(i)
	}
	w.nextCheck = r.firstCheck()
	if r.limit != nil {
		w.limiter = newHashLimiter(r.limit, pipe)
	}
	switch {
	case len(pipe.Keys) == 0:
		w.phase = phaseGlobal
		err = w.table.addEmpty(cfg.States)
	case r.accelerator != nil && cfg.Table == feedback.NoTables:
		w.giveUpTable()
	}
	if err == nil && len(cfg.Distinct) > 0 {
		err = w.newSets()
	}
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// newTable makes a table that grows with its groups.
func (w *Worker) newTable() (*table, error) {
	t, err := newTable(w.cfg.Stride, w.cfg.Keys.Words, w.template, w.tableMemory())
	if err != nil {
		return nil, err
	}
	t.keys, t.base, t.limit, t.rows.Arena = w.cfg.Keys, w.cfg.Keys.Base(), w.cfg.Memory.Table, w.store.arena
	return t, nil
}

// close lets go of all that the worker holds.
func (w *Worker) close() error {
	err := w.sets.close()
	for _, o := range w.others {
		err = errors.Join(err, o.close())
	}
	w.others = nil
	w.release()
	w.table.drop()
	w.dropBatchRows()
	return errors.Join(err, w.store.close())
}

// Add takes the rows of a batch. What a batch may need is an upper bound that grows with its rows,
// so that a batch which needs too much is halved. A row that does is a *LargeError.
func (w *Worker) Add(b *column.Batch) error {
	err := w.add(b)
	over := (*overload)(nil)
	if errors.As(err, &over) && b.Rows < 2 {
		err = over.cause
	}
	if refused(err) && b.Rows < 2 && w.in.Rows == 1 {
		return &LargeError{Text: w.longest(), Err: err}
	}
	if b.Rows < 2 || !errors.As(err, &over) {
		return err
	}
	half := b.Rows / 2
	first, second := b.Slice(0, half), b.Slice(half, b.Rows)
	if err := w.Add(&first); err != nil {
		return err
	}
	return w.Add(&second)
}

func (w *Worker) add(b *column.Batch) error {
	w.read += b.Stands()
	if w.asks {
		w.pace.begin(w.read)
		if err := w.askReconsider(); err != nil {
			return err
		}
	}
	b, err := w.filter(b)
	if err != nil || b.Rows == 0 {
		return err
	}
	w.selected += int64(b.Rows)
	if w.pipe.Begin != nil {
		w.pipe.Begin(b)
	}
	filled := w.cfg.Filled
	if w.part > 0 { // keys that a grouping set leaves out are NULL
		filled = Filled{}
	}
	for i, e := range w.pipe.Keys {
		if err := evaluate(e, b, filled.Keys, i, &w.keys[i]); err != nil {
			return err
		}
	}
	for i, e := range w.pipe.Args {
		if e == nil {
			continue
		}
		var v column.Vector
		if err := evaluate(e, b, filled.Args, i, &v); err != nil {
			return err
		}
		if !w.inRange(i, &v) {
			return ErrRange
		}
		needed := w.part > 0 || w.sets.keep(i, &v)
		if needed && (v.Null != nil || !w.coded[i]) {
			v = column.Flatten(&v, &w.argBuf[i])
		}
		w.in.Args[i] = v
	}
	if invariant.Enabled {
		w.checkBatch(b)
	}
	w.in.Times, w.whole.first = b.Times, int(b.First)
	if w.grouping != nil && w.part == 0 {
		return w.addGroupings(b.Rows)
	}
	if err := w.addEvaluated(b.Rows); err != nil || w.sharing == nil {
		return err
	}
	return w.judgeSharing()
}

// addEvaluated adds the rows of a batch whose keys and arguments are known.
func (w *Worker) addEvaluated(n int) error {
	if w.sets != nil && w.part == 0 {
		return w.addSets(n)
	}
	if w.limiter != nil {
		n = w.dropBeyondLimit(n)
	}
	if n == 0 {
		return nil
	}
	return w.addRows(n)
}

// addRows adds rows to the worker's groups.
func (w *Worker) addRows(n int) error {
	w.in.Rows = n
	switch w.phase {
	case phaseGlobal:
		return w.addGlobal()
	case phaseScatter:
		return w.scatter(n)
	default:
		return w.addTable(n)
	}
}

// addGlobal adds all rows to the one group that there is.
func (w *Worker) addGlobal() error {
	if w.cfg.hasRefs() {
		need := w.states.NeedOne(&w.in) + w.wholeNeed(w.in.Rows)
		if most := w.run.share(); most > 0 && int64(need) > most/2 && w.in.Rows > 1 {
			return &overload{errShareUsed} // making room would be in vain
		}
		if err := w.store.makeRoom(w.table.rows.Rows, need, w.room); err != nil {
			return err
		}
	}
	if !w.whole.null {
		w.countWhole()
		w.states.UpdateOne(&w.table.rows, 0, false, &w.in)
	}
	if w.whole.rows != nil {
		w.groups = sized(w.groups, w.in.Rows)
		clear(w.groups)
		w.combineWhole(&w.table.rows, w.groups)
	}
	return w.table.rows.Outside()
}

// checkBatch checks what the loops over keys and arguments rely on.
func (w *Worker) checkBatch(b *column.Batch) {
	check := func(v *column.Vector) {
		invariant.Check(v.Len == b.Rows, "VECTOR-LENGTH")
		invariant.Check(v.Valid(), "VECTOR-VALID")
	}
	for i := range w.keys {
		check(&w.keys[i])
	}
	for i, e := range w.pipe.Args {
		if e != nil {
			check(&w.in.Args[i])
		}
	}
}

// addTable adds the rows to their groups in the table. When memory is refused
// the table is emptied into buckets first, or given up for them.
func (w *Worker) addTable(n int) error {
	for {
		firstNew, err := w.find(n)
		if err == nil {
			w.rows += int64(n)
			w.update(&w.table.rows, w.groups, firstNew)
			if err := w.table.rows.Outside(); err != nil {
				return err
			}
			if err := w.addPairs(n); err != nil {
				return err
			}
			break
		}
		if !refused(err) {
			return err
		}
		if err := w.yield(err); err != nil {
			return err
		}
		if w.phase == phaseScatter {
			return w.scatter(n)
		}
	}
	if w.limiter != nil && int(w.table.n) >= w.limiter.next {
		w.limiter.lower(w.cfg.Keys, &w.table.rows)
	}
	if w.rows >= w.nextCheck {
		return w.judge()
	}
	return w.regrow()
}

// find sets groups to the groups of the rows, with room for what they will
// put into the arena. If memory is refused, nothing has changed.
func (w *Worker) find(n int) (firstNew uint32, err error) {
	if err := w.table.secure(n); err != nil {
		return 0, err
	}
	if w.cfg.hasRefs() {
		if err := w.room(w.need()); err != nil {
			return 0, err
		}
	}
	w.groups = sized(w.groups, n)
	telling := w.telling()
	if w.table.inCache() && w.recentCodes.prepare(telling, w.table.n) {
		return w.findRecentCode(telling)
	}
	if !w.table.inCache() && w.codes.prepare(telling) {
		w.sizes.end()
		return w.findByCode(telling)
	}
	if firstNew, err = w.findByHash(w.keys, n, w.groups); err == nil && !w.table.inCache() {
		w.sizes.add(w.groups, w.table.n)
	}
	return firstNew, err
}

// need is how many bytes the values of the batch's rows take in the arena at most.
func (w *Worker) need() int { return w.states.Need(&w.in) + w.wholeNeed(w.in.Rows) }

func (w *Worker) findByHash(keys []column.Vector, n int, groups []uint32) (firstNew uint32, err error) {
	if err := w.encode(keys, n); err != nil {
		return 0, err
	}
	return w.table.find(w.encoder, groups), nil
}

// encode makes the words of n keys, with room for what they and the rows of the batch will put into
// the arena.
func (w *Worker) encode(keys []column.Vector, n int) error {
	w.encoder.Encode(keys, n)
	if err := w.encoder.Err(); err != nil {
		return err
	}
	if err := w.cfg.Intern.Settle(); err != nil {
		return err
	}
	if w.encoder.HasLong() {
		return w.room(w.need() + w.encoder.LongBytes())
	}
	return nil
}

// findByCode sets groups from the codes of the keys, and looks those rows up
// in the table whose tuples are met for the first time.
func (w *Worker) findByCode(telling []column.Vector) (firstNew uint32, err error) {
	w.missing = w.codes.find(telling, w.groups, w.missing[:0])
	if len(w.missing) == 0 {
		return w.table.n, nil
	}
	for i := range w.keys {
		w.missKeys[i] = column.Gather(&w.keys[i], w.missing, &w.keyBuf[i])
	}
	w.found = sized(w.found, len(w.missing))
	firstNew, err = w.findByHash(w.missKeys, len(w.missing), w.found)
	if err == nil {
		w.codes.learn(telling, w.missing, w.found, w.groups)
	}
	return firstNew, err
}

func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
