package agg

import (
	"math"
	"math/bits"

	"github.com/gagg-dev/gagg/internal/column"
)

// Moments are plain sums of products, from which finish_moments.go subtracts
// the square of the mean. That is numerically sound only because the sums are
// exact (integers) or carry twice the digits of a double (floats).

// addMulInt adds x*y to sums that cannot overflow.
func addMulInt(words []uint64, stride int, gids []uint32, x, y []int64) {
	x, y = x[:len(gids)], y[:len(gids)]
	for i, g := range gids {
		words[int(g)*stride] += uint64(x[i] * y[i])
	}
}

// addMulInt128 adds x*y of values in the range of an int32, whose product has
// 63 bits with its sign. Only an overflow of the low word touches the high one.
func addMulInt128(words []uint64, stride, cold int, gids []uint32, x, y []int64) {
	x, y = x[:len(gids)], y[:len(gids)]
	for i, g := range gids {
		at, v := int(g)*stride, x[i]*y[i]
		old := int64(words[at])
		sum := old + v
		words[at] = uint64(sum)
		if (old^sum)&(v^sum) < 0 {
			words[at+cold] += overflowCarry(v)
		}
	}
}

// addMulInt192 adds x*y to sums of 192 bits. Where all values of the batch
// are below 2^31 in size, their products fit a signed word, and only an
// overflow of the low word of the sum touches the others.
func addMulInt192(words []uint64, stride, cold int, gids []uint32, x, y *column.Vector) {
	n := len(gids)
	if !fits31(x, n) || x != y && !fits31(y, n) {
		addMulLong(words, stride, cold, gids, x, y)
		return
	}
	xs, ys := x.Int[:n], y.Int[:n]
	for i, g := range gids {
		at, v := int(g)*stride, xs[i]*ys[i]
		old := int64(words[at])
		sum := old + v
		words[at] = uint64(sum)
		if (old^sum)&(v^sum) < 0 {
			carry128(words[at+cold:], overflowCarry(v))
		}
	}
}

// fits31 reports whether the first n values of v are in the range of an int32.
func fits31(v *column.Vector, n int) bool {
	var all uint64
	if v.Type.Kind == column.Uint64 {
		for _, u := range v.Int[:n] {
			all |= uint64(u)
		}
		return all <= math.MaxInt32
	}
	for _, i := range v.Int[:n] {
		all |= uint64(i ^ i>>63)
	}
	return all <= math.MaxInt32
}

// addMulLong is addMulInt192 for any values of 64 bits, signed or not.
func addMulLong(words []uint64, stride, cold int, gids []uint32, x, y *column.Vector) {
	xSigned, ySigned := x.Type.Kind != column.Uint64, y.Type.Kind != column.Uint64
	for i, g := range gids {
		a, b := x.Int[i], y.Int[i]
		hi, lo := bits.Mul64(uint64(a), uint64(b))
		// A negative number without its sign is greater by 1<<64.
		if xSigned && a < 0 {
			hi -= uint64(b)
		}
		if ySigned && b < 0 {
			hi -= uint64(a)
		}
		// hi may be a number without sign only if both factors are.
		top := uint64(int64(hi) >> 63)
		if !xSigned && !ySigned {
			top = 0
		}
		lower := int64(lo)
		hi, c := bits.Add64(hi, lo>>63, 0) // the low word becomes signed
		addSigned192(words[int(g)*stride:], cold, lower, hi, top+c)
	}
}

// addSigned192 adds lo + (hi0 + hi1<<64)<<64, lo being signed, to a sum of the
// same form.
func addSigned192(w []uint64, cold int, lo int64, hi0, hi1 uint64) {
	old := int64(w[0])
	sum := old + lo
	w[0] = uint64(sum)
	h := w[cold:][:2]
	var c uint64
	h[0], c = bits.Add64(h[0], hi0, 0)
	h[1] += hi1 + c
	if (old^sum)&(lo^sum) < 0 {
		carry128(h, overflowCarry(lo))
	}
}

// carry128 adds 1 or -1 to a number of two words.
func carry128(h []uint64, carry uint64) {
	var c uint64
	h[0], c = bits.Add64(h[0], carry, 0)
	h[1] += uint64(int64(carry)>>63) + c
}

// addMulFloat adds x*y with the error of the product (by fused multiply-add)
// and of the addition. The conversion keeps compilers from fusing the product
// with the addition.
func addMulFloat(words []uint64, stride int, gids []uint32, x, y []float64) {
	w := asFloats(words)
	x, y = x[:len(gids)], y[:len(gids)]
	for i, g := range gids {
		p := float64(x[i] * y[i])
		at := int(g) * stride
		s, e := twoSum(w[at], p)
		w[at], w[at+1] = settleLate(s, e+math.FMA(x[i], y[i], -p)+w[at+1])
	}
}

// addPowFloat adds the third or fourth power.
func addPowFloat(words []uint64, stride int, gids []uint32, x []float64, fourth bool) {
	w := asFloats(words)
	for i, g := range gids {
		p := square(x[i])
		if fourth {
			p = p.mul(p)
		} else {
			p = p.mul(dd{x[i], 0})
		}
		addCompensated(w, int(g)*stride, compensated{p.hi, p.lo})
	}
}
