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
	switch {
	case s.isFixed():
		f.fixedSums(s)
		return none
	case f.out.Type.Rep() == column.RepFloat64:
		f.floatSums(s)
		return none
	case f.fitsWord(f.call):
		f.wordSums(s)
		return none
	}
	seen, narrow, digits := f.presence(), f.out.Type.Rep() == column.RepInt64, int(f.out.Type.Precision)
	for i := range f.out.Len {
		row := f.rows[i*f.stride:][:f.stride]
		n := f.exactSum(s, row)
		fits := n.fitsInt64()
		if narrow {
			f.out.Int[i] = int64(n[0])
		} else {
			f.out.Wide[i] = decimal256.New(n[3], n[2], n[1], n[0])
			fits = fits || n.fitsDigits(digits)
		}
		if !seen.in(row) {
			f.setNull(i)
		} else if !fits {
			return i
		}
	}
	return none
}

// wordSums writes sums that lie in one word.
func (f *finisher) wordSums(s *slot) {
	rows, stride, hot, shift, seen, narrow := f.rows, f.stride, s.hot, s.shift&63, f.presence(), f.out.Type.Rep() == column.RepInt64
	for i := range f.out.Len {
		row := rows[i*stride:][:stride]
		if w := row[hot] >> shift; narrow {
			f.out.Int[i] = int64(w)
		} else {
			sign := uint64(int64(w) >> 63)
			f.out.Wide[i] = decimal256.New(sign, sign, sign, w)
		}
		if !seen.in(row) {
			f.setNull(i)
		}
	}
}

// floatSums writes sums of floats, which always fit.
func (f *finisher) floatSums(s *slot) {
	rows, stride, out, hot, seen := f.rows, f.stride, f.out.Float, s.hot, f.presence()
	for i := range out {
		row := rows[i*stride:][:stride]
		out[i] = loadFloat(row[hot:]).value()
		if !seen.in(row) {
			f.setNull(i)
		}
	}
}

// mean writes sum / rows, dividing the exact sum last.
func (f *finisher) mean() {
	s := f.slot(0)
	t := f.call.types[0]
	point := math.Pow10(min(int(t.Scale), exactPower))
	small := (s.op == opAddInt || s.op == opAddCounted) && f.call.linear == nil && t.Scale <= exactPower
	for i := range f.out.Float {
		row := f.rows[i*f.stride:][:f.stride]
		n := f.valid(row)
		if n == 0 {
			f.out.Float[i] = 0
			f.setNull(i)
			continue
		}
		if small {
			if sum, by := s.word(row), float64(n)*point; -1<<53 <= sum && sum <= 1<<53 && by <= 1<<53 {
				f.out.Float[i] = float64(sum) / by // both are exact: rounded once
				continue
			}
		}
		if s.isFixed() {
			f.out.Float[i] = f.floats(s, row).s / float64(n)
			continue
		}
		if s.op == opAddFloat || s.op == opAddDouble {
			f.out.Float[i] = loadFloat(row[s.hot:]).value() / float64(n)
			continue
		}
		f.out.Float[i] = quotient(f.exactSum(s, row), n, int(t.Scale))
	}
}

// exactPower is the greatest power of ten that a float holds exactly.
const exactPower = 22

// word is the sum of a slot that has one word.
func (s *slot) word(row []uint64) int64 {
	if s.op == opAddCounted {
		return int64(row[s.hot] >> (s.shift & 63))
	}
	return int64(row[s.hot])
}

// exactSum is the sum of an integer slot.
func exactSum(s *slot, row []uint64) wide {
	lo := row[s.hot]
	sign := uint64(int64(lo) >> 63)
	switch s.op {
	case opAddInt, opMulInt:
		return wide{lo, sign, sign, sign, sign}
	case opAddCounted:
		return wide{lo >> s.shift}
	case opAddInt128, opMulInt128:
		hi := row[s.cold] + sign // the low word has a sign of its own
		top := uint64(int64(hi) >> 63)
		return wide{lo, hi, top, top, top}
	case opMulInt192:
		h := row[s.cold:][:2]
		mid, c := bits.Add64(h[0], sign, 0)
		upper := h[1] + sign + c
		top := uint64(int64(upper) >> 63)
		return wide{lo, mid, upper, top, top}
	case opAddUint128:
		return wide{lo, row[s.cold]}
	case opAddWide192:
		w := row[s.hot:][:3]
		top := uint64(int64(w[2]) >> 63)
		return wide{w[0], w[1], w[2], top, top}
	}
	return wide(row[s.hot:][:5])
}

// quotient is n / (rows * 10^scale), rounded once but for rare last bits.
func quotient(n wide, rows int64, scale int) float64 {
	hi, lo := n.double()
	divisor := float64(rows)
	if scale <= exactPower && divisor*math.Pow10(scale) <= 1<<53 { // exact
		return divide(hi, lo, divisor*math.Pow10(scale))
	}
	return divide(hi, lo, divisor) / math.Pow10(scale)
}

// divide returns (hi + lo) / d.
func divide(hi, lo, d float64) float64 {
	q := hi / d
	return q + (math.FMA(-q, d, hi)+lo)/d
}
