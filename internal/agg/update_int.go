package agg

import (
	"math/bits"

	"github.com/apache/arrow/go/v15/arrow/decimal256"
)

// addInt adds to sums that cannot overflow.
func addInt(words []uint64, stride int, gids []uint32, vals []int64) {
	vals = vals[:len(gids)]
	for i, g := range gids {
		words[int(g)*stride] += uint64(vals[i])
	}
}

// addLow is addInt for wide decimals that fit a word.
func addLow(words []uint64, stride int, gids []uint32, vals []decimal256.Num) {
	vals = vals[:len(gids)]
	for i, g := range gids {
		words[int(g)*stride] += vals[i].LowBits()
	}
}

// addInt128 adds to sums of a signed low word and a high word, cold words
// further on. The high word changes only when the low one overflows, which
// for values of usual size is never: so a row costs one word, not two.
func addInt128(words []uint64, stride, cold int, gids []uint32, vals []int64) {
	vals = vals[:len(gids)]
	for i, g := range gids {
		at, v := int(g)*stride, vals[i]
		old := int64(words[at])
		sum := old + v
		words[at] = uint64(sum)
		if (old^sum)&(v^sum) < 0 {
			words[at+cold] += overflowCarry(v)
		}
	}
}

// overflowCarry is added to the high word when adding v has overflowed the
// signed low word: 1 upwards, -1 downwards.
func overflowCarry(v int64) uint64 { return uint64(v>>63 | 1) }

// addUint128 adds values of 64 bits without sign. Such columns hold large
// numbers more often than not, so the carry is added without a branch.
func addUint128(words []uint64, stride, cold int, gids []uint32, vals []int64) {
	vals = vals[:len(gids)]
	for i, g := range gids {
		at := int(g) * stride
		lo, carry := bits.Add64(words[at], uint64(vals[i]), 0)
		words[at] = lo
		words[at+cold] += carry
	}
}

func addWide192(words []uint64, stride int, gids []uint32, vals []decimal256.Num) {
	vals = vals[:len(gids)]
	for i, g := range gids {
		v := vals[i].Array()
		w := words[int(g)*stride:][:3]
		var c uint64
		w[0], c = bits.Add64(w[0], v[0], 0)
		w[1], c = bits.Add64(w[1], v[1], c)
		w[2], _ = bits.Add64(w[2], v[2], c)
	}
}

func addWide320(words []uint64, stride int, gids []uint32, vals []decimal256.Num) {
	vals = vals[:len(gids)]
	for i, g := range gids {
		v := vals[i].Array()
		sign := uint64(int64(v[3]) >> 63)
		addWords(words[int(g)*stride:][:5], []uint64{v[0], v[1], v[2], v[3], sign})
	}
}

// addNarrow adds to sums of several words in two's complement. The upper words change only when the
// lowest one passes from one sign of theirs to the other, which for values of one sign is never.
func addNarrow(words []uint64, stride, n int, gids []uint32, vals []int64) {
	vals = vals[:len(gids)]
	for i, g := range gids {
		at, v := int(g)*stride, vals[i]
		lo, carry := bits.Add64(words[at], uint64(v), 0)
		words[at] = lo
		if up := uint64(v>>63) + carry; up != 0 { // 1 or -1
			sign := uint64(int64(up) >> 63)
			addWords(words[at+1:at+n], []uint64{up, sign, sign, sign}[:n-1])
		}
	}
}

// addWords adds numbers in two's complement, low word first.
func addWords(dst, src []uint64) {
	var c uint64
	for i := range dst {
		dst[i], c = bits.Add64(dst[i], src[i], c)
	}
}

// wideWords is how many words the sum of op has, of wide decimals.
func wideWords(o op) int {
	if o == opAddWide192 {
		return 3
	}
	return 5
}

// wide128 is hi<<64 + lo, lo being signed.
func wide128(hi, lo int64) wide {
	hi += lo >> 63
	sign := uint64(hi >> 63)
	return wide{uint64(lo), uint64(hi), sign, sign, sign}
}

// addSigned128 adds hi<<64 + lo, lo being signed, to a sum of the same form.
func addSigned128(sumLo, sumHi *uint64, hi, lo int64) {
	old := int64(*sumLo)
	sum := old + lo
	*sumLo = uint64(sum)
	*sumHi += uint64(hi)
	if (old^sum)&(lo^sum) < 0 {
		*sumHi += overflowCarry(lo)
	}
}

// sumInt adds up values whose sum cannot overflow.
func sumInt(vals []int64) int64 {
	var a, b, c, d int64
	for ; len(vals) >= 4; vals = vals[4:] {
		a += vals[0]
		b += vals[1]
		c += vals[2]
		d += vals[3]
	}
	for _, v := range vals {
		a += v
	}
	return a + b + c + d
}

// sumInt128 adds up less than 2^31 values to hi<<64 + lo, lo being signed: their halves by
// themselves, so that no addition waits for a carry.
func sumInt128(vals []int64) (hi, lo int64) {
	var low uint64
	var high int64
	for _, v := range vals {
		low += uint64(uint32(v))
		high += v >> 32
	}
	return join128(high, low)
}

// join128 is high<<32 + low as hi<<64 + lo, lo being signed.
func join128(high int64, low uint64) (hi, lo int64) {
	sum, carry := bits.Add64(uint64(high)<<32, low, 0)
	lo = int64(sum)
	// the low word as a signed number is less by 1<<64 if it is negative
	return high>>32 + int64(carry) - lo>>63, lo
}

// addUnsigned128 adds hi<<64 + lo to a sum of the same form.
func addUnsigned128(sumLo, sumHi *uint64, hi, lo uint64) {
	var carry uint64
	*sumLo, carry = bits.Add64(*sumLo, lo, 0)
	*sumHi += hi + carry
}
