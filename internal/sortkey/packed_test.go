package sortkey_test

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/sortkey"
)

func texts(rows ...string) *column.Vector {
	v := &column.Vector{Type: column.Type{Kind: column.String}, Len: len(rows), Null: make([]bool, len(rows))}
	for i, s := range rows {
		v.Null[i] = s == "NULL"
		v.Span = append(v.Span, column.Span{Off: uint32(len(v.Data)), Len: uint32(len(s))})
		v.Data = append(v.Data, s...)
	}
	return v
}

func doubles(rows ...float64) *column.Vector {
	return &column.Vector{Type: column.Type{Kind: column.Float64}, Len: len(rows), Float: rows}
}

// Keys of rows that are in order are in order as bytes, in reverse where the order falls, with
// NULL, the last row, where it was asked for.
func TestPackedKey(t *testing.T) {
	t.Parallel()
	ordered := []*column.Vector{
		texts("", "\x00", "\x00\x00", "\x00a", "a", "a\x00", "ab", "b\xff", "NULL"),
		doubles(math.Inf(-1), -1, 0, 5e-324, 1, math.Inf(1), math.NaN()),
		{Type: column.Type{Kind: column.Int64}, Len: 4, Int: []int64{math.MinInt64, -1, 0, math.MaxInt64}},
		{Type: column.Type{Kind: column.Uint64}, Len: 3, Int: []int64{0, math.MaxInt64, -1}},
	}
	for _, v := range ordered {
		for _, desc := range []bool{false, true} {
			for _, first := range []bool{false, true} {
				key := sortkey.PackedKey(v, desc, first)
				var keys [][]byte
				for i := range v.Len {
					if v.IsNull(i) && first {
						keys = slices.Insert(keys, 0, key(nil, i))
					} else {
						keys = append(keys, key(nil, i))
					}
				}
				if desc {
					from, to := 0, len(keys)
					for i := range v.Len {
						if v.IsNull(i) && first {
							from++
						} else if v.IsNull(i) {
							to--
						}
					}
					slices.Reverse(keys[from:to])
				}
				if !slices.IsSortedFunc(keys, bytes.Compare) {
					t.Errorf("%v, desc %t, NULL first %t: %x", v.Type, desc, first, keys)
				}
			}
		}
	}
}

// A number of a packed value is what it was, with the sign of zero.
func TestPackedValue(t *testing.T) {
	t.Parallel()
	want := []float64{math.Inf(-1), -1.5, math.Copysign(0, -1), 0, 5e-324, math.Inf(1)}
	v := doubles(want...)
	value, got := sortkey.PackedValue(v), doubles()
	for i := range want {
		sortkey.AppendPacked(got, value(nil, i))
	}
	for i := range want {
		if math.Float64bits(got.Float[i]) != math.Float64bits(want[i]) {
			t.Errorf("got %v, want %v", got.Float, want)
		}
	}
}
