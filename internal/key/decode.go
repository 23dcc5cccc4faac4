package key

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
)

// Decoder turns key words back into values. A decoded vector is valid as long as the rows, and
// until something else is decoded into it. Its strings lie in the rows themselves, in the
// interner, in an arena, or in the decoder. It must not run before all strings are interned.
type Decoder struct {
	Layout *Layout
	Intern *Interner
	Arenas *arena.Arenas // where the refs of the rows are valid
	Base   int           // index of the first key word in a row
	Stride int           // words of a row
	// strings are interned at the same time; the goroutine that decodes has interned those of the
	// rows
	Beside bool

	any   []uint64       // of the rows of Begin, or-ed: words with NULL bits and lengths alone
	flags []int          // which words those are
	text  [][]byte       // by field: strings that had to be copied
	table *internedTable // nil: there is none yet

	// keeps the compiler from leaving out the reads of touch
	touched byte
}

// Type is the type of field i.
func (d *Decoder) Type(i int) column.Type { return d.Layout.fields[i].typ }

// Begin prepares the decoder for rows, whole ones end to end. Decode is then called with these
// rows or with the first of them.
func (d *Decoder) Begin(rows []uint64) {
	if d.any == nil {
		d.any = make([]uint64, d.Layout.Words)
		d.text = make([][]byte, len(d.Layout.fields))
		for i := range d.Layout.fields {
			d.flags = append(d.flags, d.Layout.fields[i].nullWord)
		}
		slices.Sort(d.flags)
		d.flags = slices.Compact(d.flags)
	}
	clear(d.any)
	for flags := range slices.Chunk(d.flags, 2) { // a walk over the rows for two words
		w, x := flags[0], flags[len(flags)-1]
		d.any[w], d.any[x] = either(rows, d.Base+w, d.Base+x, d.Stride)
	}
}

// either or-s two words of all rows.
func either(rows []uint64, w, x, stride int) (a, b uint64) {
	for ; w < len(rows) && x < len(rows); w, x = w+stride, x+stride {
		a |= rows[w]
		b |= rows[x]
	}
	return a, b
}

// HasLong reports whether the rows of Begin have long strings.
func (d *Decoder) HasLong() bool {
	for _, w := range d.Layout.inline {
		if isLong(d.any[w.hi]) {
			return true
		}
	}
	return false
}

// Decode sets out to the values of field i of the rows.
func (d *Decoder) Decode(i int, rows []uint64, out *column.Vector) {
	f, n := &d.Layout.fields[i], len(rows)/d.Stride
	*out = column.Vector{
		Type: f.typ, Len: n, Null: d.nulls(f, rows, out.Null),
		Int: out.Int[:0], Float: out.Float[:0], Wide: out.Wide[:0], Span: out.Span[:0],
	}
	if n == 0 {
		return
	}
	words := rows[d.Base+f.word:] // the first of the field is that of row 0
	switch f.form {
	case FormBits:
		d.decodeBits(f, words, out)
	case FormID:
		d.decodeInterned(i, words, out)
	case FormInline:
		if d.any[f.nullWord]>>63 != 0 {
			d.copyInline(i, words, out)
		} else {
			d.decodeInline(i, words, out)
		}
	case FormRaw:
		data := d.text[i][:0]
		for at := 0; at < len(words); at += d.Stride {
			out.Span = append(out.Span, column.Span{Off: uint32(len(data)), Len: 16})
			data = binary.LittleEndian.AppendUint64(data, words[at])
			data = binary.LittleEndian.AppendUint64(data, words[at+1])
		}
		d.own(i, data, out)
	case FormWide:
		for at := 0; at < len(words); at += d.Stride {
			w := words[at:][:4]
			out.Wide = append(out.Wide, decimal256.New(w[3], w[2], w[1], w[0]))
		}
	}
}

// own makes data, whose memory the decoder owns, the data of field i.
func (d *Decoder) own(i int, data []byte, out *column.Vector) {
	d.text[i] = slices.Grow(data, column.SpanPadding)
	out.Data = d.text[i]
}

