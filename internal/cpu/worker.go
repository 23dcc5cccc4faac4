package cpu

import (
	"errors"
	"math/bits"
	"sync/atomic"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/invariant"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/internal/spill"
	"github.com/gagg-dev/gagg/partition"
)

// Filter appends to sel the rows of a batch that pass.
type Filter interface {
	Filter(b *column.Batch, sel []int32) ([]int32, error)
}

// Evaluator computes a column from a batch. out is valid until the next call
// and may alias the batch.
type Evaluator interface {
	Eval(b *column.Batch, out *column.Vector) error
}

// Config is what all workers of a run share.
type Config struct {
	Keys       *key.Layout
	Intern     *key.Interner
	States     *agg.Layout // its words begin at 1+Keys.Words
	Arenas     *arena.Arenas
	Stride     int // words of a row: see Stride
	Threads    int
	Partitions int   // a power of two; 0: as many as the groups ask for
	Rows       int64 // rows that all workers are to see; -1: not known
	AtMost     int64 // groups that there can be; -1: not known
	Tile       feedback.TileConfig
	Memory     Memory

	// Grow is told of memory before it is allocated, and of memory that is
	// let go as a negative number. It may refuse to give more.
	Grow func(bytes int64) error

	// Spill makes a file for rows when Grow refuses memory. nil: there is
	// nowhere to spill to, and a refusal ends the run.
	Spill func() (*spill.File, error)

	plan atomic.Pointer[partition.Plan] // of level 0; nil: not chosen yet
}

// Memory is how the memory of a run is shared out, in bytes; 0: no limit.
type Memory struct {
	Worker int64 // the most that a worker may take for groups: table, pages, values
	Table  int64 // the most of it that the table may take
	Pages  int64 // what pages that are being filled may take, over all workers
	Merge  int64 // the most that a merger may take
}

// Stride is the number of words of a row with the given key and state. Rows
// that nearly fill a cache line fill it, so that none lies across two.
func Stride(keys *key.Layout, states *agg.Layout) int {
	n := 1 + keys.Words + states.Words()
	switch {
	case n == 3:
		return 4
	case n%8 >= 6:
		return (n + 7) &^ 7
	}
	return n
}

// choose returns the number of hash bits for partitions, which is the same
// for all workers: the first that asks decides, from an estimate of the groups
// among the rows it has seen, and from the bytes of their values, of which
// later rows are expected to bring as many.
func (c *Config) choose(estimate float64, rows, values int64) uint {
	l := c.Level(partition.Expected(estimate, rows, c.Rows, c.AtMost))
	if c.Rows > rows && l.Groups > 0 {
		values = int64(float64(values) * float64(c.Rows) / float64(rows))
		l.GroupBytes += int64(float64(values) / l.Groups)
	}
	p := l.Plan()
	if c.Partitions > 0 {
		p.Bits = uint(bits.TrailingZeros(uint(c.Partitions)))
	}
	c.plan.CompareAndSwap(nil, &p)
	return c.plan.Load().Bits
}

// Plan is how groups were divided into partitions; nil: they were not.
func (c *Config) Plan() *partition.Plan { return c.plan.Load() }

// Level is what level 0 knows when so many groups are expected.
func (c *Config) Level(groups float64) partition.Level {
	return partition.Level{
		Groups: groups, RowBytes: 8 * int64(c.Stride), GroupBytes: c.groupBytes(),
		MergeBytes: c.mergeRoom(), PageBytes: partition.PageBytes, Workers: c.Threads,
		OpenBytes: c.Memory.Pages, Left: 64,
	}
}

// groupBytes is what a group takes while it is merged: its row, and up to four
// slots of the directory.
func (c *Config) groupBytes() int64 { return 8*int64(c.Stride) + 4*4 }

// mergeRoom is what the groups of a partition may take while it is merged.
func (c *Config) mergeRoom() int64 { return int64(loadShare * float64(c.Memory.Merge)) }

// rowsEach is how many rows one worker is expected to see; -1: not known.
func (c *Config) rowsEach() int64 {
	if c.Rows < 0 {
		return -1
	}
	return c.Rows / int64(max(c.Threads, 1))
}

// Pipeline is how one worker computes what it needs from a batch; its parts
// hold state and are not shared.
type Pipeline struct {
	Where Filter // nil: all rows
	Used  []int  // columns that Keys and Args use
	Keys  []Evaluator
	Args  []Evaluator
}

// phase is what a worker does with its rows.
type phase uint8

const (
	phaseGlobal  phase = iota // no keys: one group until the end
	phaseTable                // into the table; ends when feedback says Scatter
	phaseScatter              // tiles into buckets, until the end
)

// Worker groups and aggregates the batches it is given.
type Worker struct {
	cfg     *Config
	pipe    Pipeline
	phase   phase
	table   *table
	store   *store // its arena holds the values of the table too
	codes   codes
	encoder *key.Encoder
	sketch  *partition.Sketch // of all rows placed

	rows, nextCheck int64 // rows taken into the table as it is, and at how many it is judged

	sel      []int32
	compact  column.Batch
	compBuf  []column.Buffer
	keys     []column.Vector
	keyBuf   []column.Buffer
	argBuf   []column.Buffer
	coded    []bool // by argument: it may stay dictionary-coded
	in       agg.Input
	groups   []uint32
	found    []uint32
	missing  []int32
	missKeys []column.Vector
	tile     agg.Table
	fresh    []uint64 // as many fresh rows as the largest tile had
	identity []uint32
	tileHeld int64 // bytes of tile and fresh
}

