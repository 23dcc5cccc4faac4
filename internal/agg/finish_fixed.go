package agg

import (
	"math"
	"math/bits"
	"slices"
)

// This file rounds fixed-point sums.

// floats is the sum of a slot of floats as two doubles: the nearest one, and the nearest one of
// what that lacks, if the sum is exact.
func (f *finisher) floats(s *slot, row []uint64) compensated {
	if !s.isFixed() {
		return loadFloat(row[s.hot:])
	}
	if !s.fixed.special.in() {
		return f.rounded(row[s.hot:][:s.fixed.n], s.fixed.low)
	}
	switch has := ^s.fixed.special.get(row) & noSpecial; has {
	case 0:
		return f.rounded(row[s.hot:][:s.fixed.n], s.fixed.low)
	case specialPlus:
		return compensated{s: math.Inf(1)}
	case specialMinus:
		return compensated{s: math.Inf(-1)}
	}
	return compensated{s: math.NaN()}
}

// rounded is an integer in two's complement times 2^low as two doubles.
func (f *finisher) rounded(sum []uint64, low int) compensated {
	negative := int64(sum[len(sum)-1]) < 0
	if negative {
		f.size = append(f.size[:0], sum...)
		sum = f.size
		carry := uint64(1)
		for i := range sum {
			sum[i], carry = bits.Add64(^sum[i], 0, carry)
		}
	}
	r := roundSize(sum, low)
	if negative {
		return compensated{-r.s, -r.c}
	}
	return r
}

// roundSize is rounded of a number without a sign.
func roundSize(size []uint64, low int) compensated {
	k := len(size) - 1
	for ; k >= 0 && size[k] == 0; k-- {
	}
	if k < 0 {
		return compensated{}
	}
	// the upper 128 bits, of which the first is 1, and whether there are any below
	word := func(i int) uint64 {
		if i < 0 {
			return 0
		}
		return size[i]
	}
	by := uint(bits.LeadingZeros64(size[k]))
	hi := size[k]<<by | word(k-1)>>1>>(63-by)
	lo := word(k-1)<<by | word(k-2)>>1>>(63-by)
	below := word(k-2)<<by != 0 || k > 2 && slices.ContainsFunc(size[:k-2], func(w uint64) bool { return w != 0 })
	return round128(hi, lo, below, low+64*k-int(by))
}

// round128 is (hi<<64 + lo) * 2^(exponent-64) as two doubles; the first bit of hi is 1, and below
// tells that there is less than a unit more.
func round128(hi, lo uint64, below bool, exponent int) compensated {
	// the double has 53 places, but fewer where the last one were less than leastDigit
	drop := max(64-fractionBits, leastDigit-exponent)
	if drop > 64 {
		return compensated{} // less than half of the smallest double
	}
	var high, rest uint64 // of hi; high is shifted down
	if drop == 64 {
		rest = hi
	} else {
		high, rest = hi>>drop, hi&(1<<drop-1)
	}
	half := uint64(1) << (drop - 1)
	up := rest > half || rest == half && (lo != 0 || below || high&1 == 1)
	if up {
		high++
	}
	r := compensated{s: timesPower(float64(high), exponent+drop)}
	if math.IsInf(r.s, 0) {
		return r
	}
	// what is left, rest<<64 + lo in the units of lo, is taken from the unit that was added
	sign := 1.0
	if up {
		var borrow uint64
		sign = -1
		lo, borrow = bits.Sub64(0, lo, 0)
		rest = half<<1 - rest - borrow
	}
	if rest != 0 {
		by := uint(bits.LeadingZeros64(rest))
		top := rest<<by | lo>>1>>(63-by)
		r.c = timesPower(sign*float64(top), exponent-int(by))
	} else {
		r.c = timesPower(sign*float64(lo), exponent-64)
	}
	return r
}

// timesPower is math.Ldexp for integers of up to 64 bits, most of which it multiplies.
func timesPower(n float64, exponent int) float64 {
	if -1022 <= exponent && exponent < 1023-64 { // the product is 0, or normal too
		return n * math.Float64frombits(uint64(exponent+1023)<<52)
	}
	return math.Ldexp(n, exponent)
}

// fixedSums writes exact sums of floats.
func (f *finisher) fixedSums(s *slot) {
	seen := f.presence()
	for i, row := range f.groups() {
		f.out.Float[i] = f.floats(s, row).s
		if !seen.in(row) {
			f.setNull(i)
		}
	}
}
