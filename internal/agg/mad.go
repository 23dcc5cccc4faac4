package agg

import (
	"math"

	"github.com/gagg-dev/gagg/internal/column"
)

// deviations writes the results of mad, the median of the distances from the
// median. It is a double for integers, and has the type of its argument for
// floats and decimals.
func (f *finisher) deviations() error {
	for i, row := range f.groups() {
		k := linkOf(f.slot(0), row)
		n := k.values()
		if n == 0 {
			f.setNothing(i)
			continue
		}
		at, rest := middle.between(n)
		lo, hi, err := f.pair(none, k, at, rest != 0)
		if err != nil {
			return err
		}
		d := f.distance(lo, hi, rest)
		if lo, hi, err = f.deviationPair(k, d, at, rest != 0); err != nil {
			return err
		}
		switch t := f.call.types[0]; {
		case t.IsFloat(), t.IsInteger():
			f.out.Float[i] = f.narrow(betweenFloats(keyFloat(lo.key), keyFloat(hi.key), float64(rest)/2))
		default:
			f.setBetween(i, lo, hi, rest, middle)
		}
	}
	return nil
}

// distance returns the function that tells how far a value is from the
// median, which lies rest/2 of the way from lo to hi: a key of a double
// for integers and floats. It does not decrease with values moving away.
func (f *finisher) distance(lo, hi number, rest uint64) func(number) number {
	t := f.call.types[0]
	switch {
	case t.IsFloat():
		m := betweenFloats(keyFloat(lo.key), keyFloat(hi.key), float64(rest)/2)
		return func(x number) number { return number{key: floatKey(math.Abs(keyFloat(x.key) - m))} }
	case t.Rep() == column.RepWide:
		m := betweenWide(lo.wide, hi.wide, rest, middle.den)
		return func(x number) number { return number{wide: x.wide.Sub(m).Abs()} }
	}
	q, r := middle.part(uint64(hi.key)-uint64(lo.key), rest)
	m, part := lo.key+int64(q), float64(r)/2
	apart := func(x number) uint64 {
		if x.key > m {
			return uint64(x.key) - uint64(m)
		}
		return uint64(m) - uint64(x.key)
	}
	if t.Kind == column.Decimal {
		return func(x number) number { return number{key: int64(apart(x))} }
	}
	return func(x number) number {
		if x.key > m {
			return number{key: floatKey(float64(apart(x)) - part)}
		}
		return number{key: floatKey(float64(apart(x)) + part)}
	}
}

// deviationPair is pair for the distances.
func (f *finisher) deviationPair(k link, distance func(number) number, i uint64, two bool) (lo, hi number, err error) {
	if f.inMemory(k) {
		r := ranked{finisher: f, row: none, link: k, key: func(word uint64) int64 { return distance(number{key: int64(word)}).key }}
		lo.key, hi.key = r.pair(i, two)
		return lo, hi, f.work.stop.err
	}
	if lo, err = f.deviation(k, distance, i); err != nil || !two {
		return lo, lo, err
	}
	hi, err = f.deviation(k, distance, i+1)
	return lo, hi, err
}

// deviation returns the distance of rank i from 0. The i+1 values nearest to
// the median are neighbours in the order of values, so it is the least over
// all i+1 neighbours of the greater distance at their two ends: found with
// two streams, one i values ahead of the other.
func (f *finisher) deviation(k link, distance func(number) number, i uint64) (best number, err error) {
	last, err := f.stream(k)
	if err != nil {
		return best, err
	}
	first := f.again(k)
	b, err := last.skip(i)
	for found := false; err == nil && b != nil; b, err = last.next() {
		a, err := first.next()
		if err != nil {
			return best, err
		}
		far := distance(k.number(a.words))
		if d := distance(k.number(b.words)); far.less(d) {
			far = d
		}
		if !found || far.less(best) {
			best, found = far, true
		}
	}
	return best, err
}

func (a number) less(b number) bool { return a.key < b.key || a.key == b.key && a.wide.Less(b.wide) }
