package expr

import (
	"math"
	"slices"

	"github.com/gagg-dev/gagg/internal/column"
)

// Cut is a part of texts, for whoever computes rows elsewhere: steps, each of which takes a part of
// what the one before left. It gives what the functions of function_part.go give, byte for byte.
type Cut struct{ Steps []CutStep }

// CutStep is a step of a Cut, with numbers between -math.MaxInt32 and math.MaxInt32.
type CutStep struct {
	Kind      CutKind
	A, B      int64
	Separator string // of CutPart and CutLastPart, of one byte or more
}

// CutKind is what a step takes.
type CutKind uint8

// The kinds. Characters are those of UTF-8, and each byte that is of none.
const (
	CutCharacters CutKind = iota // the characters from A on, up to B
	CutFromEnd                   // likewise, with as many as there are added to A and B
	CutPart                      // part number A of those between separators, from 1 on
	CutLastPart                  // part number A from the end
	CutBlanks                    // what is behind blanks, if A is 1, and in front of others, if B is 1
)

// mostSeparator is the most bytes of a separator of a Cut.
const mostSeparator = 64

// onCut says which part of its first argument a node is, if that is a column of texts or a part of
// one, and all that the part depends on is constant.
func (n *bound) onCut(known bool, s CutStep) *bound {
	text, ok := n.asksOf()
	if !known || !ok || text.lowers || text.typ != stringType || len(s.Separator) > mostSeparator {
		return n
	}
	n.cut = &Cut{}
	if text.cut != nil {
		n.cut.Steps = append(n.cut.Steps, text.cut.Steps...)
	}
	s.A, s.B = cutNumber(s.A), cutNumber(s.B)
	n.cut.Steps = append(n.cut.Steps, s)
	return n
}

// cutNumber is a number of a step: no text has as many characters as those beyond.
func cutNumber(n int64) int64 { return max(-math.MaxInt32, min(n, math.MaxInt32)) }

// asksOf is the first argument of a node, if it is a column, a part of texts, or these in lower
// case.
func (n *bound) asksOf() (text *bound, ok bool) {
	if n.kind != boundStrict {
		return nil, false
	}
	text = n.args[0]
	return text, text.kind == boundColumn || text.cut != nil || text.lowers
}

// onLower says of a node that it is its argument in lower case.
func (n *bound) onLower() *bound {
	text, ok := n.asksOf()
	n.lowers = ok && !text.lowers
	return n
}

// input is what a program loads of the texts that a node asks about.
func (n *bound) input() Input {
	text := n.args[0]
	if text.lowers { // of which the pattern knows
		text = text.args[0]
	}
	in := Input{Column: n.single}
	if text.cut != nil {
		in.Of, in.Cut = &Expr{text}, text.cut
	}
	return in
}

// Cut returns the part of a column's texts that the expression is, as an input; ok: it is one.
func (e *Expr) Cut() (in Input, ok bool) {
	return Input{Column: e.root.single, Of: e, Cut: e.root.cut}, e.root.cut != nil
}

// HasCut reports whether parts of a column's texts are in the expression.
func (e *Expr) HasCut() bool { return e.root.hasCut() }

func (n *bound) hasCut() bool {
	parts := n.args
	if c := n.choose; c != nil {
		parts = slices.Concat(parts, c.conds, c.thens, []*bound{c.els})
	}
	return n.cut != nil || slices.ContainsFunc(parts, (*bound).hasCut)
}

// constantCount is the number that an argument is in all rows.
func constantCount(n *bound) (count int64, known bool) {
	return n.value.Int, n.kind == boundConst && !n.value.Null && n.typ.Rep() == column.RepInt64
}
