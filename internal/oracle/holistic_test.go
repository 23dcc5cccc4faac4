package oracle

import (
	"math"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// share is p as the parameter of a quantile.
func share(unscaled int64, scale int) column.Value {
	return column.Value{Type: column.DecimalType(18, scale), Int: unscaled}
}

var (
	inf        = math.Inf(1)
	none       = column.Value{}
	floatType  = column.Type{Kind: column.Float32}
	dateType   = column.Type{Kind: column.Date}
	microsType = column.TimestampType(column.Micro, false)
)

func floats(values ...float64) column.Vector {
	v := doubles(values...)
	v.Type = floatType
	return v
}

// askWith runs one aggregate with a parameter over one column.
func askWith(t *testing.T, name string, param column.Value, col column.Vector) Cell {
	t.Helper()
	r, err := askAll(Query{Aggs: []Agg{{Func: name, Args: []int{0}, Param: param}}}, col)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return r.Rows[0][0]
}

// The answers are DuckDB's, but for the NULL of entropy.
func TestQuantiles(t *testing.T) {
	t.Parallel()
	x := ints(int32Type, 9, nil, 1, 4, 2)
	for _, c := range []struct {
		name  string
		param column.Value
		col   column.Vector
		want  string
	}{
		{"median", none, x, "3f"},
		{"median", none, ints(int32Type, nil), "NULL"},
		{"median", none, ints(decimalType, 100, 101), "1"},
		{"median", none, ints(decimalType, -100, -101), "-101/100"},
		{"median", none, ints(dateType, 0, 1), "43200000000"},
		{"median", none, ints(microsType, 0, 1), "1"},
		{"median", none, ints(microsType, 0, -1), "-1"},
		{"median", none, ints(microsType, -1, -2), "-2"},
		{"median", none, ints(boolType, 0, 1, 1), "1"},
		{"median", none, texts("b", "a", "c", "a"), `"a"`},
		{"median", none, doubles(inf, inf), "+Inff"},
		{"median", none, doubles(inf, -inf), "NaNf"},
		{"median", none, doubles(1, -inf), "-Inff"},
		{"median", none, doubles(math.NaN(), 1), "NaNf"},
		{"median", none, doubles(math.NaN(), 1, 2), "2f"},
		{"median", none, doubles(math.MaxFloat64, -math.MaxFloat64), "0.0"},
		{"median", none, floats(1, 1+0x1p-23), "1f"},
		{"quantile", share(1, 1), x, "1.3f"},
		{"quantile", share(0, 0), x, "1f"},
		{"quantile", share(1, 0), x, "9f"},
		{"quantile", share(1, 1), ints(decimalType, 150, 225, 375, 999), "43/25"},
		{"quantile_disc", share(0, 0), x, "1"},
		{"quantile_disc", share(25, 2), x, "1"},
		{"quantile_disc", share(26, 2), x, "2"},
		{"quantile_disc", share(1, 0), x, "9"},
		{"quantile_disc", share(5, 1), doubles(math.NaN(), inf, 1), "+Inff"},
		{"mad", none, x, "1.5f"},
		{"mad", none, ints(int32Type, nil), "NULL"},
		{"mad", none, ints(decimalType, 150, 225, 375, 999), "28/25"},
		{"mad", none, ints(column.Type{Kind: column.Int8}, 127, -128), "127.5f"},
		{"mad", none, doubles(inf, inf, 1), "NaNf"},
		{"mad", none, doubles(1, 2, inf), "1f"},
		{"mad", none, floats(1, 2, 4), "1f"},
	} {
		if got := askWith(t, c.name, c.param, c.col).String(); got != c.want {
			t.Errorf("%s with %v: %s, want %s", c.name, c.param.Int, got, c.want)
		}
	}
}

// 0.29 of 100 is 29 exactly, though not with doubles.
func TestQuantileIsExact(t *testing.T) {
	t.Parallel()
	var values []any
	for i := range 101 {
		values = append(values, i*100)
	}
	if got := askWith(t, "quantile", share(29, 2), ints(decimalType, values...)).String(); got != "29" {
		t.Errorf("quantile: %s, want 29", got)
	}
	if got := askWith(t, "quantile_disc", share(29, 2), ints(int32Type, values[:100]...)).String(); got != "2800" {
		t.Errorf("quantile_disc: %s, want 2800", got)
	}
}

func TestDistinctValues(t *testing.T) {
	t.Parallel()
	odd := doubles(math.NaN(), math.Copysign(0, -1), 0, math.NaN(), 0, 3)
	for _, c := range []struct {
		name string
		col  column.Vector
		want string
	}{
		{"count_distinct", odd, "3"},
		{"count_distinct", ints(int32Type, nil), "0"},
		{"mode", odd, "0.0"},
		{"mode", ints(int32Type, nil, 3, 1, 2, 1, 3), "3"},
		{"mode", ints(int32Type, nil), "NULL"},
		{"mode", texts("a", "", ""), `""`},
		{"entropy", ints(int32Type, 1, 2, 3, 4, nil), "2f"},
		{"entropy", texts("a", "a"), "0.0"},
		{"entropy", texts("a", "b", "b", "c"), "1.5f"},
		{"entropy", ints(int32Type, nil), "NULL"},
	} {
		if got := ask(t, c.name, c.col).String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	semicolon := column.Value{Type: stringType, Bytes: ";"}
	if got := askWith(t, "string_agg", semicolon, texts("b", "", "a", "a")).String(); got != `"b;;a;a"` {
		t.Errorf("string_agg: %s", got)
	}
}

func TestLists(t *testing.T) {
	t.Parallel()
	n := func(i int64) column.Value { return column.Value{Type: column.Type{Kind: column.Int64}, Int: i} }
	x := ints(int32Type, 2, nil, 1, 2, 9)
	odd := doubles(1, math.NaN(), -inf, 0, math.Copysign(0, -1))
	for _, c := range []struct {
		name  string
		param column.Value
		col   column.Vector
		want  string
	}{
		{"list", none, x, "[2, 1, 2, 9]"},
		{"list", none, texts("b", "", "a"), `["b", "", "a"]`},
		{"list", none, ints(int32Type, nil), "NULL"},
		{"min", n(2), x, "[1, 2]"},
		{"max", n(2), x, "[9, 2]"},
		{"max", n(9), x, "[9, 2, 2, 1]"},
		{"max", n(2), odd, "[NaNf, 1f]"},
		{"min", n(1), ints(int32Type, nil), "NULL"},
		{"histogram", none, x, "{1=1, 2=2, 9=1}"},
		{"histogram", none, odd, "{-Inff=1, 0.0=2, 1f=1, NaNf=1}"},
		{"histogram", none, ints(int32Type, nil), "NULL"},
	} {
		if got := askWith(t, c.name, c.param, c.col).String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
