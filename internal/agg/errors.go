package agg

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gagg-dev/gagg/internal/column"
)

// UnknownError reports a name that is no aggregate.
type UnknownError struct {
	Name string
	Near string // the aggregate it may be a misspelling of; "" if none is near
}

func (e *UnknownError) Error() string {
	if e.Near != "" {
		return fmt.Sprintf("unknown aggregate %q; did you mean %s?", e.Name, e.Near)
	}
	return fmt.Sprintf("unknown aggregate %q; the aggregates are %s", e.Name, strings.Join(Names(), ", "))
}

// TypeError reports arguments that an aggregate does not take.
type TypeError struct {
	Func  string
	Arg   int // which argument, from 0; -1: their number is wrong
	Types []column.Type
	Takes string // the arguments that the aggregate takes, as in "numbers and booleans"
}

func (e *TypeError) Error() string {
	if e.Arg < 0 {
		return fmt.Sprintf("%s takes %s, not %d", e.Func, e.Takes, len(e.Types))
	}
	name, article := e.Types[e.Arg].String(), "a"
	if strings.ContainsRune("aeiou", rune(name[0])) && name[:2] != "ui" && name[:2] != "uu" {
		article = "an"
	}
	return fmt.Sprintf("%s does not take %s %s; it takes %s", e.Func, article, name, e.Takes)
}

// ParamError reports a literal parameter that an aggregate does not take.
type ParamError struct {
	Func  string
	Takes string // as in "a number from 0 to 1 as its second argument"
}

func (e *ParamError) Error() string { return fmt.Sprintf("%s takes %s", e.Func, e.Takes) }

// ErrBatchFull reports that the results of a batch's groups are too large for
// one batch.
var ErrBatchFull = errors.New("the results of a batch are too large: fewer groups must be asked for at once")

// SizeError reports a single result that is too large to be held.
type SizeError struct {
	Call int // index of the aggregate among the calls of the layout
	Row  int // index of the group among the rows given to Finish
	Func string
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("the result of %s for one group exceeds 2 GiB", e.Func)
}

// ChainError reports values of one group that are too many to be moved
// without a place for runs.
type ChainError struct{ Bytes int }

func (e *ChainError) Error() string {
	return fmt.Sprintf("the values of one group take %d bytes, and there is no temporary folder to write them to", e.Bytes)
}

// OverflowError reports a result that does not fit its type.
type OverflowError struct {
	Call int // index of the aggregate among the calls of the layout
	Row  int // index of the group among the rows given to Finish
	Func string
	Type column.Type // the type of the result
}

func (e *OverflowError) Error() string {
	return fmt.Sprintf("the result of %s does not fit %s", e.Func, e.Type)
}
