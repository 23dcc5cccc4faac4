package key

import "encoding/binary"

// This file orders keys one word at a time. A decoder makes words of a key, its digits, which
// order keys as Compare does.
//
//	a string        its bytes, 7 a digit, and in the low byte how many of them are the
//	                string's, textMore if it goes on; a NULL is one digit, nullText
//	any other field first whether it is NULL, then the words of the value
//
// If the first digits of two keys are equal, the next digits of both stand for the same field.

// Digit is the position of a digit in a key. The zero value is the first digit.
type Digit struct{ field, part int }

const (
	textDigit = 7 // bytes
	textMore  = textDigit + 1
	nullText  = ^uint64(0)
)

// Digit returns digit `at` of a row's key and the position of the next one. end: there is no other
// digit.
func (d *Decoder) Digit(row []uint64, at Digit) (digit uint64, next Digit, end bool) {
	f, more := &d.Layout.fields[at.field], false
	switch {
	case f.form == FormID || f.form == FormInline:
		digit, more = d.textDigit(f, row, at.part)
	case at.part == 0:
		if more = !d.isNull(f, row); !more {
			digit = 1
		}
	case f.form == FormBits:
		digit = row[d.Base+f.word] >> f.shift & (1<<f.bits - 1)
	default:
		digit, more = row[d.Base+f.word+at.part-1], at.part < f.size
	}
	if more {
		return digit, Digit{at.field, at.part + 1}, false
	}
	return digit, Digit{field: at.field + 1}, at.field+1 == len(d.Layout.fields)
}

func (d *Decoder) textDigit(f *field, row []uint64, part int) (digit uint64, more bool) {
	if d.isNull(f, row) {
		return nullText, false
	}
	var buf textBuffer
	rest := d.stringOf(f, row, &buf)[part*textDigit:]
	count := uint64(min(len(rest), textMore))
	if len(rest) >= 8 {
		return binary.BigEndian.Uint64(rest)&^0xff | count, true
	}
	for i, b := range rest {
		digit |= uint64(b) << (56 - 8*i)
	}
	return digit | count, false
}
