package column

import (
	"slices"

	"github.com/apache/arrow/go/v15/arrow/decimal256"
)

// Span is the place of one value of a Bytes vector in its Data, or of one
// list or map in the rows of its Elem.
type Span struct {
	Off, Len uint32
}

// SpanPadding is how many bytes past the end of the last span of a Data
// buffer may be read (their value means nothing): loops that take a value
// apart in 8-byte words need no careful tail. A Data slice always has
// capacity for it.
const SpanPadding = 16

// Vector is a column of values. Exactly one of the value slices is set for
// a flat vector, by Type.Rep(); Codes and Dict are set for a
// dictionary-coded one. The owner of the memory is whoever made the vector;
// its doc says how long it stays valid.
type Vector struct {
	Type Type
	Len  int
	Null []bool // nil: no row is NULL; else one element a row

	Codes []int32 // 0 <= code < Dict.Len() on every row, NULL rows included; Dict is never empty
	Dict  *Dict

	Int   []int64
	Float []float64
	Wide  []decimal256.Num
	// Narrow says of a flat vector of wide decimals that all of them fit 64 bits and are in Int.
	// NARROW-ASKED: only code that asks for such vectors is given one.
	Narrow bool
	Span   []Span
	Data   []byte // what Span points into

	// what Span points into for a list or map: flat, of type Type.Elem(), without NULLs; nil: no
	// row has elements
	Elem   *Vector
	Counts []int64 // of a map: beside the rows of Elem
}

// Dict is the values that codes stand for. It does not change once made, and its pointer
// identifies it: two vectors with the same Dict share codes. The entries need not be distinct, and
// not every entry need occur. Its maker says how long its values may be read. Its pointer may be
// kept for longer.
type Dict struct {
	Values Vector // flat, without NULLs, at least one entry
}

// Len is the number of entries.
func (d *Dict) Len() int { return d.Values.Len }

// IsNull reports whether row i is NULL.
func (v *Vector) IsNull(i int) bool { return v.Null != nil && v.Null[i] }

// Bytes returns the bytes of row i of a flat Bytes vector. They alias Data.
func (v *Vector) Bytes(i int) []byte {
	s := v.Span[i]
	return v.Data[s.Off : s.Off+s.Len : s.Off+s.Len]
}

// Valid reports whether v keeps the contract of this package.
//
// VECTOR-VALID: the slices that its representation needs hold Len elements,
// every code names an entry, every span lies in Data and may be read
// SpanPadding bytes past its end, or lies in the rows of Elem, which is flat
// and without NULLs.
func (v *Vector) Valid() bool {
	if v.Null != nil && len(v.Null) < v.Len {
		return false
	}
	if v.Type.Kind == Null {
		return true
	}
	if v.Dict != nil {
		for _, c := range v.Codes[:min(v.Len, len(v.Codes))] {
			if c < 0 || int(c) >= v.Dict.Len() {
				return false
			}
		}
		return len(v.Codes) >= v.Len
	}
	switch v.Type.Rep() {
	case RepInt64:
		return len(v.Int) >= v.Len
	case RepFloat64:
		return len(v.Float) >= v.Len
	case RepWide:
		return len(v.Wide) >= v.Len || v.Narrow && len(v.Int) >= v.Len
	case RepList:
		return v.validLists()
	}
	for _, s := range v.Span[:min(v.Len, len(v.Span))] {
		if uint64(s.Off)+uint64(s.Len) > uint64(len(v.Data)) || uint64(s.Off)+SpanPadding > uint64(cap(v.Data)) {
			return false
		}
	}
	return len(v.Span) >= v.Len
}

// Batch is a run of rows, one vector a column.
//
// VECTOR-LENGTH: the vectors of a batch, and those that are computed from it, have as many rows as
// the batch.
type Batch struct {
	Rows  int
	Cols  []Vector
	First int64 // number of the first row in the input: file order, then row order

	// Sel is the selection vector: the rows that a filter chose, ascending, if the reader has
	// filtered them; nil: all rows. If it is empty, only the columns of the filter are set.
	Sel []int32

	// Times is how many rows of the input each row stands for, all alike; 0: one.
	Times int64
}

// Stands is how many rows of the input the batch stands for.
func (b *Batch) Stands() int64 { return int64(b.Rows) * max(b.Times, 1) }

// Slice returns the rows from..to, which alias those of b. A column that was
// not read stays as it is.
func (b *Batch) Slice(from, to int) Batch {
	out := Batch{Rows: to - from, First: b.First + int64(from), Times: b.Times, Cols: make([]Vector, len(b.Cols))}
	for i := range b.Cols {
		out.Cols[i] = b.Cols[i]
		if b.Cols[i].Len == b.Rows {
			out.Cols[i] = b.Cols[i].Slice(from, to)
		}
	}
	if b.Sel != nil {
		first, _ := slices.BinarySearch(b.Sel, int32(from))
		end, _ := slices.BinarySearch(b.Sel, int32(to))
		out.Sel = make([]int32, 0, end-first)
		for _, row := range b.Sel[first:end] {
			out.Sel = append(out.Sel, row-int32(from))
		}
	}
	return out
}

// Slice returns the rows from..to, which alias those of v.
func (v *Vector) Slice(from, to int) Vector {
	out := *v
	out.Len = to - from
	out.Null, out.Codes = sliced(v.Null, from, to), sliced(v.Codes, from, to)
	out.Int, out.Float, out.Wide = sliced(v.Int, from, to), sliced(v.Float, from, to), sliced(v.Wide, from, to)
	out.Span = sliced(v.Span, from, to)
	return out
}

func sliced[T any](s []T, from, to int) []T {
	if s == nil {
		return nil
	}
	return s[from:to]
}

// Constant returns a vector of n rows that all hold the only entry of dict.
// zeros must hold at least n zero codes and is aliased.
func Constant(dict *Dict, n int, zeros []int32) Vector {
	return Vector{Type: dict.Values.Type, Len: n, Codes: zeros[:n], Dict: dict}
}
