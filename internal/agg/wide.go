package agg

import (
	"math"
	"math/bits"

	"github.com/apache/arrow/go/v15/arrow/decimal256"
)

// wide is an integer of 320 bits in two's complement, low word first.
type wide [5]uint64

func (n wide) negative() bool { return int64(n[4]) < 0 }

func (n wide) fitsInt64() bool {
	sign := uint64(int64(n[0]) >> 63)
	return n[1] == sign && n[2] == sign && n[3] == sign && n[4] == sign
}

// fitsDigits reports whether n has at most that many decimal digits, which
// are 38 or 76.
func (n wide) fitsDigits(digits int) bool {
	limit := decimal256.GetMaxValue(int32(digits)).Array()
	m := n.abs()
	if m[4] != 0 {
		return false
	}
	for k := 3; k >= 0; k-- {
		if m[k] != limit[k] {
			return m[k] < limit[k]
		}
	}
	return true
}

// abs is the absolute value as a number without sign.
func (n wide) abs() wide {
	if !n.negative() {
		return n
	}
	carry := uint64(1)
	for k := range n {
		n[k], carry = bits.Add64(^n[k], 0, carry)
	}
	return n
}

// double returns n as the sum of two doubles: the nearest to the upper 128
// bits of n, and what it lacks, so that hi+lo is good to about 2^-105.
func (n wide) double() (hi, lo float64) {
	if n.fitsInt64() {
		hi = float64(int64(n[0]))
		if hi >= 1<<63 { // rounded up, out of the range of int64
			return hi, float64(int64(n[0] - 1<<63))
		}
		return hi, float64(int64(n[0]) - int64(hi))
	}
	m := n.abs()
	for k := len(m) - 1; k >= 0; k-- {
		upper, lower := float64(m[k]>>32<<32), float64(m[k]&math.MaxUint32)
		scale := [...]float64{1, 0x1p64, 0x1p128, 0x1p192, 0x1p256}[k]
		var e float64
		hi, e = twoSum(hi, upper*scale)
		lo += e
		hi, e = twoSum(hi, lower*scale)
		lo += e
	}
	hi, lo = twoSum(hi, lo)
	if n.negative() {
		return -hi, -lo
	}
	return hi, lo
}

// mul and sub are exact as long as the result fits.

func (n wide) mul(m wide) (p wide) {
	for i, a := range n {
		if a == 0 {
			continue
		}
		var carry uint64
		for j := 0; i+j < len(p); j++ {
			hi, lo := bits.Mul64(a, m[j])
			var c uint64
			p[i+j], c = bits.Add64(p[i+j], lo, 0)
			hi += c
			p[i+j], c = bits.Add64(p[i+j], carry, 0)
			carry = hi + c
		}
	}
	return p
}

func (n wide) sub(m wide) wide {
	var borrow uint64
	for k := range n {
		n[k], borrow = bits.Sub64(n[k], m[k], borrow)
	}
	return n
}
