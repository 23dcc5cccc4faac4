package agg

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/gagg-dev/gagg/internal/column"
)

// This file is sums of doubles that do not depend on the order of rows: they are exact.
//
// A sum is an integer of some words in two's complement, low word first, times 2^low: the digits
// of a number in a window, and above it room for the carries of all rows. Integers are added in any
// order with the same result, word by word with a carry, as sums of decimals are. Only the
// result is rounded, once.
//
//	| sign | carries of all rows | digits of x, x*y, x^3, x^4 |
//	                             2^High                    2^Low
//
// WINDOW: the caller says which digits the window has (Options.Windows); it knows from the
// statistics of columns and from earlier runs. A value with a digit outside of the window is never
// rounded: the table then holds a [WindowError], and its sums mean nothing. The widest window holds
// any double.
//
// So results do not depend on windows either, which may differ from run to run.
//
// NaN and infinities are no integers. Where Options.Special is set, a field of three bits beside
// the sum says which of them have come; else they are outside of any window.

// Window says between which powers of two the digits of numbers are: each number that is finite
// and not 0 is less than 2^High in size, and its double has no digit worth less than 2^Low, in any
// of its 53 places. The zero value means unknown.
type Window struct{ Low, High int }

// Known reports whether the window says anything.
func (w Window) Known() bool { return w.Low < w.High }

// Join is the least window that has all digits of both.
func (w Window) Join(o Window) Window {
	switch {
	case !w.Known():
		return o
	case !o.Known():
		return w
	}
	return Window{Low: min(w.Low, o.Low), High: max(w.High, o.High)}
}

// From is w without digits that no value has of at least that size; 0: its values may be of any
// size. It keeps room for the integers that values are made of (aligned).
func (w Window) From(least float64) Window {
	if least > 0 {
		_, exponent := digits(least)
		w.Low = max(w.Low, min(exponent, w.High-fractionBits-alignBits))
	}
	return w
}

// Widest is the window of any double.
var Widest = Window{Low: leastDigit, High: 1024}

const (
	// leastDigit: the last place of the smallest doubles is worth 2^leastDigit.
	leastDigit = -1074
	// fractionBits is how many places a double has.
	fractionBits = 53
)

// WindowOf is the window that the values of a type are sure to be in.
func WindowOf(t column.Type) Window {
	switch {
	case t.Kind == column.Float16:
		return Window{Low: -24 - fractionBits + 1, High: 16}
	case t.Kind == column.Float32:
		return Window{Low: -149 - fractionBits + 1, High: 128}
	case t.Rep() == column.RepInt64 && t.Scale == 0:
		return Window{Low: 1 - fractionBits, High: 65} // as doubles, 2^64 too
	}
	return Widest
}

// carryBits is the bits that sums of `rows` values have above their window, for carries and the
// sign; negative: the number is not known. There are enough of them that the fraction of the
// greatest double begins below the uppermost word, which loops rely on.
func carryBits(rows int64) int {
	if rows < 0 {
		return 64
	}
	return max(bits.Len64(uint64(rows))+1, 64-fractionBits+1)
}

// Fit is the window of at most `words` words for sums of `rows` values (negative: not known), of
// which the greatest is less than 2^high in size.
func Fit(high, words int, rows int64) Window {
	return Window{Low: high + carryBits(rows) - 64*words, High: high}
}

// WindowError is the error for values that are outside of the windows of their arguments.
type WindowError struct {
	Windows map[int]Window // by argument: where the values of the batch are
	Special bool           // there was NaN, or an infinity, for which there is no room
}

func (e *WindowError) Error() string {
	if e.Special {
		return "there are NaN or infinities"
	}
	return "there are numbers that are larger or smaller than those before"
}

// Outside is the error if Update or UpdateOne has met values outside of their windows (WINDOW);
// nil: there were none.
func (t *Table) Outside() error {
	if t.outside == nil {
		return nil
	}
	return t.outside
}

// fixed is the constants of a slot that is a fixed-point sum.
type fixed struct {
	low, n  int   // of its first bit; words
	top     int   // bits of the words that an addend may take
	special field // a bit is 0 if its kind has come; off is none: there is no such field
	aligned bool  // its values are in sums of products too: see fixed_align.go
	x, y    int   // where the windows of its arguments begin
}

