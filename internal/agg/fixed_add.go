package agg

import (
	"math"
	"math/bits"
)

// This file is the loops that add to fixed-point sums. Where a loop knows nothing of a value, zero,
// one that is not normal, or one at the edge of the window, slot.addOne adds it.

// updateFixed adds the rows of a view to fixed-point sums.
func (s *slot) updateFixed(t *Table, v *view) {
	x, y := s.floats(t, v)
	ok := true
	switch s.op {
	case opFixedSum:
		if n := t.cuts(len(v.gids)); n > 0 {
			ok = s.addFewFixed(t, n, v.gids, x)
		} else {
			ok = s.addFixedAny(t.Rows, t.Stride, v.gids, x)
		}
	case opFixedMul:
		ok = s.addFixedMul(t.Rows, t.Stride, v.gids, x, y)
	default:
		for i, g := range v.gids {
			ok = s.addOne(t.Rows, int(g)*t.Stride, x[i], x[i]) && ok
		}
	}
	if !ok {
		t.noteOutside(s, x, y)
	}
}

// noteView notes where the values of a view are, of which some are outside of the window of s.
func (s *slot) noteView(t *Table, v *view) {
	x, y := s.floats(t, v)
	t.noteOutside(s, x, y)
}

// floats returns the arguments of a slot as doubles.
func (s *slot) floats(t *Table, v *view) (x, y []float64) {
	x = t.scratch.floatsOf(0, &v.args[s.x])
	if s.y == none || s.y == s.x {
		return x, x
	}
	return x, t.scratch.floatsOf(1, &v.args[s.y])
}

// short reports whether the loops over sums of two words are right: the smallest doubles, whose
// fractions have another form, are outside of the window.
func (f *fixed) short() bool { return f.n == 2 && f.low > leastDigit }

// shifts is the difference between the sum of the exponents of an addend's factors, in the units of
// their bits, and the shift of the product of their fractions; and the least shift that is too
// great. The loops do not handle numbers with a greater or a negative shift, or that are not
// normal.
func (s *slot) shifts() (base, beyond uint64) {
	n := s.op.factors()
	return uint64(s.fixed.low - n*(leastDigit-1)), uint64(max(s.fixed.top-n*fractionBits+1, 0))
}

// addFixed128 adds to sums of two words.
func (s *slot) addFixed128(rows []uint64, stride int, gids []uint32, vals []float64) (ok bool) {
	words := rows[s.hot:]
	vals, ok = vals[:len(gids)], true
	base, beyond := s.shifts()
	for i, g := range gids {
		b := math.Float64bits(vals[i])
		fraction, shift := b&(1<<52-1)|1<<52, b>>52&0x7ff-base
		if b<<1 == 0 {
			fraction, shift = 0, 0
		}
		at := int(g) * stride
		if shift >= beyond {
			ok = s.addOne(rows, at, vals[i], 1) && ok
			continue
		}
		// there are carryBits: it begins in the lower word
		hi, lo := bits.Mul64(fraction, 1<<(shift&63))
		negative := uint64(int64(b) >> 63)
		w := words[at : at+2 : at+2]
		var c uint64
		w[0], c = bits.Add64(w[0], lo^negative, negative&1)
		w[1], _ = bits.Add64(w[1], hi^negative, c)
	}
	return ok
}

// Rows of few groups are added up in doubles first, which is faster than in integers and as exact:
// each value is cut into two, a multiple of 2^(high-38) and one of 2^(high-76), where all values of
// a batch are less than 2^high. Sums of 2^14 of either are doubles. (Rump, Ogita and Oishi,
// "Accurate floating-point summation", 2008, cut so.) What is left of a value that
// has more digits is no zero, and has the batch added in integers.

const (
	cutBits = 38
	cutRows = 1 << (fractionBits - 1 - cutBits)
)

// cutter cuts values that are less than 2^high: adding and taking off a number rounds to a multiple
// of its last place.
type cutter struct {
	first, second float64
	limit         uint64 // bits of 2^high without the sign's place; 0: nothing can be cut
}

// cutter is that of some values, which are less than the window's end; if not, it cuts nothing.
func (f *fixed) cutter(vals []float64) cutter {
	most := uint64(0)
	for _, v := range vals {
		most = max(most, math.Float64bits(v)<<1)
	}
	exponent := max(most>>53, 100) // very small values are cut as larger ones
	high := int(exponent) + leastDigit - 1 + fractionBits
	if high > min(f.low+f.top, 1000) {
		return cutter{}
	}
	return cutter{
		first:  math.Ldexp(1.5, high-cutBits+fractionBits-1),
		second: math.Ldexp(1.5, high-2*cutBits+fractionBits-1),
		limit:  (exponent + 1) << 53,
	}
}

