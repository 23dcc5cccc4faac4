package agg

import (
	"iter"
	"math"
	"slices"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
)

// Finish computes the results of one call for groups: rows are their whole rows, end to end, of
// stride words each; reg is where the refs of states are valid (nil will do for layouts without
// strings). It overwrites out, whose memory it reuses and which shares no memory with the rows. The
// error is an *OverflowError, ErrBatchFull, which goes away if it is asked for fewer rows, and by
// FinishLarge if it is one row, or one of Options.Runs.
func (l *Layout) Finish(call int, rows []uint64, stride int, reg *arena.Arenas, out *column.Vector) error {
	f := finisher{Layout: l, call: &l.calls[call], number: call, rows: rows, stride: stride, reg: reg, out: out}
	return f.finish()
}

// finish is Finish.
func (f *finisher) finish() error {
	c, out := f.call, f.out
	prepare(out, c.result, len(f.rows)/f.stride)
	if c.null {
		finishNull(c, out)
		return nil
	}
	bad := none
	switch c.fn {
	case fnCount, fnCountDistinct:
		f.count()
	case fnSum:
		bad = f.sum()
	case fnMean:
		f.mean()
	case fnMin, fnMax:
		defer f.seal()
		return f.extreme()
	case fnProduct:
		if f.slot(0).op == opProduct {
			f.product()
			return nil
		}
		if _, err := f.holistic(); err != nil {
			return err
		}
	case fnBoolAnd, fnBoolOr, fnBitAnd, fnBitOr, fnBitXor:
		f.bits()
	case fnFirst, fnLast, fnAnyValue:
		defer f.seal()
		return f.place()
	case fnArgMin, fnArgMax:
		defer f.seal()
		return f.arg()
	case fnMedian, fnQuantile, fnQuantileDisc, fnQuantiles, fnQuantilesDisc, fnMad, fnMode, fnTop, fnEntropy, fnHistogram,
		fnList, fnStringAgg, fnListOrdered, fnStringOrdered, fnFirstN, fnMinN, fnMaxN, fnApproxCountDistinct, fnApproxQuantile:
		var err error
		if bad, err = f.holistic(); err != nil {
			return err
		}
	default:
		f.moments()
	}
	if bad != none {
		return &OverflowError{Call: f.number, Row: bad, Func: signatures[c.fn].name, Type: c.result}
	}
	return nil
}

// MayOverflow reports whether Finish may fail for a call with an *OverflowError.
func (l *Layout) MayOverflow(call int) bool {
	c := &l.calls[call]
	switch c.fn {
	case fnSum:
		return !c.null && !c.result.IsFloat() && !l.fitsWord(c) && !l.fitsAlways(c)
	case fnMedian, fnQuantile, fnQuantileDisc, fnQuantiles, fnMad:
		return true
	}
	return false
}

// wordDigits is how many digits any word has at most, without its sign: decimals of more hold each.
const wordDigits = 18

// fitsWord reports whether a sum lies in one word, which it cannot overflow.
func (l *Layout) fitsWord(c *call) bool {
	if c.linear != nil || c.slots[0] == none {
		return false
	}
	op := l.slots[c.slots[0]].op
	return (op == opAddInt || op == opAddCounted) && (c.result.IsInteger() || c.result.Kind == column.Decimal && c.result.Precision > wordDigits)
}

// fitsAlways reports whether a sum of values of 64 bits has a result of 38 digits, which are above
// 2^126: 2^62 rows do not overflow it.
func (l *Layout) fitsAlways(c *call) bool {
	if c.linear != nil || c.slots[0] == none || c.result.Kind != column.Decimal || c.result.Precision < 38 {
		return false
	}
	op := l.slots[c.slots[0]].op
	return op == opAddInt128 || op == opAddUint128
}

// Result is where rows hold an integer: (row[Word] >> Shift) & Mask. It is one of Type, without the
// point of a decimal.
type Result struct {
	Type  column.Type
	Word  int
	Shift uint8
	Mask  uint64
}

// ResultWord tells where rows hold the result of a call, if that is an integer of one word and
// never NULL, as of count(*) and of sums of small values. A caller can drop groups by that word
// before it calls Finish.
func (l *Layout) ResultWord(call int) (r Result, ok bool) {
	c := &l.calls[call]
	switch {
	case c.null:
	case l.countsRows(call):
		n := l.counted[c.part]
		return Result{c.result, n.off, n.shift, n.mask}, true
	case c.fn == fnSum && l.fitsWord(c) && !l.sets[c.set].nulls.in() && !l.sets[c.set].unseen.in():
		s := &l.slots[c.slots[0]]
		return Result{c.result, s.hot, s.shift, math.MaxUint64 >> s.shift}, true
	}
	return Result{}, false
}

// countsRows reports whether a call counts all rows of its part, so that ResultWord tells where the
// count is.
func (l *Layout) countsRows(call int) bool {
	c := &l.calls[call]
	return !c.null && c.fn == fnCount && c.set == allRows
}

// Rank is the place of a group among others by the result of a call, as far as one of its rows
// tells: what Result says of that ^ Flip. That of the whole group is the sum of those of its rows,
// or the greatest of them; the least rank may be that of NULL then.
type Rank struct {
	Result
	Flip     uint64
	Greatest bool
}

