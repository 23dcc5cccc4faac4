package parquetio

import (
	"encoding/binary"

	"github.com/apache/arrow/go/v15/arrow/decimal256"
	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/column"
)

// Decimals are two's complement numbers, big-endian when they are stored as
// bytes, of any number of bytes.

// bigEndianInt decodes up to 8 bytes of b, sign-extended. It always reads 8
// bytes (PAD).
func bigEndianInt(b []byte, width int) int64 {
	return int64(binary.BigEndian.Uint64(b[:8])) >> (64 - 8*uint(width))
}

// bigEndianWide reads a number of any width and reports whether it fits.
func bigEndianWide(b []byte) (decimal256.Num, bool) {
	if len(b) == 0 {
		return decimal256.Num{}, false
	}
	sign := uint64(int64(int8(b[0])) >> 63)
	for len(b) > 32 {
		if b[0] != byte(sign) {
			return decimal256.Num{}, false
		}
		b = b[1:]
	}
	if b[0]^byte(sign) >= 0x80 {
		return decimal256.Num{}, false
	}
	var words [4]uint64 // lowest first
	for i := range words {
		words[i] = sign
	}
	for i, x := range b {
		k := len(b) - 1 - i // byte k of the number, from the lowest
		shift := 8 * uint(k%8)
		words[k/8] = words[k/8]&^(0xFF<<shift) | uint64(x)<<shift
	}
	return decimal256.New(words[3], words[2], words[1], words[0]), true
}

// bigEndian16 reads 16 bytes.
func bigEndian16(b []byte) decimal256.Num {
	high := binary.BigEndian.Uint64(b[:8])
	sign := uint64(int64(high) >> 63)
	return decimal256.New(sign, sign, high, binary.BigEndian.Uint64(b[8:16]))
}

// wideToInt returns n as an int64 if it is one.
func wideToInt(n decimal256.Num) (int64, bool) {
	w := n.Array()
	sign := uint64(int64(w[0]) >> 63)
	return int64(w[0]), w[1] == sign && w[2] == sign && w[3] == sign
}

// fixedInts reads decimals of a fixed number of bytes.
func (d *decoder) fixedInts(dst []int64) error {
	b, err := d.blockSrc.block(len(dst))
	if err != nil {
		return err
	}
	if d.length <= 8 {
		b = b[:len(b)+8] // PAD
		for i := range dst {
			dst[i] = bigEndianInt(b[i*d.length:], d.length)
		}
		return nil
	}
	for i := range dst {
		n, ok := bigEndianWide(b[i*d.length : (i+1)*d.length])
		narrow := false
		if dst[i], narrow = wideToInt(n); !ok || !narrow {
			return d.beyond(i, n, ok)
		}
	}
	return nil
}

// spanInts reads decimals of any number of bytes.
func (d *decoder) spanInts(dst []int64) error {
	d.spanBuf = grown(d.spanBuf, len(dst))
	data, err := d.spanSrc.spans(d.spanBuf)
	if err != nil {
		return err
	}
	for i, s := range d.spanBuf {
		n, ok := bigEndianWide(data[s.Off : s.Off+s.Len])
		narrow := false
		if dst[i], narrow = wideToInt(n); !ok || !narrow {
			return d.beyond(i, n, ok)
		}
	}
	return nil
}

// intervals reads INTERVAL: months, days and milliseconds, each of 4 bytes, little-endian and
// without a sign; months and days beyond 2^31 are taken for negative ones, as in DuckDB.
func (d *decoder) intervals(dst []decimal256.Num) error {
	b, err := d.blockSrc.block(len(dst))
	if err != nil {
		return err
	}
	for i := range dst {
		v := b[12*i : 12*i+12]
		dst[i] = column.NewInterval(int32(binary.LittleEndian.Uint32(v)), int32(binary.LittleEndian.Uint32(v[4:])), int64(binary.LittleEndian.Uint32(v[8:]))*1000)
	}
	return nil
}

// wides fills dst for a type of representation RepWide: decimals in any
// physical type, of any precision, and intervals.
func (d *decoder) wides(dst []decimal256.Num) error {
	if d.typ.Kind == column.Interval {
		return d.intervals(dst)
	}
	switch d.physical {
	case format.FixedLenByteArray:
		return d.fixedWides(dst)
	case format.ByteArray:
		return d.spanWides(dst)
	}
	d.intBuf = grown(d.intBuf, len(dst))
	if err := d.ints(d.intBuf); err != nil {
		return err
	}
	for i, v := range d.intBuf {
		sign := uint64(v >> 63)
		dst[i] = decimal256.New(sign, sign, sign, uint64(v))
	}
	return nil
}

func (d *decoder) fixedWides(dst []decimal256.Num) error {
	b, err := d.blockSrc.block(len(dst))
	if err != nil {
		return err
	}
	for i := range dst {
		v, ok := b[i*d.length:(i+1)*d.length], true
		if d.length == 16 {
			dst[i] = bigEndian16(v)
		} else {
			dst[i], ok = bigEndianWide(v)
		}
		if !ok || !d.fits(dst[i]) {
			return d.beyond(i, dst[i], ok)
		}
	}
	return nil
}

func (d *decoder) spanWides(dst []decimal256.Num) error {
	d.spanBuf = grown(d.spanBuf, len(dst))
	data, err := d.spanSrc.spans(d.spanBuf)
	if err != nil {
		return err
	}
	for i, s := range d.spanBuf {
		n, ok := bigEndianWide(data[s.Off : s.Off+s.Len])
		if !ok || !d.fits(n) {
			return d.beyond(i, n, ok)
		}
		dst[i] = n
	}
	return nil
}

func (d *decoder) fits(n decimal256.Num) bool {
	return !d.maxWide.Less(n) && !n.Less(d.minWide)
}

// beyond is the error about a decimal that the wanted type does not hold; known: n is what it is.
func (d *decoder) beyond(index int, n decimal256.Num, known bool) error {
	bad := &valueError{index: index, reason: d.rule.reason}
	if known {
		bad.digits = digitsFor(n)
	}
	return bad
}

// digitsFor is how many digits a decimal is given that declares fewer and holds n: as many as
// 64, 128 or 256 bits have at least, so that there are few such types; 0: there is none.
func digitsFor(n decimal256.Num) int {
	for _, digits := range []int{column.MaxInt64Digits, 38, column.MaxDigits} {
		if most := decimal256.GetMaxValue(int32(digits)); !most.Less(n) && !n.Less(most.Negate()) {
			return digits
		}
	}
	return 0
}
