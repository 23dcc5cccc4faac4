package agg

import (
	"slices"

	"github.com/gagg-dev/gagg/internal/column"
)

// A device can make the rows of a batch itself where each state word of a
// group of one row is a constant or follows from one value, and from which
// arguments are NULL.

// OneRow says what the state words of a group of one row are made of.
type OneRow struct {
	Words []RowWord
	Nulls []RowNull
}

// RowWord says what a state word of the row of one input row is.
type RowWord struct {
	From     RowSource
	Constant uint64 // the word itself, or the word for an argument that is NULL
	Arg      int    // index in Input.Args; not of FromConstant
	Times    int    // the other factor's, where From.Times
	Other    int    // 1 + that of another one with which, being NULL, it is the constant too; 0: none
	Fixed    FixedWord
}

// FixedWord says what a word of a fixed-point number has of a product of float64s, where
// RowWord.From.Factors is not 0: word number Word, in two's complement, of the product of their
// fractions of 53 bits, shifted to the left by the sum of their exponents, in the units of their
// bits, less Base. The shift of a product that has all bits that it may have, 53 for each factor,
// is less than Beyond; that of one with fewer may be more by as many. Of a value whose shift is
// less than 0, or too great, or with a factor that is not normal, a device makes no states, but for
// zeros.
type FixedWord struct{ Base, Beyond, Word int }

// Uses reports whether the word is made of an argument.
func (w RowWord) Uses(arg int) bool {
	return w.From != FromConstant && w.Arg == arg || w.From.Times() && w.Times == arg || w.Other == 1+arg
}

// RowNull says what is added to a state word where an argument is NULL: counts
// of NULLs may share the word with the count of rows, and flags with one another.
type RowNull struct {
	Arg    int // index in Input.Args
	Word   int // index of the state word
	Add    uint64
	Unless int // 1 + the argument where that is NULL too nothing is added; 0: there is none
}

// RowSource is where a state word comes from. Values are words as vectors hold them: an
// int64 (of a uint64: its bits) or the bits of a float64. A number is its value as a double: of
// an integer rounded, of a decimal its digits so and then divided by 10^scale.
//
// A product or power of numbers is a sum of one, which has two words: the bits of s and of c that
// addMulFloat or addPowFloat leaves of it.
type RowSource uint8

const (
	FromConstant         RowSource = iota
	FromValue                      // the value's word as it is
	FromSum                        // the bits of the number + 0.0, so that -0 becomes 0
	FromProduct                    // the int64 times that of another argument
	FromNot                        // the value's word, each bit turned round
	FromOrder                      // the float64's place in order as an int64 (floatKey)
	FromOrderNot                   // that, each bit turned round
	FromProductS                   // s of the number times that of another argument
	FromProductC                   // its c
	FromThirdPowerS                // s of the number to the power of 3
	FromThirdPowerC                // its c
	FromFourthPowerS               // s of the number to the power of 4
	FromFourthPowerC               // its c
	FromFixed                      // a word of the number as a fixed-point number
	FromFixedProduct               // the same of the number times that of another argument
	FromFixedThirdPower            // of the number to the power of 3
	FromFixedFourthPower           // of the number to the power of 4
	FromSign                       // of the int64 all bits its sign
	// the uint64's place in order as an int64: its first bit turned round
	FromUnsigned
	FromUnsignedNot // that, each bit turned round
	FromText        // a ref to the text, of a device's own
	FromPrefix      // the text's first bytes as a number (prefix)
	FromPosition    // the number of the row in the input
)

// Times reports whether the word is made of two arguments.
func (s RowSource) Times() bool {
	return s == FromProduct || s == FromProductS || s == FromProductC || s == FromFixedProduct
}

// Factors is how many numbers are multiplied for a word of a fixed-point number; 0: it is none.
func (s RowSource) Factors() int {
	if s < FromFixed || s > FromFixedFourthPower {
		return 0
	}
	return int(s-FromFixed) + 1
}

// DeviceRow tells what each of the Words() state words, from word base of a row on, is
// after Init and an Update of part 0 with one row.
//
// The words are those very bits, with one exception: the compensation of a
// sum of floats, which Update leaves as NaN where the value is infinite or NaN, is
// 0. It means nothing then.
//
// If the words do not follow from values so, or the device cannot combine them (DeviceOps), why
// says which aggregate it is.
func (l *Layout) DeviceRow() (row OneRow, why string) {
	if _, _, why := l.DeviceOps(); why != "" {
		return OneRow{}, why
	}
	input := l.Part(0)
	row.Words = make([]RowWord, l.Words())
	for i, begin := range input.template {
		row.Words[i].Constant = begin
	}
	if input.rows.in() {
		row.Words[input.rows.off-l.base].Constant += input.rows.one()
	}
	for i := range l.slots {
		s := &l.slots[i]
		if l.sets[s.set].part > 0 {
			continue
		}
		if s.hasPlace() {
			l.placeOfOne(&row, s)
			continue
		}
		from := s.fromOne(l.types[s.x])
		if from == nil {
			return OneRow{}, l.callOf(i).name() + ": the device makes no states of it from values"
		}
		for k, source := range from {
			w := &row.Words[s.hot+k-l.base]
			w.From, w.Arg, w.Times, w.Fixed = source, s.x, s.y, s.fixedWord(source, k)
		}
		if s.op == opChain { // of one entry, or of none
			tail := s.hot + 2 - l.base
			row.Words[tail].Constant = oneListed
			row.Nulls = append(row.Nulls, RowNull{Arg: s.x, Word: tail, Add: ^oneListed + 1})
		}
	}
	for i := range l.sets {
		if l.sets[i].part == 0 {
			l.setNulls(&row, &l.sets[i])
		}
	}
	return row, ""
}

