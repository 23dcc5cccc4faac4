package datagen

import (
	"math"
	"math/big"
	"strings"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
)

// specialValues is the values of t that engines get wrong.
func specialValues(t column.Type) []column.Value {
	ints := func(is ...int64) (out []column.Value) {
		for _, i := range is {
			out = append(out, column.Value{Int: i})
		}
		return out
	}
	floats := func(fs ...float64) (out []column.Value) {
		for _, f := range fs {
			out = append(out, column.Value{Float: f})
		}
		return append(out, column.Value{Float: math.NaN()}, column.Value{Float: math.Copysign(0, -1)},
			column.Value{}, column.Value{Float: math.Inf(1)}, column.Value{Float: math.Inf(-1)})
	}
	low, high := intRange(t)
	switch t.Kind {
	case column.Bool:
		return ints(0, 1)
	case column.Float16:
		return floats(65504, -65504, 1.0/(1<<14))
	case column.Float32:
		return floats(math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32)
	case column.Float64:
		return floats(math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64)
	case column.Date:
		return ints(0, -1, -719162, 2932896) // 0001-01-01, 9999-12-31
	case column.Time:
		return ints(0, 24*3600*t.Unit.PerSecond()-1)
	case column.Timestamp:
		return ints(0, -1, 1)
	case column.String:
		return texts("", "\x00", " ", "é", strings.Repeat("x", 15), strings.Repeat("x", 16), strings.Repeat("long ", 2000))
	case column.Binary:
		return texts("", "\x00", "\x00\x00", "\xff", strings.Repeat("\x00", 16), strings.Repeat("\xfe", 9000))
	case column.FixedBinary:
		return texts(strings.Repeat("\x00", int(t.Width)), strings.Repeat("\xff", int(t.Width)))
	case column.UUID:
		return texts(strings.Repeat("\x00", 16), strings.Repeat("\xff", 16))
	case column.Uint64:
		return ints(0, -1, math.MaxInt64, math.MinInt64) // 0, 2^64-1, 2^63-1, 2^63
	case column.Decimal:
		if t.Rep() == column.RepWide {
			return wideExtremes(int64(t.Precision))
		}
	}
	return ints(0, low, high)
}

func texts(ss ...string) (out []column.Value) {
	for _, s := range ss {
		out = append(out, column.Value{Bytes: s})
	}
	return out
}

// wideExtremes is 0, and plus and minus 10^digits - 1.
func wideExtremes(digits int64) []column.Value {
	most := new(big.Int).Exp(big.NewInt(10), big.NewInt(digits), nil)
	most.Sub(most, big.NewInt(1))
	return []column.Value{{}, {Wide: decimal256.FromBigInt(most)}, {Wide: decimal256.FromBigInt(new(big.Int).Neg(most))}}
}
