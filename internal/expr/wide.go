package expr

import (
	"math/bits"

	"github.com/apache/arrow/go/v15/arrow/decimal256"
)

// Arithmetic on 256-bit integers in two's complement. The library's products
// go through math/big; these do not allocate, and tell overflow.

func addWide(a, b decimal256.Num) (r decimal256.Num, overflow bool) {
	x, y := a.Array(), b.Array()
	w0, c := bits.Add64(x[0], y[0], 0)
	w1, c := bits.Add64(x[1], y[1], c)
	w2, c := bits.Add64(x[2], y[2], c)
	w3, _ := bits.Add64(x[3], y[3], c)
	return decimal256.New(w3, w2, w1, w0), int64((x[3]^w3)&(y[3]^w3)) < 0
}

func subWide(a, b decimal256.Num) (r decimal256.Num, overflow bool) {
	x, y := a.Array(), b.Array()
	w0, c := bits.Sub64(x[0], y[0], 0)
	w1, c := bits.Sub64(x[1], y[1], c)
	w2, c := bits.Sub64(x[2], y[2], c)
	w3, _ := bits.Sub64(x[3], y[3], c)
	return decimal256.New(w3, w2, w1, w0), int64((x[3]^y[3])&(x[3]^w3)) < 0
}

func isNegativeWide(a decimal256.Num) bool { return int64(a.Array()[3]) < 0 }

// mul64 is the product of two 64-bit integers.
func mul64(a, b int64) decimal256.Num {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	// The unsigned product counts a negative factor as 2^64 too much.
	hi -= uint64(a>>63)&uint64(b) + uint64(b>>63)&uint64(a)
	sign := uint64(int64(hi) >> 63)
	return decimal256.New(sign, sign, hi, lo)
}

// mulWide multiplies magnitudes, word by word, and sets the sign.
func mulWide(a, b decimal256.Num) (r decimal256.Num, overflow bool) {
	if x, ok := int64Of(a); ok {
		if y, ok := int64Of(b); ok {
			return mul64(x, y), false
		}
	}
	negative := isNegativeWide(a) != isNegativeWide(b)
	x, y := magnitudeWide(a), magnitudeWide(b)
	var p [8]uint64
	for i, u := range x {
		carry := uint64(0)
		for j, v := range y {
			hi, lo := bits.Mul64(u, v)
			var c uint64
			lo, c = bits.Add64(lo, p[i+j], 0)
			hi += c
			p[i+j], c = bits.Add64(lo, carry, 0)
			carry = hi + c
		}
		p[i+4] = carry
	}
	r = decimal256.New(p[3], p[2], p[1], p[0])
	overflow = p[4]|p[5]|p[6]|p[7] != 0 || int64(p[3]) < 0
	if negative {
		r = r.Negate()
	}
	return r, overflow
}

// int64Of gives a as an int64 if it fits.
func int64Of(a decimal256.Num) (int64, bool) {
	w := a.Array()
	sign := uint64(int64(w[0]) >> 63)
	return int64(w[0]), w[1] == sign && w[2] == sign && w[3] == sign
}

func magnitudeWide(a decimal256.Num) [4]uint64 {
	if isNegativeWide(a) {
		a = a.Negate()
	}
	return a.Array()
}
