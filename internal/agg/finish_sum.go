package agg

import (
	"math"
	"math/bits"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
)

// sum writes sums and returns the first row whose sum does not fit, or none.
func (f *finisher) sum() int {
	s := f.slot(0)
	for i, row := range f.rows {
		fits := true
		switch f.out.Type.Rep() {
		case column.RepInt64:
			n := exactSum(s, row)
			f.out.Int[i] = int64(n[0])
			fits = n.fitsInt64()
		case column.RepWide:
			n := exactSum(s, row)
			f.out.Wide[i] = decimal256.New(n[3], n[2], n[1], n[0])
			fits = n.fitsDigits(int(f.out.Type.Precision))
		case column.RepFloat64:
			f.out.Float[i] = loadFloat(row[s.hot:]).value()
		}
		if !f.seen(row) {
			f.setNull(i)
		} else if !fits {
			return i
		}
	}
	return none
}

// mean writes sum / rows, dividing the exact sum last.
func (f *finisher) mean() {
	s := f.slot(0)
	t := f.call.types[0]
	for i, row := range f.rows {
		n := f.valid(row)
		if n == 0 {
			f.out.Float[i] = 0
			f.setNull(i)
			continue
		}
		if s.op == opAddFloat {
			f.out.Float[i] = loadFloat(row[s.hot:]).value() / float64(n)
			continue
		}
		f.out.Float[i] = quotient(exactSum(s, row), n, int(t.Scale))
	}
}

// wide is an integer of 320 bits in two's complement, low word first.
type wide [5]uint64

// exactSum is the sum of an integer slot.
func exactSum(s *slot, row []uint64) wide {
	lo := row[s.hot]
	sign := uint64(int64(lo) >> 63)
	switch s.op {
	case opAddInt:
		return wide{lo, sign, sign, sign, sign}
	case opAddInt128:
		hi := row[s.cold] + sign // the low word has a sign of its own
		top := uint64(int64(hi) >> 63)
		return wide{lo, hi, top, top, top}
	case opAddUint128:
		return wide{lo, row[s.cold]}
	case opAddWide192:
		w := row[s.hot:][:3]
		top := uint64(int64(w[2]) >> 63)
		return wide{w[0], w[1], w[2], top, top}
	}
	return wide(row[s.hot:][:5])
}

func (n wide) negative() bool { return int64(n[4]) < 0 }

func (n wide) fitsInt64() bool {
	sign := uint64(int64(n[0]) >> 63)
	return n[1] == sign && n[2] == sign && n[3] == sign && n[4] == sign
}

// fitsDigits reports whether n has at most that many decimal digits, which
// are 38 or 76.
func (n wide) fitsDigits(digits int) bool {
	limit := decimal256.GetMaxValue(int32(digits)).Array()
	m := n.abs()
	if m[4] != 0 {
		return false
	}
	for k := 3; k >= 0; k-- {
		if m[k] != limit[k] {
			return m[k] < limit[k]
		}
	}
	return true
}

// abs is the absolute value as a number without sign.
func (n wide) abs() wide {
	if !n.negative() {
		return n
	}
	carry := uint64(1)
	for k := range n {
		n[k], carry = bits.Add64(^n[k], 0, carry)
	}
	return n
}

// double returns n as the sum of two doubles: the nearest to the upper 128
// bits of n, and what it lacks, so that hi+lo is good to about 2^-105.
func (n wide) double() (hi, lo float64) {
	if n.fitsInt64() {
		hi = float64(int64(n[0]))
		if hi >= 1<<63 { // rounded up, out of the range of int64
			return hi, float64(int64(n[0] - 1<<63))
		}
		return hi, float64(int64(n[0]) - int64(hi))
	}
	m := n.abs()
	for k := len(m) - 1; k >= 0; k-- {
		upper, lower := float64(m[k]>>32<<32), float64(m[k]&math.MaxUint32)
		scale := math.Ldexp(1, 64*k)
		var e float64
		hi, e = twoSum(hi, upper*scale)
		lo += e
		hi, e = twoSum(hi, lower*scale)
		lo += e
	}
	hi, lo = twoSum(hi, lo)
	if n.negative() {
		return -hi, -lo
	}
	return hi, lo
}

// quotient is n / (rows * 10^scale), rounded once but for rare last bits.
func quotient(n wide, rows int64, scale int) float64 {
	hi, lo := n.double()
	divisor := float64(rows)
	if scale <= 22 && divisor*math.Pow10(scale) <= 1<<53 { // exact
		return divide(hi, lo, divisor*math.Pow10(scale))
	}
	return divide(hi, lo, divisor) / math.Pow10(scale)
}

// divide returns (hi + lo) / d.
func divide(hi, lo, d float64) float64 {
	q := hi / d
	return q + (math.FMA(-q, d, hi)+lo)/d
}
