package expr

import "slices"

// Filled reports whether the expression is expected to be NULL in no row, if the columns for
// which filled is true are not. It is an expectation: functions make NULL of some values, such as
// a division by zero.
func (e *Expr) Filled(filled func(col int) bool) bool { return e.root.filled(filled) }

func (n *bound) filled(columns func(col int) bool) bool {
	switch n.kind {
	case boundColumn:
		return columns(n.col)
	case boundConst:
		return !n.value.Null
	case boundIsNull:
		return true
	case boundStrict, boundAnd, boundOr:
		return !slices.ContainsFunc(n.args, func(a *bound) bool { return !a.filled(columns) })
	}
	return false
}
