package extsort

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
)

// begin makes empty vectors, in the memory of those of the last batch.
func (l *layout) begin(b *column.Batch) {
	if len(b.Cols) != len(l.fields) {
		b.Cols = make([]column.Vector, len(l.fields))
	}
	b.Rows = 0
	for c, f := range l.fields {
		v := &b.Cols[c]
		*v = empty(v, f.typ)
		if f.typ.IsNested() {
			if v.Elem == nil {
				v.Elem = &column.Vector{}
			}
			*v.Elem = empty(v.Elem, f.typ.Elem())
		}
	}
}

func empty(v *column.Vector, t column.Type) column.Vector {
	return column.Vector{
		Type: t, Null: v.Null[:0], Int: v.Int[:0], Float: v.Float[:0], Wide: v.Wide[:0], Span: v.Span[:0], Data: v.Data[:0],
		Elem: v.Elem, Counts: v.Counts[:0],
	}
}

// add appends the rows that have these values.
func (l *layout) add(b *column.Batch, vals [][]byte) {
	for c, f := range l.fields {
		v := &b.Cols[c]
		v.Null = slices.Grow(v.Null, len(vals))
		for _, b := range vals {
			v.Null = append(v.Null, b[c>>3]>>(c&7)&1 != 0)
		}
		f.add(v, vals)
		v.Len += len(vals)
	}
	b.Rows += len(vals)
}

// end gives the vectors what their owner owes.
func (l *layout) end(b *column.Batch) {
	for c := range b.Cols {
		v := &b.Cols[c]
		if !slices.Contains(v.Null, true) {
			v.Null = nil
		}
		v.Data = slices.Grow(v.Data, column.SpanPadding)
		if v.Elem != nil {
			v.Elem.Data = slices.Grow(v.Elem.Data, column.SpanPadding)
		}
	}
}

func (f field) add(v *column.Vector, vals [][]byte) {
	switch f.typ.Rep() {
	case column.RepFloat64:
		v.Float = slices.Grow(v.Float, len(vals))
		for _, b := range vals {
			v.Float = append(v.Float, math.Float64frombits(binary.LittleEndian.Uint64(b[f.at:])))
		}
	case column.RepWide:
		for _, b := range vals {
			v.Wide = append(v.Wide, wide(b[f.at:]))
		}
	case column.RepBytes:
		for _, b := range vals {
			at, n := f.cell(b)
			v.Span = append(v.Span, column.Span{Off: uint32(len(v.Data)), Len: uint32(n)})
			v.Data = append(v.Data, b[at:at+n]...)
		}
	case column.RepList:
		for _, b := range vals {
			at, n := f.cell(b)
			v.Span = append(v.Span, column.Span{Off: uint32(v.Elem.Len), Len: uint32(n)})
			addList(v, b[at:], n)
		}
	default:
		v.Int = slices.Grow(v.Int, len(vals))
		f.addInts(v, vals)
	}
}

func (f field) cell(b []byte) (at, n int) {
	return int(binary.LittleEndian.Uint32(b[f.at:])), int(binary.LittleEndian.Uint32(b[f.at+4:]))
}

func (f field) addInts(v *column.Vector, vals [][]byte) {
	switch scalarBytes(f.typ) {
	case 0:
		v.Int = append(v.Int, make([]int64, len(vals))...)
	case 8:
		for _, b := range vals {
			v.Int = append(v.Int, int64(binary.LittleEndian.Uint64(b[f.at:])))
		}
	default:
		w := scalarBytes(f.typ)
		for _, b := range vals {
			v.Int = append(v.Int, small(f.typ, b[f.at:f.at+w]))
		}
	}
}

// small is an integer of 1, 2 or 4 bytes.
func small(t column.Type, b []byte) int64 {
	x, unused := uint64(0), 64-8*len(b)
	for i := len(b) - 1; i >= 0; i-- {
		x = x<<8 | uint64(b[i])
	}
	if t.IsUnsigned() || t.Kind == column.Bool {
		return int64(x)
	}
	return int64(x<<unused) >> unused
}

func wide(b []byte) decimal256.Num {
	return decimal256.New(
		binary.LittleEndian.Uint64(b[24:]), binary.LittleEndian.Uint64(b[16:]),
		binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b))
}

// addList appends the n elements in b to those of v.
func addList(v *column.Vector, b []byte, n int) {
	e := v.Elem
	e.Len += n
	used := 0
	if e.Type.Rep() == column.RepBytes {
		used = addStrings(e, b, n)
	} else {
		w := scalarBytes(e.Type)
		for ; used < n*w; used += w {
			addScalar(e, b[used:used+w])
		}
	}
	if v.Type.Nest == column.Map {
		for range n {
			v.Counts = append(v.Counts, int64(binary.LittleEndian.Uint64(b[used:])))
			used += 8
		}
	}
}

func addStrings(e *column.Vector, b []byte, n int) (used int) {
	used = 4 * n
	for i := range n {
		size := lengthOf(b, i)
		e.Span = append(e.Span, column.Span{Off: uint32(len(e.Data)), Len: uint32(size)})
		e.Data = append(e.Data, b[used:used+size]...)
		used += size
	}
	return used
}

// lengthOf is the length of string i of those in a list.
func lengthOf(b []byte, i int) int { return int(binary.LittleEndian.Uint32(b[4*i:])) }

func addScalar(e *column.Vector, b []byte) {
	switch {
	case e.Type.Rep() == column.RepFloat64:
		e.Float = append(e.Float, math.Float64frombits(binary.LittleEndian.Uint64(b)))
	case e.Type.Rep() == column.RepWide:
		e.Wide = append(e.Wide, wide(b))
	case len(b) == 8:
		e.Int = append(e.Int, int64(binary.LittleEndian.Uint64(b)))
	default:
		e.Int = append(e.Int, small(e.Type, b))
	}
}
