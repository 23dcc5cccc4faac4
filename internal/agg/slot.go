package agg

import (
	"math/bits"

	"github.com/gagg-dev/gagg/internal/column"
)

// op is what a slot does with its words. "hot lo, cold hi" tells the words,
// in order; see layout.go for where they stand.
type op uint8

const (
	// hot sum; proven not to overflow by the number of rows and where their values are
	opAddInt     op = iota
	opAddCounted    // hot sum<<shift + how many rows there are: see packed.go
	opAddInt128     // hot lo (int64), cold hi (int64): sum = hi<<64 + lo, lo being signed
	opAddUint128    // hot lo (uint64), cold hi: sum = hi<<64 + lo
	opAddWide192    // hot 3 words, two's complement, low word first
	opAddWide320    // hot 5 words, the same
	opAddFloat      // hot s, c: sum = s + c
	opAddDouble     // the same, with c kept small; serves opAddFloat too

	opMinInt // hot key, sorted as int64: see keysOf
	opMaxInt
	opMinFloat // hot float
	opMaxFloat
	opMinWide // hot 4 words, two's complement, low word first
	opMaxWide
	opMinBytes // hot prefix, ref: see bytes.go
	opMaxBytes

	opAnd // hot bits
	opOr
	opXor
	opProduct // hot fraction, exponent: see product.go

	opMulInt    // hot sum of x*y; proven not to overflow by types and number of rows
	opMulInt128 // hot lo (int64), cold hi (int64): sum of x*y = hi<<64 + lo, lo being signed
	opMulInt192 // hot lo (int64), cold hi (two words): sum of x*y = hi<<64 + lo, lo being signed
	opMulFloat  // hot s, c: sum of x*y = s + c
	opPowFloat3 // hot s, c: sum of x*x*x
	opPowFloat4 // hot s, c: sum of x*x*x*x

	opFixedSum  // hot some words: exact sum of doubles x; see fixed.go
	opFixedMul  // the same of x*y
	opFixedPow3 // of x*x*x
	opFixedPow4 // of x*x*x*x

	opFirst  // hot position, cold value of x: see position.go
	opLast   //
	opArgMin // hot key of y, position, cold value of x: see arg.go
	opArgMax

	opTop   // hot n keys, the best first: see top.go
	opChain // hot head, slot, tail, cold as the chain needs: see chain.go
)

// slot is one operation of a layout with its place in the row.
type slot struct {
	op        op
	x, y      int   // arguments, as indexes into Input.Args; -1: none
	set       int   // index of the argument set whose NULLs it leaves out
	hot, cold int   // index of the first word of each kind in the row
	shift     uint8 // of opAddCounted; else 0
	fused     bool  // the first of slots that updateCorr serves in one pass

	xRep, yRep column.Rep // of the arguments
	chain      chain      // of opTop and opChain
	fixed      fixed      // of fixed-point sums
}

const (
	none    = -1 // no argument, no slot, no place
	allRows = -1 // the set of count(*), which passes over no row
)

// sumOp chooses the sum of argument arg, whose values are of t.
func (b *builder) sumOp(t column.Type, arg int) op {
	o := sumOp(t, b.maxRows)
	if o != opAddInt && b.part == 0 && arg < len(b.ranges) && fitsWord(b.ranges[arg], b.maxRows) {
		b.relies[arg], b.natural[arg] = true, !b.ranges[arg].Signed
		return opAddInt
	}
	return o
}

// fitsWord reports whether sums of up to rows values are in one word; negative rows: nobody knows
// how many.
func fitsWord(r column.Range, rows int64) bool {
	if !r.Known() || rows < 0 {
		return false
	}
	if r.Signed {
		hi, lo := bits.Mul64(r.Most+1, uint64(rows))
		return hi == 0 && lo <= 1<<63
	}
	hi, lo := bits.Mul64(r.Most, uint64(rows))
	return hi == 0 && lo < 1<<63
}

// Relies reports whether the layout takes fewer words since an argument is where Options.Ranges
// says: one that is elsewhere must not come.
func (l *Layout) Relies(arg int) bool { return arg < len(l.relies) && l.relies[arg] }

// sumOp chooses the narrowest sum of values of t that maxRows rows cannot
// overflow. Decimals are taken by their storage, not by their precision: a
// file may lie about the latter.
func sumOp(t column.Type, maxRows int64) op {
	switch {
	case t.IsFloat():
		return opAddFloat
	case t.Rep() == column.RepWide && t.Precision <= 38:
		return opAddWide192 // 2^63 values of 128 bits
	case t.Rep() == column.RepWide:
		return opAddWide320
	case t.Bits() <= 32 && 0 <= maxRows && maxRows <= 1<<31:
		return opAddInt
	case t.Kind == column.Uint64:
		return opAddUint128
	}
	return opAddInt128
}

// extremeOp chooses the slot of min (or max) for values of t.
func extremeOp(t column.Type, greatest bool) op {
	o := opMinInt
	switch t.Rep() {
	case column.RepFloat64:
		o = opMinFloat
	case column.RepWide:
		o = opMinWide
	case column.RepBytes:
		o = opMinBytes
	}
	if greatest {
		o++
	}
	return o
}

// productOp chooses the slot of the sum of x*y.
func productOp(x, y column.Type, maxRows int64) op {
	switch {
	case !exactMoments(x) || !exactMoments(y):
		return opMulFloat
	case x.Bits()+y.Bits() <= 32 && 0 <= maxRows && maxRows <= 1<<31:
		return opMulInt
	case fitsInt32(x) && fitsInt32(y):
		return opMulInt128
	}
	return opMulInt192
}

// fitsInt32 reports whether all values of t do.
func fitsInt32(t column.Type) bool { return t.Bits() <= 32 && t.Kind != column.Uint32 }

// exactMoments reports whether sums of products of values of t are kept as
// integers.
func exactMoments(t column.Type) bool { return t.Rep() == column.RepInt64 }

// isFloat reports whether the loop of s is a chain of floating-point
// operations.
func (s *slot) isFloat() bool {
	switch s.op {
	case opAddFloat, opAddDouble, opMulFloat, opPowFloat3, opPowFloat4, opProduct, opMinFloat, opMaxFloat:
		return true
	}
	return false
}
