package agg

import (
	"math"
	"math/bits"
)

// moments writes the results of everything that is made of central moments.
func (f *finisher) moments() {
	for i, row := range f.groups() {
		v, null := 0.0, true
		if n := f.valid(row); n > 0 {
			v, null = f.moment(row, n)
		}
		f.out.Float[i] = v
		if null {
			f.setNull(i)
		}
	}
}

// moment is the result for a group of n > 0 rows.
func (f *finisher) moment(row []uint64, n int64) (v float64, null bool) {
	rows := float64(n)
	switch f.call.fn {
	case fnVarPop, fnStddevPop:
		if n == 1 {
			return 0, false // of an infinity too
		}
		v = f.central(row, n, 0, 0, 1) / rows
	case fnVarSamp, fnStddevSamp:
		if n == 1 {
			return 0, true
		}
		v = f.central(row, n, 0, 0, 1) / (rows - 1)
	case fnCovarPop:
		return f.central(row, n, 0, 1, 2) / rows, false
	case fnCovarSamp:
		return f.central(row, n, 0, 1, 2) / (rows - 1), n == 1
	case fnCorr:
		return f.correlation(row, n), false
	case fnSkewness:
		return f.skewness(row, rows)
	case fnKurtosis:
		return f.kurtosis(row, rows)
	}
	if f.call.fn == fnStddevPop || f.call.fn == fnStddevSamp {
		v = math.Sqrt(v)
	}
	return v, false
}

// correlation of values one of which does not vary is NaN.
func (f *finisher) correlation(row []uint64, n int64) float64 {
	xx := f.central(row, n, 0, 0, 3)
	yy := f.central(row, n, 1, 1, 4)
	if xx == 0 || yy == 0 {
		return math.NaN()
	}
	r := f.central(row, n, 0, 1, 2) / (math.Sqrt(xx) * math.Sqrt(yy))
	if r > 1 || r < -1 {
		return math.Copysign(1, r) // rounding only
	}
	return r
}

// central is the sum over the rows of (x - mean x) * (y - mean y), where x, y
// and xy are the slots, by their number in the call, of the sums of x, of y
// and of the products.
func (f *finisher) central(row []uint64, n int64, x, y, xy int) float64 {
	sx, sy, sxy := f.slot(x), f.slot(y), f.slot(xy)
	if sxy.op != opMulFloat && !sxy.isFixed() {
		scale := 0
		for _, k := range [2]int{x, y} {
			scale += int(f.call.types[k].Scale)
		}
		return exactCentral(n, exactSum(sx, row), exactSum(sy, row), exactSum(sxy, row)) / math.Pow10(scale)
	}
	return floatCentral(float64(n), f.floats(sx, row), f.floats(sy, row), f.floats(sxy, row), x == y, f.noise)
}

// exactCentral is (n*xy - x*y) / n, rounded after the subtraction.
func exactCentral(n int64, x, y, xy wide) float64 {
	if x.fitsInt64() && y.fitsInt64() && xy.fitsInt64() {
		h1, l1 := mulSigned(n, int64(xy[0]))
		h2, l2 := mulSigned(int64(x[0]), int64(y[0]))
		lo, borrow := bits.Sub64(l1, l2, 0)
		hi := h1 - h2 - borrow
		top := uint64(int64(hi) >> 63)
		m, rest := wide{lo, hi, top, top, top}.double()
		return divide(m, rest, float64(n))
	}
	m, rest := xy.mul(wide{uint64(n)}).sub(x.mul(y)).double()
	return divide(m, rest, float64(n))
}

// mulSigned returns the product of signed numbers as 128 bits.
func mulSigned(a, b int64) (hi, lo uint64) {
	hi, lo = bits.Mul64(uint64(a), uint64(b))
	return hi - uint64(a>>63&b) - uint64(b>>63&a), lo
}

// momentNoise is the error of a sum of products, relative to the sum of their
// absolute values and per row. What the subtraction of central leaves below it
// is no variance but rounding: a constant column has none.
const momentNoise = 0x1p-104

// deviceNoise is the same of rows that a device has combined, where many threads add to one sum
// at a time and each may round off a little: 2^-100 was seen on an H200.
const deviceNoise = 0x1p-96

// floatCentral is xy - x*y/n; same tells that x and y are the same column, noise what
// of that is rounding.
func floatCentral(n float64, x, y, xy compensated, same bool, noise float64) float64 {
	if math.IsInf(xy.s, 0) && !math.IsInf(x.s, 0) && !math.IsInf(y.s, 0) && x.s == x.s && y.s == y.s {
		return xy.s // only the products are too large
	}
	v := xy.dd().add(x.dd().mul(y.dd()).over(n).neg()).hi
	if same && v <= xy.s*n*noise {
		return 0
	}
	return v
}

func (a compensated) dd() dd {
	s, e := twoSum(a.s, a.c)
	return dd{s, e}
}

// powers are the mean and the central moments of a group, divided by n.
func (f *finisher) powers(row []uint64, n float64) (mean, m2 dd) {
	x := f.floats(f.slot(0), row)
	xx := f.floats(f.slot(1), row)
	mean = x.dd().over(n)
	m2 = xx.dd().over(n).add(mean.mul(mean).neg())
	if m2.hi <= xx.s*f.noise {
		m2 = dd{}
	}
	return mean, m2
}

// skewness is the adjusted Fisher-Pearson coefficient; NaN without variance.
func (f *finisher) skewness(row []uint64, n float64) (v float64, null bool) {
	if n <= 2 {
		return 0, true
	}
	mean, m2 := f.powers(row, n)
	if m2.hi == 0 {
		return math.NaN(), false
	}
	xxx := f.floats(f.slot(2), row).dd().over(n)
	// m3 = E[x^3] - 3 mean m2 - mean^3
	m3 := xxx.add(mean.mul(m2).times(-3)).add(mean.mul(mean).mul(mean).neg())
	return math.Sqrt(n*(n-1)) / (n - 2) * m3.hi / (m2.hi * math.Sqrt(m2.hi)), false
}

// kurtosis is the excess kurtosis with the sample's bias taken off; NULL
// without variance.
func (f *finisher) kurtosis(row []uint64, n float64) (v float64, null bool) {
	if n <= 3 {
		return 0, true
	}
	mean, m2 := f.powers(row, n)
	if m2.hi == 0 {
		return 0, true
	}
	xxx := f.floats(f.slot(2), row).dd().over(n)
	xxxx := f.floats(f.slot(3), row).dd().over(n)
	// m4 = E[x^4] - 4 mean E[x^3] + 6 mean^2 m2 + 3 mean^4
	square := mean.mul(mean)
	m4 := xxxx.add(mean.mul(xxx).times(-4)).add(square.mul(m2).times(6)).add(square.mul(square).times(3))
	ratio := m4.hi / (m2.hi * m2.hi)
	return (n - 1) * ((n+1)*ratio - 3*(n-1)) / ((n - 2) * (n - 3)), false
}
