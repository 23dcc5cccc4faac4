package exec

import (
	"slices"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/expr"
)

// This file is how results are made of no more groups than are put out. A batch of groups passes
// through steps: each makes the columns that it looks at, and drops groups; the last one makes
// the rest.
//
//	follow   makes the columns of the keys that follow from others and may fail, drops nothing
//	having   makes the columns of the filter, drops the groups that do not pass
//	order    where only the best are wanted: makes the columns of the order, drops the groups that
//	         the sorter has no use for, since it has as many that come before them
//	rest     makes all other columns
//
// STEP-ERRORS: whether a query fails does not depend on which groups are dropped by the order,
// since that depends on threads. So what may fail is made before: such aggregates, and such output
// columns.

// outputStep makes columns of a batch and then drops groups of it.
type outputStep struct {
	cols []int                              // of the batch
	drop func(sel []int32) ([]int32, error) // appends the groups to keep; nil: all are kept
	uses []*expr.Expr                       // the expressions that drop computes
	// the rows that it has left: strings of the steps behind it lie there
	left []uint64
}

// planSteps tells in which steps batches are made.
func (p *producer) planSteps() []outputStep {
	var steps []outputStep
	made := make([]bool, len(p.batch.Cols))
	add := func(drop func([]int32) ([]int32, error), uses []*expr.Expr, wanted func(c int) bool) {
		var cols []int
		for c := range made {
			if !made[c] && wanted(c) {
				made[c] = true
				cols = append(cols, c)
			}
		}
		steps = append(steps, outputStep{cols: cols, drop: drop, uses: uses})
	}
	q := p.r.plan.Query
	if follow := q.FallibleKeys(); len(follow) > 0 {
		used, checked := p.evals(follow)
		add(func(sel []int32) ([]int32, error) { return all(p.batch.Rows, sel), p.check(checked) }, follow,
			func(c int) bool { return slices.Contains(used, c) })
	}
	if q.Having != nil {
		used, filter := q.Having.Columns(), q.Having.NewEval()
		add(func(sel []int32) ([]int32, error) { return filter.Filter(&p.batch, sel) }, []*expr.Expr{q.Having},
			func(c int) bool { return slices.Contains(used, c) })
	}
	if p.sorter != nil && p.sorter.Drops() {
		used, checked := p.orderColumns()
		add(func(sel []int32) ([]int32, error) { return p.wanted(sel, checked) }, q.ResultExprs(),
			func(c int) bool { return slices.Contains(used, c) || p.mayOverflow(c) })
	}
	add(nil, nil, func(int) bool { return true })
	return steps
}

// evals gives the columns that expressions look at, and what computes them.
func (p *producer) evals(exprs []*expr.Expr) (used []int, evals []*expr.Eval) {
	for _, e := range exprs {
		used, evals = append(used, e.Columns()...), append(evals, e.NewEval())
	}
	return used, evals
}

// all appends the numbers below n to sel.
func all(n int, sel []int32) []int32 {
	for i := range n {
		sel = append(sel, int32(i))
	}
	return sel
}

// check computes expressions of all groups, for their errors.
func (p *producer) check(exprs []*expr.Eval) error {
	for _, e := range exprs {
		var v column.Vector
		if err := e.Eval(&p.batch, &v); err != nil {
			return err
		}
	}
	return nil
}

// orderColumns gives the columns that the order looks at, and those of the outputs that may fail.
func (p *producer) orderColumns() (used []int, checked []*expr.Eval) {
	for _, t := range p.r.plan.Query.Order {
		used = append(used, t.Expr.Columns()...)
	}
	var fail []*expr.Expr
	for _, out := range p.r.plan.Query.Out {
		if out.Expr.MayFail() {
			fail = append(fail, out.Expr)
		}
	}
	more, checked := p.evals(fail)
	return append(used, more...), checked
}

// mayOverflow reports whether column c of the batch is an aggregate whose result may not fit.
func (p *producer) mayOverflow(c int) bool {
	call := c - len(p.r.plan.Query.Keys)
	return call >= 0 && p.r.current.Load().cfg.States.MayOverflow(call)
}

// wanted appends to sel the groups that may be among the best. The outputs checked are computed of
// all groups.
func (p *producer) wanted(sel []int32, checked []*expr.Eval) ([]int32, error) {
	order := make([]column.Vector, len(p.order))
	for i, e := range p.order {
		if err := e.Eval(&p.batch, &order[i]); err != nil {
			return sel, err
		}
	}
	if err := p.check(checked); err != nil {
		return sel, err
	}
	return p.sorter.Wanted(order, p.batch.Rows, sel), nil
}

// result makes the batch of keys and aggregates of some groups, less those that are not put out.
func (p *producer) result(rows []uint64) (*column.Batch, error) {
	stride := p.from.cfg.Stride
	p.batch.Rows = len(rows) / stride
	for i := range p.steps {
		s := &p.steps[i]
		if err := p.compute(s.cols, rows); err != nil {
			return nil, err
		}
		if s.drop == nil {
			continue
		}
		err := p.reserve(p.large, s.uses)
		if err != nil {
			return nil, err
		}
		if p.sel, err = s.drop(p.sel[:0]); err != nil {
			return nil, err
		}
		if len(p.sel) < p.batch.Rows {
			rows = p.keep(rows, i)
		}
		if p.batch.Rows == 0 {
			break
		}
	}
	return &p.batch, nil
}

// compute makes columns of the batch, of the groups of rows.
func (p *producer) compute(cols []int, rows []uint64) error {
	nkeys, cfg := len(p.r.plan.Query.Keys), p.from.cfg
	for _, c := range cols {
		var err error
		switch call := c - nkeys; {
		case call < 0:
			p.keys.Decode(c, rows, &p.made[c])
		case p.large != nil:
			err = cfg.States.FinishLarge(call, rows, cfg.Arenas, p.large, &p.made[c])
		default:
			err = cfg.States.Finish(call, rows, cfg.Stride, cfg.Arenas, &p.made[c])
		}
		if err != nil {
			return p.explain(err, rows)
		}
		p.batch.Cols[c] = p.made[c]
	}
	return nil
}

// keep drops all groups but sel from the columns that steps up to number last have made, and
// returns the rows of those that are left.
func (p *producer) keep(rows []uint64, last int) []uint64 {
	p.batch.Rows = len(p.sel)
	if len(p.sel) == 0 {
		return nil
	}
	for _, s := range p.steps[:last+1] {
		for _, c := range s.cols {
			p.batch.Cols[c] = column.Gather(&p.batch.Cols[c], p.sel, &p.bufs[c])
		}
	}
	stride := p.from.cfg.Stride
	left := slices.Grow(p.steps[last].left[:0], len(p.sel)*stride)
	for _, g := range p.sel {
		left = append(left, rows[int(g)*stride:int(g+1)*stride]...)
	}
	p.steps[last].left = left
	return left
}
