package key

import (
	"encoding/binary"

	"github.com/gagg-dev/gagg/internal/column"
)

// Encoder turns batches of key columns into key words and hashes. One a
// worker; the results are valid until the next Encode.
type Encoder struct {
	Words [][]uint64 // Words[w][i] is word w of the key of row i
	Hash  []uint64   // hash of the key of row i

	// Cancelled returns the reason why the run was cancelled. It is called now and then while a
	// dictionary is translated, which may have millions of entries. nil: the run cannot be
	// cancelled. See Err.
	Cancelled func() error
	err       error

	// Texts gives TranslateDict the refs of long strings, for devices; nil: there are none.
	Texts *Texts
	texts textBatch

	layout *Layout
	intern *Interner
	dicts  []entries        // by field: the translation of the last dictionary seen
	flat   entries          // scratch for a flat vector
	values []flattened      // by field: rows of a dictionary that is not translated
	long   []*column.Vector // by the field's first word: what the numbers of long strings count in
	some   bool             // some of them may be in the batch
	secret []uint64         // see Secret

	longRows []int32 // scratch: rows with a long string that is compared

	// keeps the compiler from leaving out the reads before strings are compared
	touched byte
}

// flattened is a vector and its memory.
type flattened struct {
	column.Vector
	buf column.Buffer
}

// entries is the field words and field hashes of a run of values.
type entries struct {
	dict  *column.Dict // whose entries they are, once there have been more rows
	rows  int          // of dict so far
	words [mostInlineWords][]uint64
	hash  []uint64
	long  bool // some are long strings
}

// NewEncoder returns an encoder for keys of layout l. The interner `in` numbers strings for the
// whole query.
func NewEncoder(l *Layout, in *Interner) *Encoder {
	return &Encoder{
		Words:  make([][]uint64, l.Words),
		layout: l, intern: in,
		dicts: make([]entries, len(l.fields)), values: make([]flattened, len(l.fields)),
		long: make([]*column.Vector, l.Words),
	}
}

// Encode computes Words and Hash for the n rows of the key columns. The
// columns must stay as they are until the next Encode: long strings are not
// copied.
func (e *Encoder) Encode(cols []column.Vector, n int) {
	for w := range e.Words {
		e.Words[w] = zeroed(e.Words[w], n)
	}
	e.Hash = zeroed(e.Hash, n)
	for i := range e.Hash {
		e.Hash[i] = hashSeed
	}
	e.some = false
	for i := range cols {
		e.field(i, &cols[i])
	}
}

// Err is the reason why the translation of a dictionary was stopped. The results of Encode must
// not be used then.
func (e *Encoder) Err() error { return e.err }

func zeroed(s []uint64, n int) []uint64 {
	if cap(s) < n {
		return make([]uint64, n)
	}
	s = s[:n]
	clear(s)
	return s
}

func (e *Encoder) field(i int, v *column.Vector) {
	f := &e.layout.fields[i]
	switch {
	case v.Type.Kind == column.Null:
		e.allNull(f, v.Len)
	case v.Dict != nil:
		d := &e.dicts[i]
		if !e.translated(f, v, d) {
			own := &e.values[i]
			own.Vector = column.Flatten(v, &own.buf)
			e.flatField(f, &own.Vector)
			return
		}
		e.coded(f, v, d)
		e.refer(f, &v.Dict.Values, d.long)
	default:
		e.flatField(f, v)
	}
}

// translated reports whether d is the translation of v's dictionary. It translates the dictionary
// when more rows have come than there are entries: a filter may leave few rows, for which
// translating a large dictionary would not pay.
func (e *Encoder) translated(f *field, v *column.Vector, d *entries) bool {
	if f.plainInts(v) && v.Dict.Len() > maxTranslated {
		return false
	}
	if d.dict != v.Dict {
		d.dict, d.rows = v.Dict, 0
	}
	if d.rows > v.Dict.Len() {
		return true
	}
	if d.rows += v.Len; d.rows <= v.Dict.Len() {
		return false
	}
	e.translate(f, &v.Dict.Values, d)
	return true
}

func (e *Encoder) flatField(f *field, v *column.Vector) {
	switch {
	case f.plainInts(v):
		e.ints(f, v)
	case v.Null == nil && f.form == FormInline:
		e.inline(f, v)
	default:
		e.translate(f, v, &e.flat)
		e.placed(f, v, &e.flat)
		e.refer(f, v, e.flat.long)
	}
}

// maxTranslated is the most integers of a dictionary that is translated. The words and hashes of
// more do not stay in the cache, and hashing the integer itself is faster than fetching them
// (docs/experiments/0017).
const maxTranslated = 4 << 10

// plainInts reports whether v is encoded as the bits of integers, none of them NULL.
func (f *field) plainInts(v *column.Vector) bool {
	return v.Null == nil && f.form == FormBits && !v.Type.IsFloat()
}

func (e *Encoder) allNull(f *field, n int) {
	w := e.Words[f.nullWord]
	for i := range n {
		w[i] |= f.nullBit
		e.Hash[i] = mix(e.Hash[i], NullHash)
	}
}

