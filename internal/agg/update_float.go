package agg

import (
	"math"
	"unsafe"
)

// compensated is a sum of floats as s + c: s is the sum in a double, c what
// its roundings lost. Once s is infinite or NaN, c means nothing.
type compensated struct{ s, c float64 }

// twoSum returns s = a + b as a double rounds it and its exact error (Knuth),
// without asking which of a and b is the greater.
func twoSum(a, b float64) (s, e float64) {
	s = a + b
	t := s - a
	return s, (a - (s - t)) + (b - t)
}

// value is the sum rounded to a double.
func (a compensated) value() float64 {
	v := a.s + a.c
	if v-v != 0 && (v != v || math.IsInf(a.s, 0)) { // NaN or infinite
		return a.s
	}
	return v
}

func loadFloat(words []uint64) compensated {
	w := asFloats(words)
	return compensated{w[0], w[1]}
}

// asFloats is the same words seen as doubles: loads straight into floating-
// point registers make the loops a third faster than math.Float64frombits.
func asFloats(words []uint64) []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(words))), len(words))
}

// addFloat adds to sums of float: their low words gather errors as they come,
// which is good for far more than the 1e-12 that sum and mean promise.
func addFloat(words []uint64, stride int, gids []uint32, vals []float64) {
	w := asFloats(words)
	vals = vals[:len(gids)]
	for i, g := range gids {
		at := int(g) * stride
		s, e := twoSum(w[at], vals[i])
		w[at] = s
		w[at+1] += e
	}
}

// addDouble adds to sums for moments, which subtract almost equal numbers.
func addDouble(words []uint64, stride int, gids []uint32, vals []float64) {
	w := asFloats(words)
	vals = vals[:len(gids)]
	for i, g := range gids {
		at := int(g) * stride
		s, e := twoSum(w[at], vals[i])
		w[at], w[at+1] = settleLate(s, e+w[at+1])
	}
}

// settleLate is settle where the low word c has grown to 4 units in the last place of s, so that n
// additions err by less than n * 2^-102. Where rows of a group follow one another, each addition
// would wait for settle of the one before (docs/experiments/0001).
func settleLate(s, c float64) (float64, float64) {
	// The bits of doubles without their signs are in the order of the doubles.
	const sign, times50 = 1 << 63, 50 << 52
	if math.Float64bits(c)&^sign+times50 > math.Float64bits(s)&^sign { // or c is NaN
		return settle(s, c)
	}
	return s, c
}

// settle makes the low word c of a sum small again, so that n additions err by
// less than n * 2^-105 of the sum of absolute values. Without it the error
// would grow with the square of n.
func settle(s, c float64) (float64, float64) {
	r := s + c
	c -= r - s
	if c != c { // the sum is infinite or NaN: only s knows which
		return s, 0
	}
	return r, c
}

// addCompensated adds b to the sum in w[at] + w[at+1].
func addCompensated(w []float64, at int, b compensated) {
	s, e := twoSum(w[at], b.s)
	w[at], w[at+1] = settle(s, e+b.c+w[at+1])
}
