package agg

import (
	"slices"

	"github.com/gagg-dev/gagg/internal/column"
)

// call is an aggregate as compiled: where its result comes from.
type call struct {
	fn     funcID
	part   int
	types  []column.Type // of the arguments
	result column.Type
	set    int    // the set of the arguments
	slots  [5]int // the slots that the function needs, in the order that finish expects
	null   bool   // an argument is a literal NULL: no row ever counts

	linear    *Linear // of sums and means; nil: the argument itself is summed
	share     share   // of quantiles
	shares    []share // of lists of them
	most      int     // values of approx_top_k
	separator string  // of string_agg
}

// compile splits a call into slots.
func (b *builder) compile(c Call) call {
	id := c.Func.id
	out := call{fn: id, part: c.Part, types: slices.Clone(c.Types), set: allRows, slots: [5]int{none, none, none, none, none}}
	_, out.result, _ = Resolve(signatures[id].name, c.Types, c.Params) // checked before
	for _, t := range c.Types {
		if t.Kind == column.Null {
			out.null = true
			return out
		}
	}
	out.linear = c.Linear
	b.split(&out, c)
	return out
}

// split gives c the slots that it needs. The order of the slots is what the
// functions in finish*.go expect.
func (b *builder) split(c *call, from Call) {
	args := from.Args
	one := func(o op) {
		c.set = b.seen(args...)
		c.slots[0] = b.slot(o, c.set, args[0], none)
	}
	switch c.fn {
	case fnCount:
		b.wantRows[b.part] = true
		if !b.allFilled(args) {
			c.set = b.countedSet(args...)
		}
	case fnCountDistinct:
		b.wantRows[b.part] = true
	case fnSum, fnMean:
		b.splitSum(c, args)
	case fnMin, fnMax:
		one(extremeOp(c.types[0], c.fn == fnMax))
	case fnProduct:
		if b.deterministic { // factors in order of their size
			b.splitHolistic(c, from)
			return
		}
		one(opProduct)
	case fnBoolAnd, fnBitAnd:
		one(opAnd)
	case fnBoolOr, fnBitOr:
		one(opOr)
	case fnBitXor:
		one(opXor)
	case fnFirst, fnAnyValue:
		b.needsPos = true
		c.slots[0] = b.slot(opFirst, b.set(args...), args[0], none)
	case fnLast:
		b.needsPos = true
		c.slots[0] = b.slot(opLast, b.set(args...), args[0], none)
	case fnMedian, fnQuantile, fnQuantileDisc, fnQuantiles, fnQuantilesDisc, fnMad, fnMode, fnTop, fnEntropy, fnHistogram,
		fnList, fnStringAgg, fnListOrdered, fnStringOrdered, fnFirstN, fnMinN, fnMaxN, fnApproxCountDistinct, fnApproxQuantile:
		b.splitHolistic(c, from)
	case fnArgMin, fnArgMax:
		b.needsPos = true
		c.slots[0] = b.slot(opArgMin+op(c.fn-fnArgMin), b.set(args...), args[0], args[1])
	default:
		b.splitMoments(c, args)
	}
}

// keeps says which values the chain of a function keeps.
var keeps = map[funcID]keep{
	fnMedian: keepAll, fnQuantile: keepAll, fnQuantileDisc: keepAll, fnMad: keepAll,
	fnQuantiles: keepAll, fnQuantilesDisc: keepAll, fnTop: keepFirsts,
	fnMode: keepFirsts, fnEntropy: keepCounts, fnHistogram: keepCounts, fnProduct: keepCounts,
	fnList: keepOrder, fnStringAgg: keepOrder, fnListOrdered: keepAll, fnStringOrdered: keepAll, fnFirstN: keepLeast, fnMinN: keepLeast, fnMaxN: keepGreatest,
	fnApproxCountDistinct: keepHashes, fnApproxQuantile: keepBuckets,
}

