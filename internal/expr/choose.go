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

	texts texts

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
	n.constants = newConstants(t, c)
	switch n.masked = n.masks(); {
	case n.masked > 0:
	case n.onAllRows():
		n.kernel, n.narrow = chooseAll, t.Rep() == column.RepWide
	}
	return n.finish()
}

// choose computes the rows of a choice, branch by branch.
func (s *step) choose() error {
	b, all := s.branch, s.eval.batch
	b.texts.begin(&s.f)
	s.f.reset(all.Rows, s.node)
	b.rest = b.rest[:0]
	for i := range all.Rows {
		b.rest = append(b.rest, int32(i))
	}
	for i, cond := range b.conds {
		var err error
		if b.hits, err = cond.Filter(b.gather(all, b.rest), b.hits[:0]); err != nil {
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

// gather makes a batch of some rows of all.
func (b *branches) gather(all *column.Batch, rows []int32) *column.Batch {
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
	case column.RepBytes, column.RepList:
		out.Span, out.Elem, out.Counts = gather(out.Span, v.Span, rows), v.Elem, v.Counts
	}
}

// scatter computes a branch on rows and puts the values in their places.
func (s *step) scatter(branch *Eval, rows []int32) error {
	if len(rows) == 0 {
		return nil
	}
	branch.begin(s.branch.gather(s.eval.batch, rows))
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

// texts is the bytes of a choice of texts. If only one branch gives texts that are not empty, the
// rows point into the bytes of its vector, and nothing is copied.
type texts struct {
	lent bool    // out.Data is of the branch that gave rows
	own  []byte  // out.Data where it is not
	rows []int32 // of the branch that has lent
}

// begin makes out.Data the step's own again.
func (t *texts) begin(f *frame) {
	if t.lent {
		f.out.Data, t.lent, t.own = t.own, false, nil
	}
}

// lend points rows into the bytes of v.
func (t *texts) lend(f *frame, v *column.Vector, rows []int32) {
	t.lent, t.own, t.rows = true, f.out.Data, append(t.rows[:0], rows...)
	f.out.Data = v.Data
	for i, row := range rows {
		f.out.Span[row] = column.Span{}
		if !v.IsNull(i) {
			f.out.Span[row] = v.Span[i]
		}
	}
}

// settle copies the texts that rows point to, since another branch has some too.
func (t *texts) settle(f *frame) error {
	if !t.lent {
		return nil
	}
	from := f.out.Data
	t.begin(f)
	f.out.Data = f.out.Data[:0]
	for _, row := range t.rows {
		span, start := f.out.Span[row], len(f.out.Data)
		f.out.Data = append(f.out.Data, from[span.Off:span.Off+span.Len]...)
		if err := f.closeSpan(int(row), start); err != nil {
			return err
		}
	}
	return nil
}

// textless reports whether all values of a flat vector of texts are empty or NULL.
func textless(v *column.Vector) bool {
	for i, s := range v.Span[:v.Len] {
		if s.Len > 0 && !v.IsNull(i) {
			return false
		}
	}
	return true
}

func (s *step) spreadBytes(v *column.Vector, rows []int32) error {
	t := &s.branch.texts
	switch {
	case textless(v):
		for _, row := range rows {
			s.f.clearRow(int(row))
		}
		return nil
	case len(s.f.out.Data) == 0:
		t.lend(&s.f, v, rows)
		return nil
	}
	if err := t.settle(&s.f); err != nil {
		return s.located(err)
	}
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
