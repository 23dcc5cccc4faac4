package parquetio

import (
	"encoding/binary"
	"errors"
	"hash/maphash"
	"math"
	"math/bits"
	"slices"

	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/column"
)

// This file makes codes of pages of byte arrays, for a reader of encoded chunks that looks byte
// arrays up by their codes: those that it does not take itself, long ones say, and what is computed
// of them. Writers give up a dictionary when it gets large, so that most chunks of many long texts
// begin with codes and go on with values.
//
//	chunk in the file:   dictionary | codes | codes | values | values
//	as it is handed on:  dictionary | codes | codes | codes  | codes     Dict has the other values too
//
// The codes of a page take its place. They are mostly fewer bytes; where they are not, the chunk is
// not handed on.

// CodeTexts says which pages of values ReadEncoded hands on as codes, by column: those of byte
// arrays that may be longer than most bytes, as far as the footer and the dictionary tell. -1: all;
// EncodedTexts: none, as for columns of other types.
func (r *Reader) CodeTexts(most []int) { r.coded = most }

const (
	// EncodedTexts is for CodeTexts: pages of byte arrays stay as they are.
	EncodedTexts = math.MaxInt
	// StoredTexts is for CodeTexts: the dictionary stays as it is too (EncodedChunk.DictPage).
	StoredTexts = math.MaxInt - 1
)

// codedMost is the limit of CodeTexts for a column.
func (r *Reader) codedMost(col int) int {
	if col >= len(r.coded) {
		return EncodedTexts
	}
	return r.coded[col]
}

// textCoder gives the byte arrays of a chunk codes, equal ones the same: those of its dictionary
// have them already.
type textCoder struct {
	n     int // entries
	used  int // bytes of data
	spans buffer
	data  buffer

	// table finds entries: hash (32 bits) | entry + 1 (32 bits) in each slot, 0 in a free one, and
	// a power of two of slots of which at least half are free.
	table []uint64
	slots buffer // of the table

	codes buffer // of a page
	runs  buffer // the same as they are written
}

const (
	leastTextSlots = 1 << 10
	mostTextBytes  = math.MaxUint32 // column.Span counts no more
)

// textSeed seeds the hash: texts cannot be made to crowd.
var textSeed = maphash.MakeSeed()

// newTextCoder returns a coder without entries, whose memory is drawn from an account.
func newTextCoder(mem *account) *textCoder {
	t := &textCoder{}
	for _, b := range t.buffers() {
		b.mem = mem
	}
	return t
}

func (t *textCoder) buffers() []*buffer {
	return []*buffer{&t.spans, &t.data, &t.slots, &t.codes, &t.runs}
}

// trim lets go of large buffers that hardly anything was in, and of all entries.
func (t *textCoder) trim() {
	for _, b := range t.buffers() {
		b.trim()
	}
	t.n, t.used, t.table = 0, 0, nil
}

func (t *textCoder) free() {
	for _, b := range t.buffers() {
		b.free()
	}
	t.n, t.used, t.table = 0, 0, nil
}

// start begins with the entries of a chunk's dictionary; nil: there are none.
func (t *textCoder) start(dict *column.Dict) error {
	t.trim()
	var from column.Vector
	if dict != nil {
		from = dict.Values
	}
	if err := t.room(from.Len, len(from.Data)); err != nil {
		return err
	}
	copy(cast[column.Span](t.spans.b), from.Span[:from.Len])
	t.used = copy(t.data.b, from.Data)
	for ; t.n < from.Len; t.n++ {
		text := from.Bytes(t.n)
		hash := textHash(text)
		if slot, entry := t.find(hash, text); entry < 0 {
			t.table[slot] = uint64(hash)<<32 | uint64(t.n+1)
		}
	}
	return nil
}

func textHash(text []byte) uint32 { return uint32(maphash.Bytes(textSeed, text)) }

// room makes room for n more entries, of `bytes` bytes together.
func (t *textCoder) room(n, bytes int) error {
	if bytes > mostTextBytes-t.used {
		return errNotEncoded
	}
	if err := t.spans.grow(8*t.n, 8*(t.n+n), "texts"); err != nil {
		return err
	}
	if err := t.data.grow(t.used, t.used+bytes, "texts"); err != nil {
		return err
	}
	slots := max(len(t.table), leastTextSlots)
	for slots < 2*(t.n+n) {
		slots *= 2
	}
	if slots == len(t.table) {
		return nil
	}
	larger := buffer{mem: t.slots.mem}
	memory, err := larger.room(8*slots, "codes of texts")
	if err != nil {
		return err
	}
	clear(memory)
	old, from := t.slots, t.table
	t.slots, t.table = larger, cast[uint64](memory)
	for _, s := range from {
		if s != 0 {
			t.table[t.vacant(uint32(s>>32))] = s
		}
	}
	old.free()
	return nil
}

// vacant is the slot that a new entry of a hash has.
func (t *textCoder) vacant(hash uint32) int {
	mask := len(t.table) - 1
	at := int(hash) & mask
	for t.table[at] != 0 {
		at = (at + 1) & mask
	}
	return at
}

// find is the entry of a text; -1: there is none yet, and slot is the one that it would have.
func (t *textCoder) find(hash uint32, text []byte) (slot, entry int) {
	spans, data, mask := cast[column.Span](t.spans.b), t.data.b, len(t.table)-1
	for slot = int(hash) & mask; ; slot = (slot + 1) & mask {
		s := t.table[slot]
		if s == 0 {
			return slot, -1
		}
		if uint32(s>>32) != hash {
			continue
		}
		if p := spans[uint32(s)-1]; string(data[p.Off:][:p.Len]) == string(text) {
			return slot, int(uint32(s) - 1)
		}
	}
}

