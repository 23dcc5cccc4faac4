package extsort

import (
	"encoding/binary"
	"math"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/sortkey"
)

// layout is how the values of a row lie:
//
//	NULL bits │ cell of column 0 │ cell of column 1 │ … │ strings and lists
//
// The cell of a number is the number. The cell of a string or list is where it
// begins, from the first NULL bit on, and its bytes or elements, 32 bits each.
// A list is its elements one after the other, and the counts of a map after
// them; a list of strings is the length of each, 32 bits, and then all bytes.
type layout struct {
	fields []field
	fixed  int // bytes of the NULL bits and cells
}

type field struct {
	typ column.Type
	at  int // where its cell begins
}

const cellSize = 8 // of a string or list, which is behind the cells

func newLayout(cols []column.Type) layout {
	l := layout{fixed: (len(cols) + 7) / 8}
	for _, t := range cols {
		l.fields = append(l.fields, field{t, l.fixed})
		l.fixed += cellBytes(t)
	}
	return l
}

func cellBytes(t column.Type) int {
	if r := t.Rep(); r == column.RepBytes || r == column.RepList {
		return cellSize
	}
	return scalarBytes(t)
}

// scalarBytes is the width of values of a fixed size; those of column.ToArrow.
func scalarBytes(t column.Type) int {
	switch t.Rep() {
	case column.RepFloat64:
		return 8
	case column.RepWide:
		return 32
	}
	switch bits := t.Bits(); {
	case t.Kind == column.Null:
		return 0
	case bits == 1 || bits == 8:
		return 1
	case bits == 16 || bits == 32:
		return bits / 8
	}
	return 8
}

// addSizes adds the bytes that the values have of each row.
func (l *layout) addSizes(cols []column.Vector, sizes []int) {
	for i := range sizes {
		sizes[i] += l.fixed
	}
	for c := range l.fields {
		v := &cols[c]
		switch v.Type.Rep() {
		case column.RepBytes:
			for i := range sizes {
				if !v.IsNull(i) {
					sizes[i] += int(v.Span[i].Len)
				}
			}
		case column.RepList:
			for i := range sizes {
				sizes[i] += listBytes(v, i)
			}
		}
	}
}

func listBytes(v *column.Vector, i int) int {
	from, to := v.Range(i)
	if from == to {
		return 0
	}
	n := 0
	if v.Type.Nest == column.Map {
		n = 8 * (to - from)
	}
	if v.Elem.Type.Rep() != column.RepBytes {
		return n + scalarBytes(v.Elem.Type)*(to-from)
	}
	for _, s := range v.Elem.Span[from:to] {
		n += 4 + int(s.Len)
	}
	return n
}

// put writes the values of the rows of cols from first on. vals[i] is the
// memory for row first+i.
func (l *layout) put(cols []column.Vector, first int, vals [][]byte, ends []int) {
	for i, b := range vals {
		clear(b[:l.fixed])
		ends[i] = l.fixed
	}
	for c, f := range l.fields {
		v := &cols[c]
		if v.Null != nil || v.Type.Kind == column.Null {
			for i, b := range vals {
				if sortkey.IsNull(v, first+i) {
					b[c>>3] |= 1 << (c & 7)
				}
			}
		}
		f.put(v, first, vals, ends)
	}
}

func (f field) put(v *column.Vector, first int, vals [][]byte, ends []int) {
	switch f.typ.Rep() {
	case column.RepFloat64:
		for i, b := range vals {
			binary.LittleEndian.PutUint64(b[f.at:], math.Float64bits(v.Float[first+i]))
		}
	case column.RepWide:
		for i, b := range vals {
			putWide(b[f.at:], v, first+i)
		}
	case column.RepBytes:
		for i, b := range vals {
			if !v.IsNull(first + i) {
				s := v.Bytes(first + i)
				f.putCell(b, ends[i], len(s))
				ends[i] += copy(b[ends[i]:], s)
			}
		}
	case column.RepList:
		for i, b := range vals {
			if from, to := v.Range(first + i); from < to {
				f.putCell(b, ends[i], to-from)
				ends[i] += putList(b[ends[i]:], v, from, to)
			}
		}
	default:
		f.putInts(v, first, vals)
	}
}

func (f field) putCell(b []byte, at, n int) {
	binary.LittleEndian.PutUint32(b[f.at:], uint32(at))
	binary.LittleEndian.PutUint32(b[f.at+4:], uint32(n))
}

func (f field) putInts(v *column.Vector, first int, vals [][]byte) {
	switch scalarBytes(f.typ) {
	case 1:
		for i, b := range vals {
			b[f.at] = byte(v.Int[first+i])
		}
	case 2:
		for i, b := range vals {
			binary.LittleEndian.PutUint16(b[f.at:], uint16(v.Int[first+i]))
		}
	case 4:
		for i, b := range vals {
			binary.LittleEndian.PutUint32(b[f.at:], uint32(v.Int[first+i]))
		}
	case 8:
		for i, b := range vals {
			binary.LittleEndian.PutUint64(b[f.at:], uint64(v.Int[first+i]))
		}
	}
}

func putWide(b []byte, v *column.Vector, i int) {
	for j, w := range v.Wide[i].Array() {
		binary.LittleEndian.PutUint64(b[8*j:], w)
	}
}

// putList writes the elements from..to of v, and returns their bytes.
func putList(b []byte, v *column.Vector, from, to int) int {
	e, n := v.Elem, 0
	if e.Type.Rep() == column.RepBytes {
		for i, s := range e.Span[from:to] {
			binary.LittleEndian.PutUint32(b[4*i:], s.Len)
		}
		n = 4 * (to - from)
		for i := from; i < to; i++ {
			n += copy(b[n:], e.Bytes(i))
		}
	} else {
		w := scalarBytes(e.Type)
		for i := from; i < to; i++ {
			putScalar(b[n:n+w], e, i)
			n += w
		}
	}
	if v.Type.Nest == column.Map {
		for _, count := range v.Counts[from:to] {
			binary.LittleEndian.PutUint64(b[n:], uint64(count))
			n += 8
		}
	}
	return n
}

// putScalar writes a value of a fixed size, which is that of b.
func putScalar(b []byte, v *column.Vector, i int) {
	switch {
	case v.Type.Rep() == column.RepFloat64:
		binary.LittleEndian.PutUint64(b, math.Float64bits(v.Float[i]))
	case v.Type.Rep() == column.RepWide:
		putWide(b, v, i)
	case len(b) == 1:
		b[0] = byte(v.Int[i])
	case len(b) == 2:
		binary.LittleEndian.PutUint16(b, uint16(v.Int[i]))
	case len(b) == 4:
		binary.LittleEndian.PutUint32(b, uint32(v.Int[i]))
	default:
		binary.LittleEndian.PutUint64(b, uint64(v.Int[i]))
	}
}
