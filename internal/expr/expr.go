package expr

import (
	"fmt"

	"github.com/gagg-dev/gagg/internal/column"
)

// Expr is a bound expression. It is immutable; any number of workers may use
// it, each through an Eval of its own.
type Expr struct {
	root *bound
}

// Bind resolves the names and types of n, which was parsed from text (for
// the places in errors). lookup gives the index of a column in the batches
// to come and its type; its error is taken over as the message. A column
// written by place (#3) is looked up as "#3".
//
// Errors are of type *Error.
func Bind(n Node, text string, lookup func(name string) (int, column.Type, error)) (*Expr, error) {
	return (&Binder{lookup: lookup}).Bind(n, text)
}

// Binder binds several expressions over the same columns. Parts that are equal become one node,
// which a Group computes once.
type Binder struct {
	lookup func(name string) (int, column.Type, error)
	nodes  map[string]*bound // by canonical text; nil: none are kept
}

// NewBinder returns a Binder. The same name has to mean the same column for all its expressions.
func NewBinder(lookup func(name string) (int, column.Type, error)) *Binder {
	return &Binder{lookup, map[string]*bound{}}
}

// sharedSteps is the most nodes of an expression whose parts are shared. A part is found by its
// text, and making the text of every part takes the square of the length of the expression.
const sharedSteps = 256

// Bind is Bind of the package.
func (s *Binder) Bind(n Node, text string) (*Expr, error) {
	b, steps := binder{text: text, lookup: s.lookup}, 0
	Walk(n, func(Node) bool {
		steps++
		return true
	})
	if steps <= sharedSteps {
		b.nodes = s.nodes
	}
	root, err := b.whole(n)
	if err != nil {
		return nil, err
	}
	return &Expr{root: root}, nil
}

// BindFilter is Bind for where and having: the expression has to be boolean.
func BindFilter(n Node, text string, lookup func(name string) (int, column.Type, error)) (*Expr, error) {
	e, err := Bind(n, text, lookup)
	if err != nil {
		return nil, err
	}
	switch e.root.typ {
	case boolType:
	case nullType:
		e = &Expr{root: newNull(boolType)}
	default:
		return nil, &Error{Text: text, Pos: n.Pos(), Msg: fmt.Sprintf("a condition must be boolean, this is %s", e.root.typ)}
	}
	return e, nil
}

// Type is the type of the values.
func (e *Expr) Type() column.Type { return e.root.typ }

// Columns gives the distinct columns that are used, ascending.
func (e *Expr) Columns() []int { return e.root.columns() }

// Operations is how many operations make a value: those that are written, of which some may be
// skipped for some rows.
func (e *Expr) Operations() int { return e.root.operations() }

// Column reports whether the expression is just a column, and which.
func (e *Expr) Column() (int, bool) {
	return e.root.col, e.root.kind == boundColumn
}

// ColumnWhen reports whether the expression is a column where a condition is true, and else NULL,
// as an argument of an aggregate with a filter is; and which.
func (e *Expr) ColumnWhen() (col int, when *Expr, ok bool) {
	c := e.root.choose
	if e.root.kind != boundChoose || len(c.conds) != 1 || c.thens[0].kind != boundColumn || c.els.kind != boundConst || !c.els.value.Null {
		return 0, nil, false
	}
	return c.thens[0].col, &Expr{root: c.conds[0]}, true
}

// Const reports whether the expression has the same value on every row, and
// which.
func (e *Expr) Const() (column.Value, bool) {
	return e.root.value, e.root.kind == boundConst
}

// NewEval makes the work place of one worker.
func (e *Expr) NewEval() *Eval { return newEval(e.root) }

// CanSkip reports that no row can make the boolean expression true, by what
// bounds says about the columns (by batch index). It never concludes from a
// count of NULLs or from an absent bound, and knows that NaN is not within
// bounds.
func (e *Expr) CanSkip(bounds func(i int) column.Bounds) bool {
	return !e.root.outcomes(bounds).canBeTrue
}