// NewWorker returns a worker that takes its input through pipe.
func NewWorker(cfg *Config, pipe Pipeline) (*Worker, error) {
	template := make([]uint64, cfg.Stride)
	cfg.States.Init(template)
	w := &Worker{
		cfg: cfg, pipe: pipe, phase: phaseTable,
		encoder:  key.NewEncoder(cfg.Keys, cfg.Intern),
		sketch:   partition.NewSketch(),
		keys:     make([]column.Vector, len(pipe.Keys)),
		keyBuf:   make([]column.Buffer, len(pipe.Keys)),
		missKeys: make([]column.Vector, len(pipe.Keys)),
		argBuf:   make([]column.Buffer, len(pipe.Args)),
	}
	w.store = newStore(cfg, w.ask)
	var err error
	if w.table, err = newTable(cfg.Stride, cfg.Keys.Words, template, w.askTable); err != nil {
		return nil, err
	}
	w.table.limit = cfg.Memory.Table
	w.table.rows.Arena = w.store.arena
	w.tile = agg.Table{Stride: cfg.Stride, Arena: w.store.arena}
	w.in.Args = make([]column.Vector, len(pipe.Args))
	w.coded = make([]bool, len(pipe.Args))
	for i := range w.coded {
		w.coded[i] = len(pipe.Keys) > 0 && cfg.States.TakesCodes(i)
	}
	w.nextCheck = cfg.Tile.MinRows
	if len(pipe.Keys) == 0 {
		w.phase = phaseGlobal
		err = w.table.addEmpty(cfg.States)
	}
	return w, err
}

// ask takes memory for pages, unless it is more than the worker's share.
// Without shares, a worker that is ahead would leave none to one that has
// just begun.
func (w *Worker) ask(bytes int64) error { return w.askUpTo(w.cfg.Memory.Worker, bytes) }

// askTable takes memory for the table. What it and the values that groups
// refer to may take leaves room for a page of each partition, without which
// they could not be emptied into buckets.
func (w *Worker) askTable(bytes int64) error { return w.askUpTo(w.tableRoom(), bytes) }

func (w *Worker) tableRoom() int64 {
	m := &w.cfg.Memory
	return max(m.Worker-w.cfg.openPages()-partition.LeastBytes, m.Worker/4)
}

func (w *Worker) askUpTo(most, bytes int64) error {
	if w.cfg.Memory.Worker > 0 && bytes >= 0 && w.bytes()+bytes > most {
		return &RefusedError{errShareUsed}
	}
	return asking(w.cfg.Grow)(bytes)
}

var errShareUsed = errors.New("the memory of a worker is used up")

// bytes is the memory that the worker's groups take.
func (w *Worker) bytes() int64 {
	n := w.store.bytes() + w.tileHeld
	if w.table != nil {
		n += w.table.held
	}
	return n
}

// room makes sure of memory for so many bytes of values.
func (w *Worker) room(bytes int) error {
	if err := w.fits(w.store.arena.Growth(bytes)); err != nil {
		return err
	}
	return w.store.room(bytes)
}

// fits refuses what would not leave the worker the memory to put its groups
// to disk. A single row always fits: it cannot be halved.
func (w *Worker) fits(bytes int64) error {
	most := w.cfg.Memory.Worker
	if most > 0 && w.in.Rows > 1 && w.bytes()+bytes+w.store.exit(w.cfg.openPages()) > most {
		return &RefusedError{errShareUsed}
	}
	return nil
}

// openPages is what one worker may take for pages that are being filled.
func (c *Config) openPages() int64 { return c.Memory.Pages / int64(max(c.Threads, 1)) }

// overload is a refusal of what the rows of one batch need, all memory that
// could be made free being free. None of them has been taken.
type overload struct{ cause error }

func (e *overload) Error() string { return e.cause.Error() }
func (e *overload) Unwrap() error { return e.cause }