// hasPlace reports whether s keeps a value with the position of its row.
func (s *slot) hasPlace() bool {
	switch s.op {
	case opFirst, opLast, opArgMin, opArgMax:
		return true
	}
	return false
}

// placeOfOne notes what the words of s are after one row, which keeps a value with its position.
func (l *Layout) placeOfOne(row *OneRow, s *slot) {
	set := func(off, arg int, from RowSource) {
		w := &row.Words[off-l.base]
		w.From, w.Arg = from, arg
		if s.y != none {
			w.Other = 1 + s.x + s.y - arg
		}
	}
	at := s.hot
	if s.y != none {
		keys := []RowSource{keySource(l.types[s.y], s.op == opArgMax)}
		if s.yRep == column.RepBytes {
			keys = []RowSource{FromPrefix, FromText}
		}
		for _, from := range keys {
			set(at, s.y, from)
			at++
		}
	}
	set(at, s.x, FromPosition)
	value := FromValue
	if s.xRep == column.RepBytes {
		value = FromText
	}
	set(s.cold, s.x, value)
}

// setNulls notes what NULLs do to the words of a set, which has two arguments at most.
func (l *Layout) setNulls(row *OneRow, s *argSet) {
	if len(s.args) > 1 {
		l.besides(row, s)
	}
	for _, f := range []field{s.nulls, s.unseen} {
		if !f.in() {
			continue
		}
		null := RowNull{Arg: s.args[0], Word: f.off - l.base, Add: f.one()}
		row.Nulls = append(row.Nulls, null)
		if len(s.args) > 1 {
			null.Arg, null.Unless = s.args[1], 1+s.args[0]
			row.Nulls = append(row.Nulls, null)
		}
	}
}

// besides notes that words made of one of two arguments are constants where the other one is NULL.
func (l *Layout) besides(row *OneRow, of *argSet) {
	for i := range l.slots {
		s := &l.slots[i]
		if &l.sets[s.set] != of || s.hasPlace() { // of a place it is noted
			continue
		}
		hot, _ := s.words()
		for k := range hot {
			if w := &row.Words[s.hot+k-l.base]; w.From != FromConstant {
				w.Other = 1 + of.args[0] + of.args[1] - w.Arg
			}
		}
	}
}

// fromOne says what the first hot words of s are after one row, whose x is of type t; the others
// stay as they begin. None: they do not follow from values so.
func (s *slot) fromOne(t column.Type) []RowSource {
	switch s.op {
	case opAddInt, opAddInt128, opAddUint128: // 0 + value: no carry
		return []RowSource{FromValue}
	case opAddWide192: // of decimals of more than 18 digits the values that an int64 holds
		return []RowSource{FromValue, FromSign, FromSign}
	case opAddWide320:
		return []RowSource{FromValue, FromSign, FromSign, FromSign, FromSign}
	case opMulInt, opMulInt128: // 0 + a product of 64 bits
		return []RowSource{FromProduct}
	case opAnd, opOr, opXor: // a word that changes nothing
		return []RowSource{FromValue}
	case opMinFloat, opMaxFloat: // begin with what any value replaces or equals
		return []RowSource{FromValue}
	case opMinInt, opMaxInt: // the same, but those of uint64 are keys, not values
		if t.Kind == column.Uint64 {
			return []RowSource{FromUnsigned}
		}
		return []RowSource{FromValue}
	case opFixedSum, opFixedMul, opFixedPow3, opFixedPow4:
		return s.fixedOfOne()
	case opMinBytes, opMaxBytes:
		return []RowSource{FromPrefix, FromText}
	case opTop, opChain:
		return s.keyOfOne(t)
	default:
		return s.sumOfOne()
	}
}

// keyOfOne is fromOne of the best key, which begins with what any key replaces or equals, or of the
// only key of a chain.
func (s *slot) keyOfOne(t column.Type) []RowSource {
	return []RowSource{keySource(t, s.chain.keep == keepGreatest)}
}

// keySource is what the key of a value is; keys of the greatest values are complements.
func keySource(t column.Type, greatest bool) RowSource {
	switch {
	case t.Kind == column.Uint64 && greatest:
		return FromUnsignedNot
	case t.Kind == column.Uint64:
		return FromUnsigned
	case t.IsFloat() && greatest:
		return FromOrderNot
	case t.IsFloat():
		return FromOrder
	case greatest:
		return FromNot
	}
	return FromValue
}

// fixedOfOne is fromOne of an exact sum.
func (s *slot) fixedOfOne() []RowSource {
	factors := s.op.factors()
	if s.ofWide() || s.fixed.special.in() || s.fixed.top < factors*fractionBits {
		return nil
	}
	return slices.Repeat([]RowSource{FromFixed + RowSource(factors-1)}, s.fixed.n)
}

// ofWide reports whether values of an argument have more than a word.
func (s *slot) ofWide() bool {
	return s.xRep == column.RepWide || s.y != none && s.yRep == column.RepWide
}

// sumOfOne is fromOne of a sum of doubles.
func (s *slot) sumOfOne() []RowSource {
	if s.ofWide() {
		return nil
	}
	switch s.op {
	case opAddFloat, opAddDouble:
		return []RowSource{FromSum}
	case opMulFloat:
		return []RowSource{FromProductS, FromProductC}
	case opPowFloat3:
		return []RowSource{FromThirdPowerS, FromThirdPowerC}
	case opPowFloat4:
		return []RowSource{FromFourthPowerS, FromFourthPowerC}
	}
	return nil
}
