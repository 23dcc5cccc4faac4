package agg

import (
	"errors"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

func TestResolve(t *testing.T) {
	kind := func(k column.Kind) column.Type { return column.Type{Kind: k} }
	for _, c := range []struct {
		name   string
		args   []column.Type
		canon  string
		result column.Type
	}{
		{"count", nil, "count", kind(column.Int64)},
		{"count", []column.Type{kind(column.String)}, "count", kind(column.Int64)},
		{"sum", []column.Type{kind(column.Bool)}, "sum", kind(column.Int64)},
		{"sum", []column.Type{kind(column.Uint32)}, "sum", kind(column.Int64)},
		{"sum", []column.Type{kind(column.Int64)}, "sum", column.DecimalType(38, 0)},
		{"sum", []column.Type{column.DecimalType(10, 2)}, "sum", column.DecimalType(38, 2)},
		{"sum", []column.Type{column.DecimalType(40, 2)}, "sum", column.DecimalType(76, 2)},
		{"sum", []column.Type{kind(column.Float32)}, "sum", kind(column.Float64)},
		{"avg", []column.Type{kind(column.Int8)}, "mean", kind(column.Float64)},
		{"stddev", []column.Type{kind(column.Int8)}, "stddev_samp", kind(column.Float64)},
		{"min", []column.Type{kind(column.Date)}, "min", kind(column.Date)},
		{"bit_xor", []column.Type{kind(column.Uint8)}, "bit_xor", kind(column.Uint8)},
		{"arg_max", []column.Type{kind(column.String), kind(column.Float64)}, "arg_max", kind(column.String)},
		{"first", []column.Type{kind(column.Null)}, "first", kind(column.Null)},
	} {
		f, result, err := Resolve(c.name, c.args, nil)
		if err != nil || f.Name() != c.canon || result != c.result {
			t.Errorf("Resolve(%s, %v) = %s, %v, %v; want %s, %v", c.name, c.args, f.Name(), result, err, c.canon, c.result)
		}
	}
}

func TestResolveErrors(t *testing.T) {
	text, num := column.Type{Kind: column.String}, column.Type{Kind: column.Int32}
	for _, c := range []struct {
		name string
		args []column.Type
		want string
	}{
		{"sum", []column.Type{text}, "sum does not take a string; it takes numbers and booleans"},
		{"avg", []column.Type{{Kind: column.Bool}}, "avg does not take a boolean; it takes numbers"},
		{"bool_and", []column.Type{num}, "bool_and does not take an int32; it takes booleans"},
		{"sum", nil, "sum takes 1 argument, not 0"},
		{"corr", []column.Type{num}, "corr takes 2 arguments, not 1"},
		{"summ", []column.Type{num}, `unknown aggregate "summ"; did you mean sum?`},
		{"stdev", []column.Type{num}, `unknown aggregate "stdev"; did you mean stddev?`},
		{"median", []column.Type{num}, "aggregate median is not supported yet"},
	} {
		_, _, err := Resolve(c.name, c.args, nil)
		if err == nil || err.Error() != c.want {
			t.Errorf("Resolve(%s, %v): %v, want %s", c.name, c.args, err, c.want)
		}
		var unknown *UnknownError
		if isUnknown := !strings.Contains(c.want, "take"); errors.As(err, &unknown) != isUnknown {
			t.Errorf("Resolve(%s): %T", c.name, err)
		}
	}
	if _, _, err := Resolve("frobnicate", nil, nil); err == nil || !strings.Contains(err.Error(), "the aggregates are any_value, ") {
		t.Errorf("error %v does not list the aggregates", err)
	}
}

// A literal NULL fits every aggregate, and no row of it counts.
func TestNullLiteral(t *testing.T) {
	d := &testData{groups: 1, gids: []uint32{0, 0}}
	null := column.Value{Type: column.Type{Kind: column.Null}, Null: true}
	one := column.Value{Type: column.Type{Kind: column.Int64}, Int: 1}
	d.args = [][]column.Value{{null, null}, {one, one}}
	for name := range byName {
		args := []int{0, 1}[:signatures[byName[name]].args]
		call := callOf(t, d, name, args...)
		_, result, err := Resolve(name, call.Types, nil)
		if err != nil {
			t.Fatal(err)
		}
		expect := column.Value{Type: result, Null: name != "count"}
		check(t, d, []Call{call}, []want{func([][]column.Value) column.Value { return expect }}, 0)
	}
}

func TestNames(t *testing.T) {
	for _, name := range append(Names(), planned...) {
		if !IsAggregate(name) {
			t.Errorf("%s is no aggregate", name)
		}
	}
	if IsAggregate("substr") {
		t.Error("substr is an aggregate")
	}
}
