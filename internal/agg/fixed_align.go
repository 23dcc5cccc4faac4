package agg

import (
	"math"
	"math/bits"
	"slices"

	"github.com/gagg-dev/gagg/internal/column"
)

// This file adds to the fixed-point sums of moments, which look at each value several times: as x,
// x*x, x*y. So the values of a batch are made integers first, once for all sums:
//
//	x = ints[i] * 2^exponent
//
// Integers of 63 bits hold the doubles whose exponents are within alignBits below the greatest:
// nearly all of most columns. Products are then products of integers, all are shifted by the same
// number of places, and no loop has anything to ask about a value. The other values, much smaller
// ones, NaN and infinities, are the rest: they are 0 among the integers, and slot.addOne adds them.
//
// Integers of up to 32 bits are taken as they are.

const (
	// alignBits is how many more bits than a fraction the integers have: 63 beside the sign.
	alignBits = 63 - fractionBits

	// alignRest is the divisor of the rows that gives the most for the rest: with more, values are
	// not aligned. One of
	// the rest takes about as long as ten others, so a sixth more at most.
	alignRest = 64
)

// markAligned tells the fixed-point sums whose values are aligned.
func (b *builder) markAligned() {
	for i := range b.slots {
		s := &b.slots[i]
		s.fixed.aligned = s.isFixed() && slices.ContainsFunc(b.slots, func(o slot) bool {
			return o.isFixed() && o.op > opFixedSum && o.set == s.set && (o.x == s.x || o.y == s.x)
		})
	}
}

// alignedSlots is how many slots from number i on have their values aligned, and are of one set.
func (l *Layout) alignedSlots(i int) (n int) {
	for n = 1; i+n < len(l.slots) && l.slots[i+n].fixed.aligned && l.slots[i+n].set == l.slots[i].set; n++ {
	}
	return n
}

// aligned is the values of an argument in a batch as integers times 2^exponent.
type aligned struct {
	made     bool // of this batch
	good     bool // the rest is short
	exponent int
	width    int     // bits that the greatest of the integers may have
	ints     []int64 // they may be the argument's
	rest     []int32 // rows of the other values, ascending
	vals     []float64

	buffer  []int64
	squares []int64   // of ints
	floats  []float64 // an argument as doubles
}

// alignedOf returns the values of an argument of a view, whose window begins at low, aligned; nil:
// they cannot be.
func (t *Table) alignedOf(arg, low int, v *view) *aligned {
	for len(t.scratch.aligned) <= arg {
		t.scratch.aligned = append(t.scratch.aligned, aligned{exponent: leastDigit})
	}
	a := &t.scratch.aligned[arg]
	if !a.made {
		a.made, a.good = true, a.set(&v.args[arg], low)
	}
	if !a.good {
		return nil
	}
	return a
}

// forgetAligned is called before another view is looked at.
func (t *Table) forgetAligned() {
	for i := range t.scratch.aligned {
		t.scratch.aligned[i].made = false
	}
}

// set aligns an argument, whose window begins at low; false: it cannot be.
func (a *aligned) set(v *column.Vector, low int) bool {
	// they are integers
	if v.Type.Rep() == column.RepInt64 && v.Type.Bits() <= 32 && v.Type.Scale == 0 {
		a.ints, a.rest, a.exponent, a.vals = v.Int[:v.Len], nil, 0, nil
		all := int64(0)
		for _, n := range a.ints {
			all |= n ^ n>>63
		}
		a.width = max(bits.Len64(uint64(all)), 1)
		return true
	}
	a.width = 63
	a.vals, a.floats = floatsInto(a.floats, v)
	return a.align() || a.guess(low) && a.align()
}

// value is that of a row.
func (a *aligned) value(row int32) float64 {
	if a.vals == nil {
		return float64(a.ints[row])
	}
	return a.vals[row]
}

// isRest reports whether a row is of the rest.
func (a *aligned) isRest(row int32) bool { return a.ints[row] == 0 && a.value(row) != 0 }