const (
	specialNaN = 1 << iota
	specialPlus
	specialMinus
	noSpecial = specialNaN | specialPlus | specialMinus
)

// isFixed reports whether s is a fixed-point sum.
func (s *slot) isFixed() bool { return opFixedSum <= s.op && s.op <= opFixedPow4 }

// factors is how many doubles are multiplied for an addend of s.
func (o op) factors() int { return int(o-opFixedSum) + 1 }

// fixedSlot gives a fixed-point sum of x, of x*y or of powers of x its words.
func (b *builder) fixedSlot(o op, x, y int) fixed {
	w := b.window(x)
	v := w
	if o == opFixedMul {
		v = b.window(y)
	}
	f := fixed{x: w.Low, y: v.Low, special: field{off: none}}
	if o == opFixedMul {
		w = Window{Low: w.Low + v.Low, High: w.High + v.High}
	} else {
		w = Window{Low: w.Low * o.factors(), High: w.High * o.factors()}
	}
	carry := carryBits(b.maxRows)
	f.n = max((w.High-w.Low+carry+63)/64, 2)
	f.top = 64*f.n - carry
	f.low = w.High - f.top
	return f
}

// window is the window of the values of an argument.
func (b *builder) window(arg int) Window {
	w := WindowOf(b.types[arg])
	if arg < len(b.windows) && b.windows[arg].Known() {
		w = b.windows[arg]
	}
	return Window{Low: w.Low, High: min(w.High, Widest.High)}
}

// placeSpecial gives the fixed-point sums their bits for NaN and infinities, in words of flags:
// which are combined by and.
func (b *builder) placeSpecial() {
	if !b.special {
		return
	}
	off, used := none, 64
	for i := range b.slots {
		s := &b.slots[i]
		if !s.isFixed() {
			continue
		}
		if used+3 > 63 {
			off, used = b.words(0), 0
			b.flags = append(b.flags, off)
		}
		s.fixed.special = field{off: off, shift: uint8(used), mask: noSpecial}
		b.template[off-b.base] |= noSpecial << used
		used += 3
	}
}

// FixedSum is an exact sum of floats in a layout: of an argument, of the product of two, or of a
// power of one.
type FixedSum struct {
	Args  []int
	Power int // 1, or of its only argument 2, 3, 4
	Words int
	Low   int // its first bit is worth 2^Low
}

// FixedSums lists the exact sums of floats.
func (l *Layout) FixedSums() (sums []FixedSum) {
	for i := range l.slots {
		s := &l.slots[i]
		if !s.isFixed() {
			continue
		}
		f := FixedSum{Args: []int{s.x}, Power: s.op.factors(), Words: s.fixed.n, Low: s.fixed.low}
		if s.op == opFixedMul && s.y != s.x {
			f.Args, f.Power = []int{s.x, s.y}, 1
		}
		sums = append(sums, f)
	}
	return sums
}

// addend is x, x*y, x^3 or x^4 as an integer times 2^exponent, exactly.
type addend struct {
	words    [4]uint64
	n        int // words
	exponent int
	negative uint64 // all bits, or none
}

// digits takes a finite double that is not 0 apart: fraction * 2^exponent.
func digits(x float64) (fraction uint64, exponent int) {
	b := math.Float64bits(x)
	fraction, exponent = b&(1<<52-1), int(b>>52&0x7ff)
	if exponent == 0 {
		return fraction, leastDigit
	}
	return fraction | 1<<52, exponent + leastDigit - 1
}

// times multiplies a by a double that is not 0.
func (a *addend) times(x float64) {
	fraction, exponent := digits(x)
	a.exponent += exponent
	a.negative ^= uint64(int64(math.Float64bits(x)) >> 63)
	carry := uint64(0)
	for i := range a.n {
		hi, lo := bits.Mul64(a.words[i], fraction)
		var c uint64
		a.words[i], c = bits.Add64(lo, carry, 0)
		carry = hi + c
	}
	if a.n < len(a.words) {
		a.words[a.n] = carry
		a.n++
	}
}

