package agg

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
)

// generator makes the values of a column.
type generator func(rng *rand.Rand) column.Value

// tables calls f with data of every shape that has been forgotten before: no
// rows, one row, one group, a group per row, no NULLs, NULLs here and there,
// groups whose rows are all NULL or begin with many NULLs, NULLs only.
func tables(t *testing.T, gens []generator, f func(t *testing.T, d *testData)) {
	t.Helper()
	for _, n := range []int{0, 1, 33, 200} {
		for _, groups := range []int{1, 7, n + 1} {
			for _, nulls := range []string{"none", "some", "groups", "first", "all"} {
				name := fmt.Sprintf("rows=%d/groups=%d/nulls=%s", n, groups, nulls)
				rng := rand.New(rand.NewPCG(uint64(n), uint64(groups)))
				d := randomData(rng, n, groups, nulls, gens)
				t.Run(name, func(t *testing.T) { f(t, d) })
			}
		}
	}
}

func randomData(rng *rand.Rand, n, groups int, nulls string, gens []generator) *testData {
	d := &testData{groups: groups}
	for range n {
		d.gids = append(d.gids, uint32(rng.IntN(groups)))
	}
	for k, gen := range gens {
		var col []column.Value
		for r := range n {
			v := gen(rng)
			null := false
			switch nulls {
			case "some":
				null = rng.IntN(4) == 0
			case "groups":
				null = (int(d.gids[r])+k)%3 == 0
			case "first":
				null = r < n*2/3
			case "all":
				null = true
			}
			if null {
				v = column.Value{Type: v.Type, Null: true}
			}
			col = append(col, v)
		}
		if n == 0 { // keep the type
			v := gen(rng)
			col = []column.Value{{Type: v.Type, Null: true}}
		}
		d.args = append(d.args, col)
	}
	return d
}

func intsOf(k column.Kind, draw func(rng *rand.Rand) int64) generator {
	return func(rng *rand.Rand) column.Value { return column.Value{Type: column.Type{Kind: k}, Int: draw(rng)} }
}

// ints draws from the whole range of an integer kind, its ends often.
func ints(k column.Kind) generator {
	t := column.Type{Kind: k}
	low, high := int64(0), int64(1) // boolean
	switch {
	case k == column.Uint64:
		high = -1 // as bits
	case t.IsSigned():
		low, high = math.MinInt64>>(64-t.Bits()), math.MaxInt64>>(64-t.Bits())
	case t.IsUnsigned():
		high = 1<<t.Bits() - 1
	}
	return intsOf(k, func(rng *rand.Rand) int64 {
		switch rng.IntN(8) {
		case 0:
			return low
		case 1:
			return high
		case 2, 3:
			return int64(rng.IntN(2))
		}
		v := int64(rng.Uint64() >> (64 - max(1, t.Bits())))
		if t.IsSigned() && v > high {
			v += 2 * low // the sign bit
		}
		return v
	})
}

func decimals(precision, scale int) generator {
	t := column.DecimalType(precision, scale)
	limit := decimal256.GetMaxValue(int32(precision)).BigInt()
	return func(rng *rand.Rand) column.Value {
		n := new(big.Int)
		switch rng.IntN(8) {
		case 0:
			n.Set(limit)
		case 1:
			n.Neg(limit)
		default:
			for range 4 {
				n.Lsh(n, 64).Add(n, new(big.Int).SetUint64(rng.Uint64()))
			}
			n.Mod(n, limit)
			if rng.IntN(2) == 0 {
				n.Neg(n)
			}
		}
		if t.Rep() == column.RepInt64 {
			return column.Value{Type: t, Int: n.Int64()}
		}
		return column.Value{Type: t, Wide: decimal256.FromBigInt(n)}
	}
}

// narrowDecimals draws values of wide decimals that fit 64 bits, the ends of these among them.
func narrowDecimals(precision int) generator {
	draw := ints(column.Int64)
	return func(rng *rand.Rand) column.Value {
		return column.Value{Type: column.DecimalType(precision, 4), Wide: decimal256.FromI64(draw(rng).Int)}
	}
}

// smallDecimals draws values of decimals whose sums fit a word.
func smallDecimals(precision int) generator {
	return func(rng *rand.Rand) column.Value {
		n := rng.Int64N(1<<40) - 1<<39
		return column.Value{Type: column.DecimalType(precision, 4), Int: n, Wide: decimal256.FromI64(n)}
	}
}

func floatsOf(k column.Kind, draw func(rng *rand.Rand) float64) generator {
	return func(rng *rand.Rand) column.Value {
		return column.Value{Type: column.Type{Kind: k}, Float: draw(rng)}
	}
}

// oddFloats draws NaN of several bits, infinities, both zeros and extremes.
func oddFloats(k column.Kind) generator {
	odd := []float64{
		math.NaN(), math.Float64frombits(0xfff8000000000001), math.Float64frombits(0x7ff0000000000001),
		math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), math.MaxFloat64, -math.MaxFloat64,
		math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, 1, -1,
	}
	return floatsOf(k, func(rng *rand.Rand) float64 {
		if rng.IntN(2) == 0 {
			return odd[rng.IntN(len(odd))]
		}
		return rng.NormFloat64()
	})
}

// stringsOf draws strings that share prefixes, are empty, or hold zero bytes.
func stringsOf(t column.Type) generator {
	return func(rng *rand.Rand) column.Value {
		n := rng.IntN(4)
		if rng.IntN(3) == 0 {
			n = rng.IntN(40)
		}
		b := make([]byte, n)
		for i := range b {
			b[i] = "\x00\x00\xff\xffab"[rng.IntN(6)]
			if i < 6 {
				b[i] = "\x00\xff"[rng.IntN(2)]
			}
		}
		return column.Value{Type: t, Bytes: string(b)}
	}
}

// bigOf is the unscaled value of an integer or decimal.
func bigOf(v column.Value) *big.Int {
	switch {
	case v.Type.Rep() == column.RepWide:
		return v.Wide.BigInt()
	case v.Type.Kind == column.Uint64:
		return new(big.Int).SetUint64(uint64(v.Int))
	}
	return big.NewInt(v.Int)
}

// present are the rows without NULL in any argument.
func present(vals [][]column.Value) [][]column.Value {
	out := make([][]column.Value, len(vals))
	if len(vals) == 0 {
		return out
	}
rows:
	for r := range vals[0] {
		for k := range vals {
			if vals[k][r].Null {
				continue rows
			}
		}
		for k := range vals {
			out[k] = append(out[k], vals[k][r])
		}
	}
	return out
}

func testRand() *rand.Rand { return rand.New(rand.NewPCG(7, 7)) }
