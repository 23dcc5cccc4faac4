package agg

import (
	"slices"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
)

// Input is a batch of rows to aggregate.
type Input struct {
	Rows int
	Args []column.Vector // the arguments, by Call.Args: flat (see TakesCodes), Rows values each
	Pos  []int64         // number of each row in file order, below 2^62; only if Layout.NeedsPos

	// Counts is how many rows of part 0 each row stands for, of a part whose calls are Counted; Pos
	// is where the first of these is. No argument is NULL then.
	Counts []uint64

	// Times is how many rows each row stands for; 0: one. More than one is for
	// calls that Repeat.
	Times int64
}

func (in *Input) times() uint64 { return uint64(max(in.Times, 1)) }

// Stands is how many rows the input stands for.
func (in *Input) Stands() int64 { return int64(in.Rows) * max(in.Times, 1) }

// Table is the group rows that a worker updates, and its working memory. One
// goroutine at a time may use it.
type Table struct {
	Rows   []uint64     // group g is Rows[g*Stride : (g+1)*Stride]; the caller makes it grow
	Stride int          // words of a row
	Arena  *arena.Arena // where strings of states are put; may be nil for layouts without any

	// Unseen tells that a row of this table may have an unseen flag set.
	// Update keeps it; combining sets no flag. Set it when you copy rows with
	// state into the table, or write one with InitEmpty, and update it afterwards.
	Unseen bool

	outside *WindowError // see Outside; nil: no value was
	scratch scratch
}

// Update adds the rows of in to their groups: row i belongs to group gids[i].
// The groups from firstNew on were made for this very batch, with the words
// of Init, and each of them has a row in it.
func (l *Layout) Update(t *Table, gids []uint32, firstNew uint32, in *Input) {
	gids = gids[:in.Rows]
	if in.Rows == 0 {
		return
	}
	if l.takes() {
		l.takeStates(t, gids, in)
		return
	}
	raw := view{rows: in.Rows, gids: gids, args: in.Args, pos: in.Pos, counts: in.Counts, few: t.few(gids)}
	if l.rows.in() && l.packed == none {
		t.count(l.rows, in.times(), gids, raw.few)
	}
	for i := range l.sets {
		set := &l.sets[i]
		if set.part != l.part {
			continue
		}
		v := raw
		if set.hasNulls(in) {
			v = t.scratch.gather(set, &raw)
			v.few = t.few(v.gids)
			l.noteNulls(t, set, in, gids, firstNew, v.gids)
		} else if t.Unseen && set.unseen.in() {
			clearBit(t.Rows[set.unseen.off:], t.Stride, set.unseen.one(), gids)
		}
		l.updateSlots(t, i, &v)
	}
}

// fewNulls: NULLs are few if fewer than one row in this number is NULL. Only filters of
// aggregates were measured, which leave out many rows.
const fewNulls = 16

// noteNulls counts the NULLs of a set, or keeps its flags: gids are the groups of
// the rows, valid those of the rows without NULL.
func (l *Layout) noteNulls(t *Table, set *argSet, in *Input, gids []uint32, firstNew uint32, valid []uint32) {
	isNull := t.scratch.isNull
	if set.nulls.in() {
		words, one := t.Rows[set.nulls.off:], in.times()*set.nulls.one()
		if fewNulls*(len(gids)-len(valid)) < len(gids) {
			for i, g := range gids {
				if isNull[i] {
					words[int(g)*t.Stride] += one
				}
			}
		} else { // a branch would be taken at random, as by the filter of an aggregate
			for i, g := range gids {
				add := uint64(0)
				if isNull[i] {
					add = one
				}
				words[int(g)*t.Stride] += add
			}
		}
	}
	if set.unseen.in() {
		words, bit := t.Rows[set.unseen.off:], set.unseen.one()
		for i, g := range gids {
			if g >= firstNew && isNull[i] {
				words[int(g)*t.Stride] |= bit
				t.Unseen = true
			}
		}
		if t.Unseen {
			clearBit(words, t.Stride, bit, valid)
		}
	}
}

// UpdateOne adds all rows of in to one group, which isNew if it was made for
// this very batch. It does what Update does, without a trip through memory
// for each row.
func (l *Layout) UpdateOne(t *Table, group uint32, isNew bool, in *Input) {
	if in.Rows == 0 {
		return
	}
	if l.takes() {
		l.takeStates(t, t.scratch.repeat(group, in.Rows), in)
		return
	}
	row := t.Rows[int(group)*t.Stride:][:t.Stride]
	if l.rows.in() && l.packed == none {
		row[l.rows.off] += uint64(in.Stands()) * l.rows.one()
	}
	raw := view{rows: in.Rows, args: in.Args, pos: in.Pos, counts: in.Counts}
	for i := range l.sets {
		set := &l.sets[i]
		if set.part != l.part {
			continue
		}
		v := raw
		if set.hasNulls(in) {
			v = t.scratch.gather(set, &raw)
		}
		if set.nulls.in() {
			row[set.nulls.off] += uint64(in.Rows-v.rows) * in.times() * set.nulls.one()
		}
		switch {
		case !set.unseen.in():
		case v.rows > 0:
			row[set.unseen.off] &^= set.unseen.one()
		case isNew:
			row[set.unseen.off] |= set.unseen.one()
			t.Unseen = true
		}
		l.reduceSlots(t, group, row, i, &v)
	}
}

// reduceSlots updates the slots of a set in one row.
func (l *Layout) reduceSlots(t *Table, group uint32, row []uint64, set int, v *view) {
	if v.rows == 0 {
		return
	}
	t.forgetAligned()
	for i := range l.slots {
		s := &l.slots[i]
		if s.set != set || l.reduce(t, s, group, row, v) {
			continue
		}
		if s.isFloat() {
			l.updateLanes(t, s, few{group, 1}, v)
			continue
		}
		if v.gids == nil {
			v.gids = t.scratch.repeat(group, v.rows)
		}
		if s.fixed.aligned {
			l.updateAligned(t, l.slots[i:i+1], v)
			continue
		}
		l.update(t, s, v)
	}
}

func (l *Layout) updateSlots(t *Table, set int, v *view) {
	if v.rows == 0 {
		return
	}
	t.forgetAligned()
	for i := 0; i < len(l.slots); i++ {
		switch s := &l.slots[i]; {
		case s.set != set:
		case s.fused:
			l.updateCorr(t, i, v)
			i += corrSlots - 1
		case s.fixed.aligned:
			n := l.alignedSlots(i)
			l.updateAligned(t, l.slots[i:i+n], v)
			i += n - 1
		case v.few.n > 0 && s.isFloat():
			l.updateLanes(t, s, v.few, v)
		default:
			l.update(t, s, v)
		}
	}
}

// hasNulls reports whether a row of in has a NULL in the set.
func (s *argSet) hasNulls(in *Input) bool {
	for _, arg := range s.args {
		if null := in.Args[arg].Null; null != nil && slices.Contains(null[:in.Rows], true) {
			return true
		}
	}
	return false
}
