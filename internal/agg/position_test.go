package agg

import (
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

func wantFirst(t column.Type) want {
	return func(vals [][]column.Value) column.Value {
		vals = present(vals)
		if len(vals[0]) == 0 {
			return column.Value{Type: t, Null: true}
		}
		return vals[0][0]
	}
}

func wantLast(t column.Type) want {
	return func(vals [][]column.Value) column.Value {
		vals = present(vals)
		if len(vals[0]) == 0 {
			return column.Value{Type: t, Null: true}
		}
		return vals[0][len(vals[0])-1]
	}
}

func wantArg(t column.Type, greatest bool) want {
	return func(vals [][]column.Value) column.Value {
		vals = present(vals)
		best := -1
		for i, key := range vals[1] {
			if best < 0 || less(key, vals[1][best]) && !greatest || less(vals[1][best], key) && greatest {
				best = i
			}
		}
		if best < 0 {
			return column.Value{Type: t, Null: true}
		}
		return vals[0][best]
	}
}

// kinds has a generator for every representation of values.
var kinds = map[string]generator{
	"int64": ints(column.Int64), "uint64": ints(column.Uint64), "boolean": ints(column.Bool), "double": oddFloats(column.Float64),
	"decimal(30,2)": decimals(30, 2), "string": stringsOf(column.Type{Kind: column.String}),
}

// All three pass over NULL and go by file order.
func TestFirstLastAny(t *testing.T) {
	t.Parallel()
	for name, gen := range kinds {
		t.Run(name, func(t *testing.T) {
			typ := gen(testRand()).Type
			tables(t, []generator{gen}, func(t *testing.T, d *testData) {
				check(t, d, []Call{callOf(t, d, "first", 0), callOf(t, d, "last", 0), callOf(t, d, "any_value", 0)},
					[]want{wantFirst(typ), wantLast(typ), wantFirst(typ)}, 0)
			})
		})
	}
}

// Keys repeat often, so that ties are met: the first row in file order wins.
func TestArgMinMax(t *testing.T) {
	t.Parallel()
	for name, key := range kinds {
		for value, gen := range kinds {
			if value != "string" && value != "int64" && name != "int64" {
				continue // every key and every value, not every pair
			}
			t.Run(value+" by "+name, func(t *testing.T) {
				typ := gen(testRand()).Type
				tables(t, []generator{gen, key}, func(t *testing.T, d *testData) {
					check(t, d, []Call{callOf(t, d, "arg_min", 0, 1), callOf(t, d, "arg_max", 0, 1)},
						[]want{wantArg(typ, false), wantArg(typ, true)}, 0)
				})
			})
		}
	}
}
