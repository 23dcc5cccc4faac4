package column

import (
	"reflect"
	"testing"
)

// A slice of a batch holds the rows that gathering them does, whatever the
// form of the columns, and knows their place; what was not read stays away.
func TestBatchSlice(t *testing.T) {
	t.Parallel()
	const n = 7
	data := make([]byte, n, n+SpanPadding)
	ints := Vector{Type: Type{Kind: Int64}, Len: n, Null: make([]bool, n)}
	strs := Vector{Type: Type{Kind: String}, Len: n, Data: data}
	for i := range n {
		data[i] = 'a' + byte(i)
		ints.Int, ints.Null[i] = append(ints.Int, int64(i)), i == 3
		strs.Span = append(strs.Span, Span{Off: uint32(i), Len: 1})
	}
	coded := Vector{Type: ints.Type, Len: n, Codes: []int32{2, 1, 0, 0, 1, 2, 2}, Dict: &Dict{Values: Vector{Type: ints.Type, Len: 3, Int: []int64{7, 8, 9}}}}
	b := Batch{Rows: n, First: 100, Cols: []Vector{ints, strs, coded, {}}}
	for from := range n {
		for to := from; to <= n; to++ {
			s := b.Slice(from, to)
			if s.Rows != to-from || s.First != 100+int64(from) || s.Cols[3].Len != 0 {
				t.Fatalf("%d..%d: %+v", from, to, s)
			}
			for c := range 3 {
				var rows []int32
				for i := from; i < to; i++ {
					rows = append(rows, int32(i))
				}
				v, want := s.Cols[c], Gather(&b.Cols[c], rows, &Buffer{})
				if !v.Valid() || v.Len != want.Len {
					t.Fatalf("%d..%d, column %d: %+v", from, to, c, v)
				}
				for i := range v.Len {
					if v.IsNull(i) != want.IsNull(i) || !reflect.DeepEqual(cell(&v, i), cell(&want, i)) {
						t.Errorf("%d..%d, column %d, row %d: %v, want %v", from, to, c, i, cell(&v, i), cell(&want, i))
					}
				}
			}
		}
	}
}

func cell(v *Vector, i int) any {
	switch {
	case v.IsNull(i):
		return nil
	case v.Dict != nil:
		return cell(&v.Dict.Values, int(v.Codes[i]))
	case v.Int != nil:
		return v.Int[i]
	}
	return string(v.Bytes(i))
}
