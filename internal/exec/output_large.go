package exec

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/expr"
	"github.com/gagg-dev/gagg/internal/plan"
)

// This file makes the result of a group that is too large for a batch, because of a long key or of
// a result such as a list of all values of a column. The group is a record of its own, and its
// memory is drawn from the budget. If there is not enough, the error says how much is needed. Only
// one such group is made at a time, when the reader waits for it and holds no other record
// (Rows.turn).

// errLarge is a group that is too large for a batch.
var errLarge = errors.New("a group is too large for a batch")

// putLarge puts out one group of range n.
func (p *producer) putLarge(n int, row []uint64, emit emitFunc) error {
	return p.makeLarge(n, row, func(l *column.LargeRow) error {
		b, err := p.result(row)
		if err == nil && b.Rows > 0 {
			err = emit(b, l)
		}
		return err
	})
}

// makeLarge calls put, which makes the group of a row in memory of l, when it is its turn.
func (p *producer) makeLarge(n int, row []uint64, put func(l *column.LargeRow) error) error {
	if err := p.turn(n); err != nil {
		return err
	}
	l := column.NewLargeRow(p.r.largeMemory())
	defer l.Done()
	p.keys.Begin(row)
	p.large = l
	err := put(l)
	p.large = nil
	clear(p.made) // their memory is gone
	clear(p.batch.Cols)
	p.plan() // results that were computed with them are held elsewhere
	return p.needs(row, err)
}

// largeMemory is the budget less what records that wait for the reader may take.
func (r *run) largeMemory() budget.Lender { return r.budget.Beside(r.plan.Memory.Output) }

// reserve draws the memory for computing expressions on the batch of a large group; nil l: the
// batch is none.
func (p *producer) reserve(l *column.LargeRow, exprs []*expr.Expr) error {
	for _, e := range exprs {
		if l == nil {
			break
		}
		if err := l.Reserve(p.computed(e, &p.batch)); err != nil {
			return err
		}
	}
	return nil
}

// largeRecord makes the record of a group.
func (p *producer) largeRecord(schema *arrow.Schema, b *column.Batch, l *column.LargeRow) ([]arrow.Record, error) {
	return p.r.largeRecord(schema, b.Rows, l, func(i int, v *column.Vector) error {
		if err := p.reserve(l, []*expr.Expr{p.r.plan.Query.Out[i].Expr}); err != nil {
			return err
		}
		return p.out[i].Eval(b, v)
	})
}

// largeRecord makes the record of a large row, in memory of l; col sets v to column i of it.
func (r *run) largeRecord(schema *arrow.Schema, rows int, l *column.LargeRow, col func(i int, v *column.Vector) error) ([]arrow.Record, error) {
	defer l.Done()
	rec, err := r.record(schema, rows, l, func(i int, v *column.Vector) error {
		if err := col(i, v); err != nil {
			return err
		}
		return l.Reserve(l.Beside(v))
	})
	if err != nil {
		return nil, err
	}
	return []arrow.Record{rec}, nil
}

// computed is about how many bytes computing an expression on a large group takes. A plain column
// takes none.
func (p *producer) computed(e *expr.Expr, b *column.Batch) (n int64) {
	if _, ok := e.Column(); ok {
		return 0
	}
	for _, c := range e.Columns() {
		n += computeShare * valueBytes(&b.Cols[c])
	}
	return n
}

// computeShare is how many copies of a long value an expression may make: its result and
// one in between. With more, fewer rows are computed at a time where values are long.
const computeShare = 2

// valueBytes is about how many bytes the values of a vector have.
func valueBytes(v *column.Vector) (n int64) {
	if v.Type.IsNested() {
		if n = 8 * int64(len(v.Counts)); v.Elem != nil {
			n += valueBytes(v.Elem)
		}
		return n
	}
	for _, s := range v.Span {
		n += int64(s.Len)
	}
	return n + 8*int64(v.Len)
}

// needs makes a NeedError of the refusal of memory for a group: it says which limit is enough.
func (p *producer) needs(row []uint64, err error) error {
	if !errors.Is(err, budget.Memory) {
		return err
	}
	r, states, reg := p.r, p.from.cfg.States, p.from.cfg.Arenas
	keys := int64(r.plan.Layout.LongBytes(row, r.plan.Layout.Base()))
	held, result, most, what := states.HeldBytes(row, reg)+keys, keys, keys, "a key"
	for i, text := range r.plan.Query.CallTexts {
		n := states.LargeBytes(i, row, reg)
		if result += n; n > most {
			most, what = n, "the result of "+text
		}
	}
	for _, c := range r.plan.Query.Out {
		if _, ok := c.Expr.Column(); !ok {
			result += computeShare * result
			break
		}
	}
	if len(r.plan.Query.Order) > 0 {
		result *= 2 // it is copied to be sorted
	}
	need := r.plan.ResultNeed(r.learnt, held, result)
	return &plan.NeedError{Limit: r.budget.Limit(), Need: need, Result: fmt.Sprintf("%s takes up to %s in one group", what, plan.MiB(most))}
}
