package agg

import (
	"encoding/binary"
	"math/bits"

	"github.com/gagg-dev/gagg/internal/column"
)

// This file is exact sums of floats as states: numbers of any window, as bytes in words of 64 bits,
// low byte first. Which window the run had does not show, so that states of runs with other
// windows combine.
//
//	0, and nothing special has come   no bytes
//	else                              head, and of a number that is not 0 its size, lowest word first
//
//	head = exponent<<4 + negative<<3 + special
//
// The number is its size times 2^exponent. Its first bit is 1, and its last word is not 0. special
// is what has come beside numbers: 1 for NaN, 2 for infinity, 4 for minus infinity.

// headBits is how many bits of the head are below the exponent.
const headBits = 4

// stateExact writes exact sums.
func (f *finisher) stateExact() error {
	s := f.slot(0)
	var size []uint64
	for i, row := range f.groups() {
		from := len(f.out.Data)
		special := uint64(0)
		if s.fixed.special.in() {
			special = ^s.fixed.special.get(row) & noSpecial
		}
		size = append(size[:0], row[s.hot:][:s.fixed.n]...)
		negative := uint64(int64(size[len(size)-1]) >> 63)
		carry := negative & 1
		for k := range size {
			size[k], carry = bits.Add64(size[k]^negative, 0, carry)
		}
		words, exponent := trimWords(size, s.fixed.low)
		if len(words) > 0 || special != 0 {
			head := uint64(exponent)<<headBits | negative&1<<(headBits-1) | special
			f.out.Data = binary.LittleEndian.AppendUint64(f.out.Data, head)
			f.out.Data = littleEndian(f.out.Data, words)
		}
		if err := f.checkRoom(len(f.out.Data)); err != nil {
			return err
		}
		f.out.Span[i] = column.Span{Off: uint32(from), Len: uint32(len(f.out.Data) - from)}
	}
	return nil
}

// trimWords takes zeros off both ends of a number, in place; none are left of 0.
func trimWords(size []uint64, exponent int) ([]uint64, int) {
	for len(size) > 0 && size[len(size)-1] == 0 {
		size = size[:len(size)-1]
	}
	if len(size) == 0 {
		return nil, 0
	}
	for size[0] == 0 {
		size, exponent = size[1:], exponent+64
	}
	by := uint(bits.TrailingZeros64(size[0]))
	for i := range size {
		size[i] >>= by
		if i+1 < len(size) {
			size[i] |= size[i+1] << 1 << (63 - by)
		}
	}
	if size[len(size)-1] == 0 {
		size = size[:len(size)-1]
	}
	return size, exponent + int(by)
}

// exactState is an exact sum as state_exact.go writes it.
type exactState struct {
	special, negative uint64 // negative is all bits, or none
	exponent          int
	words             []byte
}

func readExact(b []byte) (e exactState) {
	if len(b) == 0 {
		return e
	}
	head := binary.LittleEndian.Uint64(b)
	e.special, e.negative = head&noSpecial, -(head >> (headBits - 1) & 1)
	e.exponent, e.words = int(int64(head)>>headBits), b[8:]
	return e
}

// fitsExact reports whether bytes are a state of an exact sum that a run may have written, and that
// the sums of s have room for, with the carries of others.
func (s *slot) fitsExact(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	if len(b)%8 != 0 {
		return false
	}
	e := readExact(b)
	if len(e.words) == 0 {
		return e.special != 0 && e.exponent == 0 && e.negative == 0
	}
	if e.words[0]&1 == 0 || len(e.words) > 8*s.fixed.n {
		return false
	}
	last := binary.LittleEndian.Uint64(e.words[len(e.words)-8:])
	if shift := e.exponent - s.fixed.low; last == 0 || shift < 0 || shift > 64*s.fixed.n {
		return false
	}
	return e.exponent-s.fixed.low+8*len(e.words)-bits.LeadingZeros64(last) < 64*s.fixed.n
}

// takeExact adds exact sums, which were checked.
func (s *slot) takeExact(t *Table, gids []uint32, x *column.Vector) {
	words := t.scratch.states[:0]
	for i, g := range gids {
		if x.Span[i].Len == 0 {
			continue
		}
		row := t.Rows[int(g)*t.Stride:][:t.Stride]
		e := readExact(x.Bytes(i))
		row[s.fixed.special.off] &^= e.special << s.fixed.special.shift
		words = words[:0]
		for b := e.words; len(b) > 0; b = b[8:] {
			words = append(words, binary.LittleEndian.Uint64(b))
		}
		addShifted(row[s.hot:][:s.fixed.n], words, e.exponent-s.fixed.low, e.negative)
	}
	t.scratch.states = words
}
