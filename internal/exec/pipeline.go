package exec

import (
	"slices"

	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/expr"
)

// pipeline makes the evaluators of one worker, for keys, and aggregates laid out as states, by
// distinct values of which rows are grouped apart or, whole, are not.
func (r *run) pipeline(keys []*expr.Expr, states *agg.Layout, whole bool) cpu.Pipeline {
	var p cpu.Pipeline
	group := expr.NewGroup()
	p.Begin = group.Begin
	used := map[int]bool{}
	evals := func(exprs []*expr.Expr, newEval func(*expr.Expr) *expr.Eval) []cpu.Evaluator {
		out := make([]cpu.Evaluator, len(exprs))
		for i, e := range exprs {
			if e == nil {
				continue // the argument is not needed
			}
			out[i] = r.evaluator(e, newEval(e))
			for _, c := range e.Columns() {
				if !used[c] {
					used[c] = true
					p.Used = append(p.Used, c)
				}
			}
		}
		return out
	}
	args := r.plan.Query.Args
	if whole {
		args = slices.Clone(args)
		for _, i := range r.plan.Query.Distinct {
			if !states.Part(0).Takes(i) {
				args[i] = nil // it is a key
			}
		}
	}
	newKey := group.NewEval
	if len(keys) == 1 {
		newKey = group.NewKey
	}
	p.Keys, p.Args = evals(keys, newKey), evals(args, group.NewEval)
	for i, a := range p.Args {
		if e, ok := a.(*expr.Eval); ok && states.TakesNarrow(i) && !slices.Contains(r.plan.Query.Distinct, i) {
			e.TakeNarrow()
		}
	}
	if r.plan.Query.Where != nil {
		first, residual := r.plan.Query.Where.Split()
		p.Where, p.First, p.Residual = condition(r.plan.Query.Where), condition(first), condition(residual)
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
