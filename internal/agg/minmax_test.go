package agg

import (
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// less is the order of min and max.
func less(a, b column.Value) bool {
	switch {
	case a.Type.IsFloat():
		if a.Float != a.Float || b.Float != b.Float {
			return a.Float == a.Float && b.Float != b.Float
		}
		return a.Float < b.Float
	case a.Type.Rep() == column.RepBytes:
		return a.Bytes < b.Bytes
	}
	return bigOf(a).Cmp(bigOf(b)) < 0
}

func wantExtreme(t column.Type, greatest bool) want {
	return func(vals [][]column.Value) column.Value {
		best := column.Value{Type: t, Null: true}
		for _, v := range present(vals)[0] {
			if best.Null || less(v, best) && !greatest || less(best, v) && greatest {
				best = v
			}
		}
		if best.Float == 0 {
			best.Float = 0 // no -0
		}
		return best
	}
}

func TestMinMax(t *testing.T) {
	t.Parallel()
	for name, gen := range map[string]generator{
		"boolean": ints(column.Bool), "int8": ints(column.Int8), "int64": ints(column.Int64), "uint64": ints(column.Uint64),
		"date": ints(column.Int32), "double": oddFloats(column.Float64), "float": oddFloats(column.Float32),
		"decimal(18,2)": decimals(18, 2), "decimal(30,2)": decimals(30, 2), "decimal(76,0)": decimals(76, 0), "decimal(30,4) of 64 bits": narrowDecimals(30),
		"string": stringsOf(column.Type{Kind: column.String}), "binary": stringsOf(column.Type{Kind: column.Binary}),
	} {
		t.Run(name, func(t *testing.T) {
			typ := gen(testRand()).Type
			tables(t, []generator{gen}, func(t *testing.T, d *testData) {
				check(t, d, []Call{callOf(t, d, "min", 0), callOf(t, d, "max", 0)},
					[]want{wantExtreme(typ, false), wantExtreme(typ, true)}, 0)
			})
		})
	}
}