// splitHolistic needs one chain, or the best keys in the row.
func (b *builder) splitHolistic(c *call, from Call) {
	arg, t, n, kept := from.Args[0], c.types[0], 0, keeps[c.fn]
	c.share, c.separator = middle, ","
	if len(from.Params) > 0 {
		switch p := from.Params[0]; c.fn {
		case fnMinN, fnMaxN:
			n = int(p.Int)
		case fnListOrdered, fnStringOrdered, fnFirstN:
			n, kept = c.packed(from.Params, kept)
		case fnTop:
			c.most = int(p.Int)
		case fnQuantiles, fnQuantilesDisc:
			for _, p := range from.Params {
				s, _ := shareOf(p)
				c.shares = append(c.shares, s)
			}
		case fnStringAgg:
			c.separator = p.Bytes
		default:
			c.share, _ = shareOf(p)
		}
	}
	if from.Counted && kept == keepAll {
		kept = keepCounts
	}
	ch := newChain(kept, t, n)
	if rep := t.Rep(); 0 < n && n <= topWords && (rep == column.RepInt64 || rep == column.RepFloat64) {
		c.set = b.countedSet(arg)
		c.slots[0] = b.chainSlot(opTop, c.set, arg, ch)
		return
	}
	ch.runs = b.runs != nil
	if from.Counted && ch.pos != none {
		b.firsts = b.firstSlot(arg)
		c.slots[1] = b.firsts
	}
	b.needsPos = b.needsPos || ch.pos != none
	c.slots[0] = b.chainSlot(opChain, b.set(arg), arg, ch)
}

// firstSlot is a slot of part 0 with the position of the first row whose argument is not NULL.
func (b *builder) firstSlot(arg int) int {
	defer func(part int) { b.part = part }(b.part)
	b.part = 0
	return b.slot(opFirst, b.set(arg), arg, none)
}

// packed reads the params of an aggregate with an order behind the first: n; or whether each
// different value counts once, and a separator. It returns n, and what the chain keeps.
func (c *call) packed(params []column.Value, kept keep) (int, keep) {
	if c.fn == fnFirstN {
		return int(params[1].Int), kept
	}
	if params[1].Int != 0 {
		kept = keepCounts
	}
	if len(params) > 2 {
		c.separator = params[2].Bytes
	}
	return 0, kept
}

// splitMoments needs the count of rows, the sums of x and y, of their squares
// and of their product, as far as the function asks for them.
func (b *builder) splitMoments(c *call, args []int) {
	c.set = b.countedSet(args...)
	exact := true
	for _, t := range c.types {
		exact = exact && exactMoments(t)
	}
	sum := func(k int) int {
		if !exact || c.fn == fnSkewness || c.fn == fnKurtosis {
			return b.slot(opAddDouble, c.set, args[k], none)
		}
		return b.slot(b.sumOp(c.types[k], args[k]), c.set, args[k], none)
	}
	product := func(j, k int) int {
		o := productOp(c.types[j], c.types[k], b.maxRows)
		if !exact || c.fn == fnSkewness || c.fn == fnKurtosis {
			o = opMulFloat
		}
		return b.slot(o, c.set, args[j], args[k])
	}
	switch c.fn {
	case fnVarSamp, fnVarPop, fnStddevSamp, fnStddevPop:
		c.slots = [5]int{sum(0), product(0, 0), none, none, none}
	case fnCovarSamp, fnCovarPop:
		c.slots = [5]int{sum(0), sum(1), product(0, 1), none, none}
	case fnCorr:
		c.slots = [5]int{sum(0), sum(1), product(0, 1), product(0, 0), product(1, 1)}
	case fnSkewness, fnKurtosis:
		cube := b.slot(opPowFloat3, c.set, args[0], none)
		c.slots = [5]int{sum(0), product(0, 0), cube, none, none}
		if c.fn == fnKurtosis {
			c.slots[3] = b.slot(opPowFloat4, c.set, args[0], none)
		}
	}
}