// sum adds values up. most is the bits of the greatest, without sign, and rest is not zero if some
// have more digits.
func (c *cutter) sum(vals []float64) (upper, lower float64, most, rest uint64) {
	var u, l [2]float64
	first, second := c.first, c.second
	for ; len(vals) >= 2; vals = vals[2:] {
		x, y := vals[0], vals[1]
		most = max(most, math.Float64bits(x)<<1, math.Float64bits(y)<<1)
		p, q := (x+first)-first, (y+first)-first
		x, y = x-p, y-q
		u[0], u[1] = u[0]+p, u[1]+q
		p, q = (x+second)-second, (y+second)-second
		l[0], l[1] = l[0]+p, l[1]+q
		rest |= math.Float64bits(x-p) | math.Float64bits(y-q)
	}
	for _, x := range vals {
		most = max(most, math.Float64bits(x)<<1)
		p := (x + first) - first
		x -= p
		u[0] += p
		p = (x + second) - second
		l[0] += p
		rest |= math.Float64bits(x - p)
	}
	return u[0] + u[1], l[0] + l[1], most, rest << 1
}

// cutSums is the sums of a batch by group, those of the upper parts of values and of the lower ones
// side by side.
type cutSums [cutGroups][2]float64

const (
	cutGroups = 512 // 8 KiB of sums
	// cutLeast is the rows of a group in a batch from which on its sum of doubles is worth
	// being added in integers.
	cutLeast = 32
)

// cuts is the number of groups of the table, if a batch of that many rows is added up in cut
// doubles; 0: there are too many groups for that.
func (t *Table) cuts(rows int) int {
	n := len(t.Rows) / t.Stride
	if n > cutGroups || min(rows, cutRows) < cutLeast*n {
		return 0
	}
	return n
}

// add sets the first n sums to those of n groups; most and rest are as of cutter.sum.
func (f *cutSums) add(c *cutter, n int, gids []uint32, vals []float64) (most, rest uint64) {
	lanes := 1 // of a group, of which the rows take turns
	if n <= cutGroups/fewLanes {
		lanes = fewLanes
	}
	clear(f[:n*lanes])
	vals = vals[:len(gids)]
	first, second, turn := c.first, c.second, uint32(lanes-1)
	for i, g := range gids {
		x := vals[i]
		most = max(most, math.Float64bits(x)<<1)
		p := (x + first) - first
		x -= p
		q := (x + second) - second
		w := &f[(g*uint32(lanes)+uint32(i)&turn)%cutGroups]
		w[0] += p
		w[1] += q
		rest |= math.Float64bits(x - q)
	}
	if lanes > 1 {
		for g := range n {
			a := f[g*fewLanes:][:fewLanes]
			f[g] = [2]float64{(a[0][0] + a[1][0]) + (a[2][0] + a[3][0]), (a[0][1] + a[1][1]) + (a[2][1] + a[3][1])}
		}
	}
	return most, rest << 1
}

// cut adds rows to the sums of n groups, or of one without gids; false: they cannot be cut, and
// nothing was added.
func (s *slot) cut(t *Table, row, n int, gids []uint32, vals []float64) (done, ok bool) {
	for len(t.scratch.cutters) <= s.hot {
		t.scratch.cutters = append(t.scratch.cutters, cutter{})
	}
	c, sums := &t.scratch.cutters[s.hot], &t.scratch.cut // as the batch before was cut
	for again := range 2 {
		var most, rest uint64
		if c.limit > 0 {
			if gids == nil {
				sums[0][0], sums[0][1], most, rest = c.sum(vals)
			} else {
				most, rest = sums.add(c, n, gids, vals)
			}
			if most < c.limit && rest == 0 {
				break
			}
		}
		was := *c
		if *c = s.fixed.cutter(vals); c.limit == 0 || *c == was || again == 1 {
			return false, false
		}
	}
	ok = true
	for g, sum := range sums[:n] {
		words := t.Rows[row+g*t.Stride+s.hot:][:s.fixed.n]
		ok = s.fixed.addSum(words, sum[0]) && s.fixed.addSum(words, sum[1]) && ok
	}
	return true, ok
}

