package exec

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/expr"
	"github.com/gagg-dev/gagg/internal/extsort"
	"github.com/gagg-dev/gagg/internal/key"
)

// resultRows is how many groups a result batch holds at most: large enough
// to pay for the calls, small enough to stay in cache.
const resultRows = 4096

// firstRows is about how many groups the first batch has if only the first ones of an order are
// wanted: a small one soon tells the sorter a bound that others do not reach.
const firstRows = 256

// producer turns merged groups into result batches. Each goroutine has one.
type producer struct {
	r      *run
	from   *attempt // whose groups it merges; nil: none yet
	merger *cpu.Merger
	keys   key.Decoder
	gone   int // groups of the partition being made that are in batches
	out    []*expr.Eval
	order  []*expr.Eval
	sorter *extsort.Sorter   // of an ordered result; nil: there is none
	turn   func(n int) error // returns once a large group of range n may be made

	size   int              // rows of the last batch
	batch  column.Batch     // keys, then aggregates
	large  *column.LargeRow // that the batch is made in; nil: in made
	steps  []outputStep     // in which the batch is made (steps.go)
	sel    []int32
	made   []column.Vector // by column of the batch: the memory that it is made in
	bufs   []column.Buffer // the same, for the groups that a step has left
	early  prefilters
	states *stateMaker // nil: a result is made

	totalKey []uint64 // the key of the row of all rows; nil: it is not wanted
}

func newProducer(r *run, sorter *extsort.Sorter, turn func(n int) error) *producer {
	n := len(r.plan.Query.Keys) + len(r.plan.Query.Calls)
	p := &producer{
		r:      r,
		sorter: sorter,
		turn:   turn,
		size:   resultRows,
		batch:  column.Batch{Cols: make([]column.Vector, n)},
		made:   make([]column.Vector, n),
		bufs:   make([]column.Buffer, n),
	}
	if sorter != nil && sorter.Drops() {
		p.size = firstRows / 2 // see next
	}
	if r.written != nil {
		p.states = newStateMaker(p)
	}
	p.plan()
	return p
}

// plan makes the evaluators of the output and of the order.
func (p *producer) plan() {
	p.out, p.order = nil, nil
	if p.states != nil {
		return
	}
	for _, c := range p.r.plan.Query.Out {
		p.out = append(p.out, c.Expr.NewEval())
	}
	for _, t := range p.r.plan.Query.Order {
		p.order = append(p.order, t.Expr.NewEval())
	}
	p.steps = p.planSteps()
}

// attach has p merge the groups of the current attempt.
func (p *producer) attach() error {
	a := p.r.current.Load()
	if p.from == a {
		return nil
	}
	if err := p.close(); err != nil {
		return err
	}
	p.from = a
	p.merger = a.run.NewMerger(a.groups.Buckets)
	p.keys = key.Decoder{Layout: p.r.plan.Layout, Intern: a.cfg.Intern, Arenas: a.cfg.Arenas, Base: p.r.plan.Layout.Base(), Stride: a.cfg.Stride}
	if total := p.r.plan.Query.Totals; total >= 0 {
		p.totalKey = a.cfg.TotalKey(p.r.groupings(), total)
	}
	if !a.onDevices() {
		p.early = p.planPrefilters()
		p.early.set(p)
		return nil
	}
	p.early = prefilters{} // groups may have to be made again: those that were left out then are others
	return a.devices.Attach(p.merger)
}

// close lets go of the merger.
func (p *producer) close() error {
	err := p.states.close()
	if p.from == nil {
		return err
	}
	m := p.merger
	p.from, p.merger = nil, nil
	return errors.Join(err, m.Close())
}

// emitFunc takes a result batch. l is the memory of one that is a large group, else nil.
type emitFunc func(b *column.Batch, l *column.LargeRow) error

// partition calls emit with the result batches of range number n of the partitions, in
// order. A batch is valid until emit returns. Should a device fail, the CPU makes the
// groups again, which come in the same order, and those that are in batches are left out.
func (p *producer) partition(ctx context.Context, n int, emit emitFunc) error {
	p.gone = 0
	err := p.attempt(ctx, n, emit)
	if p.r.mayFailOver(err) {
		if err = p.r.failOver(ctx, err); err == nil {
			err = p.attempt(ctx, n, emit)
		}
	}
	return err
}