func (d *Decoder) isNull(f *field, row []uint64) bool {
	return row[d.Base+f.nullWord]&f.nullBit != 0
}

// id is the interned number in a word of the field; that of a NULL is 0.
func (f *field) id(word uint64) uint32 { return idAt(word, f.shift) }

func idAt(word uint64, shift uint) uint32 { return uint32(word >> (shift & 63) & (1<<idBits - 1)) }

// Nulls returns for each row of Begin whether field i is NULL, in the memory of buf. nil: no row
// is.
func (d *Decoder) Nulls(i int, rows []uint64, buf []bool) []bool {
	return d.nulls(&d.Layout.fields[i], rows, buf)
}

// nulls collects the NULL bits of a field; nil if there are none.
func (d *Decoder) nulls(f *field, rows []uint64, buf []bool) []bool {
	if d.any[f.nullWord]&f.nullBit == 0 {
		return nil
	}
	buf = buf[:0]
	for at := d.Base + f.nullWord; at < len(rows); at += d.Stride {
		buf = append(buf, rows[at]&f.nullBit != 0)
	}
	return buf
}

func (d *Decoder) decodeBits(f *field, words []uint64, out *column.Vector) {
	n := out.Len
	if f.typ.IsFloat() {
		out.Float = slices.Grow(out.Float, n)[:n]
		d.decodeFloats(f, words, out.Float)
		return
	}
	ints, stride := slices.Grow(out.Int, n)[:n], d.Stride // at hand in the loops
	out.Int = ints
	down, up := f.shift&63, (64-f.bits)&63
	if f.typ.IsSigned() || f.typ.Kind == column.Date { // sign extension
		for i, at := 0, 0; i < len(ints); i, at = i+1, at+stride {
			ints[i] = int64(words[at]>>down<<up) >> up
		}
		return
	}
	for i, at := 0, 0; i < len(ints); i, at = i+1, at+stride {
		ints[i] = int64(words[at] >> down << up >> up)
	}
}

func (d *Decoder) decodeFloats(f *field, words []uint64, out []float64) {
	for i, at := 0, 0; i < len(out); i, at = i+1, at+d.Stride {
		if f.bits == 32 {
			out[i] = float64(math.Float32frombits(uint32(words[at] >> f.shift)))
		} else {
			out[i] = math.Float64frombits(words[at])
		}
	}
}

// Compare orders two keys whose hashes are equal, by their values.
func (d *Decoder) Compare(a, b []uint64) int {
	var bufA, bufB textBuffer
	for i := range d.Layout.fields {
		f := &d.Layout.fields[i]
		w := d.Base + f.word
		var c int
		switch {
		case d.isNull(f, a) || d.isNull(f, b):
			c = cmp.Compare(a[d.Base+f.nullWord]&f.nullBit, b[d.Base+f.nullWord]&f.nullBit)
		case f.form == FormID || f.form == FormInline:
			c = bytes.Compare(d.stringOf(f, a, &bufA), d.stringOf(f, b, &bufB))
		case f.form == FormBits:
			mask := uint64(1)<<f.bits - 1
			c = cmp.Compare(a[w]>>f.shift&mask, b[w]>>f.shift&mask)
		default:
			for k := 0; k < f.size && c == 0; k++ {
				c = cmp.Compare(a[w+k], b[w+k])
			}
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// textBuffer has room for a string that is held in the key itself.
type textBuffer [8 * mostInlineWords]byte

// stringOf is the string of a text field that is not NULL; a short one is put into buf.
func (d *Decoder) stringOf(f *field, row []uint64, buf *textBuffer) []byte {
	if f.form == FormID {
		s := d.Intern.get(f.id(row[d.Base+f.word]))
		return unsafe.Slice(unsafe.StringData(s), len(s))
	}
	words := row[d.Base+f.word:][:f.size]
	hi := words[f.size-1]
	if isLong(hi) {
		return longBytes(d.Arenas, words[0], hi)
	}
	for k, w := range words {
		binary.LittleEndian.PutUint64(buf[8*k:], w)
	}
	return buf[:hi>>56]
}
