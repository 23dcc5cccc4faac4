package agg

import (
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/gagg-dev/gagg/internal/column"
)

// share is a number from 0 to 1 as an exact fraction, so that quantile_disc(x,
// 0.07) of 100 values is the seventh, which 0.07 in binary would miss.
type share struct{ num, den uint64 }

var middle = share{1, 2}

// shareOf is the share that a literal means. A double means the shortest
// decimal number that reads as it.
func shareOf(v column.Value) (share, bool) {
	if v.Null || !v.Type.IsNumeric() {
		return share{}, false
	}
	var text string
	switch v.Type.Rep() {
	case column.RepFloat64:
		if !(v.Float >= 0 && v.Float <= 1) {
			return share{}, false
		}
		text = strconv.FormatFloat(v.Float, 'f', -1, 64)
	case column.RepWide:
		text = v.Wide.ToString(int32(v.Type.Scale))
	default:
		text = strconv.FormatFloat(float64(v.Int)/math.Pow10(int(v.Type.Scale)), 'f', -1, 64)
		if v.Type.Kind == column.Decimal {
			s := share{uint64(v.Int), uint64(math.Pow10(int(v.Type.Scale)))}
			return s, v.Int >= 0 && s.num <= s.den
		}
	}
	whole, digits, _ := strings.Cut(text, ".")
	digits = digits[:min(len(digits), 19)] // what is left out is less than 1e-19
	one := uint64(1)
	for range digits {
		one *= 10
	}
	n, err := strconv.ParseUint(whole+digits, 10, 64)
	return share{n, one}, err == nil && n <= one
}

// between returns the place p*(n-1) among n values, from 0: i + rest/p.den.
func (p share) between(n uint64) (i, rest uint64) {
	hi, lo := bits.Mul64(n-1, p.num)
	return bits.Div64(hi, lo, p.den)
}

// reached returns the first place, from 0, up to which there is at least a
// share p of n values.
func (p share) reached(n uint64) uint64 {
	hi, lo := bits.Mul64(n, p.num)
	i, rest := bits.Div64(hi, lo, p.den)
	if rest == 0 && i > 0 {
		i--
	}
	return i
}

// part returns n*rest/p.den, rounded down, and the remainder.
func (p share) part(n, rest uint64) (q, r uint64) {
	hi, lo := bits.Mul64(n, rest)
	return bits.Div64(hi, lo, p.den)
}
