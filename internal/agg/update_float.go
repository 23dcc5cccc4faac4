package agg

import (
	"math"
	"unsafe"
)

// compensated is a sum of floats as s + c: s is the sum in a double, c the sum
// of what its roundings lost (Neumaier). Once s is infinite or NaN, c means
// nothing.
type compensated struct{ s, c float64 }

// twoSum returns s = a + b as a double rounds it and its exact error (Knuth),
// without asking which of a and b is the greater.
func twoSum(a, b float64) (s, e float64) {
	s = a + b
	t := s - a
	return s, (a - (s - t)) + (b - t)
}

func (a *compensated) add(v float64) {
	s, e := twoSum(a.s, v)
	a.s = s
	a.c += e
}

func (a *compensated) merge(b compensated) {
	a.add(b.s)
	a.c += b.c
}

// value is the sum rounded to a double.
func (a compensated) value() float64 {
	if v := a.s + a.c; !math.IsNaN(v) && !math.IsInf(a.s, 0) {
		return v
	}
	return a.s
}

func loadFloat(words []uint64) compensated {
	w := asFloats(words)
	return compensated{w[0], w[1]}
}

func mergeFloat(words []uint64, b compensated) {
	a := loadFloat(words)
	a.merge(b)
	w := asFloats(words)
	w[0], w[1] = a.s, a.c
}

// asFloats is the same words seen as doubles: loads straight into floating-
// point registers make the loops a third faster than math.Float64frombits.
func asFloats(words []uint64) []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(words))), len(words))
}

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

// sumFloat adds up values in four independent sums, which hides the latency
// of the additions.
func sumFloat(vals []float64) compensated {
	var a, b, c, d compensated
	for ; len(vals) >= 4; vals = vals[4:] {
		a.add(vals[0])
		b.add(vals[1])
		c.add(vals[2])
		d.add(vals[3])
	}
	for _, v := range vals {
		a.add(v)
	}
	a.merge(b)
	c.merge(d)
	a.merge(c)
	return a
}
