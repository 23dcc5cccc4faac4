package plan

import (
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/expr"
)

// fill finds the keys and the arguments that have no NULL, as far as the input's metadata tell:
// rows need no place for it. Where one has NULLs all the same, the run begins again without this. A
// query without keys has a group without rows where nothing passes.
func (p *planner) fill() {
	if len(p.Query.Keys) == 0 {
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
	p.Filled = cpu.Filled{Keys: filled(p.Query.Keys), Args: filled(p.Query.Args)}
	p.layOut()
}

// reach finds the arguments whose sums take fewer words, as far as the input's metadata tell where
// values are. Where one is elsewhere all the same, the run begins again without this. A query
// without keys has one row, and no use for it.
func (p *planner) reach() {
	if len(p.Query.Keys) == 0 {
		return
	}
	p.Ranges = make([]column.Range, len(p.Query.Args))
	for i := range p.Query.Calls {
		c := &p.Query.Calls[i]
		if len(c.Args) == 1 && c.Part == 0 && c.Func.Sums() {
			p.Ranges[c.Args[0]], _ = p.Query.Args[c.Args[0]].Reach(p.scan.Ends)
		}
	}
	states := p.States(nil, false, nil)
	for arg := range p.Ranges {
		if !states.Relies(arg) {
			p.Ranges[arg] = column.Range{} // nobody need look whether it is there
		}
	}
}
