package extsort

import (
	"bytes"
	"encoding/binary"
)

const (
	rowHeader = 8
	placeSize = 8
	farBit    = 1 << 31
)

// A row is a slice that begins with the bytes of a row; it may go on behind
// them, so that a row is named without looking at its memory.
type row []byte

func (r row) len() int    { return int(binary.LittleEndian.Uint32(r)) }
func (r row) keyLen() int { return int(binary.LittleEndian.Uint32(r[4:]) &^ farBit) }
func (r row) far() bool   { return binary.LittleEndian.Uint32(r[4:])&farBit != 0 }
func (r row) key() []byte { return r[rowHeader : rowHeader+r.keyLen()] }

// rest is what lies behind the key: the values, or where they are.
func (r row) rest() []byte { return r[rowHeader+r.keyLen() : r.len()] }

// valueBytes is how many bytes the values have, wherever they are.
func (r row) valueBytes() int {
	if !r.far() {
		return r.len() - rowHeader - r.keyLen()
	}
	n := 0
	for i := range pieces(r.rest()) {
		n += int(piece(r.rest(), i).Raw)
	}
	return n
}

// setHeader writes the header of a row that is not far.
func (r row) setHeader(length, key int) {
	binary.LittleEndian.PutUint32(r, uint32(length))
	binary.LittleEndian.PutUint32(r[4:], uint32(key))
}

// prefix is the 8 bytes of a key from shared on, zeros behind its end.
func prefix(key []byte, shared int) uint64 {
	if len(key) >= shared+8 {
		return binary.BigEndian.Uint64(key[shared:])
	}
	var b [8]byte
	copy(b[:], key[min(shared, len(key)):])
	return binary.BigEndian.Uint64(b[:])
}

// common is how many bytes a and b begin with that are the same, most at
// most. Each has as many.
func common(a, b []byte, most int) int {
	if bytes.Equal(a[:most], b[:most]) {
		return most
	}
	for i := range most {
		if a[i] != b[i] {
			return i
		}
	}
	return most
}
