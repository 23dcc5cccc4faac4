package gagg

import "github.com/gagg-dev/gagg/internal/cpu"

// cut has a merger leave out groups that a sorter has no use for, where the order begins with count(*). Many results are such, and most
// of their groups are never made: their rows are not even copied.
type cut struct {
	by   cpu.Cut // but for the bound
	some bool    // else nothing may be left out
}

// planCut tells whether groups may be left out. They may not where others of their columns are looked at (STAGE-ERRORS).
func (p *producer) planCut() cut {
	q := p.r.query
	if p.sorter == nil || !p.sorter.Drops() || q.having != nil {
		return cut{}
	}
	for _, out := range q.out {
		if _, plain := out.expr.Column(); !plain {
			return cut{}
		}
	}
	for c := range p.batch.Cols {
		if p.mayOverflow(c) {
			return cut{}
		}
	}
	first, plain := q.order[0].expr.Column()
	if !plain || first < len(q.keys) {
		return cut{}
	}
	word, shift, mask, ok := p.from.cfg.States.CountWord(first - len(q.keys))
	return cut{cpu.Cut{Word: word, Shift: shift, Mask: mask}, ok}
}

// set tells the merger what the sorter has no use for by now.
func (c *cut) set(p *producer) {
	if !c.some {
		return
	}
	by, ok := c.by, false
	if by.Bound, by.Flip, by.Equal, ok = p.sorter.Bound(); ok {
		p.merger.SetCut(by)
	}
}