// RankOf tells the rank by which groups come in the order of a call's result, descending or
// ascending; NULL comes last, with the least rank. It is known of counts, and of sums that no value
// makes smaller, descending, of max descending and of min ascending.
func (l *Layout) RankOf(call int, descending bool) (r Rank, ok bool) {
	c := &l.calls[call]
	const sign = 1 << 63
	switch {
	case c.null || c.linear != nil:
	case l.countsRows(call) && descending, c.fn == fnSum && descending && l.grows(c):
		r.Result, ok = l.ResultWord(call)
	case c.fn == fnMax && descending:
		return l.extremeRank(c, opMaxInt, sign)
	case c.fn == fnMin && !descending:
		return l.extremeRank(c, opMinInt, sign-1)
	}
	return r, ok
}

// extremeRank is the rank by a greatest or least value, if that is one of 64 bits.
func (l *Layout) extremeRank(c *call, o op, flip uint64) (r Rank, ok bool) {
	s := &l.slots[c.slots[0]]
	return Rank{Result{c.result, s.hot, 0, math.MaxUint64}, flip, true}, s.op == o
}

// grows reports whether no row makes a sum smaller.
func (l *Layout) grows(c *call) bool {
	if c.slots[0] == none {
		return false
	}
	x := l.slots[c.slots[0]].x
	return x >= 0 && x < len(l.natural) && l.natural[x]
}

// finisher is one call of Finish.
type finisher struct {
	*Layout
	call   *call
	number int
	rows   []uint64
	stride int
	reg    *arena.Arenas
	out    *column.Vector

	// Of chains: memory to sort in, and what stream has found.
	work               *workspace
	sorted             sequence
	sources            []run
	sortOnce, isSorted bool // stream is asked several times for the same chain, and was once

	large *column.LargeRow // that out is made in; nil: in a batch

	size []uint64 // of a fixed-point sum that is negative

	first, ahead int // rows whose values have been gathered (valuesOf): from first to before ahead
}

// groups is the rows by number.
func (f *finisher) groups() iter.Seq2[int, []uint64] {
	return func(yield func(int, []uint64) bool) {
		for i, rest := 0, f.rows; len(rest) > 0; i, rest = i+1, rest[f.stride:] {
			if !yield(i, rest[:f.stride:f.stride]) {
				return
			}
		}
	}
}

// prepare makes out a flat vector of n values of t, none of them NULL.
func prepare(out *column.Vector, t column.Type, n int) {
	out.Type, out.Len, out.Null, out.Codes, out.Dict = t, n, nil, nil, nil
	switch t.Rep() {
	case column.RepInt64:
		out.Int = grow(out.Int, n)
	case column.RepFloat64:
		out.Float = grow(out.Float, n)
	case column.RepWide:
		out.Wide = grow(out.Wide, n)
	case column.RepBytes:
		out.Span, out.Data = grow(out.Span, n), out.Data[:0]
	case column.RepList:
		out.Span, out.Counts = grow(out.Span, n), out.Counts[:0]
		if out.Elem == nil {
			out.Elem = new(column.Vector)
		}
		prepare(out.Elem, t.Elem(), 0)
	}
}

// setNull makes result i NULL. Its value must have been set to something.
func (f *finisher) setNull(i int) {
	if f.out.Null == nil {
		f.out.Null = make([]bool, f.out.Len)
	}
	f.out.Null[i] = true
}

// finishNull writes the results of a call on a literal NULL.
func finishNull(c *call, out *column.Vector) {
	clear(out.Int)
	clear(out.Span)
	if c.fn == fnCount || c.fn == fnCountDistinct || c.fn == fnApproxCountDistinct {
		return
	}
	out.Null = make([]bool, out.Len)
	for i := range out.Null {
		out.Null[i] = true
	}
}

// seen reports whether any row without NULL in the set of the call belongs
// to the group.
func (f *finisher) seen(row []uint64) bool { p := f.presence(); return p.in(row) }

// presence is the test of seen, for loops: a row has more rows than NULLs, or no
// flag that all were NULL.
type presence struct {
	more, than field
	least      uint64 // added to more
}

func (f *finisher) presence() presence {
	s := &f.sets[f.call.set]
	if u := s.unseen; u.in() {
		return presence{more: field{off: u.off}, than: u, least: 1} // its mask is 0
	}
	if !s.nulls.in() { // no argument is NULL, and no group is without rows
		return presence{least: 1}
	}
	return presence{more: f.counted[f.call.part], than: s.nulls}
}

func (p *presence) in(row []uint64) bool { return p.more.get(row)+p.least > p.than.get(row) }

// valid is the number of rows of a group without NULL in the set of the call.
func (f *finisher) valid(row []uint64) int64 {
	n := f.counted[f.call.part].get(row)
	if nulls := f.sets[f.call.set].nulls; nulls.in() {
		n -= nulls.get(row)
	}
	return int64(n)
}

// slot returns the k-th slot that the call needs.
func (f *finisher) slot(k int) *slot { return &f.slots[f.call.slots[k]] }

// seal leaves behind a result of strings the bytes that may be read past its end.
func (f *finisher) seal() {
	f.out.Data = slices.Grow(f.out.Data, column.SpanPadding)
	if e := f.out.Elem; f.out.Type.IsNested() {
		e.Data = slices.Grow(e.Data, column.SpanPadding)
	}
}

func (f *finisher) count() {
	if f.call.set != allRows {
		for i, row := range f.groups() {
			f.out.Int[i] = f.valid(row)
		}
		return
	}
	n, rows, stride, out := f.counted[f.call.part], f.rows, f.stride, f.out.Int
	for i, at := 0, n.off; i < len(out); i, at = i+1, at+stride {
		out[i] = int64(rows[at] >> (n.shift & 63) & n.mask)
	}
}
