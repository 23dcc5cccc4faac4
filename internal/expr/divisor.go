package expr

import "math/bits"

// divisor divides by a number that is known when a query is bound and not when
// it is compiled, rounding down. It multiplies by 2^(63+l)/d instead, where
// 2^l is the least power of two from d on: with the numerator below 2^63 the
// quotient is exact (Granlund and Montgomery, 1994). A division of 64 bits
// takes several times as long.
type divisor struct {
	d     int64
	magic uint64
	shift uint8 // behind the 64 bits that the high word leaves out
}

// newDivisor is for d > 0.
func newDivisor(d int64) divisor {
	if d == 1 {
		return divisor{d: 1}
	}
	l := uint(bits.Len64(uint64(d - 1)))
	magic, _ := bits.Div64(1<<(l-1), 0, uint64(d)) // 2^(64+l-1) / d
	return divisor{d: d, magic: magic + 1, shift: uint8(l - 1)}
}

// floor is the largest q with q*d <= n.
func (v divisor) floor(n int64) int64 {
	if v.magic == 0 {
		return n
	}
	sign := n >> 63 // ^n of a negative number is not negative, and ^(^n / d) is its floor
	hi, _ := bits.Mul64(uint64(n^sign), v.magic)
	return int64(hi>>(v.shift&63)) ^ sign
}
