package oracle

import (
	"errors"
	"math"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

var (
	int32Type   = column.Type{Kind: column.Int32}
	uint64Type  = column.Type{Kind: column.Uint64}
	doubleType  = column.Type{Kind: column.Float64}
	stringType  = column.Type{Kind: column.String}
	boolType    = column.Type{Kind: column.Bool}
	decimalType = column.DecimalType(10, 2)
)

// ints makes a vector of integers; nil is NULL.
func ints(t column.Type, values ...any) column.Vector {
	v := column.Vector{Type: t, Len: len(values), Null: make([]bool, len(values))}
	for i, x := range values {
		n, ok := x.(int)
		v.Int, v.Null[i] = append(v.Int, int64(n)), !ok
	}
	return v
}

func doubles(values ...float64) column.Vector {
	return column.Vector{Type: doubleType, Len: len(values), Float: values}
}

func texts(values ...string) column.Vector {
	v := column.Vector{Type: stringType, Len: len(values)}
	for _, s := range values {
		v.Span = append(v.Span, column.Span{Off: uint32(len(v.Data)), Len: uint32(len(s))})
		v.Data = append(v.Data, s...)
	}
	return v
}

// ask runs one aggregate over one batch without keys.
func ask(t *testing.T, name string, cols ...column.Vector) Cell {
	t.Helper()
	r, err := askAll(Query{Aggs: []Agg{{Func: name, Args: sequence(len(cols))}}}, cols...)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return r.Rows[0][0]
}

func askAll(q Query, cols ...column.Vector) (Result, error) {
	var schema column.Schema
	for _, c := range cols {
		schema.Fields = append(schema.Fields, column.Field{Type: c.Type})
	}
	return Run([]column.Batch{{Rows: cols[0].Len, Cols: cols}}, schema, q)
}

func sequence(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// The answers are worked out by hand, or are DuckDB's.
func TestAggregates(t *testing.T) {
	t.Parallel()
	x := ints(int32Type, 3, nil, 1, 2, 1)
	y := doubles(10, 20, 30, math.NaN(), 50)
	b := ints(boolType, 1, nil, 0, 1, 1)
	for _, c := range []struct {
		name string
		cols []column.Vector
		want string
	}{
		{"count", []column.Vector{x}, "4"},
		{"sum", []column.Vector{x}, "7"},
		{"sum", []column.Vector{y}, "NaNf"},
		{"sum", []column.Vector{ints(decimalType, 150, -75, nil)}, "3/4"},
		{"sum", []column.Vector{ints(uint64Type, -1, -1)}, "36893488147419103230"},
		{"sum", []column.Vector{ints(boolType, 1, 1, 0)}, "2"},
		{"sum", []column.Vector{ints(int32Type, nil, nil)}, "NULL"},
		{"sum", []column.Vector{doubles(1e308, 1, -1e308)}, "1f"},
		{"min", []column.Vector{y}, "10f"},
		{"max", []column.Vector{y}, "NaNf"},
		{"min", []column.Vector{texts("b", "", "abc")}, `""`},
		{"max", []column.Vector{texts("b", "\xff", "abc")}, `"\xff"`},
		{"mean", []column.Vector{x}, "1.75f"},
		{"avg", []column.Vector{ints(decimalType, 150, 50)}, "1f"},
		{"var_pop", []column.Vector{x}, "0.6875f"},
		{"var_samp", []column.Vector{doubles(1, 2, 3, 4)}, "1.6666666666666667f"},
		{"var_samp", []column.Vector{doubles(1)}, "NULL"},
		{"var_pop", []column.Vector{doubles(1)}, "0.0"},
		{"stddev_pop", []column.Vector{doubles(1e9, 1e9+2)}, "1f"},
		{"stddev", []column.Vector{doubles(0, 2)}, "1.4142135623730951f"},
		{"covar_pop", []column.Vector{doubles(1, 2, 3), doubles(2, 4, 6)}, "1.3333333333333333f"},
		{"covar_samp", []column.Vector{doubles(1, 2, 3), doubles(2, 4, 6)}, "2f"},
		{"corr", []column.Vector{doubles(1, 2, 3), doubles(6, 4, 2)}, "-1f"},
		{"corr", []column.Vector{doubles(1, 1), doubles(6, 4)}, "NaNf"},
		{"product", []column.Vector{x}, "6f"},
		{"bool_and", []column.Vector{b}, "0"},
		{"bool_or", []column.Vector{b}, "1"},
		{"bit_and", []column.Vector{ints(int32Type, 6, nil, 3)}, "2"},
		{"bit_or", []column.Vector{ints(int32Type, 6, nil, 3)}, "7"},
		{"bit_xor", []column.Vector{ints(int32Type, 6, nil, 3)}, "5"},
		{"any_value", []column.Vector{ints(int32Type, nil, 7, 8)}, "7"},
		{"first", []column.Vector{ints(int32Type, nil, 7, 8)}, "7"},
		{"last", []column.Vector{ints(int32Type, 7, 8, nil)}, "8"},
		{"arg_min", []column.Vector{texts("a", "b", "c"), ints(int32Type, nil, 2, 2)}, `"b"`},
		{"arg_max", []column.Vector{texts("a", "b", "c"), doubles(1, math.NaN(), 3)}, `"b"`},
	} {
		if got := ask(t, c.name, c.cols...).String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestSumOverflows(t *testing.T) {
	t.Parallel()
	top, _ := askAll(Query{Aggs: []Agg{{Func: "sum", Args: []int{0}}}}, ints(column.Type{Kind: column.Int64}, 1<<62, 1<<62, 1<<62))
	if got := top.Rows[0][0].String(); got != "13835058055282163712" {
		t.Errorf("a sum of int64 past int64 is %s", got)
	}
	if _, err := askAll(Query{Aggs: []Agg{{Func: "sum", Args: []int{0}}}}, ints(int32Type, math.MaxInt64, 1)); !errors.Is(err, ErrOverflow) {
		t.Errorf("a sum past int64 over a narrow type gives %v", err)
	}
}

// NULL is one group, so are all NaN, and so are both zeros; the filter comes
// before the groups.
func TestGroups(t *testing.T) {
	t.Parallel()
	nan := math.Float64frombits(0xFFF8000000000001)
	r, err := askAll(Query{
		Keys:  []int{0},
		Aggs:  []Agg{{Func: "count"}},
		Where: func(row []column.Value) bool { return row[1].Int != 9 },
	}, doubles(0, math.NaN(), math.Copysign(0, -1), nan, 5), ints(int32Type, 1, 1, 1, 1, 9))
	if err != nil {
		t.Fatal(err)
	}
	want := Result{Keys: 1, Rows: [][]Cell{{float(math.NaN()), integer(2)}, {float(0), integer(2)}}}
	if err := Equal(r, want); err != nil {
		t.Error(err)
	}
}

// Without keys there is one group, even of no rows; with keys there is none.
func TestNoRows(t *testing.T) {
	t.Parallel()
	none := func([]column.Value) bool { return false }
	all := Query{Where: none, Aggs: []Agg{{Func: "count"}, {Func: "sum", Args: []int{0}}}}
	r, err := askAll(all, doubles(1))
	if err != nil || len(r.Rows) != 1 || r.Rows[0][0].String() != "0" || r.Rows[0][1].String() != "NULL" {
		t.Errorf("one group: %v, %v", r, err)
	}
	all.Keys = []int{0}
	if r, err = askAll(all, doubles(1)); err != nil || len(r.Rows) != 0 {
		t.Errorf("no group: %v, %v", r, err)
	}
}

// first follows file order, whatever the order of the batches.
func TestFileOrder(t *testing.T) {
	t.Parallel()
	schema := column.Schema{Fields: []column.Field{{Type: int32Type}}}
	batches := []column.Batch{
		{Rows: 1, First: 5, Cols: []column.Vector{ints(int32Type, 2)}},
		{Rows: 1, First: 0, Cols: []column.Vector{ints(int32Type, 1)}},
	}
	r, err := Run(batches, schema, Query{Aggs: []Agg{{Func: "first", Args: []int{0}}}})
	if err != nil || r.Rows[0][0].String() != "1" {
		t.Errorf("%v, %v", r, err)
	}
}

func TestEqualFindsDifferences(t *testing.T) {
	t.Parallel()
	row := func(key int64, value float64) []Cell { return []Cell{integer(key), float(value)} }
	want := Result{Keys: 1, Rows: [][]Cell{row(1, 10), row(2, 1e-12)}}
	for _, c := range []struct {
		protects string
		rows     [][]Cell
		ok       bool
	}{
		{"another order", [][]Cell{row(2, 1e-12), row(1, 10)}, true},
		{"within the tolerance", [][]Cell{row(2, 1e-12), row(1, 10+1e-9)}, true},
		{"beyond the tolerance", [][]Cell{row(2, 1e-12), row(1, 10+1e-7)}, false},
		{"the tolerance is relative", [][]Cell{row(2, 2e-12), row(1, 10)}, false},
		{"a missing group", [][]Cell{row(1, 10)}, false},
		{"a group too many", [][]Cell{row(2, 1e-12), row(1, 10), row(3, 0)}, false},
		{"a group twice", [][]Cell{row(2, 1e-12), row(1, 10), row(1, 10)}, false},
		{"NULL for a number", [][]Cell{row(2, 1e-12), {integer(1), {}}}, false},
		{"NaN for a number", [][]Cell{row(2, 1e-12), row(1, math.NaN())}, false},
	} {
		if err := Equal(Result{Keys: 1, Rows: c.rows}, want); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.protects, err)
		}
	}
}
