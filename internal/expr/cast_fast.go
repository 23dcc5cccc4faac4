package expr

import (
	"math"

	"github.com/gagg-dev/gagg/internal/column"
)

// Casts whose values and results fit 64 bits are loops over integers: between numbers, and
// between dates and times. If a value of a batch does not fit, convert takes the batch row by
// row, and decides what becomes of each.

// powers is 10^n for all n that an int64 holds.
var powers = func() (p [maxInt64Power + 1]int64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = 10 * p[i-1]
	}
	return p
}()

// integerCast casts stored integers: v*times, or v/by rounded.
type integerCast struct {
	times       int64 // 0: by
	by          divisor
	down        bool  // of by: rounded down, not half away from zero
	unsigned    bool  // v below 0 stands for 2^64 more
	least, most int64 // what v may be, or of by the quotient
}

// castOfIntegers is the cast between two types that are neither floats nor texts; false if there
// is none.
func castOfIntegers(from, t column.Type) (c integerCast, ok bool) {
	family := familyOf(from)
	if family == familyBytes || family != familyOf(t) || from.IsFloat() || t.IsFloat() || t.Kind == column.Bool {
		return c, false
	}
	var a, b int64 // v*b/a
	if family != familyNumber {
		a, b = stepsPerDay(from), stepsPerDay(t)
	} else if shift := int(t.Scale) - int(from.Scale); max(shift, -shift) > maxInt64Power {
		return c, false
	} else {
		a, b = powers[max(-shift, 0)], powers[max(shift, 0)]
	}
	c.unsigned = from.Kind == column.Uint64
	c.least, c.most = integersOf(t)
	if a > b {
		c.by, c.down = newDivisor(a/b), family != familyNumber
		return c, true
	}
	c.times = b / a
	c.least, c.most = c.least/c.times, c.most/c.times
	if c.unsigned {
		c.least = 0
	}
	return c, true
}

// integersOf is which integers of 64 bits values of t may be stored as.
func integersOf(t column.Type) (least, most int64) {
	switch {
	case t.Kind == column.Decimal && t.Rep() == column.RepInt64:
		most = powers[t.Precision] - 1
		return -most, most
	case t.IsUnsigned() && t.Kind != column.Uint64:
		return 0, 1<<t.Bits() - 1
	case t.IsUnsigned():
		return 0, math.MaxInt64
	case t.IsSigned() || t.Kind == column.Date:
		return -1 << (t.Bits() - 1), 1<<(t.Bits()-1) - 1
	}
	return math.MinInt64, math.MaxInt64
}

// one casts a value, if all fits.
func (c *integerCast) one(v int64) (int64, bool) {
	if c.times > 0 {
		return v * c.times, v >= c.least && v <= c.most
	}
	q := c.quotient(v)
	return q, q >= c.least && q <= c.most && !(c.unsigned && v < 0)
}

// words is the cast as operations on words; nil: it has none.
func (c *integerCast) words() []wordOp {
	most := uint64(c.most)
	within := wordOp{code: CodeWithin, constant: most}
	switch {
	case c.unsigned:
		return nil
	case c.times > 1 && c.most == math.MaxInt64/c.times && c.least == math.MinInt64/c.times:
		return []wordOp{{code: CodeMultiply, with: uint64(c.times)}}
	case c.least != -c.most-1 || c.times > 1:
		return nil
	case c.times == 0 && !c.down:
		return append(roundHalf.words(c.by.d), within)
	case c.times == 1:
		return []wordOp{within}
	}
	return []wordOp{{code: CodeFloor, constant: uint64(c.by.d)}, within}
}

func (c *integerCast) quotient(v int64) int64 {
	q := c.by.floor(v)
	rest := v - q*c.by.d // from 0 on
	if !c.down && (rest > c.by.d-rest || rest == c.by.d-rest && v > 0) {
		q++
	}
	return q
}

// all casts values and reports whether all fit.
func (c *integerCast) all(out, in []int64) bool {
	bad := false
	if c.times > 0 {
		for i, v := range in {
			out[i] = v * c.times
			bad = bad || v < c.least || v > c.most
		}
		return !bad
	}
	for i, v := range in {
		q := c.quotient(v)
		out[i] = q
		bad = bad || q < c.least || q > c.most || c.unsigned && v < 0
	}
	return !bad
}

// floatCast casts doubles to integers or decimals.
type floatCast struct {
	power       float64 // of decimals; 0: integers
	least, most float64 // the result is from least on and below most
}

func castOfFloats(t column.Type) floatCast {
	if t.Kind == column.Decimal {
		most := float64(1 << 63)
		if t.Rep() == column.RepInt64 {
			most = math.Pow10(int(t.Precision))
		}
		return floatCast{math.Pow10(int(t.Scale)), math.Nextafter(-most, 0), most}
	}
	least, most := integersOf(t)
	return floatCast{0, float64(least), float64(most/2+1) * 2} // most is odd
}

func (c *floatCast) all(out []int64, in []float64) bool {
	bad := false
	for i, v := range in {
		if c.power > 0 {
			v = math.Round(v * c.power)
		} else {
			v = math.RoundToEven(v)
		}
		out[i] = int64(v)
		bad = bad || !(v >= c.least && v < c.most) // NaN too
	}
	return !bad
}

// fastCast is a kernel that casts whole batches; nil: there is none.
func fastCast(from, t column.Type) func(f *frame) bool {
	if c, ok := castOfIntegers(from, t); ok {
		return func(f *frame) bool {
			in, ok := integers(f.args[0], f.n)
			return ok && c.all(f.narrow(), in)
		}
	}
	switch {
	case from.IsFloat() && t.IsNumeric() && !t.IsFloat():
		c := castOfFloats(t)
		return func(f *frame) bool { return c.all(f.narrow(), f.args[0].Float[:f.n]) }
	case from.Rep() == column.RepInt64 && familyOf(from) == familyNumber && t.Kind == column.Bool:
		return func(f *frame) bool {
			for i, out := 0, f.narrow(); i < len(out); i++ {
				out[i] = truth(f.args[0].Int[i] != 0)
			}
			return true
		}
	case from.Kind == column.String && (t.IsInteger() || t.Kind == column.Decimal):
		return func(f *frame) bool { return castTexts(f, t) }
	}
	return nil
}

// castTexts casts texts that are plain numbers; a row that is NULL may be anything.
func castTexts(f *frame, t column.Type) bool {
	least, most := integersOf(t)
	for i, out := 0, f.narrow(); i < len(out); i++ {
		if f.out.IsNull(i) {
			out[i] = 0
			continue
		}
		v, ok := plainNumber(f.args[0].Bytes(i), int(t.Scale))
		if !ok || v < least || v > most {
			return false
		}
		out[i] = v
	}
	return true
}

// plainNumber reads up to 18 digits as a decimal of that scale, with or without a sign and a
// point.
func plainNumber(text []byte, scale int) (v int64, ok bool) {
	minus := len(text) > 0 && text[0] == '-'
	if minus {
		text = text[1:]
	}
	behind := -1 // digits behind the point; -1: there is none
	for _, c := range text {
		switch {
		case c == '.' && behind < 0:
			behind = 0
			continue
		case c < '0' || c > '9':
			return 0, false
		case behind >= 0:
			behind++
		}
		v = v*10 + int64(c-'0')
	}
	digits, zeros := len(text), scale-max(behind, 0)
	if behind >= 0 {
		digits--
	}
	if digits == 0 || behind == 0 || zeros < 0 || digits+zeros > maxInt64Power {
		return 0, false
	}
	if v *= powers[zeros]; minus {
		v = -v
	}
	return v, true
}
