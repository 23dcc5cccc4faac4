package agg

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
)

// wantSum adds up in big.Int.
func wantSum(result column.Type) want {
	return func(vals [][]column.Value) column.Value {
		rows := present(vals)[0]
		if len(rows) == 0 {
			return column.Value{Type: result, Null: true}
		}
		sum := bigSum(rows)
		if result.Rep() == column.RepWide {
			return column.Value{Type: result, Wide: decimal256.FromBigInt(sum)}
		}
		return column.Value{Type: result, Int: sum.Int64()}
	}
}

func bigSum(rows []column.Value) *big.Int {
	sum := new(big.Int)
	for _, v := range rows {
		sum.Add(sum, bigOf(v))
	}
	return sum
}

func TestSumExact(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		gen    generator
		result column.Type
	}{
		"boolean":       {ints(column.Bool), column.Type{Kind: column.Int64}},
		"int8":          {ints(column.Int8), column.Type{Kind: column.Int64}},
		"uint16":        {ints(column.Uint16), column.Type{Kind: column.Int64}},
		"int32":         {ints(column.Int32), column.Type{Kind: column.Int64}},
		"uint32":        {ints(column.Uint32), column.Type{Kind: column.Int64}},
		"int64":         {ints(column.Int64), column.DecimalType(38, 0)},
		"uint64":        {ints(column.Uint64), column.DecimalType(38, 0)},
		"decimal(9,2)":  {decimals(9, 2), column.DecimalType(38, 2)},
		"decimal(18,0)": {decimals(18, 0), column.DecimalType(38, 0)},
		"decimal(30,4)": {decimals(30, 4), column.DecimalType(38, 4)},
		"decimal(70,4)": {decimals(70, 4), column.DecimalType(76, 4)},

		"decimal(30,4) of 64 bits": {narrowDecimals(30), column.DecimalType(38, 4)},
		"small decimal(30,4)":      {smallDecimals(30), column.DecimalType(38, 4)},
		"small decimal(15,4)":      {smallDecimals(15), column.DecimalType(38, 4)},
		"decimal(70,4) of 64 bits": {narrowDecimals(70), column.DecimalType(76, 4)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			tables(t, []generator{c.gen}, func(t *testing.T, d *testData) {
				check(t, d, []Call{callOf(t, d, "sum", 0)}, []want{wantSum(c.result)}, 0)
			})
		})
	}
}

// Partial sums may leave the range of the result; only the last one counts.
func TestSumCrossesAndComesBack(t *testing.T) {
	t.Parallel()
	max38 := column.Value{Type: column.DecimalType(38, 0), Wide: decimal256.GetMaxValue(38)}
	max76 := column.Value{Type: column.DecimalType(76, 0), Wide: decimal256.GetMaxValue(76)}
	for _, top := range []column.Value{max38, max76} {
		neg := top
		neg.Wide = top.Wide.Negate()
		d := &testData{groups: 1, args: [][]column.Value{{}}}
		for _, v := range []column.Value{top, neg} {
			for range 100 {
				d.gids, d.args[0] = append(d.gids, 0), append(d.args[0], v)
			}
		}
		d.gids, d.args[0] = append(d.gids, 0), append(d.args[0], top)
		check(t, d, []Call{callOf(t, d, "sum", 0)}, []want{wantSum(top.Type)}, 0)
	}
}

func TestSumOverflow(t *testing.T) {
	t.Parallel()
	top := column.Value{Type: column.DecimalType(38, 3), Wide: decimal256.GetMaxValue(38)}
	one := column.Value{Type: column.DecimalType(38, 3), Wide: decimal256.FromI64(1)}
	low := column.Value{Type: column.DecimalType(38, 3), Wide: decimal256.GetMaxValue(38).Negate()}
	minus := column.Value{Type: column.DecimalType(38, 3), Wide: decimal256.FromI64(-1)}
	many := column.Value{Type: column.DecimalType(76, 3), Wide: decimal256.GetMaxValue(76)}
	for _, vals := range [][]column.Value{
		{top, one},
		{low, minus},
		{top, top},
		{low, low, low},
		// more than 256 bits
		{many, many, many, many, many, many, many, many, many, many, many, many},
	} {
		d := &testData{groups: 3, args: [][]column.Value{vals}}
		for range vals {
			d.gids = append(d.gids, 2)
		}
		l := Compile([]Call{{}, callOf(t, d, "sum", 0)}, testBase, Options{MaxRows: -1})
		for name, way := range ways {
			_, err := way(l, d, rand.New(rand.NewPCG(1, 1))).results(t, d.groups)
			var overflow *OverflowError
			if !errors.As(err, &overflow) || overflow.Call != 1 || overflow.Row != 2 || overflow.Func != "sum" ||
				overflow.Type != sumType(vals[0].Type) {
				t.Errorf("%s: error %v, want an overflow of call 1, row 2", name, err)
			}
		}
	}
}

