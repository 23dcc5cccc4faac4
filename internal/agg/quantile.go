package agg

import (
	"math"
	"math/bits"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
)

// A quantile of p among n sorted values lies at the place p*(n-1). Between two
// values it is interpolated: for integers the result is a double, for
// decimals it is rounded down to the scale, for times to the nearest unit,
// halves away from zero. What has nothing between its values (strings,
// booleans), and quantile_disc, takes the first value with at least a share p
// of all up to it.

// quantileType is the type of the result of an interpolated quantile.
func quantileType(t column.Type) column.Type {
	switch {
	case t.Kind == column.Float16:
		return column.Type{Kind: column.Float32}
	case t.IsInteger():
		return column.Type{Kind: column.Float64}
	case t.Kind == column.Date:
		return column.TimestampType(column.Micro, false)
	}
	return t
}

// interpolates reports whether there is something between values of t.
func interpolates(t column.Type) bool {
	return t.IsNumeric() || t.Kind == column.Date || t.Kind == column.Time || t.Kind == column.Timestamp
}

// quantiles writes the results of median, quantile and quantile_disc.
func (f *finisher) quantiles() (bad int, err error) {
	t, p := f.call.types[0], f.call.share
	cont := f.call.fn != fnQuantileDisc && interpolates(t)
	for i, row := range f.groups() {
		k := linkOf(f.slot(0), row)
		n := k.values()
		if n == 0 {
			f.setNothing(i)
			continue
		}
		if !cont {
			e, err := f.at(i, k, p.reached(n))
			if err != nil {
				return none, err
			}
			if err := f.setEntry(i, k.chain, e); err != nil {
				return none, err
			}
			continue
		}
		at, rest := p.between(n)
		lo, hi, err := f.pair(i, k, at, rest != 0)
		if err != nil {
			return none, err
		}
		if !f.setBetween(i, lo, hi, rest, p) {
			return i, nil
		}
	}
	return none, nil
}

// number is a value as interpolation sees it: a key, or a wide decimal.
type number struct {
	key  int64
	wide decimal256.Num
}

func (c *chain) number(e []uint64) number {
	if c.rep == column.RepWide {
		return number{wide: loadWide(e[c.value:])}
	}
	return number{key: int64(e[c.value])}
}

// pair returns the values at place i of the chain of a row and, if two, the
// one behind it, else the same twice.
func (f *finisher) pair(row int, k link, i uint64, two bool) (lo, hi number, err error) {
	if f.inMemory(k) {
		r := ranked{finisher: f, row: row, link: k}
		lo.key, hi.key = r.pair(i, two)
		return lo, hi, f.work.stop.err
	}
	s, err := f.stream(k)
	if err != nil {
		return lo, hi, err
	}
	e, more, err := s.skipValues(i)
	if err != nil {
		return lo, hi, err
	}
	lo = k.number(e.words)
	hi = lo
	if two && more == 0 {
		if e, err = s.next(); err != nil {
			return lo, hi, err
		}
		hi = k.number(e.words)
	}
	return lo, hi, nil
}

// at returns the entry at place i of the chain of a row.
func (f *finisher) at(row int, k link, i uint64) (*entry, error) {
	if f.inMemory(k) {
		r := ranked{finisher: f, row: row, link: k}
		key, _ := r.pair(i, false)
		return &entry{words: []uint64{uint64(key)}}, f.work.stop.err
	}
	s, err := f.stream(k)
	if err != nil {
		return nil, err
	}
	e, _, err := s.skipValues(i)
	return e, err
}

// setBetween makes what lies rest/p.den behind lo, on the way to hi,
// result i. It reports false if that does not fit the type.
func (f *finisher) setBetween(i int, lo, hi number, rest uint64, p share) bool {
	t := f.call.types[0]
	switch {
	case t.IsFloat():
		f.out.Float[i] = f.narrow(betweenFloats(keyFloat(lo.key), keyFloat(hi.key), float64(rest)/float64(p.den)))
	case t.IsInteger():
		q, r := p.part(uint64(hi.key)-uint64(lo.key), rest)
		f.out.Float[i] = keyDouble(lo.key+int64(q), t, float64(r)/float64(p.den))
	case t.Rep() == column.RepWide:
		f.out.Wide[i] = betweenWide(lo.wide, hi.wide, rest, p.den)
	case t.Kind == column.Decimal:
		q, _ := p.part(uint64(hi.key)-uint64(lo.key), rest)
		f.out.Int[i] = lo.key + int64(q)
	default:
		if t.Kind == column.Date {
			const day = int64(24 * 3600 * 1e6)
			if lo.key < math.MinInt64/day || hi.key > math.MaxInt64/day {
				return false
			}
			lo.key, hi.key = lo.key*day, hi.key*day
		}
		q, r := p.part(uint64(hi.key)-uint64(lo.key), rest)
		v := lo.key + int64(q)
		if r > p.den-r || r == p.den-r && v >= 0 {
			v++
		}
		f.out.Int[i] = v
	}
	return true
}

// narrow rounds a result to its type.
func (f *finisher) narrow(x float64) float64 {
	if f.out.Type.Kind == column.Float32 {
		return float64(float32(x))
	}
	return x
}

// betweenFloats returns what lies that part of the way from lo to hi.
func betweenFloats(lo, hi, part float64) float64 {
	if lo == hi || part == 0 {
		return lo
	}
	way, lost := twoSum(hi, -lo)
	if math.IsInf(way, 0) || way != way {
		return lo*(1-part) + hi*part
	}
	return math.FMA(way, part, lo) + lost*part
}

// keyDouble is the integer of a key plus a part of 1 as a double.
func keyDouble(key int64, t column.Type, part float64) float64 {
	n := wide{uint64(key)}
	if t.Kind == column.Uint64 {
		n[0] ^= 1 << 63
	} else if key < 0 {
		n = wide{uint64(key), math.MaxUint64, math.MaxUint64, math.MaxUint64, math.MaxUint64}
	}
	hi, lo := n.double()
	return hi + (lo + part)
}

// betweenWide returns lo + (hi-lo)*rest/den, rounded down.
func betweenWide(lo, hi decimal256.Num, rest, den uint64) decimal256.Num {
	d := hi.Sub(lo).Array() // below 2^256 as a number without sign
	n := wide{d[0], d[1], d[2], d[3]}.mul(wide{rest})
	var r uint64
	for k := len(n) - 1; k >= 0; k-- {
		n[k], r = bits.Div64(r, n[k], den)
	}
	return lo.Add(decimal256.New(n[3], n[2], n[1], n[0]))
}
