package agg

import (
	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
)

// Some state words are refs of values in an arena. What follows copies these
// values from one arena to another, and says how much room that takes.

// HasRefs reports whether rows hold refs.
func (l *Layout) HasRefs() bool { return len(l.refs)+len(l.chains) > 0 }

// HasTexts reports whether rows hold refs of single values.
func (l *Layout) HasTexts() bool { return len(l.refs) > 0 }

// Texts is the refs of single values that a row has.
func (l *Layout) Texts(row []uint64) (refs []*uint64) {
	for _, off := range l.refs {
		if row[off] != 0 {
			refs = append(refs, &row[off])
		}
	}
	return refs
}

// HasChains reports whether groups keep values, so that finishing them takes longer the more rows
// there were.
func (l *Layout) HasChains() bool { return len(l.chains) > 0 }

// Move copies every value that the state of row refers to, from from to to,
// and has row refer to the copies. A long chain goes to Options.Runs, and the
// errors are those of Runs, or a *ChainError.
func (l *Layout) Move(row []uint64, from *arena.Arenas, to arena.Putter) error {
	for _, off := range l.refs {
		if row[off] != 0 {
			row[off] = to.Put(from.Get(row[off]))
		}
	}
	for _, i := range l.chains {
		if err := l.moveChain(&l.slots[i], row, from, to); err != nil {
			return err
		}
	}
	return nil
}

// ArenaBytes is how many bytes, as [arena.Size] counts them, Move puts of a row, but for what is
// left of chains.
func (l *Layout) ArenaBytes(row []uint64, from *arena.Arenas) (n int) {
	for _, off := range l.refs {
		if row[off] != 0 {
			n += arena.Size(len(from.Get(row[off])))
		}
	}
	return n
}

// Rebase adds add to the refs of row, as after [arena.Arenas.Adopt].
func (l *Layout) Rebase(row []uint64, add uint64) {
	for _, off := range l.refs {
		if row[off] != 0 {
			row[off] += add
		}
	}
	for _, i := range l.chains {
		rebaseChain(&l.slots[i], row, add)
	}
}

// Need is how many bytes, as [arena.Size] counts them, Update of in puts into
// the arena at most.
func (l *Layout) Need(in *Input) int {
	if l.takes() {
		return l.takeNeed(in)
	}
	n := 0
	for i := range l.slots {
		n += l.slots[i].need(in)
	}
	return n
}

// NeedOne is Need of UpdateOne, whose rows share what each of many groups may
// need of its own.
func (l *Layout) NeedOne(in *Input) int {
	if l.takes() {
		return l.takeNeed(in)
	}
	n := 0
	for i := range l.slots {
		if s := &l.slots[i]; s.op == opChain {
			n += s.chain.needOne(&in.Args[s.x], in.Rows)
		} else {
			n += s.need(in)
		}
	}
	return n
}

// CombineNeed is how many bytes, as [arena.Size] counts them, Combine of that
// many rows puts into to at most, if all values that the rows refer to take
// varBytes.
func (l *Layout) CombineNeed(varBytes, rows int) int {
	if !l.HasRefs() {
		return 0
	}
	// A value in a place that is too small for it takes up to twice its own
	// size (arena.Arena.Replace), and so do the entries of a chain, but for long ones. One that has
	// no blob may begin one.
	return varBytes + min(varBytes, rows*(len(l.refs)+len(l.chains))*arena.Alone) + rows*len(l.chains)*firstBlob
}

// refs lists the words of s that hold refs.
func (s *slot) refs() []int {
	var words []int
	switch s.op {
	case opMinBytes, opMaxBytes:
		words = append(words, s.hot+1)
	case opArgMin, opArgMax:
		if s.yRep == column.RepBytes {
			words = append(words, s.hot+1)
		}
	}
	switch s.op {
	case opFirst, opLast, opArgMin, opArgMax:
		if s.xRep == column.RepBytes {
			words = append(words, s.cold)
		}
	}
	return words
}

// need is Need of one slot.
func (s *slot) need(in *Input) int {
	switch s.op {
	case opMinBytes, opMaxBytes:
		return needBytes(&in.Args[s.x], in.Rows)
	case opFirst, opLast:
		return needStored(s.xRep, &in.Args[s.x], in.Rows)
	case opArgMin, opArgMax:
		return needStored(s.xRep, &in.Args[s.x], in.Rows) + needStored(s.yRep, &in.Args[s.y], in.Rows)
	case opChain:
		return s.chain.need(&in.Args[s.x], in.Rows)
	}
	return 0
}

func needStored(r column.Rep, v *column.Vector, rows int) int {
	if r != column.RepBytes {
		return 0
	}
	return needBytes(v, rows)
}

// needBytes bounds what keeping any of the first rows strings of v takes: a
// new place has up to twice the size of the string, but for long ones (arena.Arena.Replace).
func needBytes(v *column.Vector, rows int) int {
	n := 0
	for i, s := range v.Span[:rows] {
		if !v.IsNull(i) {
			n += arena.Size(int(s.Len) + min(int(s.Len), arena.Alone))
		}
	}
	return n
}

// taker is how a row takes values over from another one.
type taker struct {
	reg    *arena.Arenas
	to     *arena.Arena
	copies bool // else refs are taken over, values stay where they are
}

// ref returns what a word with ref old has to hold to stand for the value of
// ref from.
func (k taker) ref(old, from uint64) uint64 {
	if !k.copies || from == 0 {
		return from
	}
	return k.to.Replace(old, k.reg.Get(from))
}