// No data set has 2^31 rows of 2^32, so the sum is put into the row.
func TestSumInt64Overflow(t *testing.T) {
	t.Parallel()
	d := &testData{groups: 1, args: [][]column.Value{{{Type: column.Type{Kind: column.Uint32}, Int: math.MaxUint32}}}, gids: []uint32{0}}
	l := Compile([]Call{callOf(t, d, "sum", 0)}, testBase, Options{MaxRows: -1})
	w := ways["one batch"](l, d, nil)
	s := l.slots[0]
	w.t.Rows[s.hot] = math.MaxInt64 - 1
	if _, err := w.results(t, 1); err != nil {
		t.Fatal(err)
	}
	w.update(d, []int{0})
	var overflow *OverflowError
	if _, err := w.results(t, 1); !errors.As(err, &overflow) {
		t.Errorf("error %v, want an overflow", err)
	}
}

// The bound of SPEC.md: 1e-12 relative to the sum of absolute values.
func TestSumFloat(t *testing.T) {
	t.Parallel()
	draws := map[string]func(rng *rand.Rand) float64{
		"normal":      func(rng *rand.Rand) float64 { return rng.NormFloat64() },
		"exponential": func(rng *rand.Rand) float64 { return math.Ldexp(rng.NormFloat64(), rng.IntN(200)-100) },
		"alternating": func(rng *rand.Rand) float64 { return 1e16*float64(rng.IntN(3)-1) + rng.Float64() },
		"cents":       func(rng *rand.Rand) float64 { return float64(rng.IntN(1e8)) / 1e6 },
	}
	for name, draw := range draws {
		t.Run(name, func(t *testing.T) {
			tables(t, []generator{floatsOf(column.Float64, draw)}, func(t *testing.T, d *testData) {
				checkFloatSum(t, d)
			})
		})
	}
	t.Run("a million", func(t *testing.T) {
		gens := []generator{floatsOf(column.Float64, draws["exponential"])}
		checkFloatSum(t, randomData(rand.New(rand.NewPCG(5, 5)), 1_000_000, 3, "none", gens))
	})
}

func checkFloatSum(t *testing.T, d *testData) {
	t.Helper()
	l := Compile([]Call{callOf(t, d, "sum", 0)}, testBase, Options{MaxRows: -1})
	for name, way := range ways {
		got, err := way(l, d, rand.New(rand.NewPCG(2, 2))).results(t, d.groups)
		if err != nil {
			t.Fatal(err)
		}
		for g, rows := range byGroup(d) {
			sum, size, n := new(big.Float).SetPrec(1000), 0.0, 0
			for _, r := range rows {
				if v := d.args[0][r]; !v.Null {
					sum.Add(sum, new(big.Float).SetFloat64(v.Float))
					size += math.Abs(v.Float)
					n++
				}
			}
			want, _ := sum.Float64()
			if v := got[0][g]; v.Null != (n == 0) || math.Abs(v.Float-want) > 1e-15*size {
				t.Fatalf("%s: group %d: %s, want %v of %d values, absolute sum %v", name, g, show(v), want, n, size)
			}
		}
	}
}

// NaN and infinities win over every number; infinities of both signs give NaN.
func TestSumFloatNotFinite(t *testing.T) {
	t.Parallel()
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		vals []float64
		want float64
	}{
		{[]float64{1, inf, 2, 3, 4, 5}, inf},
		{[]float64{-inf, 1, 2, -inf, 7, 7}, -inf},
		{[]float64{inf, 1, 2, 3, -inf, 4}, nan},
		{[]float64{1, nan, 2, inf, 3}, nan},
		{[]float64{math.MaxFloat64, math.MaxFloat64}, inf},
		{[]float64{math.MaxFloat64, -math.MaxFloat64, 1}, 1},
		{[]float64{math.Copysign(0, -1)}, 0},
	} {
		d := &testData{groups: 1, args: [][]column.Value{{}}}
		for _, f := range c.vals {
			d.gids = append(d.gids, 0)
			d.args[0] = append(d.args[0], column.Value{Type: column.Type{Kind: column.Float32}, Float: f})
		}
		result := column.Value{Type: column.Type{Kind: column.Float64}, Float: c.want}
		check(t, d, []Call{callOf(t, d, "sum", 0)}, []want{func([][]column.Value) column.Value { return result }}, 0)
	}
}