// align makes integers of the values, with the exponent as it was right for another batch; false:
// the rest is too long.
func (a *aligned) align() bool {
	most := len(a.vals) / alignRest
	ints, rest := grow(a.buffer, len(a.vals)), grow(a.rest, most+1)
	a.buffer, a.ints, a.rest = ints, ints, rest[:0]
	base, n := uint64(a.exponent-leastDigit+1), 0
	for i, v := range a.vals[:len(ints)] {
		b := math.Float64bits(v)
		fraction, shift := b&(1<<52-1)|1<<52, b>>52&0x7ff-base
		if b<<1 == 0 {
			fraction, shift = 0, 0
		}
		if shift > alignBits {
			if fraction = 0; n == most {
				return false
			}
			rest[n] = int32(i)
			n++
		}
		sign := int64(b) >> 63
		ints[i] = int64(fraction<<(shift&63)) ^ sign - sign
	}
	a.rest = rest[:n]
	return true
}

// guess sets the exponent by the greatest of the values, but not below low, where sums of powers
// would not hold the integers: the values have no digits there. false: it was that.
func (a *aligned) guess(low int) bool {
	most := uint64(0)
	for _, v := range a.vals {
		if b := math.Float64bits(v) << 1; b < 0x7ff<<53 {
			most = max(most, b)
		}
	}
	was := a.exponent
	a.exponent = max(int(most>>53)-1-alignBits+leastDigit, leastDigit, low)
	return a.exponent != was
}

// square returns the squares of integers of up to 31 bits.
func (a *aligned) square() []int64 {
	a.squares = grow(a.squares, len(a.ints))
	for i, n := range a.ints {
		a.squares[i] = n * n
	}
	return a.squares
}

// aligned returns the arguments of a fixed-point sum, aligned, and where in the sum the integers
// that are added lie: from bit shift on, of width bits at most; false: they cannot be added so.
func (s *slot) aligned(t *Table, v *view) (x, y *aligned, shift, width int, ok bool) {
	x = t.alignedOf(s.x, s.fixed.x, v)
	y = x
	if s.op == opFixedMul && s.y != s.x {
		y = t.alignedOf(s.y, s.fixed.y, v)
	}
	if x == nil || y == nil {
		return nil, nil, 0, 0, false
	}
	exponent, width := x.exponent*s.op.factors(), x.width*s.op.factors()
	if s.op == opFixedMul {
		exponent, width = x.exponent+y.exponent, x.width+y.width
	}
	shift = exponent - s.fixed.low
	return x, y, shift, width, shift >= 0 && shift+width <= s.fixed.top
}

// alignedAdder adds the rows of a view to a fixed-point sum.
type alignedAdder struct {
	s    *slot
	loop alignedLoop
	x, y *aligned
	a, b []int64 // operands of the loop
	k, n int     // the first word of a sum that an addend lies in, and how many
	by   int     // the bit of that word
}

// alignedAdder finds how the rows of a view are added; false: values cannot be aligned.
func (s *slot) alignedAdder(t *Table, v *view) (d alignedAdder, ok bool) {
	x, y, shift, width, ok := s.aligned(t, v)
	if !ok {
		return d, false
	}
	d = alignedAdder{s: s, x: x, y: y, a: x.ints, b: y.ints, k: shift >> 6, by: shift & 63}
	d.n = (d.by + width + 64) / 64 // with the sign
	switch {
	case s.op == opFixedSum:
		d.loop = alignedInts[d.n]
	case s.op == opFixedMul && x == y && d.n == 3:
		d.loop = addSquares
	case s.op == opFixedMul:
		d.loop = alignedProducts[d.n]
	case x.width <= 31: // so are the squares of 62
		d.a, d.loop = x.square(), alignedProducts[d.n]
		if s.op == opFixedPow4 {
			d.b = d.a
		}
	case s.op == opFixedPow3:
		d.n, d.loop = 4, addCubes
	default:
		d.n, d.loop = 5, addFourths
	}
	return d, d.k+d.n <= s.fixed.n
}

// add adds rows from one on, less than before.
func (d *alignedAdder) add(t *Table, gids []uint32, from, before int) {
	rest := t.Rows[d.s.hot+d.k:]
	above := d.s.fixed.n - d.k - d.n
	to := alignedSums{words: rest, stride: t.Stride, above: above > 0, by: uint(d.by)}
	for ; from < before; from++ {
		did, negative := d.loop(to, gids[from:before], d.a[from:before], d.b[from:before])
		if from += did; from < before {
			carryInto(rest[int(gids[from])*t.Stride+d.n:][:above], negative)
		}
	}
}

