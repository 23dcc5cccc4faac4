package gagg

import (
	"context"
	"errors"
	"slices"

	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/expr"
	"github.com/gagg-dev/gagg/internal/input"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/internal/parquetio"
	"github.com/gagg-dev/gagg/internal/query"
)

const (
	maxBatchRows  = 64 << 10 // so that the strings of a result batch fit Arrow's 32-bit offsets
	maxPartitions = 1 << 12

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
	opt    Options
	tuning tuning
	in     input.Input
	query  *query.Compiled
	scan   input.Scan
	facts  input.Facts

	learnt   learnt
	budget   *budget.Budget // see newBudget
	metadata int64          // bytes of the budget that the input's metadata takes
	left     int64          // of the memory limit, beside the metadata; 0: there is none
	memory   MemoryPlan
	alloc    memory.Allocator // of records

	layout    *key.Layout
	keyCols   []key.Column // by key
	sets      []keyedValue
	onCPU     bool           // no device takes part, whatever the facts are by now
	filled    cpu.Filled     // keys and arguments that are not expected to be NULL
	argRanges []column.Range // by argument: where it is expected
	threads   int
	tile      feedback.TileConfig

	cancelled func() error // tells why the run has been cancelled; nil: there is none yet
}

// learnt is what runs have found out that had to begin again. It only grows.
type learnt struct {
	digits map[int]int // by column of the schema: what decimals have at least
	nulls  bool        // a column has NULLs that is said to have none
	ranges bool        // a column has values beyond its statistics

	text  int64 // bytes of the longest text
	read  int64 // what reading takes beside usual pages
	alone bool  // no plan has room for such texts; one thread may get by
}

// add adds what an error tells, and reports whether that is anything new. A type is widened a few times at most.
func (l *learnt) add(err error) (more bool) {
	if errors.Is(err, cpu.ErrFilled) && !l.nulls {
		l.nulls, more = true, true
	}
	if errors.Is(err, cpu.ErrRange) && !l.ranges {
		l.ranges, more = true, true
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
	texts := q.texts()
	if err := texts.Validate(); err != nil {
		return nil, err
	}
	p := &prepared{opt: o, tuning: o.tuning(), budget: newBudget(o.MemoryLimit)}
	if p.in, err = q.From.source().Open(ctx, o.reading(), p.budget); err != nil {
		return nil, whileOpening(err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.in.Close())
		}
	}()
	p.learnt = l
	p.in.Widen(l.digits)
	if p.query, err = query.Compile(p.in, texts); err != nil {
		return nil, err
	}
	if p.scan, err = p.in.Scan(p.scanOptions()); err != nil {
		return nil, whileOpening(err)
	}
	p.opened(o.MemoryLimit)
	p.facts = p.scan.Facts()
	if err := p.planThreads(); err != nil {
		return nil, err
	}
	p.tile = p.tuning.tile
	if o.Partitions > 0 {
		p.tile = feedback.NoTiles
	}
	p.placeKeys()
	if p.onCPU = !p.mayUseDevice(); p.onCPU && o.threads() > 1 { // a device takes row groups as they are
		p.scan.Split(o.threads(), p.tuning.partLeast)
		if err := p.planThreads(); err != nil {
			return nil, err
		}
	}
	if p.onCPU && !l.nulls {
		p.fill()
	}
	if p.onCPU {
		p.omitHashes()
	}
	if p.onCPU && !l.ranges {
		p.reach()
	}
	p.alloc = o.allocator(p.memory.Output)
	return p, nil
}

// planThreads chooses how many workers there are, and shares out the memory.
func (p *prepared) planThreads() (err error) {
	p.threads = max(1, min(p.opt.threads(), p.scan.Units()))
	p.memory, p.threads, err = p.tuning.needs.plan(p.left, p.threads, p.scan.WorkerBytes(), len(p.query.Cols), groupingsOf(p.query))
	if err != nil {
		return p.beside(err)
	}
	if m, threads, ok := p.planLearnt(p.left); ok {
		p.memory, p.threads = m, threads
	}
	return nil
}

// scanOptions is what is read, and how.
func (p *prepared) scanOptions() parquetio.ScanOptions {
	o := parquetio.ScanOptions{Columns: p.query.Cols, BatchRows: p.opt.BatchRows}
	if p.query.Where != nil && !p.opt.NoPruning {
		o.Skip, o.SkipColumns = p.query.Where.CanSkip, p.query.Where.Columns() // the test that row groups and pages must pass
	}
	if !p.opt.NoPruning {
		o.Extremes = p.extremes()
	}
	o.Repeat = !slices.ContainsFunc(p.query.Calls, func(c agg.Call) bool { return c.Part == 0 && !c.Func.Repeats() })
	return o
}

