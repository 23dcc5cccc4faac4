package agg

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// ratOf is the exact value of a number.
func ratOf(v column.Value) *big.Rat {
	if v.Type.IsFloat() {
		return new(big.Rat).SetFloat64(v.Float)
	}
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(v.Type.Scale)), nil)
	return new(big.Rat).SetFrac(bigOf(v), scale)
}

// ratCentral is the mean of (x - mean x)^p * (y - mean y)^q.
func ratCentral(x, y []column.Value, p, q int) *big.Rat {
	n := new(big.Rat).SetInt64(int64(len(x)))
	mean := func(vals []column.Value) *big.Rat {
		sum := new(big.Rat)
		for _, v := range vals {
			sum.Add(sum, ratOf(v))
		}
		return sum.Quo(sum, n)
	}
	mx, my := mean(x), mean(y)
	sum := new(big.Rat)
	for i := range x {
		term := big.NewRat(1, 1)
		for range p {
			term.Mul(term, new(big.Rat).Sub(ratOf(x[i]), mx))
		}
		for range q {
			term.Mul(term, new(big.Rat).Sub(ratOf(y[i]), my))
		}
		sum.Add(sum, term)
	}
	return sum.Quo(sum, n)
}

func float(r *big.Rat) float64 {
	f, _ := r.Float64()
	return f
}

// wantMoment computes name from exact central moments.
func wantMoment(name string) want {
	return func(vals [][]column.Value) column.Value {
		vals = present(vals)
		x, n := vals[0], float64(len(vals[0]))
		result := column.Value{Type: column.Type{Kind: column.Float64}, Null: true}
		value := func(f float64) column.Value {
			result.Null, result.Float = false, f
			return result
		}
		if n == 0 {
			return result
		}
		switch name {
		case "var_pop":
			return value(float(ratCentral(x, x, 2, 0)))
		case "stddev_pop":
			return value(math.Sqrt(float(ratCentral(x, x, 2, 0))))
		case "covar_pop":
			return value(float(ratCentral(x, vals[1], 1, 1)))
		case "corr":
			y := vals[1]
			return value(float(ratCentral(x, y, 1, 1)) / math.Sqrt(float(ratCentral(x, y, 2, 0))) / math.Sqrt(float(ratCentral(x, y, 0, 2))))
		}
		if n == 1 {
			return result
		}
		switch name {
		case "var_samp":
			return value(float(ratCentral(x, x, 2, 0)) * n / (n - 1))
		case "stddev_samp":
			return value(math.Sqrt(float(ratCentral(x, x, 2, 0)) * n / (n - 1)))
		case "covar_samp":
			return value(float(ratCentral(x, vals[1], 1, 1)) * n / (n - 1))
		}
		m2 := float(ratCentral(x, x, 2, 0))
		switch {
		case name == "skewness" && n > 2:
			return value(math.Sqrt(n*(n-1)) / (n - 2) * float(ratCentral(x, x, 3, 0)) / math.Pow(m2, 1.5))
		case name == "kurtosis" && n > 3 && m2 != 0:
			return value((n - 1) * ((n+1)*float(ratCentral(x, x, 4, 0))/(m2*m2) - 3*(n-1)) / ((n - 2) * (n - 3)))
		}
		return result
	}
}

func checkMoments(t *testing.T, d *testData, tolerance float64, names ...string) {
	t.Helper()
	var calls []Call
	var wants []want
	for _, name := range names {
		args := seq(signatures[byName[name]].args)
		calls, wants = append(calls, callOf(t, d, name, args...)), append(wants, wantMoment(name))
	}
	check(t, d, calls, wants, tolerance)
}

// Moments of integers and short decimals are exact until the last division.
func TestMomentsExact(t *testing.T) {
	t.Parallel()
	for name, gens := range map[string][]generator{
		"int8 int8":                   {ints(column.Int8), ints(column.Int8)},
		"int32 uint16":                {ints(column.Int32), ints(column.Uint16)},
		"int32 int32":                 {ints(column.Int32), ints(column.Int32)},
		"uint32 int32":                {ints(column.Uint32), ints(column.Int32)},
		"int64 int64":                 {ints(column.Int64), ints(column.Int64)},
		"int64 uint64":                {ints(column.Int64), ints(column.Uint64)},
		"uint64 int64":                {ints(column.Uint64), ints(column.Int64)},
		"uint64 uint64":               {ints(column.Uint64), ints(column.Uint64)},
		"decimal(9,2) int32":          {decimals(9, 2), ints(column.Int32)},
		"decimal(18,9) decimal(18,3)": {decimals(18, 9), decimals(18, 3)},
	} {
		t.Run(name, func(t *testing.T) {
			tables(t, gens, func(t *testing.T, d *testData) {
				if len(d.gids) > 33 && d.groups == 7 {
					t.Skip("the exact reference is slow")
				}
				checkMoments(t, d, 1e-12, "var_pop", "covar_pop", "stddev_samp")
				checkMoments(t, d, 1e-12, "var_samp", "covar_samp", "stddev_pop")
			})
		})
	}
}