// addendOf is the addend of a slot for x and y; false: it is 0.
func addendOf(o op, x, y float64) (a addend, ok bool) {
	if x == 0 || y == 0 {
		return a, false
	}
	a = addend{words: [4]uint64{1}, n: 1}
	a.times(x)
	a.n = 1 // the second word is 0
	switch o {
	case opFixedMul:
		a.times(y)
	case opFixedPow3, opFixedPow4:
		for range o.factors() - 1 {
			a.times(x)
		}
	}
	return a, true
}

// trim takes zeros off the end of a number that is not 0.
func (a *addend) trim() {
	for a.words[0] == 0 {
		copy(a.words[:], a.words[1:])
		a.words[3] = 0
		a.n, a.exponent = a.n-1, a.exponent+64
	}
	zeros := uint(bits.TrailingZeros64(a.words[0]))
	for i := range a.n {
		a.words[i] >>= zeros
		if i+1 < a.n {
			a.words[i] |= a.words[i+1] << (64 - zeros)
		}
	}
	a.exponent += int(zeros)
}

// len is how many bits the number has.
func (a *addend) len() int {
	for i := a.n - 1; i >= 0; i-- {
		if a.words[i] != 0 {
			return 64*i + bits.Len64(a.words[i])
		}
	}
	return 0
}

// addShifted adds an integer of some words, shifted to the left, to a sum; negative is all bits, or
// none.
func addShifted(sum, words []uint64, shift int, negative uint64) {
	k, by := shift>>6, uint(shift&63)
	carry, below := negative&1, uint64(0)
	for _, w := range words {
		if k == len(sum) { // the remaining words are 0
			return
		}
		sum[k], carry = bits.Add64(sum[k], (w<<by|below)^negative, carry)
		below = w >> 1 >> (63 - by)
		k++
	}
	for ; k < len(sum) && (carry != negative&1 || below != 0); k++ {
		sum[k], carry = bits.Add64(sum[k], below^negative, carry)
		below = 0
	}
}

// add adds a, of at most top bits, to a sum; false: it has digits outside.
func (f *fixed) add(sum []uint64, a addend, top int) bool {
	if a.exponent < f.low {
		a.trim()
	}
	shift := a.exponent - f.low
	if shift < 0 || shift+a.len() > top {
		return false
	}
	addShifted(sum[:f.n], a.words[:a.n], shift, a.negative)
	return true
}

// addOne adds x, x*y or a power of x to the group whose words begin at at of words: any value.
// false: it is outside of the window, or a special one without a place.
func (s *slot) addOne(rows []uint64, row int, x, y float64) bool {
	if x-x != 0 || y-y != 0 {
		return s.addSpecial(rows, row, x, y)
	}
	a, some := addendOf(s.op, x, y)
	return !some || s.fixed.add(rows[row+s.hot:], a, s.fixed.top)
}

// addSpecial notes that the value of x and y is NaN or infinite.
func (s *slot) addSpecial(rows []uint64, row int, x, y float64) bool {
	if !s.fixed.special.in() {
		return false
	}
	v := x
	switch s.op {
	case opFixedMul:
		v = x * y
	case opFixedPow4:
		v = x * x
	}
	bit := uint64(specialNaN)
	switch {
	case v > 0:
		bit = specialPlus
	case v < 0:
		bit = specialMinus
	}
	rows[row+s.fixed.special.off] &^= bit << s.fixed.special.shift
	return true
}

// noteOutside notes where the values of a batch are, of which some are outside of the window of s.
func (t *Table) noteOutside(s *slot, x, y []float64) {
	if t.outside == nil {
		t.outside = &WindowError{Windows: map[int]Window{}}
	}
	t.outside.look(s.x, x)
	if s.y != none && s.y != s.x {
		t.outside.look(s.y, y)
	}
}

// look adds where the values of an argument are.
func (e *WindowError) look(arg int, vals []float64) {
	w := e.Windows[arg]
	for _, v := range vals {
		switch {
		case v-v != 0:
			e.Special = true
		case v != 0:
			_, exponent := digits(v)
			w = w.Join(Window{Low: exponent, High: exponent + fractionBits})
		}
	}
	e.Windows[arg] = w
}

// String is the window for people.
func (w Window) String() string { return fmt.Sprintf("2^%d to 2^%d", w.Low, w.High) }