// code sets codes to those of the byte arrays of a page of values, of which there are at most
// rows.
func (t *textCoder) code(values []byte, rows int) (codes []int32, err error) {
	memory, err := t.codes.room(4*rows, "codes of texts")
	if err != nil {
		return nil, err
	}
	if err := t.room(rows, len(values)); err != nil {
		return nil, err
	}
	codes = cast[int32](memory)
	n := 0
	for ; n < rows && len(values) > 0; n++ {
		if len(values) < 4 {
			return nil, errValuesEnd
		}
		size := binary.LittleEndian.Uint32(values)
		if values = values[4:]; uint64(size) > uint64(len(values)) {
			return nil, errValuesEnd
		}
		codes[n] = t.codeOf(values[:size])
		values = values[size:]
	}
	return codes[:n], nil
}

// codeOf is the code of a text, for which there is room.
func (t *textCoder) codeOf(text []byte) int32 {
	hash := textHash(text)
	slot, entry := t.find(hash, text)
	if entry < 0 {
		entry = t.n
		t.table[slot] = uint64(hash)<<32 | uint64(entry+1)
		cast[column.Span](t.spans.b)[entry] = column.Span{Off: uint32(t.used), Len: uint32(len(text))}
		t.used += copy(t.data.b[t.used:], text)
		t.n++
	}
	return int32(entry)
}

// write makes runs of codes, behind the byte that has their width. They are valid until the next
// call.
func (t *textCoder) write(codes []int32) ([]byte, error) {
	memory, err := t.runs.room(1+codesBytes(len(codes)), "codes of texts")
	if err != nil {
		return nil, err
	}
	width := max(bits.Len(uint(max(t.n, 1)-1)), 1)
	memory[0] = byte(width)
	runs, err := (&rle.Encoding{BitWidth: width}).EncodeInt32(memory[1:], codes)
	if err != nil || len(runs) >= len(memory) {
		return nil, errNotEncoded
	}
	return memory[:1+copy(memory[1:], runs)], nil
}

// codesBytes bounds the bytes of n codes in runs: a run of eight or more has a head of up to 5
// bytes and, if it is one code, 4 more; up to seven codes at the end have a run each.
func codesBytes(n int) int { return 4*n + n/8*9 + 8*9 }

// dict is the entries as those of a column of a type.
func (t *textCoder) dict(of column.Type) *column.Dict {
	return &column.Dict{Values: column.Vector{
		Type: of, Len: t.n, Span: cast[column.Span](t.spans.b)[:t.n], Data: t.data.b[:t.used],
	}}
}

// codesTexts reports whether pages of values of the chunk, whose dictionary was read, are handed on
// as codes.
func (c *columnReader) codesTexts() bool {
	if c.coding || !c.hasTexts() || c.codedMost >= StoredTexts {
		return c.coding
	}
	m := c.metadata()
	if mean := m.TotalUncompressedSize/max(m.NumValues, 1) - 4; mean > int64(c.codedMost) {
		return true
	}
	return c.dict != nil && slices.ContainsFunc(c.dict.Values.Span, func(s column.Span) bool { return int64(s.Len) > int64(c.codedMost) })
}

// putCoded puts a page of byte arrays in its place as codes of the chunk's dictionary.
func (c *columnReader) putCoded(p *EncodedPage, id format.CompressionCodec, body []byte, place *encodedPlace) error {
	levels, values, err := c.valuesOf(p, id, body)
	if err != nil {
		return err
	}
	if !c.moves {
		return c.putCodes(p, levels, values, body, place.at-int(c.in.rest())-len(body))
	}
	err = c.putCodes(p, levels, values, place.memory[place.at:], place.at)
	place.at += p.Bytes
	return err
}

// putCodes makes codes of a page's byte arrays, which may lie in its place: to, at `at` in the
// memory of the unit.
func (c *columnReader) putCodes(p *EncodedPage, levels, values, to []byte, at int) error {
	if err := c.startCoding(); err != nil {
		return err
	}
	codes, err := c.coder.code(values, p.Rows)
	if err != nil {
		return err
	}
	runs, err := c.coder.write(codes)
	if err != nil {
		return err
	}
	p.At, p.Bytes = at, len(levels)+len(runs)
	if p.Bytes > len(to) {
		return errNotEncoded
	}
	copy(to, levels)
	copy(to[len(levels):], runs)
	p.Size, p.Coded, p.Codec = p.Bytes, true, PageUncompressed
	return nil
}

// startCoding begins, with the first page of values of a chunk, to give codes.
func (c *columnReader) startCoding() error {
	if c.coder == nil {
		c.coder = newTextCoder(&c.shared.account)
	}
	if c.coding {
		return nil
	}
	c.coding = true
	return c.coder.start(c.dict)
}

// valuesOf is the levels of a page, as they are handed on, and its values, decompressed.
func (c *columnReader) valuesOf(p *EncodedPage, id format.CompressionCodec, body []byte) (levels, values []byte, err error) {
	n := max(p.Levels, 0)
	values, err = c.expand(&c.page, id, body[n:], p.Size-n)
	if err != nil || p.Levels != SizedLevels {
		return body[:n], values, err
	}
	if len(values) < 4 {
		return nil, nil, errValuesEnd
	}
	size := uint64(binary.LittleEndian.Uint32(values)) + 4
	if size > uint64(len(values)) {
		return nil, nil, errors.New("damaged: levels are longer than their page")
	}
	return values[:size], values[size:], nil
}
