package agg

import (
	"math"

	"github.com/gagg-dev/gagg/internal/column"
)

// op is what a slot does with its words. "hot lo, cold hi" tells the words,
// in order; see layout.go for where they stand.
type op uint8

const (
	opAddInt     op = iota // hot sum; proven not to overflow by the number of rows
	opAddInt128            // hot lo (int64), cold hi (int64): sum = hi<<64 + lo, lo being signed
	opAddUint128           // hot lo (uint64), cold hi: sum = hi<<64 + lo
	opAddWide192           // hot 3 words, two's complement, low word first
	opAddWide320           // hot 5 words, the same
	opAddFloat             // hot s, c: sum = s + c

	opMinInt // hot key, sorted as int64: see keysOf
	opMaxInt
	opMinFloat // hot float
	opMaxFloat
	opMinWide // hot 4 words, two's complement, low word first
	opMaxWide
	opMinBytes // hot prefix, ref: see bytes.go
	opMaxBytes
)

// slot is one operation of a layout with its place in the row.
type slot struct {
	op        op
	x, y      int // arguments, as indexes into Input.Args; -1: none
	set       int // index of the argument set whose NULLs it passes over; allRows: none
	hot, cold int // index of the first word of each kind in the row
}

const (
	none    = -1 // no argument, no slot, no place
	allRows = -1 // the set of a slot that looks at NULL itself
)

// words tells how many hot and cold words s has and what they begin with.
func (s *slot) words() (hot, cold []uint64) {
	zeros := [5]uint64{}
	switch s.op {
	case opAddInt:
		return zeros[:1], nil
	case opAddInt128, opAddUint128:
		return zeros[:1], zeros[1:2]
	case opAddWide192:
		return zeros[:3], nil
	case opAddWide320:
		return zeros[:5], nil
	case opAddFloat:
		return zeros[:2], nil
	case opMinInt:
		return []uint64{math.MaxInt64}, nil
	case opMaxInt:
		return []uint64{1 << 63}, nil
	case opMinFloat:
		return []uint64{math.Float64bits(math.NaN())}, nil
	case opMaxFloat:
		return []uint64{math.Float64bits(math.Inf(-1))}, nil
	case opMinWide:
		return []uint64{math.MaxUint64, math.MaxUint64, math.MaxUint64, math.MaxInt64}, nil
	case opMaxWide:
		return []uint64{0, 0, 0, 1 << 63}, nil
	case opMinBytes, opMaxBytes:
		return zeros[:2], nil
	}
	panic("agg: slot without words")
}

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
