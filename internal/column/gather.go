package column

import (
	"slices"

	"github.com/apache/arrow/go/v15/arrow/decimal256"
)

// sized returns s with length n, reusing its memory where it is large
// enough. The values are unspecified.
func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// Buffer is reusable memory for a vector that was gathered or flattened.
type Buffer struct {
	null  []bool
	codes []int32
	ints  []int64
	float []float64
	wide  []decimal256.Num
	span  []Span
}

func pick[T any](dst, src []T, rows []int32) []T {
	dst = sized(dst, len(rows))
	for i, r := range rows {
		dst[i] = src[r]
	}
	return dst
}

// Gather returns the rows of v named by rows, in that order. The result
// lives in buf until its next use, but shares Dict, Data, Elem and Counts
// with v.
func Gather(v *Vector, rows []int32, buf *Buffer) Vector {
	out := Vector{Type: v.Type, Len: len(rows), Dict: v.Dict, Data: v.Data, Elem: v.Elem, Counts: v.Counts, Narrow: v.Narrow}
	if v.Null != nil {
		buf.null = pick(buf.null, v.Null, rows)
		out.Null = buf.null
	}
	switch {
	case v.Dict != nil:
		buf.codes = pick(buf.codes, v.Codes, rows)
		out.Codes = buf.codes
	case v.Type.Rep() == RepInt64 || v.Narrow:
		buf.ints = pick(buf.ints, v.Int, rows)
		out.Int = buf.ints
	case v.Type.Rep() == RepFloat64:
		buf.float = pick(buf.float, v.Float, rows)
		out.Float = buf.float
	case v.Type.Rep() == RepWide:
		buf.wide = pick(buf.wide, v.Wide, rows)
		out.Wide = buf.wide
	default:
		buf.span = pick(buf.span, v.Span, rows)
		out.Span = buf.span
	}
	return out
}

// Flatten returns v with each code replaced by the value it stands for. A
// flat vector is returned as it is. The result lives in buf until its next
// use, but shares Null, and Data, Elem and Counts, with v and its Dict.
func Flatten(v *Vector, buf *Buffer) Vector {
	if v.Dict == nil {
		return *v
	}
	d := &v.Dict.Values
	out := Vector{Type: v.Type, Len: v.Len, Null: v.Null, Data: d.Data, Elem: d.Elem, Counts: d.Counts}
	switch v.Type.Rep() {
	case RepInt64:
		buf.ints = decode(buf.ints, d.Int, v.Codes)
		out.Int = buf.ints
	case RepFloat64:
		buf.float = decode(buf.float, d.Float, v.Codes)
		out.Float = buf.float
	case RepWide:
		buf.wide = decode(buf.wide, d.Wide, v.Codes)
		out.Wide = buf.wide
	default:
		buf.span = decode(buf.span, d.Span, v.Codes)
		out.Span = buf.span
	}
	return out
}

func decode[T any](dst, values []T, codes []int32) []T {
	dst = sized(dst, len(codes))
	for i, c := range codes {
		dst[i] = values[c]
	}
	return dst
}

// Concat copies the vectors, all of one type, into one flat vector that shares no memory with
// them. Lists come to lie end to end. The caller makes sure that there are less than 2^32 bytes of
// values, and less than 2^32 elements of lists.
func Concat(parts []Vector) Vector {
	if len(parts) == 0 {
		return Vector{}
	}
	out := Vector{Type: parts[0].Type}
	for i := range parts {
		out.Len += parts[i].Len
		if parts[i].Null != nil && out.Null == nil {
			out.Null = []bool{}
		}
	}
	if out.Null != nil {
		out.Null = make([]bool, 0, out.Len)
	}
	for i := range parts {
		var buf Buffer
		out.append(Flatten(&parts[i], &buf))
	}
	out.pad()
	return out
}

// pad gives Data the padding that spans need.
func (v *Vector) pad() {
	v.Data = slices.Grow(v.Data, SpanPadding)
	if v.Elem != nil {
		v.Elem.pad()
	}
}

func (v *Vector) append(p Vector) {
	if v.Null != nil {
		if p.Null == nil {
			v.Null = append(v.Null, make([]bool, p.Len)...)
		} else {
			v.Null = append(v.Null, p.Null[:p.Len]...)
		}
	}
	if v.Type.Rep() == RepList {
		v.appendLists(&p)
	} else {
		v.appendValues(&p, 0, p.Len)
	}
}

// appendValues appends the values of the rows from..to of p, a flat vector
// of a scalar type, but not their NULLs.
func (v *Vector) appendValues(p *Vector, from, to int) {
	switch v.Type.Rep() {
	case RepInt64:
		v.Int = append(v.Int, p.Int[from:to]...)
	case RepFloat64:
		v.Float = append(v.Float, p.Float[from:to]...)
	case RepWide:
		v.Wide = append(v.Wide, p.Wide[from:to]...)
	default:
		for i := from; i < to; i++ {
			var b []byte
			if !p.IsNull(i) {
				b = p.Bytes(i)
			}
			v.Span = append(v.Span, Span{Off: uint32(len(v.Data)), Len: uint32(len(b))})
			v.Data = append(v.Data, b...)
		}
	}
}
