package parquetio

import "math"

// thriftQuick decodes usual structs in Thrift's compact protocol: each field once, of the type
// that the format says, and no required one missing. At anything else it stops for good; then the
// library decodes the struct, or says what is wrong. The library's decoder works by reflection
// and takes some ten times as long, which counts if a footer has thousands of chunks, or a chunk
// hundreds of pages.
type thriftQuick struct {
	data []byte
	pos  int
	odd  bool // it has stopped; what it returns means nothing
}

// fields calls field for each field of the struct at hand; field decodes it. The struct is odd if
// a field comes twice, or one of required, a bit by number, is missing.
func (q *thriftQuick) fields(required uint32, field func(id int, t byte)) {
	id, seen := 0, uint32(0)
	for !q.odd {
		b := q.byte()
		if b == 0 {
			break
		}
		id += int(b >> 4)
		// a number of its own, or an unknown one
		if b>>4 == 0 || id > 31 || seen&(1<<id) != 0 {
			q.odd = true
			return
		}
		seen |= 1 << id
		field(id, b&0xF)
	}
	q.odd = q.odd || seen&required != required
}

func (q *thriftQuick) byte() byte {
	if q.pos >= len(q.data) {
		q.odd = true
		return 0
	}
	q.pos++
	return q.data[q.pos-1]
}

func (q *thriftQuick) uvarint() (u uint64) {
	for shift := 0; shift < 64; shift += 7 {
		b := q.byte()
		if shift == 63 && b > 1 {
			break
		}
		u |= uint64(b&0x7F) << shift
		if b < 0x80 {
			return u
		}
	}
	q.odd = true
	return 0
}

// i64 is a field of type t that must be such a number.
func (q *thriftQuick) i64(t byte) int64 {
	if t != thriftI64 {
		q.odd = true
		return 0
	}
	return q.varint()
}

func (q *thriftQuick) i32(t byte) int32 {
	if t != thriftI32 {
		q.odd = true
		return 0
	}
	n := q.varint()
	q.odd = q.odd || n != int64(int32(n))
	return int32(n)
}

func (q *thriftQuick) i16(t byte) int16 {
	if t != thriftI16 {
		q.odd = true
		return 0
	}
	n := q.varint()
	q.odd = q.odd || n != int64(int16(n))
	return int16(n)
}

func (q *thriftQuick) varint() int64 {
	if q.pos < len(q.data) && q.data[q.pos] < 0x80 { // as most are
		u := q.data[q.pos]
		q.pos++
		return int64(u>>1) ^ -int64(u&1)
	}
	u := q.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// bytes is a field of bytes or text, which lie in data.
func (q *thriftQuick) bytes(t byte) []byte {
	n := q.uvarint()
	if t != thriftBinary || n > math.MaxInt32 || n > uint64(len(q.data)-q.pos) {
		q.odd = true
		return nil
	}
	q.pos += int(n)
	return q.data[q.pos-int(n) : q.pos : q.pos]
}

// boolean is a field whose type is its value.
func (q *thriftQuick) boolean(t byte) bool {
	q.odd = q.odd || t != thriftTrue && t != thriftFalse
	return t == thriftTrue
}

// structure decodes a struct: a field, or an element of a list.
func (q *thriftQuick) structure(t byte, required uint32, field func(id int, t byte)) {
	if t != thriftStruct {
		q.odd = true
		return
	}
	q.fields(required, field)
}

// list begins a list, and returns how many elements of type elem it has.
func (q *thriftQuick) list(t, elem byte) int {
	b := q.byte()
	n := uint64(b >> 4)
	if n == 0xF {
		n = q.uvarint()
	}
	// an element has a byte at least
	if t != thriftList || b&0xF != elem || n > uint64(len(q.data)-q.pos) {
		q.odd = true
		return 0
	}
	return int(n)
}

// skip skips a field that is not needed.
func (q *thriftQuick) skip(t byte) {
	if t == thriftTrue || t == thriftFalse {
		return
	}
	walk := thriftWalk{data: q.data, pos: q.pos}
	q.odd = q.odd || walk.value(t, 0, 1) != nil
	q.pos = walk.pos
}
