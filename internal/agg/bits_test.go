package agg

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// wantFold folds the values of a group.
func wantFold(t column.Type, f func(a, b int64) int64) want {
	return func(vals [][]column.Value) column.Value {
		rows := present(vals)[0]
		if len(rows) == 0 {
			return column.Value{Type: t, Null: true}
		}
		result := rows[0]
		for _, v := range rows[1:] {
			result.Int = f(result.Int, v.Int)
		}
		return result
	}
}

func TestBits(t *testing.T) {
	t.Parallel()
	and := func(a, b int64) int64 { return a & b }
	or := func(a, b int64) int64 { return a | b }
	xor := func(a, b int64) int64 { return a ^ b }
	for _, k := range []column.Kind{column.Int8, column.Uint32, column.Int64, column.Uint64} {
		typ := column.Type{Kind: k}
		t.Run(typ.String(), func(t *testing.T) {
			tables(t, []generator{ints(k)}, func(t *testing.T, d *testData) {
				check(t, d, []Call{callOf(t, d, "bit_and", 0), callOf(t, d, "bit_or", 0), callOf(t, d, "bit_xor", 0)},
					[]want{wantFold(typ, and), wantFold(typ, or), wantFold(typ, xor)}, 0)
			})
		})
	}
	t.Run("boolean", func(t *testing.T) {
		typ := column.Type{Kind: column.Bool}
		tables(t, []generator{ints(column.Bool)}, func(t *testing.T, d *testData) {
			check(t, d, []Call{callOf(t, d, "bool_and", 0), callOf(t, d, "bool_or", 0)},
				[]want{wantFold(typ, and), wantFold(typ, or)}, 0)
		})
	})
}

func TestProduct(t *testing.T) {
	t.Parallel()
	wantProduct := func(vals [][]column.Value) column.Value {
		rows := present(vals)[0]
		result := column.Value{Type: column.Type{Kind: column.Float64}, Null: len(rows) == 0}
		product, sign := new(big.Float).SetPrec(200).SetInt64(1), 1.0
		for _, v := range rows {
			factor := v.Float
			if !v.Type.IsFloat() {
				factor = float(ratOf(v))
			}
			if math.IsNaN(factor) || math.IsInf(factor, 0) {
				sign *= factor
				continue
			}
			product.Mul(product, big.NewFloat(factor))
			sign *= float64(big.NewFloat(factor).Sign())
		}
		if result.Float, _ = product.Float64(); math.IsNaN(sign) || math.IsInf(sign, 0) {
			result.Float = sign
		}
		return result
	}
	for name, gen := range map[string]generator{
		"double": floatsOf(column.Float64, func(r *rand.Rand) float64 { return math.Exp(r.NormFloat64() / 10) }),
		"odd":    oddFloats(column.Float32), "very odd": oddFloats(column.Float64),
		"small": intsOf(column.Int8, func(r *rand.Rand) int64 { return int64(r.IntN(5) - 1) }), "decimal(5,2)": decimals(5, 2), "decimal(20,19)": decimals(20, 19),
	} {
		t.Run(name, func(t *testing.T) {
			tables(t, []generator{gen}, func(t *testing.T, d *testData) {
				check(t, d, []Call{callOf(t, d, "product", 0)}, []want{wantProduct}, 1e-12)
			})
		})
	}
}
