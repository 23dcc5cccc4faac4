package extsort

import (
	"bytes"
	"math"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// lists makes a vector of a list a row, of type t, which has integers, floats
// or strings as elements; counts[i] is beside element i. A nil row is NULL.
func lists[E int64 | float64 | string](t column.Type, rows [][]E, counts ...int64) column.Vector {
	v := column.Vector{Type: t, Len: len(rows), Null: make([]bool, len(rows)), Elem: &column.Vector{Type: t.Elem()}, Counts: counts}
	e := v.Elem
	for i, row := range rows {
		v.Null[i] = row == nil
		v.Span = append(v.Span, column.Span{Off: uint32(e.Len), Len: uint32(len(row))})
		e.Len += len(row)
		for _, x := range row {
			switch x := any(x).(type) {
			case int64:
				e.Int = append(e.Int, x)
			case float64:
				e.Float = append(e.Float, x)
			case string:
				e.Span = append(e.Span, column.Span{Off: uint32(len(e.Data)), Len: uint32(len(x))})
				e.Data = append(e.Data, x...)
			}
		}
	}
	return v
}

// keys are the keys of all rows of a vector, without places.
func keys(t *testing.T, v column.Vector, term Term) [][]byte {
	t.Helper()
	sizes := make([]int, v.Len)
	term.Type = v.Type
	term.addSizes(&v, sizes)
	rows, ends := make([]row, v.Len), make([]int, v.Len)
	for i, n := range sizes {
		rows[i] = make(row, n)
	}
	term.put(&v, 0, rows, ends)
	out := make([][]byte, v.Len)
	for i := range rows {
		if ends[i] != sizes[i] {
			t.Errorf("row %d has a key of %d bytes, not %d", i, ends[i], sizes[i])
		}
		out[i] = rows[i]
	}
	return out
}

// KEY-ORDER: lists are ordered as DuckDB does: by the first element that
// differs, a beginning before the whole, NULL last, NaN above all numbers.
func TestKeyOrder(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	null := []bool{false, false, false, false, false, true}
	for name, v := range map[string]column.Vector{ // the rows in ascending order
		"int64":     {Type: column.Type{Kind: column.Int64}, Len: 6, Int: []int64{math.MinInt64, -1, 0, 1, math.MaxInt64, 0}, Null: null},
		"uint64":    {Type: column.Type{Kind: column.Uint64}, Len: 4, Int: []int64{0, math.MaxInt64, math.MinInt64, -1}},
		"double":    {Type: column.Type{Kind: column.Float64}, Len: 6, Float: []float64{-inf, -1, 1, inf, nan, 0}, Null: null},
		"list":      lists(column.ListOf(column.Type{Kind: column.Int64}), [][]int64{{}, {-1, 9, 9}, {1}, {1, 2}, {1, 3}, {2}, nil}),
		"of uint64": lists(column.ListOf(column.Type{Kind: column.Uint64}), [][]int64{{0}, {math.MaxInt64}, {math.MinInt64}, {-1}}),
		"of double": lists(column.ListOf(column.Type{Kind: column.Float64}), [][]float64{{}, {-inf}, {1}, {inf}, {nan}, {nan, 1}, nil}),
		"of string": lists(column.ListOf(column.Type{Kind: column.String}), [][]string{
			{""}, {"", "z"}, {"\x00"}, {"\x00\x00"}, {"\x00\x01"}, {"a"}, {"a", "b"}, {"a\x00"}, {"a\x00", "a"}, {"a\x01"}, {"ab"}, {"é"},
		}),
		"map": lists(column.MapOf(column.Type{Kind: column.String}), [][]string{{}, {"a"}, {"a", "b"}, {"a"}, {"b"}, nil},
			1, 1, 5, 2, 0),
	} {
		for _, desc := range []bool{false, true} {
			k := keys(t, v, Term{Desc: desc})
			for a := range v.Len {
				for b := range v.Len {
					want := a - b
					if desc && !v.IsNull(a) && !v.IsNull(b) {
						want = -want
					}
					got := bytes.Compare(k[a], k[b])
					if got*want < 0 || (got == 0) != (want == 0) {
						t.Errorf("%s, descending %t: rows %d and %d compare as %d", name, desc, a, b, got)
					}
					if a != b && bytes.HasPrefix(k[a], k[b]) {
						t.Errorf("%s, descending %t: the key of row %d begins with that of row %d", name, desc, a, b)
					}
				}
			}
		}
	}
}

// Equal values have one key: zeros of either sign, NaN of any bits, empty
// lists; NULL comes first if it is to.
func TestEqualKeys(t *testing.T) {
	zeros := lists(column.ListOf(column.Type{Kind: column.Float64}), [][]float64{{0}, {math.Copysign(0, -1)}, nil, nil})
	k := keys(t, zeros, Term{NullsFirst: true})
	if !bytes.Equal(k[0], k[1]) || !bytes.Equal(k[2], k[3]) || bytes.Compare(k[2], k[0]) >= 0 {
		t.Errorf("keys %x: zeros or NULLs are not equal, or NULL is not first", k)
	}
	nans := column.Vector{Type: column.Type{Kind: column.Float64}, Len: 2, Float: []float64{math.NaN(), math.Float64frombits(0xfff8000000000001)}}
	if k := keys(t, nans, Term{}); !bytes.Equal(k[0], k[1]) {
		t.Errorf("keys %x of NaN differ", k)
	}
	none := column.Vector{Type: column.ListOf(column.Type{Kind: column.Int64}), Len: 2, Span: make([]column.Span, 2)}
	if k := keys(t, none, Term{}); !bytes.Equal(k[0], k[1]) {
		t.Errorf("keys %x of empty lists differ", k)
	}
}