const (
	// alignedBlock is how many rows are added to one sum before the next sum's turn: so long the
	// rows of their groups stay in the first-level cache.
	alignedBlock = 256

	// nearWords is about how many words of a table are in a cache. Of a larger table the rows of
	// groups are prefetched, alignedAhead before something is added to them. That is done for
	// alignedStep rows at a time, which are then the block: the fewer there are, the more evenly
	// the lines come that the processor has under way, of which there are 10 to 20.
	nearWords    = 1 << 17
	alignedAhead = 64
	alignedStep  = 32
)

// addAligned adds rows to the sums of adders.
func (t *Table) addAligned(adders []alignedAdder, gids []uint32) {
	block, ahead := alignedBlock, len(gids)
	first, end := t.Stride, 0 // words of a row that sums have
	for i := range adders {
		s := adders[i].s
		first, end = min(first, s.hot), max(end, s.hot+s.fixed.n)
	}
	if len(t.Rows) >= nearWords && len(adders) > 0 {
		block, ahead = alignedStep, alignedAhead
		prefetchRows(t.Rows[first:], t.Stride, end-first, gids[:min(ahead, len(gids))])
	}
	for from := 0; from < len(gids); from += block {
		before := min(from+block, len(gids))
		if next := from + ahead; next < len(gids) {
			prefetchRows(t.Rows[first:], t.Stride, end-first, gids[next:min(next+block, len(gids))])
		}
		for i := range adders {
			adders[i].add(t, gids, from, before)
		}
	}
}

// updateAligned adds the rows of a view to fixed-point sums, of the same set.
func (l *Layout) updateAligned(t *Table, slots []slot, v *view) {
	adders := t.scratch.adders[:0]
	for i := range slots {
		if d, ok := slots[i].alignedAdder(t, v); ok {
			adders = append(adders, d)
		} else {
			slots[i].updateFixed(t, v)
		}
	}
	t.scratch.adders = adders
	t.addAligned(adders, v.gids)
	for i := range adders {
		if d := &adders[i]; !d.s.addRest(t, v.gids, d.x, d.y) {
			d.s.noteView(t, v)
		}
	}
}

// addRest adds the rows of the rest; false: some are outside of the window.
func (s *slot) addRest(t *Table, gids []uint32, x, y *aligned) (ok bool) {
	ok = true
	for _, i := range x.rest {
		ok = s.addOne(t.Rows, int(gids[i])*t.Stride, x.value(i), y.value(i)) && ok
	}
	if x == y {
		return ok
	}
	for _, i := range y.rest {
		if !x.isRest(i) {
			ok = s.addOne(t.Rows, int(gids[i])*t.Stride, x.value(i), y.value(i)) && ok
		}
	}
	return ok
}

// reduceAligned adds the rows of a view to a sum of x or x*y of one group; false: values cannot be
// aligned, and nothing was added.
func (s *slot) reduceAligned(t *Table, group uint32, v *view) bool {
	x, y, shift, _, ok := s.aligned(t, v)
	if !ok {
		return false
	}
	var sum [3]uint64
	if s.op == opFixedSum {
		hi, lo := sumInt128(x.ints)
		sum[0], sum[1] = uint64(lo), uint64(hi+lo>>63)
		sum[2] = uint64(int64(sum[1]) >> 63)
	} else {
		sum = sumProducts(x.ints, y.ints)
	}
	negative := uint64(int64(sum[2]) >> 63)
	carry := negative & 1
	for i := range sum {
		sum[i], carry = bits.Add64(sum[i]^negative, 0, carry)
	}
	addShifted(t.Rows[int(group)*t.Stride+s.hot:][:s.fixed.n], sum[:], shift, negative)
	if !s.addRest(t, t.scratch.repeat(group, v.rows), x, y) {
		s.noteView(t, v)
	}
	return true
}

// sumProducts is the sum of products of integers, in two's complement.
func sumProducts(x, y []int64) (sum [3]uint64) {
	y = y[:len(x)]
	var s0, s1, s2 uint64
	for i, a := range x {
		b := y[i]
		hi, lo := bits.Mul64(uint64(a), uint64(b))
		// a negative number without its sign is greater by 1<<64
		hi -= uint64(a>>63&b) + uint64(b>>63&a)
		var c uint64
		s0, c = bits.Add64(s0, lo, 0)
		s1, c = bits.Add64(s1, hi, c)
		s2 += uint64(int64(hi)>>63) + c
	}
	return [3]uint64{s0, s1, s2}
}
