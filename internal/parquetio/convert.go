package parquetio

import (
	"math"

	"github.com/gagg-dev/gagg/internal/column"
)

// commonType returns the least type that values of both a and b go into
// without loss, and whether there is one. Integers do not become floats or
// decimals, nor times other kinds of times: a table whose files disagree
// that much is more likely a mistake.
func commonType(a, b column.Type) (column.Type, bool) {
	switch {
	case a == b || b.Kind == column.Null:
		return a, true
	case a.Kind == column.Null:
		return b, true
	case a.IsInteger() && b.IsInteger():
		return commonInteger(a, b)
	case a.IsFloat() && b.IsFloat():
		return column.Type{Kind: max(a.Kind, b.Kind)}, true
	case a.Kind == column.Decimal && b.Kind == column.Decimal:
		a.Precision = max(a.Precision, b.Precision)
		return a, a.Scale == b.Scale
	case a.Kind == b.Kind && (a.Kind == column.Time || a.Kind == column.Timestamp):
		a.Unit = max(a.Unit, b.Unit)
		return a, a.UTC == b.UTC
	case isText(a) && isText(b):
		return column.Type{Kind: column.Binary}, true
	}
	return column.Type{}, false
}

// isText reports whether values of t are bytes that mean no more than
// themselves; those of a UUID are shown otherwise.
func isText(t column.Type) bool {
	return t.Kind == column.String || t.Kind == column.Binary || t.Kind == column.FixedBinary
}

func commonInteger(a, b column.Type) (column.Type, bool) {
	if a.IsSigned() == b.IsSigned() {
		return column.Type{Kind: max(a.Kind, b.Kind)}, true
	}
	signed, unsigned := a, b
	if b.IsSigned() {
		signed, unsigned = b, a
	}
	if unsigned.Kind == column.Uint64 {
		return column.Type{}, false
	}
	holds := unsigned.Kind - column.Uint8 + column.Int16 // the next wider signed one
	return column.Type{Kind: max(signed.Kind, holds)}, true
}

// widens reports whether values of type from can be read as type to.
func widens(from, to column.Type) bool {
	t, ok := commonType(from, to)
	return ok && t == to
}

// intRule is the checks and conversions of the integers of a column on their
// way from the file to a vector of the wanted type.
type intRule struct {
	mask   bool  // keep the low 32 bits: uint32
	lo, hi int64 // what the file's type admits, or what can be scaled
	digits bool  // of a decimal, which a wider type could hold
	factor int64 // units of the wanted type in one of the file's; 1: none
	reason string
}

// newIntRule makes the rule for a column of type from, stored in bits bits,
// that is wanted as type to.
func newIntRule(from, to column.Type, bits int) intRule {
	r := intRule{lo: math.MinInt64, hi: math.MaxInt64, factor: 1}
	switch {
	case from.Kind == column.Uint32 && bits == 32:
		r.mask = true
	case from.Kind == column.Uint64:
	case from.IsUnsigned() && from.Bits() < 64:
		r.lo, r.hi = 0, 1<<from.Bits()-1
	case from.IsSigned() && from.Bits() < bits:
		r.lo, r.hi = -1<<(from.Bits()-1), 1<<(from.Bits()-1)-1
	case to.Kind == column.Decimal && to.Precision <= column.MaxInt64Digits:
		r.hi = pow10(int(to.Precision)) - 1
		r.lo = -r.hi
		r.digits = true
	case from.Kind == column.Time || from.Kind == column.Timestamp:
		if to.Kind == from.Kind && to.Unit > from.Unit {
			r.factor = to.Unit.PerSecond() / from.Unit.PerSecond()
			r.lo, r.hi = math.MinInt64/r.factor, math.MaxInt64/r.factor
		}
	}
	r.reason = "does not fit " + from.String()
	if r.factor > 1 || to.Kind == column.Decimal {
		r.reason = "does not fit " + to.String()
	}
	return r
}

func pow10(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}

// none reports that values stay as they are.
func (r *intRule) none() bool {
	return !r.mask && r.lo == math.MinInt64 && r.hi == math.MaxInt64 && r.factor == 1
}

// apply checks and converts values in place.
func (r *intRule) apply(values []int64) error {
	if r.mask {
		for i := range values {
			values[i] &= math.MaxUint32
		}
	}
	if r.lo != math.MinInt64 || r.hi != math.MaxInt64 {
		for i, v := range values {
			if v < r.lo || v > r.hi {
				bad := &valueError{index: i, reason: r.reason}
				if r.digits {
					bad.digits = digitsFor(wide(v))
				}
				return bad
			}
		}
	}
	if r.factor > 1 {
		for i := range values {
			values[i] *= r.factor
		}
	}
	return nil
}

// valueError is about one value of those being decoded.
type valueError struct {
	index  int
	reason string
	digits int // of a decimal that would hold it: see PrecisionError; 0: none
}

func (e *valueError) Error() string { return "value " + e.reason }
