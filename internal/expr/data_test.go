package expr

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"

	"github.com/gagg-dev/gagg/internal/column"
)

// testColumns are the columns of the random tests.
var testColumns = []column.Field{
	{Name: "i", Type: int64Type},
	{Name: "j", Type: column.Type{Kind: column.Int32}},
	{Name: "u", Type: uint64Type},
	{Name: "d", Type: doubleType},
	{Name: "f", Type: floatType},
	{Name: "p", Type: column.DecimalType(9, 2)},
	{Name: "w", Type: column.DecimalType(30, 4)},
	{Name: "b", Type: boolType},
	{Name: "s", Type: stringType},
	{Name: "day", Type: dateType},
	{Name: "ms", Type: column.TimestampType(column.Milli, false)},
	{Name: "ns", Type: column.TimestampType(column.Nano, true)},
}

func testLookup(name string) (int, column.Type, error) {
	for i, f := range testColumns {
		if f.Name == name {
			return i, f.Type, nil
		}
	}
	return 0, column.Type{}, fmt.Errorf("unknown column %q", name)
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// randomValue makes a value of type t: from few, so that rows meet, and now
// and then an extreme one.
func randomValue(r *rand.Rand, t column.Type, wild bool) column.Value {
	if r.IntN(5) == 0 {
		return column.Value{Type: t, Null: true}
	}
	v := column.Value{Type: t}
	small := int64(r.IntN(9) - 4)
	switch {
	case t.Kind == column.Bool:
		v.Int = int64(r.IntN(2))
	case t.Kind == column.Uint64:
		v.Int = small + 4
		if wild {
			v.Int = int64(pick[uint64](r, 1<<63-1, 1<<63, 1<<64-1, 1<<53+1, 1<<32))
		}
	case t.Kind == column.Int32:
		v.Int = small
		if wild {
			v.Int = pick[int64](r, math.MaxInt32, math.MinInt32)
		}
	case t.Kind == column.Date:
		v.Int = 10957 + small
		if wild {
			v.Int = pick[int64](r, math.MaxInt32, math.MinInt32)
		}
	case t.Kind == column.Timestamp:
		v.Int = (946684800+small*43200)*t.Unit.PerSecond() + int64(r.IntN(2))
		if wild {
			v.Int = pick[int64](r, math.MaxInt64, math.MinInt64)
		}
	case t.Kind == column.Decimal && t.Rep() == column.RepInt64:
		v.Int = small * 50
		if wild {
			v.Int = pick[int64](r, 999999999, -999999999, 1)
		}
	case t.Kind == column.Decimal:
		n := big.NewInt(small * 5000)
		if wild {
			n = new(big.Int).Sub(pow10(30), big.NewInt(1))
		}
		v.Wide = wideFromBig(n)
	case t.IsFloat():
		v.Float = float64(small) / 2
		if wild {
			v.Float = pick(r, math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 1<<53, 1<<63, 0.1)
			if t.Kind != column.Float64 {
				v.Float = float64(float32(v.Float))
			}
		}
	case t.Kind == column.String:
		v.Bytes = pick(r, "", "a", "b", "ab", "B", "é", "a%")
	default:
		v.Int = small
		if wild {
			v.Int = pick[int64](r, math.MaxInt64, math.MinInt64, 1<<53+1, 1<<62)
		}
	}
	return v
}

// flatVector makes a vector of values. NULL rows hold garbage, as they may.
func flatVector(t column.Type, values []column.Value) column.Vector {
	v := column.Vector{Type: t}
	for _, x := range values {
		if x.Null {
			x.Int, x.Float = math.MaxInt64, math.Inf(-1)
			x.Wide = maxWide
			if t.Kind == column.Bool {
				x.Int = 1
			}
		}
		v.Append(x)
	}
	return v
}

// dictVector makes a dictionary-coded vector of values: with an entry twice,
// and with entries that no row has.
func dictVector(r *rand.Rand, t column.Type, values []column.Value) column.Vector {
	entries := []column.Value{{Type: t, Int: math.MaxInt64, Float: math.Inf(1), Wide: maxWide, Bytes: "unused"}}
	if t.Kind == column.Bool {
		entries[0].Int = 1
	}
	v := column.Vector{Type: t, Len: len(values)}
	for i, x := range values {
		code := int32(0)
		if x.Null {
			if v.Null == nil {
				v.Null = make([]bool, len(values))
			}
			v.Null[i] = true
		} else {
			for k := range entries[1:] {
				same := entries[k+1] == x && math.Signbit(entries[k+1].Float) == math.Signbit(x.Float) // -0 == 0
				if same && r.IntN(3) > 0 {
					code = int32(k + 1)
				}
			}
			if code == 0 {
				code = int32(len(entries))
				entries = append(entries, x)
			}
		}
		v.Codes = append(v.Codes, code)
	}
	v.Dict = &column.Dict{Values: flatVector(t, entries)}
	return v
}

// testRows is random data, column by column.
type testRows struct {
	values [][]column.Value
	n      int
}

func randomRows(r *rand.Rand, n int, wild bool) testRows {
	rows := testRows{n: n}
	for _, f := range testColumns {
		var list []column.Value
		for range n {
			list = append(list, randomValue(r, f.Type, wild && r.IntN(6) == 0))
		}
		rows.values = append(rows.values, list)
	}
	return rows
}

// batch makes a batch of the rows; dict asks for dictionary-coded columns.
func (rows testRows) batch(r *rand.Rand, dict bool) *column.Batch {
	b := &column.Batch{Rows: rows.n}
	for i, f := range testColumns {
		if dict && r.IntN(4) > 0 {
			b.Cols = append(b.Cols, dictVector(r, f.Type, rows.values[i]))
		} else {
			b.Cols = append(b.Cols, flatVector(f.Type, rows.values[i]))
		}
	}
	return b
}
