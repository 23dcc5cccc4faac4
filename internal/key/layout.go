// Package key turns group keys of any types into fixed key words, exactly and
// reversibly, and hashes them.
//
// # Key words
//
// A key is a tuple of fields. Each field has a place in W 64-bit words, given
// by a [Layout] before the first row is read:
//
//	form      bits   holds
//	bits      1..64  the value of an integer, date, time, bool or decimal of
//	                 up to 18 digits; the normalised bits of a float
//	id        31     the number that an [Interner] gave to a string
//	inline    128    a string of up to 15 bytes with its length in the top
//	                 byte, or a long one (below), or nullMark there alone;
//	                 up to 512 and 63 bytes where most strings need them
//	raw       128    16 bytes: UUID and other binary of that width
//	wide      256    a decimal of more than 18 digits
//
// and one bit that says NULL, whose value bits are then zero (an inline field
// has room for it in the length byte, the top of its last word). Fields share
// words where they fit: two interned strings and their NULL bits need one
// word, an int64 and its NULL bit two.
//
// A long string, which has more bytes than its field, lies in an arena (package arena):
//
//	first word   its ref
//	last word    longMark (8 bits) | top bits of its hash (24) | length (32)
//	between      zeros
//
// KEY-EXACT: two keys are equal if and only if all their words are equal, where the first words of
// two long strings are compared by the bytes that they stand for. Floats are normalised first (one
// NaN, one zero), and strings have one form for each value. A hash never replaces the comparison
// of keys: it only avoids most comparisons of bytes.
//
// KEY-LONG: the string of a ref has the length that the last word says.
//
// Only rows hold refs. In the words of an [Encoder] the first word of a long
// string says where in its batch the string lies; it becomes a ref when the
// key is kept (Encoder.Keep, Encoder.Store).
//
// # Hash
//
// The hash of a key depends on its values alone, not on interned numbers,
// dictionary codes or the layout, so it is the same in every worker and every
// run. RESULT-ORDER: the groups of a result come in order of their hash (ties
// by the key's values), which makes the output order independent of threads
// and partitions. Its top bits choose the partition, the bits below them the
// slot in a table, the low 32 bits are the table's tag.
package key

import (
	"slices"

	"github.com/gagg-dev/gagg/internal/column"
)

// Form is how the value of a field is held: see the table above.
type Form uint8

const (
	FormBits Form = iota
	FormID
	FormInline
	FormRaw
	FormWide
)

// MaxInline is the length of the longest string held in the key itself, unless its
// column says otherwise. Up to it, the hash of a string is that of its words.
const MaxInline = 15

// MostInline is the length of the longest string that can be held in the key itself.
const MostInline = 8*mostInlineWords - 1

const (
	leastInlineWords = (MaxInline + 1) / 8
	mostInlineWords  = 8
)

// The length byte of an inline field.
const (
	longMark   = 0x80 // the string is long
	nullMark   = 0x40 // NULL
	lengthBits = 0x3f // the length of another one
)

// field is the place of one key column.
type field struct {
	typ      column.Type
	form     Form
	word     int  // first word
	size     int  // words that hold the value
	shift    uint // of the value in its word, for forms of less than a word
	bits     uint // of the value, for FormBits and FormID
	nullWord int
	nullBit  uint64
}

// idBits is the width of an interned string's number: with its NULL bit, two
// of them fit a word.
const idBits = 31

// Column is what a layout needs to know of a key column.
type Column struct {
	Type   column.Type
	Intern bool // strings are mostly dictionary codes: hold numbers, not bytes
	// other strings are held in the key itself if they have at most about that many bytes; at
	// least MaxInline, at most MostInline
	Inline int
	Filled bool // it is never NULL, and needs no bit for that
}

