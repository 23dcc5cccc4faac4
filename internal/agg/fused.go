package agg

import (
	"slices"

	"github.com/gagg-dev/gagg/internal/column"
)

// Two ways of updating several slots, or more than a slot, in one pass over
// the rows. Each was kept because it was measured to pay (docs/experiments/0001).

// corrSlots is how many slots one pass over the five moments of corr serves:
// the sums of x, y, x*y, x*x and y*y of 32-bit integers.
const corrSlots = 5

// fusesCorr reports whether the slots from number i on are the five moments of
// a corr, in the order of splitMoments, with their words side by side.
func (l *Layout) fusesCorr(i int) bool {
	if i+corrSlots > len(l.slots) {
		return false
	}
	s := l.slots[i : i+corrSlots]
	x, y := s[0].x, s[1].x
	want := [corrSlots]slot{
		{op: opAddInt, x: x, y: none},
		{op: opAddInt, x: y, y: none},
		{op: opMulInt128, x: x, y: y},
		{op: opMulInt128, x: x, y: x},
		{op: opMulInt128, x: y, y: y},
	}
	for k := range s {
		if s[k].op != want[k].op || s[k].x != want[k].x || s[k].y != want[k].y ||
			s[k].set != s[0].set || s[k].hot != s[0].hot+k {
			return false
		}
	}
	return true
}

// addCorr updates the five slots. The words of a row lie in one or two cache
// lines, which five loops would each visit; and the overflows of the three
// products, which need a cold word, are one branch that is hardly ever taken.
func addCorr(words []uint64, stride int, cold [3]int, gids []uint32, x, y []int64) {
	x, y = x[:len(gids)], y[:len(gids)]
	for i, g := range gids {
		at := int(g) * stride
		w := words[at : at+corrSlots : at+corrSlots]
		a, b := x[i], y[i]
		w[0] += uint64(a)
		w[1] += uint64(b)
		ab, aa, bb := a*b, a*a, b*b
		oldAB, oldAA, oldBB := int64(w[2]), int64(w[3]), int64(w[4])
		sumAB, sumAA, sumBB := oldAB+ab, oldAA+aa, oldBB+bb
		w[2], w[3], w[4] = uint64(sumAB), uint64(sumAA), uint64(sumBB)
		overAB, overAA, overBB := (oldAB^sumAB)&(ab^sumAB), (oldAA^sumAA)&(aa^sumAA), (oldBB^sumBB)&(bb^sumBB)
		if overAB|overAA|overBB < 0 {
			if overAB < 0 {
				words[at+cold[0]] += overflowCarry(ab)
			}
			if overAA < 0 {
				words[at+cold[1]] += overflowCarry(aa)
			}
			if overBB < 0 {
				words[at+cold[2]] += overflowCarry(bb)
			}
		}
	}
}

// updateCorr is addCorr for the slots from number i on.
func (l *Layout) updateCorr(t *Table, i int, v *view) {
	s := l.slots[i : i+corrSlots]
	cold := [3]int{s[2].cold - s[0].hot, s[3].cold - s[0].hot, s[4].cold - s[0].hot}
	addCorr(t.Rows[s[0].hot:], t.Stride, cold, v.gids, v.args[s[0].x].Int, v.args[s[1].x].Int)
}

// TakesCodes reports whether Update takes argument arg dictionary-coded too,
// as long as it has no NULL: if all that is asked for is its sum, looking the
// value up is done while adding, without a flat copy of the column.
func (l *Layout) TakesCodes(arg int) bool { return l.isSummed(arg, opAddInt, opAddCounted) }

// TakesCodesOne reports the same of UpdateOne.
func (l *Layout) TakesCodesOne(arg int) bool { return l.isSummed(arg, opAddInt, opAddInt128) }

// isSummed reports whether an argument is in no slots but those of its own sums, with these ops.
func (l *Layout) isSummed(arg int, ops ...op) bool {
	return !l.takes() && l.types[arg].Rep() != column.RepWide && l.everySlot(arg, func(s *slot) bool {
		return slices.Contains(ops, s.op) && len(l.sets[s.set].args) == 1
	})
}

// TakesNarrow reports whether Update takes argument arg, of wide decimals, as a narrow vector too
// (NARROW-ASKED): all that is asked for is its sum, least or greatest.
func (l *Layout) TakesNarrow(arg int) bool {
	return l.everySlot(arg, func(s *slot) bool {
		switch s.op {
		case opAddInt, opAddCounted, opAddWide192, opAddWide320, opMinWide, opMaxWide:
			return true
		}
		return false
	})
}

// everySlot reports whether an argument has slots, and is holds for all of them.
func (l *Layout) everySlot(arg int, is func(*slot) bool) bool {
	if l.takes() {
		return false
	}
	used := false
	for i := range l.slots {
		if s := &l.slots[i]; s.x == arg || s.y == arg {
			if !is(s) {
				return false
			}
			used = true
		}
	}
	return used
}

// addCoded is addInt for a dictionary-coded argument.
func addCoded(words []uint64, stride int, gids []uint32, x *column.Vector) {
	codes, values := x.Codes[:len(gids)], x.Dict.Values.Int
	for i, g := range gids {
		words[int(g)*stride] += uint64(values[codes[i]])
	}
}

// sumOf adds up the first n values of x, integers whose sum cannot overflow.
func sumOf(x *column.Vector, n int) int64 {
	if x.Dict != nil {
		return sumCoded(x.Codes[:n], x.Dict.Values.Int)
	}
	return sumInt(x.Int[:n])
}

// sumCoded is sumInt for a dictionary-coded argument.
func sumCoded(codes []int32, values []int64) int64 {
	var a, b, c, d int64
	for ; len(codes) >= 4; codes = codes[4:] {
		a += values[codes[0]]
		b += values[codes[1]]
		c += values[codes[2]]
		d += values[codes[3]]
	}
	for _, code := range codes {
		a += values[code]
	}
	return a + b + c + d
}

// sumCoded128 is sumInt128 for a dictionary-coded argument.
func sumCoded128(codes []int32, values []int64) (hi, lo int64) {
	var low uint64
	var high int64
	for _, code := range codes {
		v := values[code]
		low += uint64(uint32(v))
		high += v >> 32
	}
	return join128(high, low)
}
