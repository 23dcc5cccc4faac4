package expr

import (
	"math"
	"math/big"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
)

// exact is a constant on the line of rational numbers, for moving it into
// the domain of a column without rounding. Temporal values count seconds.
type exact struct {
	rat *big.Rat // nil where inf is not 0
	inf int      // -1: below all numbers; +1: above all (+Infinity and NaN)
}

// exactOf gives the place of a constant, which is not NULL and of a type
// without bytes.
func exactOf(v column.Value) exact {
	if v.Type.IsFloat() {
		switch f := v.Float; {
		case math.IsNaN(f), math.IsInf(f, 1):
			return exact{inf: 1}
		case math.IsInf(f, -1):
			return exact{inf: -1}
		default:
			return exact{rat: new(big.Rat).SetFloat64(f)}
		}
	}
	n := new(big.Rat)
	if v.Type.Kind == column.Uint64 {
		n.SetUint64(uint64(v.Int))
	} else {
		n.SetInt(unscaled(v))
	}
	return exact{rat: n.Mul(n, grid(v.Type))}
}

// grid is what one step of the stored integers of t is worth.
func grid(t column.Type) *big.Rat {
	switch t.Kind {
	case column.Decimal:
		return new(big.Rat).SetFrac(big.NewInt(1), pow10(int(t.Scale)))
	case column.Date:
		return big.NewRat(secondsPerDay, 1)
	case column.Time, column.Timestamp:
		return big.NewRat(1, t.Unit.PerSecond())
	}
	return big.NewRat(1, 1)
}

func pow10(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// floor gives the largest stored integer of t that is not above c, and
// whether it is c itself. c is finite. The integer may be out of t's range.
func (c exact) floor(t column.Type) (*big.Int, bool) {
	q := new(big.Rat).Quo(c.rat, grid(t))
	n := new(big.Int)
	n.Div(q.Num(), q.Denom()) // Euclidean: floor, as Denom > 0
	return n, q.IsInt()
}

// storedRange is what the representation of t holds, t not a float.
func storedRange(t column.Type) (lo, hi *big.Int) {
	switch {
	case t.Kind == column.Uint64:
		return new(big.Int), new(big.Int).SetUint64(math.MaxUint64)
	case t.Rep() == column.RepWide:
		return minWide.BigInt(), maxWide.BigInt()
	}
	return big.NewInt(math.MinInt64), big.NewInt(math.MaxInt64)
}

var (
	minWide = decimal256.New(1<<63, 0, 0, 0)
	maxWide = decimal256.New(1<<63-1, math.MaxUint64, math.MaxUint64, math.MaxUint64)
)

// stored makes the value of type t whose stored integer is n, in range.
func stored(n *big.Int, t column.Type) column.Value {
	v := column.Value{Type: t}
	switch {
	case t.Rep() == column.RepWide:
		v.Wide = wideFromBig(n)
	case t.Kind == column.Uint64:
		v.Int = int64(n.Uint64())
	default:
		v.Int = n.Int64()
	}
	return v
}

// wideFromBig converts n, which fits 256 bits. The library's own conversion
// panics on the least value, -2^255.
func wideFromBig(n *big.Int) decimal256.Num {
	if n.BitLen() > 255 {
		return minWide
	}
	return decimal256.FromBigInt(n)
}

// toDouble gives the double nearest to c and how it compares with c: -1 if
// it is below.
func (c exact) toDouble() (float64, int) {
	if c.inf != 0 {
		return math.Inf(c.inf), 0
	}
	f, same := c.rat.Float64()
	if same {
		return f, 0
	}
	if math.IsInf(f, 0) {
		return f, int(math.Copysign(1, f))
	}
	return f, new(big.Rat).SetFloat64(f).Cmp(c.rat)
}
