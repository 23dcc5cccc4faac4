package oracle

import (
	"math"
	"math/big"
	"strconv"

	"github.com/gagg-dev/gagg/internal/column"
)

// Cell is one value of a result. Integers, decimals, booleans, dates and
// times are exact numbers, whatever their width; so a sum compares equal
// however an engine types it.
type Cell struct {
	Kind  CellKind
	Exact *big.Rat
	Float float64
	Text  string // bytes, for Text

	// Magnitude is how large the numbers were from which Float came, as the
	// sum of their absolute values: what rounding errors are relative to.
	Magnitude float64

	Elems  []Cell  // of List, and the keys of Map
	Counts []int64 // of Map: beside the keys
}

// CellKind tells which field of a Cell counts.
type CellKind uint8

// The kinds of cells.
const (
	Null CellKind = iota
	Exact
	Float
	Text
	List
	Map
)

// CellOf is the cell of a value.
func CellOf(v column.Value) Cell {
	switch {
	case v.Null:
		return Cell{}
	case v.Type.IsFloat():
		return float(v.Float)
	case v.Type.Rep() == column.RepBytes:
		return Cell{Kind: Text, Text: v.Bytes}
	case v.Type.IsNested():
		return listCell(v.List)
	}
	return Cell{Kind: Exact, Exact: exactOf(v)}
}

// exactOf is the number that v, which is not a float, stands for.
func exactOf(v column.Value) *big.Rat {
	n := new(big.Int)
	switch {
	case v.Type.Rep() == column.RepWide:
		n = v.Wide.BigInt()
	case v.Type.Kind == column.Uint64:
		n.SetUint64(uint64(v.Int))
	default:
		n.SetInt64(v.Int)
	}
	if v.Type.Kind != column.Decimal {
		return new(big.Rat).SetInt(n)
	}
	return new(big.Rat).SetFrac(n, powerOfTen(int(v.Type.Scale)))
}

func powerOfTen(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

func integer(n int64) Cell {
	return Cell{Kind: Exact, Exact: new(big.Rat).SetInt64(n)}
}

func float(f float64) Cell {
	return Cell{Kind: Float, Float: f, Magnitude: math.Abs(f)}
}

// String is the cell as failures show it. Two cells have the same text if
// they are the same key: all NaN are one, and so are -0 and 0.
func (c Cell) String() string {
	switch c.Kind {
	case Exact:
		return c.Exact.RatString()
	case Float:
		if c.Float == 0 {
			return "0.0"
		}
		return strconv.FormatFloat(c.Float, 'g', -1, 64) + "f"
	case Text:
		return strconv.QuoteToASCII(c.Text)
	case List, Map:
		return c.listString()
	}
	return "NULL"
}

// Tolerance is the largest error of a float, relative to the larger of the
// value and Cell.Magnitude.
const Tolerance = 1e-9

// Matches reports whether c is right where want is expected.
func (c Cell) Matches(want Cell) bool {
	if c.Kind != want.Kind {
		return false
	}
	if c.Kind == List || c.Kind == Map {
		return c.listMatches(want)
	}
	if c.Kind != Float {
		return c.String() == want.String()
	}
	if math.IsNaN(want.Float) || math.IsInf(want.Float, 0) || math.IsNaN(c.Float) || math.IsInf(c.Float, 0) {
		return c.String() == want.String()
	}
	allowed := Tolerance * max(math.Abs(want.Float), want.Magnitude)
	return math.Abs(c.Float-want.Float) <= allowed
}

// compare orders two values of one type: NaN is the greatest, bytes are
// compared as unsigned.
func compare(a, b column.Value) int {
	switch {
	case a.Type.IsFloat():
		return compareFloats(a.Float, b.Float)
	case a.Type.Rep() == column.RepBytes:
		switch {
		case a.Bytes < b.Bytes:
			return -1
		case a.Bytes > b.Bytes:
			return 1
		}
		return 0
	}
	return exactOf(a).Cmp(exactOf(b))
}

func compareFloats(a, b float64) int {
	switch {
	case math.IsNaN(a) && math.IsNaN(b):
		return 0
	case math.IsNaN(a):
		return 1
	case math.IsNaN(b):
		return -1
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