// addSum adds the sum of some values, each of which is less than the window's end; false: it has
// digits outside.
func (f *fixed) addSum(sum []uint64, v float64) bool {
	b := math.Float64bits(v)
	exponent := b >> 52 & 0x7ff
	shift := exponent - uint64(f.low-leastDigit+1)
	if b<<1 == 0 {
		return true
	}
	if exponent == 0 || shift > uint64(64*(f.n-1)) { // there are fractionBits above it
		a, _ := addendOf(opFixedSum, v, 1)
		return f.add(sum, a, 64*f.n-1)
	}
	hi, lo := bits.Mul64(b&(1<<52-1)|1<<52, 1<<(shift&63))
	negative := uint64(int64(b) >> 63)
	k := shift >> 6
	var c uint64
	sum[k], c = bits.Add64(sum[k], lo^negative, negative&1)
	for k++; k < uint64(len(sum)) && (hi != 0 || c != negative&1); k++ {
		sum[k], c = bits.Add64(sum[k], hi^negative, c)
		hi = 0
	}
	return true
}

// sumFixed adds values to the sum of one group, whose row begins at word row of the table's.
func (s *slot) sumFixed(t *Table, group uint32, vals []float64) (ok bool) {
	row := int(group) * t.Stride
	for ok = true; len(vals) > 0; {
		n := min(len(vals), cutRows)
		done, fit := s.cut(t, row, 1, nil, vals[:n])
		if !done {
			fit = s.addFixedAny(t.Rows[row:], 0, t.scratch.repeat(0, n), vals[:n])
		}
		ok, vals = ok && fit, vals[n:]
	}
	return ok
}

// addFewFixed adds rows to the sums of n groups.
func (s *slot) addFewFixed(t *Table, n int, gids []uint32, vals []float64) (ok bool) {
	for ok = true; len(gids) > 0; {
		k := min(len(gids), cutRows)
		done, fit := s.cut(t, 0, n, gids[:k], vals[:k])
		if !done {
			fit = s.addFixedAny(t.Rows, t.Stride, gids[:k], vals[:k])
		}
		ok, gids, vals = ok && fit, gids[k:], vals[k:]
	}
	return ok
}

// addFixedAny adds to sums of any number of words, in integers.
func (s *slot) addFixedAny(rows []uint64, stride int, gids []uint32, vals []float64) (ok bool) {
	if s.fixed.short() {
		return s.addFixed128(rows, stride, gids, vals)
	}
	return s.addFixed(rows, stride, gids, vals)
}

// addFixed adds to sums of any number of words.
func (s *slot) addFixed(rows []uint64, stride int, gids []uint32, vals []float64) (ok bool) {
	vals, ok = vals[:len(gids)], true
	base, beyond := s.shifts()
	for i, g := range gids {
		b := math.Float64bits(vals[i])
		exponent := b >> 52 & 0x7ff
		shift, at := exponent-base, int(g)*stride
		if exponent-1 >= 0x7fe || shift >= beyond { // zeros too
			ok = s.addOne(rows, at, vals[i], 1) && ok
			continue
		}
		hi, lo := bits.Mul64(b&(1<<52-1)|1<<52, 1<<(shift&63))
		addThree(rows[at+s.hot:][:s.fixed.n], shift>>6, lo, hi, 0, uint64(int64(b)>>63))
	}
	return ok
}

// addFixedMul adds products to sums of any number of words.
func (s *slot) addFixedMul(rows []uint64, stride int, gids []uint32, x, y []float64) (ok bool) {
	x, y, ok = x[:len(gids)], y[:len(gids)], true
	base, beyond := s.shifts()
	for i, g := range gids {
		a, b := math.Float64bits(x[i]), math.Float64bits(y[i])
		ea, eb := a>>52&0x7ff, b>>52&0x7ff
		shift, at := ea+eb-base, int(g)*stride
		if ea-1 >= 0x7fe || eb-1 >= 0x7fe || shift >= beyond { // zeros too
			ok = s.addOne(rows, at, x[i], y[i]) && ok
			continue
		}
		hi, lo := bits.Mul64(a&(1<<52-1)|1<<52, b&(1<<52-1)|1<<52)
		by := shift & 63
		mid := hi<<by | lo>>1>>(63-by)
		addThree(rows[at+s.hot:][:s.fixed.n], shift>>6, lo<<by, mid, hi>>1>>(63-by), uint64(int64(a^b)>>63))
	}
	return ok
}

// addThree adds three words to a sum from its word k on, which is not the last one; negative is all
// bits, or none.
func addThree(sum []uint64, k, lo, mid, hi, negative uint64) {
	var c uint64
	sum[k], c = bits.Add64(sum[k], lo^negative, negative&1)
	sum[k+1], c = bits.Add64(sum[k+1], mid^negative, c)
	for k += 2; k < uint64(len(sum)) && (hi != 0 || c != negative&1); k++ {
		sum[k], c = bits.Add64(sum[k], hi^negative, c)
		hi = 0
	}
}