// extremes is what the query asks of the columns that are read, if that is their least and greatest values alone, of all rows;
// nil: it asks for more.
func (p *prepared) extremes() []parquetio.Extreme {
	q := p.query
	if len(q.Keys) > 0 || q.Where != nil {
		return nil
	}
	asked := make([]parquetio.Extreme, len(q.Cols))
	for i := range q.Calls {
		c := &q.Calls[i]
		least, greatest := c.Func.Extreme()
		if !least && !greatest || len(c.Args) != 1 || c.Part != 0 {
			return nil
		}
		arg := q.Args[c.Args[0]]
		col, ok := arg.Column()
		if !ok || arg.Type().IsNested() || arg.Type().Rep() != column.RepInt64 {
			return nil
		}
		asked[col].Least, asked[col].Greatest = asked[col].Least || least, asked[col].Greatest || greatest
	}
	return asked
}

// placeKeys chooses the form of each key, and of what is grouped by beside them.
func (p *prepared) placeKeys() {
	p.keyCols = make([]key.Column, len(p.query.Keys))
	for i, e := range p.query.Keys {
		p.keyCols[i] = p.keyColumn(e)
	}
	for _, arg := range p.query.Distinct {
		value := p.keyColumn(p.query.Args[arg])
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

// omitHashes has rows have no hash where that can be made of their keys.
func (p *prepared) omitHashes() {
	p.layout.OmitHash()
	for i := range p.sets {
		p.sets[i].layout.OmitHash()
	}
}

// keyColumn is the form of an expression as a key.
func (p *prepared) keyColumn(e *expr.Expr) key.Column {
	k := key.Column{Type: e.Type()}
	if c, ok := e.Column(); ok && e.Type().Rep() == column.RepBytes {
		k.Intern = p.interns(c)
		if n, ok := p.scan.TextLength(c); ok && n <= maxInlineText && !k.Intern {
			k.Inline = n
		}
	}
	return k
}

// fill finds the keys and the arguments that have no NULL, as far as the input's metadata tell: rows need no place for it. Where one has
// NULLs all the same, the run begins again without this. A query without keys has a group without rows where nothing passes.
func (p *prepared) fill() {
	if len(p.query.Keys) == 0 {
		return
	}
	known := map[int]bool{}
	filled := func(exprs []*expr.Expr) (out []bool) {
		for _, e := range exprs {
			out = append(out, e.Filled(func(col int) bool {
				if _, ok := known[col]; !ok {
					known[col] = p.scan.Filled(col)
				}
				return known[col]
			}))
		}
		return out
	}
	p.filled = cpu.Filled{Keys: filled(p.query.Keys), Args: filled(p.query.Args)}
	p.layOut()
}

// reach finds the arguments whose sums take fewer words, as far as the input's metadata tell where values are. Where one is elsewhere
// all the same, the run begins again without this. A query without keys has one row, and no use for it.
func (p *prepared) reach() {
	if len(p.query.Keys) == 0 {
		return
	}
	p.argRanges = make([]column.Range, len(p.query.Args))
	for i := range p.query.Calls {
		c := &p.query.Calls[i]
		if len(c.Args) == 1 && c.Part == 0 && c.Func.Sums() {
			p.argRanges[c.Args[0]], _ = p.query.Args[c.Args[0]].Reach(p.scan.Ends)
		}
	}
	states := p.states(nil, false)
	for arg := range p.argRanges {
		if !states.Relies(arg) {
			p.argRanges[arg] = column.Range{} // nobody need look whether it is there
		}
	}
}

// internShare is what part of the memory limit the strings of a key may take
// at most to be numbered: numbered strings stay in memory until the end.
const internShare = 32

// interns reports whether the strings of column c of the scan are numbered
// when they are a key.
func (p *prepared) interns(c int) bool {
	n := p.scan.DictEntries(c)
	if !p.scan.DictAll(c) || n < 0 || n > maxInternEntries {
		return false
	}
	if p.opt.MemoryLimit > 0 {
		if bytes := p.scan.DictBytes(c); bytes < 0 || bytes >= p.opt.MemoryLimit/internShare {
			return false
		}
	}
	if n <= fewInternEntries {
		return true
	}
	share, ok := p.scan.DictRepeats(c)
	return !ok || share >= internRepeats
}
