package expr

import (
	"errors"
	"slices"

	"github.com/gagg-dev/gagg/internal/column"
)

// boundKind tells how a bound node is computed.
type boundKind uint8

const (
	boundColumn   boundKind = iota // the batch's column col
	boundConst                     // value
	boundStrict                    // kernel over all arguments; NULL where one is NULL
	boundAnd                       // kernel looks at NULL itself
	boundOr                        // likewise
	boundIsNull                    // is null of args[0]; with negate is not null
	boundLax                       // likewise; NULL if all arguments are, or never
	boundChoose                    // case, coalesce: choose
	boundInterval                  // months, days and microseconds of args; never computed itself
)

// bound is a node of a bound expression. The nodes make a graph without
// cycles: one that is used twice (the operand of between) is computed once a
// batch.
type bound struct {
	kind   boundKind
	typ    column.Type
	args   []*bound
	src    Node // for errors while running; its text is made only then
	col    int
	value  column.Value
	negate bool
	kernel kernel
	choose *choice
	masked int // of a choice between a value and NULL: the number of the value in args; 0: it is none
	// of a choice of constant texts; nil: any other
	constants *constants
	// of a strict node whose one argument is a time: how many of its steps, from a multiple of as
	// many on, give the same; 0: that is not known
	bucket int64
	// of a node whose bucket is a day: another day with the same text, of fewer; nil: there is none
	like   *likeDay
	coded  bool    // of a bucketed node: it stands for a text, and may be codes as that
	tells  bool    // of a bucketed node: no two buckets, or days that like makes, give the same
	few    int64   // how many values a node has at most, beside NULL; 0: that is not known
	every  int64   // as bucket, of a node of any type
	split  bool    // another node makes the other part of the same word
	skip   skipper // what bounds say about it; nil: nothing is known
	narrow bool    // the kernel takes narrow vectors, and may give one
	sure   bool    // the kernel never fails
	// what the kernel of a strict node computes, as operations on words; nil: it is more than that
	words []wordOp
	// likewise, of a node whose one argument that varies is a column of texts, as operations on how
	// many bytes these have
	lengths []wordOp
	// the lengths are those in characters
	characters bool
	match      *Match  // what it asks of the texts of its first argument, a column; nil: anything else
	cut        *Cut    // the part that it is of a column's texts; nil: anything else
	lowers     bool    // it is its argument in lower case
	unmatched  bool    // it is whether they are not of that pattern
	within     *extent // of an operation on integers that cannot fail: where its results are

	// single is the one column that the node depends on, noColumn or
	// manyColumns. nullIn: where that column is NULL, so is the node.
	single int
	nullIn bool
}

const (
	noColumn    = -1
	manyColumns = -2
)

func (n *bound) operations() (all int) {
	if n.kind == boundColumn || n.kind == boundConst {
		return 0
	}
	for _, a := range n.args {
		all += a.operations()
	}
	return all + 1
}

// kernel computes the rows of a node. It returns errOverflow, an *OverflowError or a
// *ValueError, for rows that are not NULL only.
type kernel func(f *frame) error

// errOverflow is turned into an *OverflowError by the step, which knows the
// text.
var errOverflow = errors.New("overflow")

func newColumn(col int, t column.Type) *bound {
	return &bound{kind: boundColumn, typ: t, col: col, single: col, nullIn: true}
}

func newConst(v column.Value) *bound {
	return &bound{kind: boundConst, typ: v.Type, value: v, single: noColumn}
}

func newNull(t column.Type) *bound {
	return newConst(column.Value{Type: t, Null: true})
}

// finish fills in what follows from the arguments, and folds a node over
// constants to a constant.
func (n *bound) finish() *bound {
	n.single = noColumn
	logic := n.kind == boundAnd || n.kind == boundOr || n.kind == boundLax
	n.nullIn = logic
	constant := true
	for _, a := range n.args {
		constant = constant && a.kind == boundConst
		switch {
		case n.single == noColumn:
			n.single = a.single
		case a.single != noColumn && a.single != n.single:
			n.single = manyColumns
		}
		switch {
		case n.kind == boundStrict:
			n.nullIn = n.nullIn || a.nullIn
		case logic:
			n.nullIn = n.nullIn && a.nullIn
		}
	}
	if !constant {
		return n
	}
	return n.fold()
}

// fold computes a node over constants. One that fails stays as it is: it
// fails again when, and only if, there is a row.
func (n *bound) fold() *bound {
	var out column.Vector
	if err := newEval(n).Eval(&column.Batch{Rows: 1}, &out); err != nil {
		return n
	}
	v := out.At(0)
	v.Type = n.typ
	return newConst(v)
}

// neverFails says so of a node, if it is so.
func (n *bound) neverFails(sure bool) *bound {
	n.sure = sure
	return n
}

// bucketed says of a node whether it is the same for all times of a bucket of so many steps
// (bound.bucket), if that is more than 0.
func (n *bound) bucketed(steps int64) *bound {
	if n.kind == boundStrict {
		n.bucket = steps
	}
	return n
}

// strict makes a node of a kernel.
func strict(t column.Type, src Node, k kernel, args ...*bound) *bound {
	n := &bound{kind: boundStrict, typ: t, src: src, kernel: k, args: args}
	return n.finish()
}

// narrow is strict for a kernel that takes narrow vectors, and may give one.
func narrow(t column.Type, src Node, k kernel, args ...*bound) *bound {
	n := &bound{kind: boundStrict, typ: t, src: src, kernel: k, args: args, narrow: true}
	return n.finish()
}

// columns collects the columns that n uses, ascending.
func (n *bound) columns() []int {
	seen := map[*bound]bool{}
	var cols []int
	var visit func(*bound)
	visit = func(n *bound) {
		if seen[n] {
			return
		}
		seen[n] = true
		if n.kind == boundColumn {
			cols = append(cols, n.col)
		}
		for _, a := range n.args {
			visit(a)
		}
	}
	visit(n)
	slices.Sort(cols)
	return slices.Compact(cols)
}