// Sums of arguments that are known to be small take one word, for any type; others take more, and
// so do those of part 1, whose arguments are not examined. Sums of one word cannot overflow, nor
// can those of values of 64 bits, whose results have 38 digits.
func TestSumBits(t *testing.T) {
	t.Parallel()
	for _, typ := range []column.Type{{Kind: column.Int64}, column.DecimalType(15, 2), column.DecimalType(30, 4), column.DecimalType(60, 4)} {
		f, _, err := Resolve("sum", []column.Type{typ}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			most   uint64
			signed bool
			part   int
			rows   int64
			one    bool
		}{
			{1<<20 - 1, true, 0, 1 << 43, true},
			{1<<20 - 1, true, 0, 1<<43 + 1, false},
			{0, false, 0, 10, false},
			{1<<62 - 1, true, 0, 2, true},
			{1<<63 - 1, true, 0, 1, true},
			{1<<63 - 1, true, 0, 2, false},
			{1 << 20, false, 0, 1<<43 - 1, true},
			{1 << 20, false, 0, 1 << 43, false},
			{1 << 20, true, 0, -1, false},
			{1 << 20, true, 1, 10, false},
		} {
			call := Call{Func: f, Args: []int{0}, Types: []column.Type{typ}, Part: c.part}
			l := Compile([]Call{call}, 0, Options{MaxRows: c.rows, Ranges: []column.Range{{Most: c.most, Signed: c.signed}}, Filled: []bool{true}})
			may := !c.one && typ.Precision > wordDigits
			if one := l.Words() == 1; one != c.one || may != l.MayOverflow(0) || one != l.Relies(0) {
				t.Errorf("%s, to %d, signed %t, %d rows, part %d: %d words, may overflow: %t", typ, c.most, c.signed, c.rows, c.part, l.Words(), l.MayOverflow(0))
			}
		}
	}
}

// Means of sums of one word are those that dividing exact sums gives, to the last bit, on both
// sides of what a float holds exactly.
func TestMeanOfWords(t *testing.T) {
	t.Parallel()
	rng := testRand()
	for _, typ := range []column.Type{{Kind: column.Int32}, {Kind: column.Int64}, column.DecimalType(15, 2), column.DecimalType(38, 20), column.DecimalType(38, 30)} {
		f, _, err := Resolve("avg", []column.Type{typ}, nil)
		if err != nil {
			t.Fatal(err)
		}
		call := Call{Func: f, Args: []int{0}, Types: []column.Type{typ}}
		for _, signed := range []bool{false, true} {
			l := Compile([]Call{call}, 0, Options{MaxRows: 1 << 20, Ranges: []column.Range{{Most: 1 << 22, Signed: signed}}, Filled: []bool{true}})
			if packs := l.packed != none; packs == signed {
				t.Fatalf("%s, signed %t: the count is in the word of the sum: %t", typ, signed, packs)
			}
			var out column.Vector
			for range 20_000 {
				rows, most := 1+rng.Int64N(1<<20), int64(1)<<(1+rng.IntN(42))
				sum := rng.Int64N(most)
				row := make([]uint64, l.Words())
				switch {
				case !signed:
					row[0] = uint64(sum)<<l.slots[0].shift + uint64(rows)
				default:
					if rng.IntN(9) == 0 {
						most = 1<<53 + rng.Int64N(1<<10)
						sum = most - rng.Int64N(1<<11)
					}
					if rng.IntN(2) == 0 {
						sum = -sum
					}
					row[l.slots[0].hot], row[l.rows.off] = uint64(sum), uint64(rows)
				}
				if err := l.Finish(0, row, len(row), nil, &out); err != nil {
					t.Fatal(err)
				}
				if want := quotient(wideOf(sum), rows, int(typ.Scale)); out.Float[0] != want {
					t.Fatalf("%s: %d / %d: %v, want %v", typ, sum, rows, out.Float[0], want)
				}
			}
		}
	}
}