// Layout places the fields of a key in words.
type Layout struct {
	Words  int
	bare   bool   // rows have no hash (rowhash.go: HASH-OMITTED)
	only   uint64 // the bits of the one value, if that is all of a key and not NULL; else 0
	fields []field
	inline []inlined
	plain  []int // the other words: those of no inline field, and those between the two of one
}

// inlined is the two words of an inline field, the first and the last. If the string is long,
// comparing them is not enough.
type inlined struct{ lo, hi int }

// NewLayout places the columns. Fields of whole words come first, then the
// small ones, largest first, each in the first word that has room.
func NewLayout(cols []Column) *Layout {
	l := &Layout{fields: make([]field, len(cols))}
	var small []int
	filled := make([]bool, len(cols))
	for i, c := range cols {
		filled[i] = c.Filled
		f := &l.fields[i]
		f.typ, f.form, f.bits, f.size = c.Type, formOf(c), 0, 1
		switch f.form {
		case FormInline:
			f.size = min(max((c.Inline+8)/8, leastInlineWords), mostInlineWords)
			f.word, l.Words = l.Words, l.Words+f.size
			f.nullWord, f.nullBit = f.last(), nullMark<<56
		case FormRaw:
			f.size = 2
			f.word, l.Words = l.Words, l.Words+f.size
		case FormWide:
			f.size = 4
			f.word, l.Words = l.Words, l.Words+f.size
		case FormID:
			f.bits = idBits
			small = append(small, i)
		case FormBits:
			f.bits = uint(c.Type.Bits())
			if f.bits == 64 {
				f.word, l.Words = l.Words, l.Words+1
			} else {
				small = append(small, i)
			}
		}
	}
	l.pack(small, filled)
	l.sort()
	return l
}

// Constant gives a key without columns one word, which is 0 in all rows: devices compare at least
// one word. It is called before there are any rows.
func (l *Layout) Constant() {
	l.Words = 1
	l.sort()
}

// last is the last word of the field.
func (f *field) last() int { return f.word + f.size - 1 }

// most is the length of the longest string that an inline field holds itself.
func (f *field) most() uint32 { return uint32(8*f.size - 1) }

// sort separates the first and last words of inline fields from the other words.
func (l *Layout) sort() {
	inline := make([]bool, l.Words)
	for i := range l.fields {
		if f := &l.fields[i]; f.form == FormInline {
			l.inline = append(l.inline, inlined{f.word, f.last()})
			inline[f.word], inline[f.last()] = true, true
		}
	}
	for w, is := range inline {
		if !is {
			l.plain = append(l.plain, w)
		}
	}
}

// pack places the values of the small fields, then all NULL bits that have
// no place yet where bits are left. A field that is filled has none.
func (l *Layout) pack(small []int, filled []bool) {
	used := make([]uint, l.Words) // bits taken, by word
	for i := range used {
		used[i] = 64
	}
	place := func(n uint) (word int, shift uint) {
		for w, u := range used {
			if u+n <= 64 {
				used[w] += n
				return w, u
			}
		}
		used = append(used, n)
		return len(used) - 1, 0
	}
	slices.SortStableFunc(small, func(a, b int) int {
		return int(l.fields[b].bits) - int(l.fields[a].bits)
	})
	for _, i := range small {
		f := &l.fields[i]
		f.word, f.shift = place(f.bits)
	}
	for i := range l.fields {
		f := &l.fields[i]
		switch {
		case filled[i] && f.nullBit == 0:
			f.nullWord = f.word
		case f.nullBit == 0:
			w, s := place(1)
			f.nullWord, f.nullBit = w, 1<<s
		}
	}
	l.Words = len(used)
}

func formOf(c Column) Form {
	switch c.Type.Rep() {
	case column.RepWide:
		return FormWide
	case column.RepBytes:
		if c.Type.Kind == column.UUID || c.Type.Kind == column.FixedBinary && c.Type.Width == 16 {
			return FormRaw
		}
		if c.Intern {
			return FormID
		}
		return FormInline
	}
	return FormBits
}
