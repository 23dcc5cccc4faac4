package agg

import "math/bits"

// This file is the loops that add integers, their products and powers to sums of groups
// (fixed_align.go).

// alignedLoop adds integers, or what is made of two, to the sums of groups.
type alignedLoop func(to alignedSums, gids []uint32, x, y []int64) (n int, negative uint64)

// The loops, by how many words an addend lies in.
var (
	alignedInts     = [...]alignedLoop{1: addIntsWord, 2: addInts}
	alignedProducts = [...]alignedLoop{1: addProductsWord, 2: addProducts2, 3: addProducts}
)

// alignedSums says what loops over integers add to. Where there are words above these a loop
// returns at the first row of which a carry to them is left: 1, or -1 where negative is all bits.
// If it added that itself, by a call, it would keep less in registers.
type alignedSums struct {
	words  []uint64 // from the first word of the first group on
	stride int
	above  bool // there are words above
	by     uint // the bit of the word that integers begin at
}

// Loops over powers multiply by 2^by in place of shifting: that gives a word and what goes to the
// next one in two operations, where two shifts by a variable take five.

// carryInto adds 1 to words, or takes it off where negative is all bits.
func carryInto(words []uint64, negative uint64) {
	carry := 1 - negative&1
	for i := range words {
		words[i], carry = bits.Add64(words[i], negative, carry)
	}
}

// addInts adds integers.
func addInts(to alignedSums, gids []uint32, x, _ []int64) (n int, negative uint64) {
	words, stride, above, by, down := to.words, to.stride, to.above, to.by, 63-to.by
	x = x[:len(gids)]
	for i, g := range gids {
		n, at := x[i], int(g)*stride
		w := words[at : at+2 : at+2]
		var c uint64
		w[0], c = bits.Add64(w[0], uint64(n)<<(by&63), 0)
		w[1], c = bits.Add64(w[1], uint64(n>>1>>(down&63)), c)
		if above && c != uint64(n)>>63 {
			return i, uint64(n >> 63)
		}
	}
	return len(gids), 0
}

// addIntsWord adds integers that lie in one word.
func addIntsWord(to alignedSums, gids []uint32, x, _ []int64) (n int, negative uint64) {
	words, stride, above, by := to.words, to.stride, to.above, to.by
	x = x[:len(gids)]
	for i, g := range gids {
		w := &words[int(g)*stride]
		var c uint64
		if *w, c = bits.Add64(*w, uint64(x[i])<<(by&63), 0); above && c != uint64(x[i])>>63 {
			return i, uint64(x[i] >> 63)
		}
	}
	return len(gids), 0
}

// addProductsWord adds products of integers that lie in one word.
func addProductsWord(to alignedSums, gids []uint32, x, y []int64) (n int, negative uint64) {
	words, stride, above, by := to.words, to.stride, to.above, to.by
	x, y = x[:len(gids)], y[:len(gids)]
	for i, g := range gids {
		w, p := &words[int(g)*stride], x[i]*y[i]
		var c uint64
		if *w, c = bits.Add64(*w, uint64(p)<<(by&63), 0); above && c != uint64(p)>>63 {
			return i, uint64(p >> 63)
		}
	}
	return len(gids), 0
}

// addProducts2 adds products of integers that lie in two words.
func addProducts2(to alignedSums, gids []uint32, x, y []int64) (n int, negative uint64) {
	words, stride, above, by, down := to.words, to.stride, to.above, to.by, 63-to.by
	x, y = x[:len(gids)], y[:len(gids)]
	for i, g := range gids {
		a, b, at := x[i], y[i], int(g)*stride
		hi, lo := bits.Mul64(uint64(a), uint64(b))
		hi -= uint64(a>>63&b) + uint64(b>>63&a)
		w := words[at : at+2 : at+2]
		var c uint64
		w[0], c = bits.Add64(w[0], lo<<(by&63), 0)
		w[1], c = bits.Add64(w[1], hi<<(by&63)|lo>>1>>(down&63), c)
		if above && c != hi>>63 {
			return i, uint64(int64(hi) >> 63)
		}
	}
	return len(gids), 0
}