// A large mean must not eat the variance.
func TestMomentsCancellation(t *testing.T) {
	t.Parallel()
	near := func(mean float64) generator {
		return floatsOf(column.Float64, func(rng *rand.Rand) float64 { return mean + rng.NormFloat64() })
	}
	for _, mean := range []float64{0, 1, 1e4, 1e9} {
		gens := []generator{near(mean), near(-mean)}
		d := randomData(testRand(), 1000, 3, "some", gens)
		checkMoments(t, d, 1e-9, "var_pop", "var_samp", "stddev_samp", "covar_pop", "covar_samp", "corr")
		if mean <= 1e4 {
			checkMoments(t, d, 1e-9, "skewness", "kurtosis")
		}
	}
	long := intsOf(column.Int64, func(rng *rand.Rand) int64 { return 1e18 + int64(rng.IntN(3)) })
	checkMoments(t, randomData(testRand(), 500, 2, "none", []generator{long}), 1e-12, "var_samp", "stddev_pop")
}

func TestMomentsOfMixedAndWide(t *testing.T) {
	t.Parallel()
	for name, gens := range map[string][]generator{
		"double int32":                 {floatsOf(column.Float64, (*rand.Rand).Float64), ints(column.Int32)},
		"decimal(30,4) decimal(38,10)": {decimals(30, 4), decimals(38, 10)},
		"decimal(18,2) float":          {decimals(18, 2), floatsOf(column.Float32, func(r *rand.Rand) float64 { return float64(float32(r.Float64())) })},
	} {
		t.Run(name, func(t *testing.T) {
			d := randomData(testRand(), 300, 4, "some", gens)
			checkMoments(t, d, 1e-9, "var_pop", "covar_pop", "corr", "skewness", "kurtosis")
		})
	}
}

// The groups of few rows, where samples have no variance, and DuckDB's figures
// for four values.
func TestSkewnessKurtosis(t *testing.T) {
	t.Parallel()
	gens := []generator{intsOf(column.Int32, func(r *rand.Rand) int64 { return int64(r.IntN(100)) })}
	tables(t, gens, func(t *testing.T, d *testData) {
		if len(d.gids) < 100 {
			checkMoments(t, d, 1e-9, "skewness", "kurtosis")
		}
	})
	d := &testData{groups: 1, args: [][]column.Value{{}}}
	for _, v := range []int64{1, 2, 4, 9} {
		d.gids, d.args[0] = append(d.gids, 0), append(d.args[0], column.Value{Type: column.Type{Kind: column.Int32}, Int: v})
	}
	double := func(f float64) want {
		return func([][]column.Value) column.Value {
			return column.Value{Type: column.Type{Kind: column.Float64}, Float: f}
		}
	}
	check(t, d, []Call{callOf(t, d, "skewness", 0), callOf(t, d, "kurtosis", 0)},
		[]want{double(1.3309377322476705), double(1.5)}, 1e-15)
}

// A constant column has no variance, for any value and in spite of rounding.
func TestMomentsOfConstant(t *testing.T) {
	t.Parallel()
	for _, c := range []float64{0, 0.1, 1e9 / 3, -1e-9 / 7, 1e100 / 3} {
		for _, n := range []int{2, 3, 1000, 50_000} {
			gens := []generator{
				floatsOf(column.Float64, func(*rand.Rand) float64 { return c }),
				floatsOf(column.Float64, (*rand.Rand).Float64),
			}
			d := randomData(testRand(), n, 1, "none", gens)
			l := Compile([]Call{
				callOf(t, d, "var_pop", 0), callOf(t, d, "stddev_samp", 0), callOf(t, d, "corr", 0, 1),
				callOf(t, d, "corr", 1, 0), callOf(t, d, "skewness", 0), callOf(t, d, "kurtosis", 0),
			}, testBase, Options{MaxRows: -1})
			for name, way := range ways {
				got, err := way(l, d, testRand()).results(t, 1)
				if err != nil {
					t.Fatal(err)
				}
				for k, v := range got {
					zero := k < 2 && v[0].Float == 0 && !v[0].Null
					nan := 2 <= k && k < 4 && v[0].Float != v[0].Float || k == 4 && (v[0].Null == (n == 2)) && (n == 2 || v[0].Float != v[0].Float)
					if !zero && !nan && !(k == 5 && v[0].Null) {
						t.Fatalf("%s: call %d of %d times %v: %s", name, k, n, c, show(v[0]))
					}
				}
			}
		}
	}
}

// Values that are not finite have no variance; a single value has 0, as in DuckDB.
func TestMomentsNotFinite(t *testing.T) {
	t.Parallel()
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		vals []float64
		want float64
	}{
		{[]float64{inf}, 0},
		{[]float64{1, inf}, nan},
		{[]float64{1, nan, 3}, nan},
		{[]float64{inf, -inf}, nan},
		{[]float64{1e200, -1e200}, inf},
	} {
		d := &testData{groups: 1, args: [][]column.Value{{}}}
		for _, f := range c.vals {
			d.gids = append(d.gids, 0)
			d.args[0] = append(d.args[0], column.Value{Type: column.Type{Kind: column.Float64}, Float: f})
		}
		result := column.Value{Type: column.Type{Kind: column.Float64}, Float: c.want}
		check(t, d, []Call{callOf(t, d, "var_pop", 0), callOf(t, d, "stddev_pop", 0)},
			[]want{func([][]column.Value) column.Value { return result }, func([][]column.Value) column.Value { return result }}, 0)
	}
}
