package key

import "github.com/gagg-dev/gagg/internal/column"

// A device can make keys itself. For each field of a row it makes the field's words and hash. For
// a NULL they are the NULL bit and NullHash. The words of all fields are or-ed into the key words.
// The hash of the key mixes the field hashes, in the order of the fields and from the seed on, as
// Encode does.
//
// The words and the hash of bits, and of strings of up to MaxInline bytes, follow from the value
// by a few operations. Those of other forms and of longer strings are looked up among the entries
// of a dictionary: only the interner knows the numbers of strings, only Texts the refs of long
// ones. Or the device gives long strings refs itself (package gpu: texts).

// Field is the place and form of a key column.
type Field struct {
	Form  Form
	Word  int  // first word among the key words
	Words int  // that hold the value
	Shift uint // of the value in its word; 0 for forms of whole words
	Bits  uint // of the value, for FormBits and FormID

	NullWord int    // key word of the NULL bit
	NullBit  uint64 // at its place; a NULL has no other bits
}

// Fields returns the fields of the key, in the order of the columns.
func (l *Layout) Fields() []Field {
	out := make([]Field, len(l.fields))
	for i := range l.fields {
		f := &l.fields[i]
		out[i] = Field{Form: f.form, Word: f.word, Words: f.size, Shift: f.shift, Bits: f.bits, NullWord: f.nullWord, NullBit: f.nullBit}
	}
	return out
}

// TranslateDict computes words and hashes of the entries of a dictionary, a flat vector without
// NULLs, as values of field i: words[k][e] is word k of entry e, shifted to its place, and
// hash[e] the entry's field hash. Both are valid until the next TranslateDict or Encode.
//
// For long strings the words hold the refs that Texts gives (TEXT-ONCE). ok is false if there are
// long strings and the encoder has no Texts, or Texts has no memory. Then no device can make such
// a row. Strings may be interned: see Interner.Settle.
func (e *Encoder) TranslateDict(i int, entries *column.Vector) (words [][]uint64, hash []uint64, ok bool) {
	f, d := &e.layout.fields[i], &e.flat
	e.translate(f, entries, d)
	n := f.size
	return d.words[:n:n], d.hash, !d.long || e.internLong(f, entries, d)
}

// internLong puts the refs of the long strings among entries into their words. It returns false if
// there are no refs for them.
func (e *Encoder) internLong(f *field, v *column.Vector, d *entries) bool {
	if e.Texts == nil {
		return false
	}
	e.longRows = e.longRows[:0]
	for i, hi := range d.words[f.size-1] {
		if isLong(hi) {
			e.longRows = append(e.longRows, int32(i))
		}
	}
	return e.Texts.intern(v, e.longRows, d.words[0], &e.texts) == nil
}
