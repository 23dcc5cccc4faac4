package gagg

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// lists makes a vector of a list a row, of type t, which has integers, floats
// or strings as elements; counts[i] is beside element i. A nil row is NULL.
func lists[E int64 | float64 | string](t column.Type, rows [][]E, counts ...int64) *column.Vector {
	v := &column.Vector{Type: t, Len: len(rows), Null: make([]bool, len(rows)), Elem: &column.Vector{Type: t.Elem()}, Counts: counts}
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

// Lists are ordered as DuckDB does: by the first element that differs, a
// beginning before the whole, NULL last, NaN above all numbers.
func TestOrderOfLists(t *testing.T) {
	nan := math.NaN()
	for name, v := range map[string]*column.Vector{ // the rows in ascending order
		"int64":  lists(column.ListOf(column.Type{Kind: column.Int64}), [][]int64{{}, {-1, 9, 9}, {1}, {1, 2}, {1, 3}, {2}, nil}),
		"uint64": lists(column.ListOf(column.Type{Kind: column.Uint64}), [][]int64{{0}, {math.MaxInt64}, {math.MinInt64}, {-1}}),
		"double": lists(column.ListOf(column.Type{Kind: column.Float64}), [][]float64{{}, {math.Inf(-1)}, {1}, {math.Inf(1)}, {nan}, {nan, 1}, nil}),
		"string": lists(column.ListOf(column.Type{Kind: column.String}), [][]string{{""}, {"", "z"}, {"a"}, {"a", "b"}, {"ab"}, {"é"}}),
		"map": lists(column.MapOf(column.Type{Kind: column.String}), [][]string{{}, {"a"}, {"a", "b"}, {"a"}, {"b"}, nil},
			1, 1, 5, 2, 0),
	} {
		for _, desc := range []bool{false, true} {
			compare := comparison(v, orderTerm{desc: desc})
			for a := range int32(v.Len) {
				for b := range int32(v.Len) {
					want := int(a - b)
					if desc && !v.IsNull(int(a)) && !v.IsNull(int(b)) {
						want = -want
					}
					if got := compare(a, b); got*want < 0 || (got == 0) != (want == 0) {
						t.Errorf("%s, descending: %t: rows %d and %d compare as %d", name, desc, a, b, got)
					}
				}
			}
		}
	}
	zeros := lists(column.ListOf(column.Type{Kind: column.Float64}), [][]float64{{0}, {math.Copysign(0, -1)}, nil, nil})
	compare := comparison(zeros, orderTerm{nullFirst: true})
	if compare(0, 1) != 0 || compare(2, 3) != 0 || compare(2, 0) >= 0 {
		t.Error("zeros or NULLs are not equal, or NULL is not first")
	}
	none := &column.Vector{Type: column.ListOf(column.Type{Kind: column.Int64}), Len: 2, Span: make([]column.Span, 2)}
	if comparison(none, orderTerm{})(0, 1) != 0 {
		t.Error("empty lists are not equal")
	}
}

// A sorted result holds no more elements and bytes than a vector can point
// to.
func TestSorterFits(t *testing.T) {
	huge := &column.Vector{Type: column.Type{Kind: column.Int64}, Len: math.MaxInt32/2 + 1}
	for _, c := range []struct {
		parts int
		want  bool
	}{{1, true}, {2, false}} {
		col := column.Vector{Type: column.ListOf(huge.Type), Elem: huge}
		s := &sorter{parts: slices.Repeat([]part{{cols: []column.Vector{{}, col}}}, c.parts)}
		if s.fits() != c.want {
			t.Errorf("%d parts: %t", c.parts, !c.want)
		}
		if c.want {
			continue
		}
		if _, _, err := s.sort(); !errors.Is(err, ErrBudget) {
			t.Errorf("%d parts: %v", c.parts, err)
		}
	}
}
