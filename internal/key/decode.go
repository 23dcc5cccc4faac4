package key

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
)

// Decoder turns key words back into values, reusing the memory of the
// vectors it fills. It must not run while strings are still being interned.
type Decoder struct {
	Layout *Layout
	Intern *Interner
	Arenas *arena.Arenas // where the refs of the rows are valid
	Base   int           // index of the first key word in a row

	any []uint64 // the key words of all rows or-ed: which fields have a NULL
}

// Type is the type of field i.
func (d *Decoder) Type(i int) column.Type { return d.Layout.fields[i].typ }

// Begin readies the decoder for rows, which Decode is then called with.
func (d *Decoder) Begin(rows [][]uint64) {
	d.any = zeroed(d.any, d.Layout.Words)
	for _, r := range rows {
		for w, x := range r[d.Base:][:len(d.any)] {
			d.any[w] |= x
		}
	}
}

// Decode sets out to the values of field i of the rows.
func (d *Decoder) Decode(i int, rows [][]uint64, out *column.Vector) {
	f := &d.Layout.fields[i]
	*out = column.Vector{
		Type: f.typ, Len: len(rows), Null: d.nulls(f, rows, out.Null),
		Int: out.Int[:0], Float: out.Float[:0], Wide: out.Wide[:0], Span: out.Span[:0], Data: out.Data[:0],
	}
	w := d.Base + f.word
	switch f.form {
	case formBits:
		decodeBits(f, w, rows, out)
	case formID:
		for _, r := range rows {
			if out.Null != nil && d.isNull(f, r) { // numbers of NULL rows stand for nothing
				appendString(out, "")
			} else {
				appendString(out, d.Intern.get(f.id(r[w])))
			}
		}
	case formInline:
		d.decodeInline(w, rows, out)
	case formRaw:
		for _, r := range rows {
			out.Span = append(out.Span, column.Span{Off: uint32(len(out.Data)), Len: 16})
			out.Data = binary.LittleEndian.AppendUint64(out.Data, r[w])
			out.Data = binary.LittleEndian.AppendUint64(out.Data, r[w+1])
		}
	case formWide:
		for _, r := range rows {
			out.Wide = append(out.Wide, decimal256.New(r[w+3], r[w+2], r[w+1], r[w]))
		}
	}
}

func (d *Decoder) isNull(f *field, row []uint64) bool {
	return row[d.Base+f.nullWord]&f.nullBit != 0
}

// id is the interned number in a word of the field.
func (f *field) id(word uint64) uint32 { return uint32(word >> f.shift & (1<<idBits - 1)) }

// nulls collects the NULL bits of a field; nil if there are none.
func (d *Decoder) nulls(f *field, rows [][]uint64, buf []bool) []bool {
	if d.any[f.nullWord]&f.nullBit == 0 {
		return nil
	}
	buf = buf[:0]
	for _, r := range rows {
		buf = append(buf, d.isNull(f, r))
	}
	return buf
}

func decodeBits(f *field, w int, rows [][]uint64, out *column.Vector) {
	mask := uint64(1)<<f.bits - 1
	switch {
	case f.typ.IsFloat() && f.bits == 32:
		for _, r := range rows {
			out.Float = append(out.Float, float64(math.Float32frombits(uint32(r[w]>>f.shift))))
		}
	case f.typ.IsFloat():
		for _, r := range rows {
			out.Float = append(out.Float, math.Float64frombits(r[w]))
		}
	case f.typ.IsSigned() || f.typ.Kind == column.Date:
		up := 64 - f.bits // sign extension
		for _, r := range rows {
			out.Int = append(out.Int, int64(r[w]>>f.shift<<up)>>up)
		}
	default:
		for _, r := range rows {
			out.Int = append(out.Int, int64(r[w]>>f.shift&mask))
		}
	}
}

func appendString[S string | []byte](out *column.Vector, s S) {
	out.Span = append(out.Span, column.Span{Off: uint32(len(out.Data)), Len: uint32(len(s))})
	out.Data = append(out.Data, s...)
}

func (d *Decoder) decodeInline(w int, rows [][]uint64, out *column.Vector) {
	for _, r := range rows {
		lo, hi := r[w], r[w+1]
		n := hi >> 56
		switch {
		case n == nullMark:
			n = 0
		case n > MaxInline:
			appendString(out, longBytes(d.Arenas, lo, hi))
			continue
		}
		off := len(out.Data)
		out.Span = append(out.Span, column.Span{Off: uint32(off), Len: uint32(n)})
		out.Data = binary.LittleEndian.AppendUint64(out.Data, lo)
		out.Data = binary.LittleEndian.AppendUint64(out.Data, hi)
		out.Data = out.Data[:off+int(n)]
	}
}

// Compare orders two keys whose hashes are equal, by their values.
func (d *Decoder) Compare(a, b []uint64) int {
	for i := range d.Layout.fields {
		f := &d.Layout.fields[i]
		w := d.Base + f.word
		var c int
		switch {
		case d.isNull(f, a) || d.isNull(f, b):
			c = cmp.Compare(a[d.Base+f.nullWord]&f.nullBit, b[d.Base+f.nullWord]&f.nullBit)
		case f.form == formID || f.form == formInline:
			c = bytes.Compare(d.stringOf(f, a), d.stringOf(f, b))
		case f.form == formBits:
			mask := uint64(1)<<f.bits - 1
			c = cmp.Compare(a[w]>>f.shift&mask, b[w]>>f.shift&mask)
		default:
			for k := 0; k < f.words() && c == 0; k++ {
				c = cmp.Compare(a[w+k], b[w+k])
			}
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

func (d *Decoder) stringOf(f *field, row []uint64) []byte {
	w := d.Base + f.word
	switch {
	case f.form == formID:
		return []byte(d.Intern.get(f.id(row[w])))
	case isLong(row[w+1]):
		return longBytes(d.Arenas, row[w], row[w+1])
	}
	buf := binary.LittleEndian.AppendUint64(nil, row[w])
	buf = binary.LittleEndian.AppendUint64(buf, row[w+1])
	return buf[:row[w+1]>>56]
}
