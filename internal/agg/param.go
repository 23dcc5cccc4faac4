package agg

import (
	"slices"

	"github.com/gagg-dev/gagg/internal/column"
)

// param is the kind of literal that an aggregate takes behind its arguments.
type param uint8

const (
	noParam        param = iota
	paramShare           // a number from 0 to 1
	paramSeparator       // a string; may be left out
	paramNumber          // a number of values
	paramShares          // numbers from 0 to 1
	paramTop             // a number of values, of which there are fewer
	paramPacked          // a NULL of the type of packed values, and further words of the aggregate
)

const (
	mostValues = 999_999 // that min(x, n) and max(x, n) give
	mostShares = 1000    // of a list
	mostTop    = 10_000  // that approx_top_k gives: they are held beside the budget, 100 bytes each
)

// takes reports whether the params are what p stands for.
func (p param) takes(params []column.Value) bool {
	if len(params) == 0 {
		return p == noParam || p == paramSeparator
	}
	v := params[0]
	switch p {
	case paramShare:
		_, ok := shareOf(v)
		return ok
	case paramSeparator:
		return !v.Null && v.Type.Kind == column.String
	case paramNumber:
		return !v.Null && v.Type.IsInteger() && 1 <= v.Int && v.Int <= mostValues
	case paramTop:
		return !v.Null && v.Type.IsInteger() && 1 <= v.Int && v.Int <= mostTop
	case paramPacked:
		return v.Null
	case paramShares:
		return !slices.ContainsFunc(params, func(v column.Value) bool {
			_, ok := shareOf(v)
			return !ok
		})
	}
	return false
}

func (p param) String() string {
	return [...]string{
		paramShare:     "a number from 0 to 1 as its second argument",
		paramSeparator: "a string as its second argument",
		paramNumber:    "a whole number from 1 to 999999 as its second argument",
		paramShares:    "a list of numbers from 0 to 1 as its second argument",
		paramPacked:    "values with an order",
		paramTop:       "a whole number from 1 to 10000 as its second argument",
	}[p]
}

// most is how many params p stands for at most, least at least.

func (p param) most() int {
	switch p {
	case noParam:
		return 0
	case paramShares:
		return mostShares
	case paramPacked:
		return 3
	}
	return 1
}

func (p param) least() int {
	if p == noParam || p == paramSeparator {
		return 0
	}
	return 1
}

// ValueArgs tells how many of the n arguments in a call of name (lower case,
// synonyms included) are values; those behind them must be literals.
func ValueArgs(name string, n int) int {
	id, ok := byName[name]
	if !ok {
		return n
	}
	id = withParams(id, n-signatures[id].args)
	if s := &signatures[id]; s.param != noParam {
		return min(n, s.args)
	}
	return n
}

// withParams is the function that id stands for if n params follow its
// arguments.
func withParams(id funcID, n int) funcID {
	if i := slices.Index([]funcID{fnMin, fnMax}, id); i >= 0 && n > 0 {
		return fnMinN + funcID(i)
	}
	return id
}
