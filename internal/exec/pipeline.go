package exec

import (
	"slices"

	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/expr"
)

// pipeline makes the evaluators of one worker, for aggregates laid out as states.
func (r *run) pipeline(states *agg.Layout) cpu.Pipeline {
	var p cpu.Pipeline
	group := expr.NewGroup()
	p.Begin = group.Begin
	used := map[int]bool{}
	evals := func(exprs []*expr.Expr) []cpu.Evaluator {
		out := make([]cpu.Evaluator, len(exprs))
		for i, e := range exprs {
			if e == nil {
				continue // nobody needs the argument
			}
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
	p.Keys, p.Args = evals(r.plan.Query.Keys), evals(r.plan.Query.Args)
	for i, a := range p.Args {
		if e, ok := a.(*expr.Eval); ok && states.TakesNarrow(i) && !slices.Contains(r.plan.Query.Distinct, i) {
			e.TakeNarrow()
		}
	}
	if r.plan.Query.Where != nil {
		first, rest := r.plan.Query.Where.Split()
		p.Where, p.First, p.Rest = condition(r.plan.Query.Where), condition(first), condition(rest)
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