// coded places the translated entries of the codes.
func (e *Encoder) coded(f *field, v *column.Vector, d *entries) {
	for k := range f.size {
		w, src := e.Words[f.word+k], d.words[k]
		if v.Null != nil {
			for i, c := range v.Codes {
				if !v.Null[i] {
					w[i] |= src[c]
				}
			}
			continue
		}
		w = w[:len(v.Codes)]
		for i, c := range v.Codes {
			w[i] |= src[c]
		}
	}
	h := e.Hash[:len(v.Codes)]
	if v.Null == nil {
		for i, c := range v.Codes {
			h[i] = mix(h[i], d.hash[c])
		}
		return
	}
	nulls := e.Words[f.nullWord]
	for i, c := range v.Codes {
		if v.Null[i] {
			nulls[i] |= f.nullBit
			h[i] = mix(h[i], NullHash)
		} else {
			h[i] = mix(h[i], d.hash[c])
		}
	}
}

// placed places translated values, one for each row.
func (e *Encoder) placed(f *field, v *column.Vector, d *entries) {
	nulls := e.Words[f.nullWord]
	for i := range v.Len {
		if v.Null != nil && v.Null[i] {
			nulls[i] |= f.nullBit
			e.Hash[i] = mix(e.Hash[i], NullHash)
			continue
		}
		for k := range f.size {
			e.Words[f.word+k][i] |= d.words[k][i]
		}
		e.Hash[i] = mix(e.Hash[i], d.hash[i])
	}
}

// ints is the fast path for integers without NULLs.
func (e *Encoder) ints(f *field, v *column.Vector) {
	mask := uint64(1)<<f.bits - 1
	vals := v.Int[:v.Len]
	w, h := e.Words[f.word][:len(vals)], e.Hash[:len(vals)]
	for i, x := range vals {
		b := uint64(x) & mask
		w[i] |= b << f.shift
		h[i] = mix(h[i], b)
	}
}

// inline is the fast path for strings without NULLs.
func (e *Encoder) inline(f *field, v *column.Vector) {
	if f.size != leastInlineWords {
		e.inlineWide(f, v)
		return
	}
	spans, long := v.Span[:v.Len], false
	lo, hi, h := e.Words[f.word][:len(spans)], e.Words[f.word+1][:len(spans)], e.Hash[:len(spans)]
	for i, s := range spans {
		if s.Len <= MaxInline {
			a, b := inlineAt(v.Data, s.Off, s.Len)
			lo[i], hi[i] = a, b
			h[i] = mix(h[i], hashWords(a, b))
			continue
		}
		fh := hashBytes(v.Bytes(i))
		lo[i], hi[i] = uint64(i), longWord(fh, s.Len)
		h[i] = mix(h[i], fh)
		long = true
	}
	e.refer(f, v, long)
}

// inlineWide is inline where a field has more words than usual.
func (e *Encoder) inlineWide(f *field, v *column.Vector) {
	words, long := e.Words[f.word:f.word+f.size], false
	lo, hi, h := words[0], words[f.size-1][:v.Len], e.Hash[:v.Len]
	for i, s := range v.Span[:v.Len] {
		fh := hashAt(v.Data, s.Off, s.Len)
		h[i] = mix(h[i], fh)
		if s.Len > f.most() {
			lo[i], hi[i] = uint64(i), longWord(fh, s.Len)
			long = true
			continue
		}
		at, left := s.Off, s.Len
		for k := 0; left >= 8; k++ {
			words[k][i] = wordAt(v.Data, at)
			at, left = at+8, left-8
		}
		if left > 0 {
			words[(s.Len-left)/8][i] = wordAt(v.Data, at) & (1<<(8*left) - 1)
		}
		hi[i] |= uint64(s.Len) << 56
	}
	e.refer(f, v, long)
}

// translate computes the field words, in place within their word, and the field hash of each value
// of a flat vector. The results for NULL rows are undefined.
func (e *Encoder) translate(f *field, v *column.Vector, d *entries) {
	for k := range f.size {
		d.words[k] = zeroed(d.words[k], v.Len)
	}
	d.hash, d.long = zeroed(d.hash, v.Len), false
	for i := range v.Len {
		if i%lookEntries == lookEntries-1 && e.cancelled() {
			d.dict, d.rows = nil, 0
			return
		}
		if v.IsNull(i) {
			continue
		}
		e.value(f, v, d, i)
	}
}

// lookEntries is how many entries are translated, which takes some milliseconds, before Cancelled
// is called again.
const lookEntries = 1 << 14

func (e *Encoder) cancelled() bool {
	if e.Cancelled != nil && e.err == nil {
		e.err = e.Cancelled()
	}
	return e.err != nil
}

func (e *Encoder) value(f *field, v *column.Vector, d *entries, i int) {
	w := &d.words
	switch f.form {
	case FormBits:
		b := scalarBits(v, i, f.bits)
		w[0][i], d.hash[i] = b<<f.shift, b
	case FormID:
		b := v.Bytes(i)
		d.hash[i] = hashBytes(b)
		w[0][i] = uint64(e.intern.id(b)) << f.shift
	case FormInline:
		b := v.Bytes(i)
		d.hash[i] = hashBytes(b)
		if len(b) > int(f.most()) {
			w[0][i], w[f.size-1][i] = uint64(i), longWord(d.hash[i], uint32(len(b)))
			d.long = true
			return
		}
		var buf [8 * mostInlineWords]byte
		copy(buf[:], b)
		buf[f.most()] = byte(len(b))
		for k := range f.size {
			w[k][i] = binary.LittleEndian.Uint64(buf[8*k:])
		}
	case FormRaw:
		b := v.Bytes(i)
		w[0][i], w[1][i] = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		d.hash[i] = hashWords(w[0][i], w[1][i])
	case FormWide:
		a := v.Wide[i].Array()
		for k := range a {
			w[k][i] = a[k]
		}
		d.hash[i] = mix(hashWords(a[0], a[1]), hashWords(a[2], a[3]))
	}
}
