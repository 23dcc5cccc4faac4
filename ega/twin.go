package ega

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// Combine is the CPU twin of the device's roads: the groups of rows, in the
// order of the first row of each. It is the reference, not fast.
func Combine(l *Layout, rows []uint64) []uint64 {
	var out []uint64
	stride, before := l.Stride(), l.before()
	places := map[string]int{}
	for r := 0; r < len(rows); r += stride {
		row := rows[r : r+stride]
		key := keyOf(l, row)
		at, known := places[key]
		if !known {
			at = len(out)
			places[key] = at
			out = append(out, row[:before]...)
			for _, op := range l.Ops {
				out = append(out, op.identity())
			}
		}
		l.combine(out[at+before:], row[before:])
	}
	return out
}

// keyOf is the key words of a row as the key of a map.
func keyOf(l *Layout, row []uint64) string {
	var key []byte
	for _, w := range row[l.before()-l.KeyWords : l.before()] {
		key = binary.LittleEndian.AppendUint64(key, w)
	}
	return string(key)
}

// combine combines the states of a row into those of a group.
func (l *Layout) combine(to, from []uint64) {
	for i, op := range l.Ops {
		w, v, m := &to[i], from[i], l.mate(i)
		switch op {
		case Add:
			*w += v
		case AddLow:
			var carry uint64
			*w, carry = bits.Add64(*w, v, 0)
			l.addAbove(to, from, m, carry)
		case AddLowInt:
			l.addAbove(to, from, m, addSigned(w, v))
		case Sum:
			sum(w, &to[m], math.Float64frombits(v), math.Float64frombits(from[m]))
		case SumFine:
			sum(w, &to[m], math.Float64frombits(v), math.Float64frombits(from[m]))
			small := math.Float64frombits(to[m])
			to[m] = 0
			sum(w, &to[m], small, 0)
		case MinInt:
			*w = uint64(min(int64(*w), int64(v)))
		case MaxInt:
			*w = uint64(max(int64(*w), int64(v)))
		case MinUint:
			*w = min(*w, v)
		case MaxUint:
			*w = max(*w, v)
		case MinFloat:
			if v = canonical(v); order(v) < order(*w) {
				*w = v
			}
		case MaxFloat:
			if v = canonical(v); order(v) > order(*w) {
				*w = v
			}
		case And:
			*w &= v
		case Or:
			*w |= v
		case Xor:
			*w ^= v
		case Least:
			l.least(to, from, i)
		}
	}
}

// addAbove adds the words of a sum from m on, those above the lowest, and the
// signed carry of that.
func (l *Layout) addAbove(to, from []uint64, m int, carry uint64) {
	sign := uint64(int64(carry) >> 63)
	var c, d uint64
	for ; ; m, carry = l.mate(m), sign {
		to[m], c = bits.Add64(to[m], from[m], c)
		to[m], d = bits.Add64(to[m], carry, d)
		if l.Ops[m] == AddHigh {
			return
		}
	}
}

// least merges two lists of the least values, which begin at word i.
func (l *Layout) least(to, from []uint64, i int) {
	var places []int
	var values []int64
	for m := i; ; m = l.mate(m) {
		places, values = append(places, m), append(values, int64(to[m]), int64(from[m]))
		if l.Ops[m] == LeastLast {
			break
		}
	}
	slices.Sort(values)
	for k, m := range places {
		to[m] = uint64(values[k])
	}
}

// addSigned adds to a signed low word and returns what the high word gets.
func addSigned(w *uint64, v uint64) uint64 {
	old := *w
	*w += v
	switch {
	case int64((old^*w)&(v^*w)) >= 0:
		return 0
	case int64(v) < 0:
		return math.MaxUint64
	}
	return 1
}

// sum adds v and its error to a compensated sum.
func sum(w, mate *uint64, v, more float64) {
	old := math.Float64frombits(*w)
	s := old + v
	rest := s - old
	e := (old - (s - rest)) + (v - rest)
	if e-e != 0 { // the sum is not finite, and says so itself
		e = 0
	}
	*w, *mate = math.Float64bits(s), math.Float64bits(math.Float64frombits(*mate)+(e+more))
}

// canonical gives equal doubles equal bits.
func canonical(v uint64) uint64 {
	switch f := math.Float64frombits(v); {
	case math.IsNaN(f):
		return math.Float64bits(math.NaN())
	case f == 0:
		return 0
	}
	return v
}

// order maps canonical doubles to integers of the same order, NaN last.
func order(v uint64) int64 {
	k := int64(v)
	return k ^ int64(uint64(k>>63)>>1)
}
