package agg

import "math"

// dd is a number of about 106 bits, hi + lo, where lo is below half a unit in
// the last place of hi. (Dekker; Hida, Li and Bailey, "Library for double-double
// and quad-double arithmetic", 2007.)
type dd struct{ hi, lo float64 }

// quickTwoSum is twoSum for |a| >= |b|.
func quickTwoSum(a, b float64) dd {
	s := a + b
	return dd{s, b - (s - a)}
}

func square(x float64) dd {
	p := float64(x * x)
	return dd{p, math.FMA(x, x, -p)}
}

func (a dd) add(b dd) dd {
	s, e := twoSum(a.hi, b.hi)
	t, f := twoSum(a.lo, b.lo)
	r := quickTwoSum(s, e+t)
	return quickTwoSum(r.hi, r.lo+f)
}

func (a dd) neg() dd { return dd{-a.hi, -a.lo} }

func (a dd) mul(b dd) dd {
	p := float64(a.hi * b.hi)
	e := math.FMA(a.hi, b.hi, -p)
	e += math.FMA(a.hi, b.lo, float64(a.lo*b.hi))
	return quickTwoSum(p, e)
}

// times multiplies by a double.
func (a dd) times(b float64) dd { return a.mul(dd{b, 0}) }

// over divides by a double.
func (a dd) over(b float64) dd {
	q := a.hi / b
	r := a.add(dd{q, 0}.times(b).neg()) // the remainder of the first quotient
	return quickTwoSum(q, r.hi/b)
}
