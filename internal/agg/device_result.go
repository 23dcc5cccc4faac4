package agg

import (
	"math"

	"github.com/gagg-dev/gagg/internal/column"
)

// A device that has whole groups can tell which of them are wanted where the results that this
// depends on follow from words of a row by a few operations, and are words themselves.

// DeviceResult says how the result of a call follows from the row of a group: as an int64 (of a
// uint64 its bits), or the bits of a float64. Of decimals it is the digits.
type DeviceResult struct {
	From ResultSource
	Word int // of the row
	// where the other words of an integer, or the other part of a sum of floats, begin
	High  int
	More  int    // words from High on
	Mask  uint64 // of ResultBits
	Flip  uint64 // of ResultBits: is xor-ed
	Point float64
	Rows  DeviceRows
}

// DeviceRows is how many rows of a group a result is of: Rows + Least - Nulls. The result is NULL
// if there are none, but for ResultRows.
type DeviceRows struct {
	Rows, Nulls DeviceField
	Least       uint64
}

// DeviceField is where a number is in a row: (row[Word] >> Shift) & Mask.
type DeviceField struct {
	Word  int
	Shift uint8
	Mask  uint64
}

// ResultSource is what a result is made of. Where Point is above 0 that is divided by as many rows,
// times Point: a mean, which of integers is exact as long as both have no more than 53 bits.
type ResultSource uint8

const (
	ResultBits     ResultSource = iota // (the word & Mask) ^ Flip
	ResultRows                         // DeviceRows
	ResultSum                          // the word, an int64, if the others are 0
	ResultWide                         // the word, an int64, if the others are its sign
	ResultPositive                     // the word, an int64 of 0 or more, if the others are 0
	ResultDouble                       // the float64 + 0.0, and one NaN
	ResultDoubles                      // the sum of two
)

// DeviceResult says how the result of a call follows from words of a row; false: it does not. Where
// it is not what Finish makes of the row, since more than an int64 is needed, that can be told.
func (l *Layout) DeviceResult(call int) (r DeviceResult, ok bool) {
	c := &l.calls[call]
	if c.null || c.linear != nil {
		return r, false
	}
	f := finisher{Layout: l, call: c}
	switch c.fn {
	case fnCount, fnCountDistinct:
		return DeviceResult{From: ResultRows, Rows: l.deviceRows(f.counts())}, true
	case fnSum:
		r, ok = l.slots[c.slots[0]].deviceSum()
		r.Rows = l.deviceRows(f.presence())
	case fnMean:
		r, ok = l.slots[c.slots[0]].deviceSum()
		r.Rows, r.Point = l.deviceRows(f.counts()), math.Pow10(int(c.types[0].Scale))
		ok = ok && c.types[0].Scale <= exactPower
	case fnMin, fnMax, fnBoolAnd, fnBoolOr, fnBitAnd, fnBitOr, fnBitXor:
		r, ok = l.slots[c.slots[0]].deviceValue(c.result)
		r.Rows = l.deviceRows(f.presence())
	}
	return r, ok
}

// DeviceCount is where rows have the count of a group's rows, in a layout that counts them.
func (l *Layout) DeviceCount() DeviceField { return deviceField(l.rows) }

func (l *Layout) deviceRows(p presence) DeviceRows {
	return DeviceRows{Rows: deviceField(p.more), Nulls: deviceField(p.than), Least: p.least}
}

// deviceField is a field; one that is not there is 0 in all rows.
func deviceField(f field) DeviceField {
	if f.mask == 0 || !f.in() {
		return DeviceField{}
	}
	return DeviceField{f.off, f.shift, f.mask}
}

// counts is the words that valid makes its count of.
func (f *finisher) counts() presence {
	p := presence{more: f.counted[f.call.part]}
	if f.call.set != allRows {
		p.than = f.sets[f.call.set].nulls
	}
	return p
}

// deviceSum is the sum of a slot.
func (s *slot) deviceSum() (r DeviceResult, ok bool) {
	r = DeviceResult{Word: s.hot}
	switch s.op {
	case opAddInt:
		r.Mask = math.MaxUint64
	case opAddInt128:
		r.From, r.High, r.More = ResultSum, s.cold, 1
	case opAddUint128:
		r.From, r.High, r.More = ResultPositive, s.cold, 1
	case opAddWide192:
		r.From, r.High, r.More = ResultWide, s.hot+1, 2
	case opAddWide320:
		r.From, r.High, r.More = ResultWide, s.hot+1, 4
	case opAddFloat, opAddDouble:
		r.From, r.High = ResultDoubles, s.hot+1
	default:
		return r, false
	}
	return r, true
}

// deviceValue is the value of a slot of one word, as one of t.
func (s *slot) deviceValue(t column.Type) (r DeviceResult, ok bool) {
	r = DeviceResult{Word: s.hot, Mask: math.MaxUint64}
	switch s.op {
	case opMinInt, opMaxInt:
		if t.Kind == column.Uint64 {
			r.Flip = 1 << 63
		}
	case opMinFloat, opMaxFloat:
		r.From = ResultDouble
	case opAnd, opOr, opXor:
		if t.Kind == column.Bool {
			r.Mask = 1
		}
	default:
		return r, false
	}
	return r, true
}
