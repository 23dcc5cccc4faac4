package agg

import "math"

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
	return compensated{math.Float64frombits(words[0]), math.Float64frombits(words[1])}
}

func storeFloat(words []uint64, a compensated) {
	words[0], words[1] = math.Float64bits(a.s), math.Float64bits(a.c)
}

func mergeFloat(words []uint64, b compensated) {
	a := loadFloat(words)
	a.merge(b)
	storeFloat(words, a)
}

func addFloat(words []uint64, stride int, gids []uint32, vals []float64) {
	vals = vals[:len(gids)]
	for i, g := range gids {
		w := words[int(g)*stride:][:2]
		s, e := twoSum(math.Float64frombits(w[0]), vals[i])
		w[0] = math.Float64bits(s)
		w[1] = math.Float64bits(math.Float64frombits(w[1]) + e)
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
