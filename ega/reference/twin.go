package reference

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/combine"
)

// Combine is the CPU twin of the device's strategies. It returns the groups of rows, in the order
// of the first row of each. It is a reference and not fast. It knows nothing of texts.
func Combine(l *ega.Layout, rows []uint64) []uint64 {
	var out []uint64
	stride, first := l.Stride(), before(l)
	places := map[string]int{}
	for r := 0; r < len(rows); r += stride {
		row := rows[r : r+stride]
		key := keyOf(l, row)
		at, known := places[key]
		if !known {
			at = len(out)
			places[key] = at
			out = append(out, row[:first]...)
			for _, op := range l.Ops {
				out = append(out, identity(op))
			}
		}
		combineStates(l, out[at+first:], row[first:])
	}
	return out
}

// keyOf is the key words of a row as the key of a map.
func keyOf(l *ega.Layout, row []uint64) string {
	var key []byte
	for _, w := range row[before(l)-l.KeyWords : before(l)] {
		key = binary.LittleEndian.AppendUint64(key, w)
	}
	return string(key)
}

// before is the number of words before the states.
func before(l *ega.Layout) int { return l.Stride() - len(l.Ops) }

// mate is the word that goes with state word i; i itself if it has none.
func mate(l *ega.Layout, i int) int {
	if i < len(l.Mates) {
		return l.Mates[i]
	}
	return i
}

// combineStates combines the states of a row into those of a group.
func combineStates(l *ega.Layout, to, from []uint64) {
	for i, op := range l.Ops {
		w, v, m := &to[i], from[i], mate(l, i)
		switch op {
		case combine.Add:
			*w += v
		case combine.AddLow:
			var carry uint64
			*w, carry = bits.Add64(*w, v, 0)
			addAbove(l, to, from, m, carry)
		case combine.AddLowInt:
			addAbove(l, to, from, m, addSigned(w, v))
		case combine.Sum:
			sum(w, &to[m], math.Float64frombits(v), math.Float64frombits(from[m]))
		case combine.SumFine:
			sum(w, &to[m], math.Float64frombits(v), math.Float64frombits(from[m]))
			small := math.Float64frombits(to[m])
			to[m] = 0
			sum(w, &to[m], small, 0)
		case combine.MinInt:
			*w = uint64(min(int64(*w), int64(v)))
		case combine.MaxInt:
			*w = uint64(max(int64(*w), int64(v)))
		case combine.MinUint:
			*w = min(*w, v)
		case combine.MaxUint:
			*w = max(*w, v)
		case combine.MinFloat:
			if v = canonical(v); order(v) < order(*w) {
				*w = v
			}
		case combine.MaxFloat:
			if v = canonical(v); order(v) > order(*w) {
				*w = v
			}
		case combine.And:
			*w &= v
		case combine.Or:
			*w |= v
		case combine.Xor:
			*w ^= v
		case combine.Least:
			least(l, to, from, i)
		case combine.First, combine.Last:
			if v != *w && (int64(v) < int64(*w)) == (op == combine.First) {
				*w, to[m] = v, from[m]
			}
		case combine.Best:
			value := mate(l, m)
			if none := from[m] == math.MaxInt64; !none && (int64(v) < int64(*w) || v == *w && from[m] < to[m]) {
				*w, to[m], to[value] = v, from[m], from[value]
			}
		}
	}
}

// addAbove adds the words of a sum from m on, those above the lowest, and the
// signed carry of that.
func addAbove(l *ega.Layout, to, from []uint64, m int, carry uint64) {
	sign := uint64(int64(carry) >> 63)
	var c, d uint64
	for ; ; m, carry = mate(l, m), sign {
		to[m], c = bits.Add64(to[m], from[m], c)
		to[m], d = bits.Add64(to[m], carry, d)
		if l.Ops[m] == combine.AddHigh {
			return
		}
	}
}

// least merges two lists of the least values, which begin at word i.
func least(l *ega.Layout, to, from []uint64, i int) {
	var places []int
	var values []int64
	for m := i; ; m = mate(l, m) {
		places, values = append(places, m), append(values, int64(to[m]), int64(from[m]))
		if l.Ops[m] == combine.LeastLast {
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

// identity is the state word that changes nothing.
func identity(op combine.Op) uint64 {
	switch op {
	case combine.MinInt, combine.Least, combine.LeastMid, combine.LeastLast, combine.First, combine.Best, combine.BestPlace:
		return math.MaxInt64
	case combine.MaxInt:
		return 1 << 63
	case combine.MinFloat:
		return math.Float64bits(math.NaN())
	case combine.MaxFloat:
		return math.Float64bits(math.Inf(-1))
	case combine.MinUint, combine.And, combine.Last, combine.LeastText:
		return math.MaxUint64
	}
	return 0
}
