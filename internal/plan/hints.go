package plan

import (
	"slices"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/expr"
	"github.com/gagg-dev/gagg/internal/query"
)

// fill finds the keys and arguments that have no NULL by the metadata of the input: their rows need
// no place for it. If one has a NULL all the same, the run ends and the next plan does without
// this. Queries without keys are left out: if no row passes the filter they have a group without
// rows.
func (p *planner) fill() {
	if len(p.Query.Keys) == 0 || p.Query.Mode.Takes() {
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
	if !p.Parted { // the parts are looked at, not the keys
		p.Filled.Keys = filled(p.Query.Keys)
	}
	if !p.Query.Mode.Writes() { // states have a place for every NULL (STATES-PLAIN)
		p.Filled.Args = filled(p.Query.Args)
	}
	for _, has := range p.Query.Groupings {
		if !slices.Contains(has, true) { // it has a group, also of no rows
			p.Filled.Args = nil
		}
	}
	p.layOut()
}

// reach finds the arguments whose sums take fewer words, by the least and greatest values in the
// metadata of the input. If a value is outside these all the same, the run ends and the next plan
// does without this. Queries without keys have one row, and gain nothing.
func (p *planner) reach() {
	if len(p.Query.Keys) == 0 || p.Query.Mode != query.Whole {
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
			p.Ranges[arg] = column.Range{} // its bounds need not be checked
		}
	}
}
