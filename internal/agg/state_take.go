package agg

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/column"
)

// This file is states as arguments: with Options.Take the rows that Update gets are states, and it
// combines them with the groups. Values are updated as arguments are, words are combined by way of
// a row of their own (combineSlot), and the entries of chains are appended.
//
// Arguments are numbered as ever; the columns of states come behind them, from number Take.first
// on. The caller has checked them before (CheckStates).

// Take says which arguments are states.
type Take struct{ First int } // the first of StateColumns; the others follow

// takes reports whether the rows that Update gets are states.
func (l *Layout) takes() bool { return l.take != nil }

// arg is the number of the argument that is column col of the states.
func (l *Layout) stateArg(col int) int { return l.take.First + col }

// takeRows is how many states are combined at a time: so much of them fits the first-level cache.
const takeRows = 128

// takeStates is Update for states.
func (l *Layout) takeStates(t *Table, gids []uint32, in *Input) {
	for col := range l.states {
		c := &l.states[col]
		x := &in.Args[l.stateArg(col)]
		switch c.what {
		case stateRows:
			addField(t, l.counted[0], gids, x)
		case stateNulls:
			addField(t, l.sets[c.set].nulls, gids, x)
		case stateSeen:
			f := l.sets[c.set].unseen
			for i, g := range gids {
				t.Rows[int(g)*t.Stride+f.off] &^= uint64(x.Int[i]) << f.shift
			}
		case stateWord:
			if first := col == 0 || l.states[col-1].what != stateWord || l.states[col-1].slot != c.slot; first && l.isWords(c.slot) {
				l.takeWords(t, col, gids, in)
			}
		case stateValue:
			l.takeValues(t, col, gids, in)
		case stateChain:
			l.takeChains(t, c.slot, gids, x)
		case stateExact:
			l.slots[c.slot].takeExact(t, gids, x)
		case stateKey: // comes with the value
		}
	}
}

func addField(t *Table, f field, gids []uint32, x *column.Vector) {
	for i, g := range gids {
		t.Rows[int(g)*t.Stride+f.off] += uint64(x.Int[i]) * f.one()
	}
}

// isWords reports whether all columns of a slot are words.
func (l *Layout) isWords(slot int) bool {
	switch l.slots[slot].op {
	case opFirst, opLast, opArgMin, opArgMax:
		return false
	}
	return true
}

// takeWords combines the slot whose words begin with column col.
func (l *Layout) takeWords(t *Table, col int, gids []uint32, in *Input) {
	s := &l.slots[l.states[col].slot]
	src := grow(t.scratch.states, takeRows*t.Stride)
	t.scratch.states = src
	for from := 0; from < len(gids); from += takeRows {
		some := gids[from:min(from+takeRows, len(gids))]
		for k := col; k < len(l.states) && l.states[k].slot == l.states[col].slot && l.states[k].what == stateWord; k++ {
			x := &in.Args[l.stateArg(k)]
			for i := range some {
				w := &src[i*t.Stride+l.states[k].off]
				if x.Type.IsFloat() {
					*w = math.Float64bits(x.Float[from+i])
				} else {
					*w = uint64(x.Int[from+i])
				}
			}
		}
		l.combineSlot(s, t.Rows, t.Stride, some, src, taker{})
	}
}

// taken is a slot that is updated by the values that states keep, and where the positions of these
// are.
func (l *Layout) taken(col int) (s slot, position int) {
	s = l.slots[l.states[col].slot]
	s.x, s.y, position = l.stateArg(col), none, none
	switch s.op {
	case opFirst, opLast:
		position = s.x - 1
	case opArgMin, opArgMax:
		position, s.y = s.x-1, s.x-2
	}
	return s, position
}

// takeValues updates the slot whose value is column col.
func (l *Layout) takeValues(t *Table, col int, gids []uint32, in *Input) {
	s, position := l.taken(col)
	v := view{rows: in.Rows, gids: gids, args: in.Args}
	if position != none {
		v.pos = in.Args[position].Int
	}
	if in.Args[s.x].Null != nil {
		set := argSet{args: []int{s.x}}
		if s.y != none {
			set.args = append(set.args, s.y)
		}
		v = t.scratch.gather(&set, &v)
	}
	if v.rows > 0 {
		l.update(t, &s, &v)
	}
}

func (l *Layout) takeChains(t *Table, number int, gids []uint32, x *column.Vector) {
	s := &l.slots[number]
	for i, g := range gids {
		if x.Span[i].Len > 0 {
			t.scratch.states = l.takeChain(linkOf(s, t.Rows[int(g)*t.Stride:][:t.Stride]), t.Arena, x.Bytes(i), t.scratch.states)
		}
	}
}

