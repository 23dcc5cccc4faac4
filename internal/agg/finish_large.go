package agg

import (
	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
)

// FinishLarge is Finish for one group, whose row is given, where a batch has no room for the
// result. It makes that in the memory of large, of which it takes as much as the result has, and
// settles it. The error is one of large, or one of Finish but ErrBatchFull, or a *SizeError.
func (l *Layout) FinishLarge(call int, row []uint64, reg *arena.Arenas, large *column.LargeRow, out *column.Vector) error {
	f := finisher{Layout: l, call: &l.calls[call], number: call, rows: row, stride: len(row), reg: reg, out: out, large: large}
	if t := f.call.result; t.IsNested() || t.Rep() == column.RepBytes {
		elems, bytes := f.most(row)
		if err := large.Make(out, t, min(elems, maxResult/8), min(bytes, maxResult)); err != nil {
			return err
		}
	}
	if err := f.finish(); err != nil {
		return err
	}
	large.Settle(int64(f.resultBytes()))
	return nil
}

// LargeBytes is about how many bytes the result of a call for a group has at most, beside what a
// result of a fixed size has.
func (l *Layout) LargeBytes(call int, row []uint64, reg *arena.Arenas) int64 {
	f := finisher{Layout: l, call: &l.calls[call], reg: reg}
	t := f.call.result
	if f.call.null || !t.IsNested() && t.Rep() != column.RepBytes {
		return 0
	}
	elems, bytes := f.most(row)
	if !t.IsNested() {
		return int64(bytes)
	}
	n := int64(elems) * 8
	if t.Elem().Rep() == column.RepWide {
		n *= 4
	}
	if t.Nest == column.Map {
		n += 8 * int64(elems)
	}
	return n + int64(bytes)
}

// HeldBytes is how many bytes the values of a group take in memory or on disk.
func (l *Layout) HeldBytes(row []uint64, reg *arena.Arenas) (n int64) {
	stop := l.stop()
	for i := range l.slots {
		n += 8 * int64(l.wordsOf(&l.slots[i], row, reg, &stop))
	}
	return n
}

// wordsOf is how many words the values of a slot take: strings, and the entries of a chain.
func (l *Layout) wordsOf(s *slot, row []uint64, reg *arena.Arenas, stop *stop) (n int) {
	for _, off := range s.refs() {
		n += (len(reg.Get(row[off])) + 7) / 8
	}
	if s.op != opChain {
		return n
	}
	k := linkOf(s, row)
	for _, r := range l.runsOf(k, reg) {
		n += int(r[0])
	}
	return n + k.entries(reg, stop)
}

// most is how many elements the result of the group has at most, and bytes of strings.
func (f *finisher) most(row []uint64) (elems, bytes int) {
	if f.call.null {
		return 0, 0
	}
	if n := len(f.call.shares); n > 0 { // each may be the longest value
		defer func() { elems, bytes = max(elems, n), bytes*n }()
	}
	s := f.slot(0)
	stop := f.stop()
	words := f.wordsOf(s, row, f.reg, &stop)
	if s.op != opChain {
		return words + topWords, 8 * words
	}
	c := &s.chain
	if c.words > 0 {
		return words / c.words, 0
	}
	entries := words / (c.value + 1)
	if n := linkOf(s, row).values(); uint64(entries) > n {
		entries = int(n)
	}
	if bytes = 8 * words; !c.compacts() { // then each value is an entry of its own
		bytes -= 8 * (c.value + 1) * entries
	}
	return entries, bytes + entries*len(f.call.separator)
}
