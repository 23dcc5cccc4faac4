package agg

import (
	"slices"

	"github.com/gagg-dev/gagg/internal/column"
)

// This file is aggregates over several kinds of rows of the same groups: in sum(v),
// count(distinct x) the first is over the rows of the input, the second over rows of which each is
// a different x. A row of a group has the states of all aggregates, and is combined, moved and
// finished as a whole. Each kind of rows is a part, which updates it by a layout of its own.

// Part returns the layout that takes the rows of a part: Init, Update, UpdateOne, Need, NeedOne,
// NeedsPos and TakesCodes are about these alone. A group that it makes has no rows of the others,
// so a table that it has updated has Unseen set before rows of another part come.
//
// The layout that Compile returns is for everything else; if all calls are of part 0, it is that
// part's too. A part of no calls takes rows that change nothing.
func (l *Layout) Part(part int) *Layout {
	if len(l.counted) == 1 && part == 0 {
		return l
	}
	p := *l
	p.part, p.rows, p.slots = part, field{off: none}, nil
	if part < len(l.counted) {
		p.rows = l.counted[part]
	}
	for i := range l.slots {
		if l.sets[l.slots[i].set].part == part {
			p.slots = append(p.slots, l.slots[i])
		}
	}
	p.template = append([]uint64(nil), l.template...)
	if part == 0 && l.takes() {
		p.slots = l.slots // as columns of states number them
	} else {
		p.take = nil
	}
	for _, s := range l.sets {
		if s.part != part && s.unseen.in() {
			p.template[s.unseen.off-l.base] |= s.unseen.one()
		}
	}
	p.needsPos = l.needsPos && part == 0
	return &p
}

// Updates reports whether rows of the layout's part change a group: if not, all that they can do is
// to make it.
func (l *Layout) Updates() bool {
	for _, s := range l.sets {
		if s.part == l.part {
			return true
		}
	}
	return l.rows.in()
}

// AddRows adds n rows of the layout's part to a group, of which no aggregate needs a value: they
// are all counted, as Update does.
func (l *Layout) AddRows(row []uint64, n uint64) {
	if l.rows.in() {
		row[l.rows.off] += n * l.rows.one()
	}
}

// Takes reports whether rows of the layout's part need a value of argument arg.
func (l *Layout) Takes(arg int) bool {
	if l.takes() {
		return arg >= l.take.First
	}
	return slices.ContainsFunc(l.sets, func(s argSet) bool { return s.part == l.part && slices.Contains(s.args, arg) })
}

// TakesCounts reports whether the function of values of a type can be had of each different value
// and how often it came (Call.Counted): the values of a chain, which it keeps once or could.
func (f Func) TakesCounts(t column.Type) bool {
	switch rep := t.Rep(); f.id {
	case fnMedian, fnQuantile, fnQuantileDisc, fnQuantiles, fnQuantilesDisc:
		return rep == column.RepInt64 || rep == column.RepFloat64
	case fnMode, fnTop, fnEntropy, fnHistogram, fnApproxQuantile, fnApproxCountDistinct:
		return true
	}
	return false
}

// Holistic reports whether the state of the function grows with the values of a group.
func (f Func) Holistic() bool { _, is := keeps[f.id]; return is }

// Lists reports whether the state of the function is a list of all values.
func (f Func) Lists() bool { kept, is := keeps[f.id]; return is && kept == keepAll }

// TakesSets reports whether the function can be had of each different value once: it has one
// argument, and asks neither for the order nor for the place of rows.
func (f Func) TakesSets() bool {
	switch f.id {
	case fnFirst, fnLast, fnAnyValue, fnMode, fnTop, fnList, fnStringAgg, fnListOrdered, fnStringOrdered, fnFirstN:
		return false
	}
	return signatures[f.id].args == 1
}