// takeNeed is Need for states.
func (l *Layout) takeNeed(in *Input) (n int) {
	for col := range l.states {
		switch l.states[col].what {
		case stateValue:
			s, _ := l.taken(col)
			n += s.need(in)
		case stateChain:
			bytes := 0
			for _, s := range in.Args[l.stateArg(col)].Span[:in.Rows] {
				if s.Len > 0 {
					bytes += arena.Size(int(s.Len) + 8*(trailerWords+chainWords))
				}
			}
			n += bytes + min(bytes, in.Rows*arena.Alone) + in.Rows*firstBlob
		}
	}
	return n
}

// firstBlob is the most bytes of the first blob of a chain.
var firstBlob = arena.Size(8 * (2*(firstEntries+1) + trailerWords))

// ErrState is a state that no run has written.
var ErrState = errors.New("damaged: a state that cannot be")

// CheckStates looks whether n states may be combined. cols are the columns of StateColumns, flat.
// The error is an ErrState.
func (l *Layout) CheckStates(cols []*column.Vector, n int) error {
	for col := range l.states {
		c := &l.states[col]
		if err := l.checkColumn(c, cols, col, n); err != nil {
			return err
		}
	}
	return nil
}

func (l *Layout) checkColumn(c *StateColumn, cols []*column.Vector, col, n int) error {
	x := cols[col]
	bad := func(i int, why string) error { return fmt.Errorf("%w: %s in row %d: %s", ErrState, c.Name, i+1, why) }
	if c.what != stateValue && c.what != stateKey {
		for i := range n {
			if x.IsNull(i) {
				return bad(i, "NULL")
			}
		}
	}
	switch c.what {
	case stateRows:
		for i, v := range x.Int[:n] {
			if v < 0 || v >= mostPosition {
				return bad(i, "a count that no rows have")
			}
		}
	case stateNulls:
		for i, v := range x.Int[:n] {
			if v < 0 || v > cols[l.stateOf(stateRows, 0)].Int[i] {
				return bad(i, "more NULLs than rows")
			}
		}
	case stateWord:
		if c.Position {
			for i, v := range x.Int[:n] {
				if !cols[col+1].IsNull(i) && (v < 0 || v >= mostPosition) {
					return bad(i, "a position that no row has")
				}
			}
		}
	case stateKey:
		for i := range n {
			if x.IsNull(i) != cols[col+2].IsNull(i) {
				return bad(i, "a key without a value")
			}
		}
	case stateValue:
		return l.checkSeen(c, cols, col, n, bad)
	case stateExact:
		for i := range n {
			if !l.slots[c.slot].fitsExact(x.Bytes(i)) {
				return bad(i, "no number")
			}
		}
	case stateChain:
		s := &l.slots[c.slot]
		for i := range n {
			if !s.chain.whole(x.Bytes(i)) {
				return bad(i, "no entries")
			}
		}
	}
	return nil
}

// checkSeen looks whether there is a value where one was seen.
func (l *Layout) checkSeen(c *StateColumn, cols []*column.Vector, col, n int, bad func(i int, why string) error) error {
	number := l.slots[c.slot].set
	set := &l.sets[number]
	var seen func(i int) bool
	switch {
	case l.slots[c.slot].op >= opFirst:
		return nil // its position says whether there is a value
	case set.nulls.in():
		rows, nulls := cols[l.stateOf(stateRows, 0)].Int, cols[l.stateOf(stateNulls, number)].Int
		seen = func(i int) bool { return rows[i] > nulls[i] }
	default:
		flags := cols[l.stateOf(stateSeen, number)].Int
		seen = func(i int) bool { return flags[i] != 0 }
	}
	for i := range n {
		if seen(i) == cols[col].IsNull(i) {
			return bad(i, "whether there is a value is told in two ways")
		}
	}
	return nil
}

// stateOf is the column that counts rows of a set, or all rows.
func (l *Layout) stateOf(what stateKind, set int) int {
	for col := range l.states {
		if c := &l.states[col]; c.what == what && c.set == set {
			return col
		}
	}
	return none
}

// MovePositions changes the numbers of rows that bytes of a chain hold (StateColumn.Position of a
// binary column), which were checked.
func (l *Layout) MovePositions(col int, b []byte, move func(pos int64) int64) {
	c := &l.slots[l.states[col].slot].chain
	for len(b) > 0 {
		size := 8 * c.words
		if c.words == 0 {
			size = 8 * (c.value + stringWords(int(binary.LittleEndian.Uint64(b[8*c.value:]))))
		}
		p := b[8*c.pos:]
		binary.LittleEndian.PutUint64(p, uint64(move(int64(binary.LittleEndian.Uint64(p)))))
		b = b[size:]
	}
}