// addSquares adds squares of integers.
func addSquares(to alignedSums, gids []uint32, x, _ []int64) (n int, negative uint64) {
	words, stride, above, shift := to.words, to.stride, to.above, uint64(1)<<(to.by&63)
	x = x[:len(gids)]
	for i, g := range gids {
		sign := x[i] >> 63
		n, at := uint64(x[i]^sign-sign), int(g)*stride
		hi, lo := bits.Mul64(n, n)
		over, lo := bits.Mul64(lo, shift)
		hi, mid := bits.Mul64(hi, shift)
		w := words[at : at+3 : at+3]
		var c uint64
		w[0], c = bits.Add64(w[0], lo, 0)
		w[1], c = bits.Add64(w[1], mid|over, c)
		w[2], c = bits.Add64(w[2], hi, c)
		if above && c != 0 {
			return i, 0
		}
	}
	return len(gids), 0
}

// addProducts adds products of integers.
func addProducts(to alignedSums, gids []uint32, x, y []int64) (n int, negative uint64) {
	words, stride, above, by, down := to.words, to.stride, to.above, to.by, 63-to.by
	x, y = x[:len(gids)], y[:len(gids)]
	for i, g := range gids {
		a, b, at := x[i], y[i], int(g)*stride
		hi, lo := bits.Mul64(uint64(a), uint64(b))
		// a negative number without its sign is greater by 1<<64
		hi -= uint64(a>>63&b) + uint64(b>>63&a)
		w := words[at : at+3 : at+3]
		var c uint64
		w[0], c = bits.Add64(w[0], lo<<(by&63), 0)
		w[1], c = bits.Add64(w[1], hi<<(by&63)|lo>>1>>(down&63), c)
		w[2], c = bits.Add64(w[2], uint64(int64(hi)>>1>>(down&63)), c)
		if above && c != hi>>63 {
			return i, uint64(int64(hi) >> 63)
		}
	}
	return len(gids), 0
}

// addCubes adds third powers of integers.
func addCubes(to alignedSums, gids []uint32, x, _ []int64) (n int, negative uint64) {
	words, stride, above, shift := to.words, to.stride, to.above, uint64(1)<<(to.by&63)
	x = x[:len(gids)]
	for i, g := range gids {
		sign, at := x[i]>>63, int(g)*stride
		n, negative := uint64(x[i]^sign-sign), uint64(sign)
		high, low := bits.Mul64(n, n)
		over, lo := bits.Mul64(low, n)
		hi, mid := bits.Mul64(high, n)
		mid, c := bits.Add64(mid, over, 0)
		hi += c
		over, lo = bits.Mul64(lo, shift)
		top, mid := bits.Mul64(mid, shift)
		mid |= over
		over, hi = bits.Mul64(hi, shift)
		hi |= top
		w := words[at : at+4 : at+4]
		w[0], c = bits.Add64(w[0], lo^negative, negative&1)
		w[1], c = bits.Add64(w[1], mid^negative, c)
		w[2], c = bits.Add64(w[2], hi^negative, c)
		w[3], c = bits.Add64(w[3], over^negative, c)
		if above && c != negative&1 {
			return i, negative
		}
	}
	return len(gids), 0
}

// addFourths adds fourth powers of integers.
func addFourths(to alignedSums, gids []uint32, x, _ []int64) (n int, negative uint64) {
	words, stride, above, shift := to.words, to.stride, to.above, uint64(1)<<(to.by&63)
	x = x[:len(gids)]
	for i, g := range gids {
		sign, at := x[i]>>63, int(g)*stride
		n := uint64(x[i] ^ sign - sign)
		hi, lo := bits.Mul64(n, n)
		low, first := bits.Mul64(lo, lo)
		mid, second := bits.Mul64(2*hi, lo)
		fourth, third := bits.Mul64(hi, hi)
		second, c := bits.Add64(second, low, 0)
		third, c = bits.Add64(third, mid, c)
		fourth += c
		low, first = bits.Mul64(first, shift)
		mid, second = bits.Mul64(second, shift)
		hi, third = bits.Mul64(third, shift)
		fifth, fourth := bits.Mul64(fourth, shift)
		second, third, fourth = second|low, third|mid, fourth|hi
		w := words[at : at+5 : at+5]
		w[0], c = bits.Add64(w[0], first, 0)
		w[1], c = bits.Add64(w[1], second, c)
		w[2], c = bits.Add64(w[2], third, c)
		w[3], c = bits.Add64(w[3], fourth, c)
		w[4], c = bits.Add64(w[4], fifth, c)
		if above && c != 0 {
			return i, 0
		}
	}
	return len(gids), 0
}