// Add takes the rows of a batch. What a batch may need is an upper bound that
// grows with its rows, so that a batch which needs too much is halved.
func (w *Worker) Add(b *column.Batch) error {
	err := w.add(b)
	if over := (*overload)(nil); b.Rows < 2 || !errors.As(err, &over) {
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
	b, err := w.filter(b)
	if err != nil || b.Rows == 0 {
		return err
	}
	for i, e := range w.pipe.Keys {
		if err := e.Eval(b, &w.keys[i]); err != nil {
			return err
		}
	}
	for i, e := range w.pipe.Args {
		var v column.Vector
		if err := e.Eval(b, &v); err != nil {
			return err
		}
		if v.Null != nil || !w.coded[i] {
			v = column.Flatten(&v, &w.argBuf[i])
		}
		w.in.Args[i] = v
	}
	if invariant.Enabled {
		w.checkBatch(b)
	}
	w.in.Rows = b.Rows
	switch w.phase {
	case phaseGlobal:
		return w.addGlobal()
	case phaseScatter:
		return w.scatter(b.Rows)
	default:
		return w.addTable(b.Rows)
	}
}

// addGlobal adds all rows to the one group that there is.
func (w *Worker) addGlobal() error {
	if w.cfg.hasRefs() {
		if err := w.store.makeRoom(w.table.rows.Rows, w.cfg.States.Need(&w.in), w.room); err != nil {
			return err
		}
	}
	w.cfg.States.UpdateOne(&w.table.rows, 0, false, &w.in)
	return nil
}

// checkBatch checks what the loops over keys and arguments rely on.
func (w *Worker) checkBatch(b *column.Batch) {
	for _, cols := range [][]column.Vector{w.keys, w.in.Args} {
		for i := range cols {
			invariant.Check(cols[i].Len == b.Rows, "VECTOR-LENGTH")
			invariant.Check(cols[i].Valid(), "VECTOR-VALID")
		}
	}
}

// filter returns the batch of the rows that pass, with only the used columns
// in it where some do not.
func (w *Worker) filter(b *column.Batch) (*column.Batch, error) {
	if w.pipe.Where != nil {
		var err error
		if w.sel, err = w.pipe.Where.Filter(b, w.sel[:0]); err != nil {
			return b, err
		}
		if len(w.sel) < b.Rows {
			b = w.gather(b)
			w.positions(b.First, w.sel)
			return b, nil
		}
	}
	w.positions(b.First, w.all(b.Rows))
	return b, nil
}

func (w *Worker) gather(b *column.Batch) *column.Batch {
	if len(w.compBuf) < len(b.Cols) {
		w.compBuf = make([]column.Buffer, len(b.Cols))
		w.compact.Cols = make([]column.Vector, len(b.Cols))
	}
	w.compact.Rows, w.compact.First = len(w.sel), b.First
	for _, c := range w.pipe.Used {
		w.compact.Cols[c] = column.Gather(&b.Cols[c], w.sel, &w.compBuf[c])
	}
	return &w.compact
}

// all returns the row numbers 0..n-1, where positions are wanted.
func (w *Worker) all(n int) []int32 {
	if !w.cfg.States.NeedsPos() {
		return nil
	}
	w.sel = w.sel[:0]
	for i := range n {
		w.sel = append(w.sel, int32(i))
	}
	return w.sel
}

// positions sets the place in the input of each row taken.
func (w *Worker) positions(first int64, sel []int32) {
	if !w.cfg.States.NeedsPos() {
		return
	}
	w.in.Pos = w.in.Pos[:0]
	for _, r := range sel {
		w.in.Pos = append(w.in.Pos, first+int64(r))
	}
}

// addTable adds the rows to their groups in the table. When memory is refused
// the table is emptied into buckets first, or given up for them.
func (w *Worker) addTable(n int) error {
	for {
		firstNew, err := w.find(n)
		if err == nil {
			w.rows += int64(n)
			w.cfg.States.Update(&w.table.rows, w.groups, firstNew, &w.in)
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
	if w.rows >= w.nextCheck {
		return w.judge()
	}
	return nil
}

// find sets groups to the groups of the rows, with room for what they will
// put into the arena. If memory is refused, nothing has changed.
func (w *Worker) find(n int) (firstNew uint32, err error) {
	if err := w.table.secure(n); err != nil {
		return 0, err
	}
	if w.cfg.hasRefs() {
		if err := w.room(w.cfg.States.Need(&w.in)); err != nil {
			return 0, err
		}
	}
	w.groups = sized(w.groups, n)
	if w.codes.prepare(w.keys) {
		return w.findByCode()
	}
	return w.findByHash(w.keys, n, w.groups)
}

func (w *Worker) findByHash(keys []column.Vector, n int, groups []uint32) (firstNew uint32, err error) {
	w.encoder.Encode(keys, n)
	if err := w.cfg.Intern.Settle(); err != nil {
		return 0, &RefusedError{err}
	}
	if w.encoder.HasLong() {
		if err := w.room(w.cfg.States.Need(&w.in) + w.encoder.LongBytes()); err != nil {
			return 0, err
		}
	}
	return w.table.findKeys(w.encoder, groups), nil
}

// findByCode sets groups from the codes of the keys, and looks those rows up
// in the table whose tuples are met for the first time.
func (w *Worker) findByCode() (firstNew uint32, err error) {
	w.missing = w.codes.find(w.keys, w.groups, w.missing[:0])
	if len(w.missing) == 0 {
		return w.table.n, nil
	}
	for i := range w.keys {
		w.missKeys[i] = column.Gather(&w.keys[i], w.missing, &w.keyBuf[i])
	}
	w.found = sized(w.found, len(w.missing))
	firstNew, err = w.findByHash(w.missKeys, len(w.missing), w.found)
	if err == nil {
		w.codes.learn(w.keys, w.missing, w.found, w.groups)
	}
	return firstNew, err
}

func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
