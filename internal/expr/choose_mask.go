package expr

import "github.com/gagg-dev/gagg/internal/column"

// A case that gives a value or NULL, as the filter of an aggregate is, and nullif, takes no value
// to another place: its rows are those of the value, of which more are NULL. A dictionary stays
// one.

// masks is the number of the value in the arguments of such a case, 0 for any other. One that may
// fail, or takes long, is computed for the rows that need it.
func (n *bound) masks() int {
	if len(n.choose.conds) != 1 || n.typ.Kind == column.Null || n.typ.Rep() == column.RepList || !n.isSmall() {
		return 0
	}
	then, els := n.choose.thens[0], n.choose.els
	switch {
	case isNullConst(els) && then.kind != boundConst:
		return 1
	case isNullConst(then) && els.kind != boundConst:
		return 2
	}
	return 0
}

// mask computes the rows of a case by its condition.
func (s *step) mask() error {
	cond, err := s.args[0].flat()
	if err != nil {
		return err
	}
	value, err := s.args[s.node.masked].run()
	if err != nil {
		return err
	}
	n := s.eval.batch.Rows
	s.f.nulls = sized(s.f.nulls, n)
	null, is, want := s.f.nulls, cond.Int[:n], truth(s.node.masked == 1)
	if cond.Null == nil && value.Null == nil {
		for i := range null {
			null[i] = is[i] != want
		}
	} else {
		for i := range null {
			null[i] = truth(is[i] != 0 && !cond.IsNull(i)) != want || value.IsNull(i)
		}
	}
	s.res = *value
	s.res.Type, s.res.Null = s.node.typ, null
	return nil
}
