package agg

import (
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// Sharing keeps rows small: the number of words is part of the performance.
func TestLayoutWords(t *testing.T) {
	t.Parallel()
	int32s, int64s, doubles := column.Type{Kind: column.Int32}, column.Type{Kind: column.Int64}, column.Type{Kind: column.Float64}
	call := func(name string, arg int, typ column.Type) Call {
		f, _, err := Resolve(name, []column.Type{typ}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return Call{Func: f, Args: []int{arg}, Types: []column.Type{typ}}
	}
	star := Call{Func: Func{fnCount}}
	for _, c := range []struct {
		name    string
		calls   []Call
		maxRows int64
		want    int
	}{
		{"sum(int32): flag, sum", []Call{call("sum", 0, int32s)}, 1e9, 2},
		{"sum(int64): flag, two words", []Call{call("sum", 0, int64s)}, 1e9, 3},
		{"sum(int32) of unknown rows: as int64", []Call{call("sum", 0, int32s)}, -1, 3},
		{"count(*)", []Call{star}, 1e9, 1},
		{"count(*), sum(double): NULLs beside the count", []Call{star, call("sum", 0, doubles)}, 1e9, 3},
		{"the same of many rows: a flag", []Call{star, call("sum", 0, doubles)}, 1e12, 4},
		{"sum(v1), mean(v3): counts, sum, s, c, flag", []Call{call("sum", 0, int32s), call("mean", 1, doubles)}, 1e9, 5},
		{"sum, mean, count of one column", []Call{call("sum", 0, int32s), call("mean", 0, int32s), call("count", 0, int32s)}, 1e9, 2},
		{"mean and stddev of doubles", []Call{call("mean", 0, doubles), call("stddev", 0, doubles), call("var_pop", 0, doubles)}, 1e9, 5},
		{"three means: two words of counts", []Call{call("mean", 0, int32s), call("mean", 1, int32s), call("mean", 2, int32s)}, 1e9, 5},
		{"max, min: one word of flags", []Call{call("max", 0, int32s), call("min", 1, int32s)}, 1e9, 3},
	} {
		if got := Compile(c.calls, 3, Options{MaxRows: c.maxRows}).Words(); got != c.want {
			t.Errorf("%s: %d words, want %d", c.name, got, c.want)
		}
	}
}

func TestNeedsPos(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"sum": false, "first": true, "any_value": true, "arg_min": true} {
		typ := column.Type{Kind: column.Int32}
		n := signatures[byName[name]].args
		call := Call{Func: Func{byName[name]}, Args: seq(n), Types: []column.Type{typ, typ}[:n]}
		if got := Compile([]Call{call}, 0, Options{}).NeedsPos(); got != want {
			t.Errorf("NeedsPos of %s = %t", name, got)
		}
	}
}

// All aggregates in one layout, over the same columns and sets: slots must not disturb each other,
// though they share words.
func TestAllTogether(t *testing.T) {
	t.Parallel()
	cents := func(r *rand.Rand) int64 { return int64(r.IntN(2001) - 1000) }
	gens := []generator{
		intsOf(column.Int32, cents), intsOf(column.Int64, cents), ints(column.Bool),
		stringsOf(column.Type{Kind: column.String}), decimals(30, 3),
	}
	typ := func(k int) column.Type { return gens[k](testRand()).Type }
	tables(t, gens, func(t *testing.T, d *testData) {
		var calls []Call
		var wants []want
		add := func(w want, name string, args ...int) {
			calls, wants = append(calls, callOf(t, d, name, args...)), append(wants, w)
		}
		for k := range gens {
			add(wantCount, "count", k)
			add(wantExtreme(typ(k), false), "min", k)
			add(wantLast(typ(k)), "last", k)
			add(wantFirst(typ(k)), "any_value", k)
			for j := range gens {
				add(wantArg(typ(k), true), "arg_max", k, j)
			}
		}
		for _, k := range []int{0, 1, 4} {
			add(wantSum(sumType(typ(k))), "sum", k)
			add(wantMean, "mean", k)
		}
		for _, name := range []string{"var_samp", "stddev_pop"} {
			add(wantMoment(name), name, 0)
			add(wantMoment(name), name, 1)
		}
		add(wantMoment("covar_samp"), "covar_samp", 0, 1)
		add(wantMoment("covar_samp"), "covar_samp", 1, 0)
		add(wantMoment("covar_pop"), "covar_pop", 0, 0)
		add(wantFold(typ(0), func(a, b int64) int64 { return a ^ b }), "bit_xor", 0)
		check(t, d, calls, wants, 1e-9)
	})
}

// More sets than a word has flags.
func TestManySets(t *testing.T) {
	t.Parallel()
	var gens []generator
	for range 70 {
		gens = append(gens, ints(column.Int16))
	}
	for _, nulls := range []string{"some", "first", "all"} {
		d := randomData(testRand(), 40, 3, nulls, gens)
		var calls []Call
		var wants []want
		for k := range gens {
			calls, wants = append(calls, callOf(t, d, "sum", k)), append(wants, wantSum(column.Type{Kind: column.Int64}))
		}
		check(t, d, calls, wants, 0)
	}
}
