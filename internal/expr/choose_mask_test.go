package expr

import (
	"math"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// What a row holds that a case has made NULL harms no cast: neither a value that does not fit, nor
// NaN.
func TestMaskedIsHarmless(t *testing.T) {
	t.Parallel()
	doubles := column.Vector{Type: doubleType, Len: 5, Float: []float64{1.5, math.NaN(), -2.5, 1e300, 7}}
	ints := column.Vector{Type: int64Type, Len: 5, Int: []int64{3, math.MaxInt64, -4, 300, 5}}
	b := &column.Batch{Rows: 5, Cols: []column.Vector{0: ints, 3: doubles}}
	for text, want := range map[string][]int64{
		"cast(case when d < 1e9 then d end as bigint)":  {2, 0, -2, 0, 7},
		"cast(nullif(nullif(d, 'NaN'), 1e300) as int)":  {2, 0, -2, 0, 7},
		"cast(case when i < 100 then i end as tinyint)": {3, 0, -4, 0, 5},
		"case when i < 100 then i end * 4":              {12, 0, -16, 0, 20},
	} {
		var out column.Vector
		if err := bindText(t, text).NewEval().Eval(b, &out); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		for i, w := range want {
			if v := out.At(i); v.Null != (w == 0) || !v.Null && v.Int != w {
				t.Errorf("%s, row %d: %+v, want %d", text, i, v, w)
			}
		}
	}
}
