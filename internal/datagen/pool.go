package datagen

import (
	"math"
	"math/rand/v2"
	"strings"

	"github.com/apache/arrow/go/v15/arrow/decimal256"
	"github.com/apache/arrow/go/v15/arrow/float16"

	"github.com/gagg-dev/gagg/internal/column"
)

// newPool draws n values of type t. With special, the odd values of the type
// come first. The values differ as long as the type has enough of them.
func newPool(rng *rand.Rand, t column.Type, n int, special bool) column.Vector {
	p := pool{rng: rng, out: column.Vector{Type: t}, seen: map[column.Value]bool{}}
	if special {
		for _, v := range specialValues(t) {
			if p.out.Len < n {
				p.add(v)
			}
		}
	}
	for p.out.Len < n {
		v := column.Value{}
		for try := range 16 { // then take it twice: boolean has no third value
			if v = p.random(t, n<<try); !p.seen[v] {
				break
			}
		}
		p.add(v)
	}
	return p.out
}

type pool struct {
	rng  *rand.Rand
	out  column.Vector
	seen map[column.Value]bool
}

func (p *pool) add(v column.Value) {
	p.seen[v] = true
	p.out.Append(v)
}

// random draws a value from about four times as many values as wanted, where the
// type has so many: near zero or around some date, so that sums fit.
func (p *pool) random(t column.Type, wanted int) column.Value {
	n := p.rng.Int64N(4*int64(wanted) + 1)
	v := column.Value{}
	switch t.Kind {
	case column.Bool:
		v.Int = n & 1
	case column.Float16:
		v.Float = float64(float16.New(float32(n%2048-1024) / 8).Float32())
	case column.Float32:
		v.Float = float64(float32(n-2*int64(wanted)) / 8)
	case column.Float64:
		v.Float = float64(n-2*int64(wanted)) / 1000
	case column.Date:
		v.Int = 19000 + n%20000
	case column.Time:
		v.Int = n % (24 * 3600 * t.Unit.PerSecond())
	case column.Timestamp:
		v.Int = 1_700_000_000*t.Unit.PerSecond() + n
	case column.String, column.Binary, column.FixedBinary, column.UUID:
		v.Bytes = p.randomBytes(t, n)
	default:
		low, high := intRange(t)
		v.Int = n - 2*int64(wanted)
		if high-low > 0 { // the range fits into an int64: wrap around into it
			v.Int = low + (v.Int%(high-low+1)+high-low+1)%(high-low+1)
		}
	}
	if t.Rep() == column.RepWide {
		v.Wide = decimal256.FromI64(v.Int)
		if t.Precision >= 24 { // more than 64 bits of a number that stays below 2^79
			v.Wide = v.Wide.Mul(decimal256.FromI64(1 << 40))
		}
		v.Int = 0
	}
	return v
}

// randomBytes spells n; lengths vary from 1 to about 40 around the limits of
// inline keys (15 bytes), and values share prefixes and suffixes.
func (p *pool) randomBytes(t column.Type, n int64) string {
	const letters = "abcdefghijklmnop"
	var b []byte
	for m := n; m > 0 || b == nil; m /= 16 {
		b = append(b, letters[m%16])
	}
	width := int(t.Width)
	switch t.Kind {
	case column.UUID:
		width = 16
	case column.FixedBinary:
	case column.Binary:
		return string(append(b, 0, 0xff)) // not UTF-8
	default:
		return string(b) + strings.Repeat("=", int(n%7)*int(n%6))
	}
	for len(b) < width {
		b = append(b, '=')
	}
	return string(b[:width])
}

// intRange is the smallest and largest value of t as stored in an int64.
func intRange(t column.Type) (low, high int64) {
	switch {
	case t.Kind == column.Uint64:
		return 0, math.MaxInt64 // half of them: the rest have other signs
	case t.IsUnsigned():
		return 0, 1<<t.Bits() - 1
	case t.Kind == column.Decimal && t.Rep() == column.RepInt64:
		most := int64(1)
		for range t.Precision {
			most *= 10
		}
		return 1 - most, most - 1
	case t.IsSigned() && t.Bits() < 64:
		return -1 << (t.Bits() - 1), 1<<(t.Bits()-1) - 1
	}
	return math.MinInt64, math.MaxInt64
}
