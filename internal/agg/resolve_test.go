package agg

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

func TestResolve(t *testing.T) {
	t.Parallel()
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
		{"median", []column.Type{kind(column.Int64)}, "median", kind(column.Float64)},
		{"median", []column.Type{kind(column.Float32)}, "median", kind(column.Float32)},
		{"median", []column.Type{kind(column.Date)}, "median", column.TimestampType(column.Micro, false)},
		{"median", []column.Type{column.DecimalType(20, 3)}, "median", column.DecimalType(20, 3)},
		{"median", []column.Type{kind(column.String)}, "median", kind(column.String)},
		{"mad", []column.Type{kind(column.Uint8)}, "mad", kind(column.Float64)},
		{"array_agg", []column.Type{kind(column.Date)}, "list", column.ListOf(kind(column.Date))},
		{"group_concat", []column.Type{kind(column.String)}, "string_agg", kind(column.String)},
		{"histogram", []column.Type{kind(column.Bool)}, "histogram", column.MapOf(kind(column.Bool))},
		{"list", []column.Type{kind(column.Null)}, "list", kind(column.Null)},
	} {
		f, result, err := Resolve(c.name, c.args, nil)
		if err != nil || f.Name() != c.canon || result != c.result {
			t.Errorf("Resolve(%s, %v) = %s, %v, %v; want %s, %v", c.name, c.args, f.Name(), result, err, c.canon, c.result)
		}
	}
}

func TestResolveErrors(t *testing.T) {
	t.Parallel()
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
		{"median", []column.Type{num, num}, "median takes 1 argument, not 2"},
		{"quantile", []column.Type{num}, "quantile takes 2 arguments, not 1"},
		{"mad", []column.Type{text}, "mad does not take a string; it takes numbers"},
		{"string_agg", []column.Type{num}, "string_agg does not take an int32; it takes strings"},
		{"summ", []column.Type{num}, `unknown aggregate "summ"; did you mean sum?`},
		{"stdev", []column.Type{num}, `unknown aggregate "stdev"; did you mean stddev?`},
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
	t.Parallel()
	d := &testData{groups: 1, gids: []uint32{0, 0}}
	null := column.Value{Type: column.Type{Kind: column.Null}, Null: true}
	one := column.Value{Type: column.Type{Kind: column.Int64}, Int: 1}
	d.args = [][]column.Value{{null, null}, {one, one}}
	literals := map[param][]column.Value{
		paramShare: {literal(0.5)}, paramSeparator: {literal(",")}, paramNumber: {literal(2)},
		paramShares: {literal(0.5), literal(0.9)}, paramTop: {literal(2)},
		paramPacked: {{Type: column.Type{Kind: column.Int64}, Null: true}, literal(2)},
	}
	for _, s := range signatures {
		call := Call{Args: []int{0, 1}[:s.args], Params: literals[s.param]}
		for _, a := range call.Args {
			call.Types = append(call.Types, d.args[a][0].Type)
		}
		f, result, err := Resolve(s.name, call.Types, call.Params)
		if err != nil {
			t.Fatal(err)
		}
		call.Func = f
		expect := column.Value{Type: result, Null: !strings.Contains(s.name, "count")}
		check(t, d, []Call{call}, []want{func([][]column.Value) column.Value { return expect }}, 0)
	}
}

// Literals that an aggregate takes behind its argument, and those that it does
// not.
func TestParams(t *testing.T) {
	t.Parallel()
	text, num := column.Type{Kind: column.String}, column.Type{Kind: column.Int32}
	double := func(f float64) column.Value { return column.Value{Type: column.Type{Kind: column.Float64}, Float: f} }
	null := column.Value{Type: column.Type{Kind: column.Null}, Null: true}
	for _, c := range []struct {
		name  string
		arg   column.Type
		param column.Value
		want  string // the error
	}{
		{"quantile", num, literal(1), ""},
		{"quantile", num, double(0.25), ""},
		{"quantile_cont", num, literal(0.99), ""},
		{"quantile_disc", text, literal(0), ""},
		{"approx_quantile", num, double(1), ""},
		{"quantile", num, literal(2), "quantile takes a number from 0 to 1 as its second argument"},
		{"quantile", num, double(-0.1), "quantile takes a number from 0 to 1 as its second argument"},
		{"quantile", num, double(math.NaN()), "quantile takes a number from 0 to 1 as its second argument"},
		{"quantile_disc", num, literal("a"), "quantile_disc takes a number from 0 to 1 as its second argument"},
		{"quantile", num, null, "quantile takes a number from 0 to 1 as its second argument"},
		{"string_agg", text, literal(";"), ""},
		{"listagg", text, literal(1), "listagg takes a string as its second argument"},
		{"min", num, literal(1), ""},
		{"max", text, literal(999_999), ""},
		{"max", num, literal(0), "max takes a whole number from 1 to 999999 as its second argument"},
		{"min", num, literal(1_000_000), "min takes a whole number from 1 to 999999 as its second argument"},
		{"min", num, literal(2.5), "min takes a whole number from 1 to 999999 as its second argument"},
		{"min", num, null, "min takes a whole number from 1 to 999999 as its second argument"},
		{"median", num, literal(0.5), "median takes 1 argument, not 2"},
	} {
		_, _, err := Resolve(c.name, []column.Type{c.arg}, []column.Value{c.param})
		if text := fmt.Sprint(err); err != nil && text != c.want || err == nil && c.want != "" {
			t.Errorf("%s with %v: %v, want %q", c.name, c.param, err, c.want)
		}
	}
	for _, c := range []struct {
		name   string
		n, out int
	}{{"min", 1, 1}, {"min", 2, 1}, {"max", 3, 1}, {"quantile", 2, 1}, {"quantile", 1, 1}, {"string_agg", 2, 1}, {"corr", 2, 2}, {"nothing", 3, 3}, {"median", 2, 2}} {
		if got := ValueArgs(c.name, c.n); got != c.out {
			t.Errorf("%d of %d arguments of %s are values, want %d", got, c.n, c.name, c.out)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		if !IsAggregate(name) {
			t.Errorf("%s is no aggregate", name)
		}
	}
	if IsAggregate("substr") {
		t.Error("substr is an aggregate")
	}
}
