package agg

import (
	"slices"
	"strconv"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/spelling"
)

// Resolve finds the aggregate of a name (lower case, synonyms included) for
// arguments of the given types, and the type of its result. count(*) is count
// without arguments. params are the literals that follow the arguments: see
// ValueArgs. The error is an *UnknownError, a *TypeError or a *ParamError.
func Resolve(name string, args []column.Type, params []column.Value) (Func, column.Type, error) {
	id, ok := byName[name]
	if !ok {
		return Func{}, column.Type{}, unknown(name)
	}
	id = withParams(id, len(params))
	s := &signatures[id]
	f := Func{id}
	if id == fnCount && len(args) == 0 {
		return f, column.Type{Kind: column.Int64}, nil
	}
	fail := func(arg int, takes string) (Func, column.Type, error) {
		types := slices.Clone(args)
		for _, p := range params {
			types = append(types, p.Type)
		}
		return Func{}, column.Type{}, &TypeError{Func: name, Arg: arg, Types: types, Takes: takes}
	}
	if len(args) != s.args || len(params) < s.param.least() || len(params) > s.param.most() {
		return fail(-1, argCount(s.args+s.param.least()))
	}
	for i, t := range args {
		if !s.class.takes(t) {
			return fail(i, s.class.String())
		}
	}
	if !s.param.takes(params) {
		return Func{}, column.Type{}, &ParamError{Func: name, Takes: s.param.String()}
	}
	switch {
	case id == fnStringOrdered:
		return f, params[0].Type, nil
	case s.param == paramPacked:
		return f, column.ListOf(params[0].Type), nil
	case s.result == nil:
		return f, args[0], nil
	}
	return f, s.result(args[0]), nil
}

func argCount(n int) string {
	if n == 1 {
		return "1 argument"
	}
	return strconv.Itoa(n) + " arguments"
}

func unknown(name string) error {
	return &UnknownError{Name: name, Near: spelling.Nearest(name, Names())}
}
