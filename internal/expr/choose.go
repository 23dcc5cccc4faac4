package expr

import (
	"github.com/gagg-dev/gagg/internal/column"
)

// choice is the plan of a case: the first branch whose condition is true
// gives the value, els if none is. A branch is computed on the rows that
// take it and on no others, so that
//
//	case when x like '%-%' then null else cast(x as int) end
//
// does not fail on the rows that it takes care to avoid.
type choice struct {
	conds, thens []*bound
	els          *bound
}

// branches is what a step needs to compute a choice.
type branches struct {
	conds, thens []*Eval
	els          *Eval
	cols         []int // columns of the batch that the choice uses

	sub        column.Batch // the rows at hand, taken out of the batch
	rest       []int32      // rows that no condition was true for so far
	hits, rows []int32
}

func newBranches(n *bound) *branches {
	b := &branches{els: newEval(n.choose.els), cols: n.columns()}
	for i, c := range n.choose.conds {
		b.conds = append(b.conds, newEval(c))
		b.thens = append(b.thens, newEval(n.choose.thens[i]))
	}
	return b
}

func newChoice(t column.Type, c *choice) *bound {
	n := &bound{kind: boundChoose, typ: t, choose: c}
	n.args = append(append(append(n.args, c.conds...), c.thens...), c.els)
	if n.onAllRows() {
		n.kernel, n.narrow = chooseAll, t.Rep() == column.RepWide
	}
	return n.finish()
}

// choose computes the rows of a choice, branch by branch.
func (s *step) choose() error {
	b, all := s.branch, s.eval.batch
	s.f.reset(all.Rows, s.node)
	b.rest = b.rest[:0]
	for i := range all.Rows {
		b.rest = append(b.rest, int32(i))
	}
	for i, cond := range b.conds {
		var err error
		if b.hits, err = cond.Filter(b.take(all, b.rest), b.hits[:0]); err != nil {
			return err
		}
		b.split()
		if err = s.scatter(b.thens[i], b.rows); err != nil {
			return err
		}
	}
	if err := s.scatter(b.els, b.rest); err != nil {
		return err
	}
	s.res = s.f.out
	return nil
}

// split moves the hits, which count within rest, from rest to rows.
func (b *branches) split() {
	b.rows = b.rows[:0]
	kept, h := b.rest[:0], 0
	for i, row := range b.rest {
		if h < len(b.hits) && int(b.hits[h]) == i {
			b.rows = append(b.rows, row)
			h++
		} else {
			kept = append(kept, row)
		}
	}
	b.rest = kept
}

// take gives the batch of the given rows.
func (b *branches) take(all *column.Batch, rows []int32) *column.Batch {
	if len(rows) == all.Rows {
		return all
	}
	if b.sub.Cols == nil {
		b.sub.Cols = make([]column.Vector, len(all.Cols))
	}
	b.sub.Rows = len(rows)
	for _, c := range b.cols {
		takeRows(&b.sub.Cols[c], &all.Cols[c], rows)
	}
	return &b.sub
}

// takeRows copies rows of v to out, whose own memory is used again: out is
// never given to anyone but the branches' Evals.
func takeRows(out, v *column.Vector, rows []int32) {
	null, codes := out.Null, out.Codes
	out.Type, out.Len = v.Type, len(rows)
	out.Dict, out.Null, out.Codes, out.Data = v.Dict, nil, nil, v.Data
	if v.Null != nil {
		out.Null = gather(null, v.Null, rows)
	}
	if v.Dict != nil {
		out.Codes = gather(codes, v.Codes, rows)
		return
	}
	switch v.Type.Rep() {
	case column.RepInt64:
		out.Int = gather(out.Int, v.Int, rows)
	case column.RepFloat64:
		out.Float = gather(out.Float, v.Float, rows)
	case column.RepWide:
		out.Wide = gather(out.Wide, v.Wide, rows)
	case column.RepBytes:
		out.Span = gather(out.Span, v.Span, rows)
	}
}

// scatter computes a branch on rows and puts the values in their places.
func (s *step) scatter(branch *Eval, rows []int32) error {
	if len(rows) == 0 {
		return nil
	}
	branch.begin(s.branch.take(s.eval.batch, rows))
	v, err := branch.root.flat()
	if err != nil {
		return err
	}
	if v.Null != nil {
		null := s.f.ownNulls()
		for i, row := range rows {
			null[row] = v.Null[i]
		}
	}
	out := &s.f.out
	switch v.Type.Rep() {
	case column.RepInt64:
		spread(out.Int, v.Int, rows)
	case column.RepFloat64:
		spread(out.Float, v.Float, rows)
	case column.RepWide:
		spread(out.Wide, v.Wide, rows)
	case column.RepBytes:
		return s.spreadBytes(v, rows)
	}
	return nil
}

func spread[T any](to, from []T, rows []int32) {
	for i, row := range rows {
		to[row] = from[i]
	}
}

func (s *step) spreadBytes(v *column.Vector, rows []int32) error {
	for i, row := range rows {
		if v.IsNull(i) {
			s.f.clearRow(int(row))
			continue
		}
		start := len(s.f.out.Data)
		s.f.out.Data = append(s.f.out.Data, v.Bytes(i)...)
		if err := s.f.closeSpan(int(row), start); err != nil {
			return s.located(err)
		}
	}
	return nil
}