func (p *producer) attempt(ctx context.Context, n int, emit emitFunc) error {
	if err := p.r.awaitGroups(); err != nil {
		return err
	}
	if err := p.attach(); err != nil {
		return err
	}
	p.merger.Prefetch(p.r.ranges[min(n+p.r.plan.Threads, len(p.r.ranges)-1)])
	seen, stride := 0, p.from.cfg.Stride
	return p.merger.Merge(ctx, p.r.ranges[n], func(rows []uint64) error {
		skip := min(max(p.gone-seen, 0), len(rows)/stride)
		seen += len(rows) / stride
		before, behind, err := p.takeTotal(n, rows[skip*stride:])
		if err == nil {
			err = p.put(ctx, n, before, emit)
		}
		if err == nil {
			err = p.put(ctx, n, behind, emit)
		}
		return err
	})
}

// put calls emit with the result batches of rows, which are of range n.
func (p *producer) put(ctx context.Context, n int, rows []uint64, emit emitFunc) error {
	stride := p.from.cfg.Stride
	for len(rows) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		k, b, err := p.next(rows)
		switch {
		case errors.Is(err, errLarge):
			err = p.putLarge(n, rows[:stride], emit)
		case err == nil && b.Rows > 0:
			err = emit(b, nil)
		}
		if err != nil {
			return err
		}
		rows = rows[k*stride:]
		p.gone += k
		p.early.set(p)
	}
	return nil
}

// next makes a batch of the first of the rows and tells how many they are: as
// many as last time, or twice that, unless their strings, lists and maps are
// too long. The error is errLarge if those of the first one are.
func (p *producer) next(rows []uint64) (k int, b *column.Batch, err error) {
	stride := p.from.cfg.Stride
	p.size = min(2*p.size, resultRows)
	rows = rows[:min(len(rows), p.size*stride)]
	p.keys.Begin(rows)
	k = p.keysFit(rows)
	if k == 0 {
		return 1, nil, errLarge
	}
	b, err = p.result(rows[:k*stride])
	for errors.Is(err, agg.ErrBatchFull) && k > 1 {
		k /= 2
		p.size = k
		b, err = p.result(rows[:k*stride])
	}
	if errors.Is(err, agg.ErrBatchFull) {
		err = errLarge
	}
	return k, b, err
}

// keysFit is how many of the rows have keys that fit a batch. The decoder has begun with the rows.
func (p *producer) keysFit(rows []uint64) int {
	stride := p.from.cfg.Stride
	n := len(rows) / stride
	if !p.keys.HasLong() {
		return n
	}
	bytes := 0
	for i := range n {
		if bytes += p.r.plan.Layout.LongBytes(rows[i*stride:], 1); bytes > p.r.plan.Memory.BatchBytes() {
			return i
		}
	}
	return n
}

// explain names the aggregate and the group of an overflow. rows are those of the groups.
func (p *producer) explain(err error, rows []uint64) error {
	var over *agg.OverflowError
	if !errors.As(err, &over) {
		return err
	}
	var group []string
	q := p.r.plan.Query
	for i, name := range q.KeyTexts[:q.NamedKeys()] {
		p.keys.Decode(i, rows, &p.made[i])
		v := p.made[i]
		if told := q.ToldKey(i); told != nil {
			cols := make([]column.Vector, i+1)
			cols[i] = v
			if err := told.NewEval().Eval(&column.Batch{Rows: v.Len, Cols: cols}, &v); err != nil {
				continue
			}
		}
		v = column.Gather(&v, []int32{int32(over.Row)}, &column.Buffer{})
		text := "NULL"
		if arr, err := column.ToArrow(&v, memory.NewGoAllocator()); err == nil {
			text = arr.ValueStr(0)
			arr.Release()
		}
		group = append(group, fmt.Sprintf("%s = %s", name, text))
	}
	where := "all rows"
	if len(group) > 0 {
		where = "the group " + strings.Join(group, ", ")
	}
	return fmt.Errorf("%s overflows in %s: %w", p.r.plan.Query.CallTexts[over.Call], where, err)
}
