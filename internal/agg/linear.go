package agg

import "github.com/gagg-dev/gagg/internal/column"

// Linear is an argument of sum or mean that follows from a column x of integers of up to 32 bits:
// x*Times + Plus. Its sum is sum(x)*Times + count(x)*Plus, which is exact in 320 bits, so that
// any number of such calls share one sum.
type Linear struct {
	Type        column.Type // of x
	Times, Plus int64       // within ± LinearMost, so that no value of the argument leaves int64
}

// LinearMost bounds the constants of a Linear.
const LinearMost = 1<<31 - 1

// splitSum needs the sum of the argument, or of x, and for a mean or a Linear the count.
func (b *builder) splitSum(c *call, args []int) {
	t, set := c.types[0], b.countedSet
	switch {
	case c.linear != nil:
		t = c.linear.Type
	case c.fn == fnSum:
		set = b.seen
	}
	c.set = set(args...)
	c.slots[0] = b.slot(b.sumOp(t, args[0]), c.set, args[0], none)
}

// exactSum is the sum of the call's argument, of which the slot has the sum, or that of x.
func (f *finisher) exactSum(s *slot, row []uint64) wide {
	n := exactSum(s, row)
	if l := f.call.linear; l != nil {
		return n.mul(wideOf(l.Times)).sub(wideOf(-l.Plus).mul(wideOf(f.valid(row))))
	}
	return n
}

// wideOf is v in 320 bits.
func wideOf(v int64) wide {
	sign := uint64(v >> 63)
	return wide{uint64(v), sign, sign, sign, sign}
}
