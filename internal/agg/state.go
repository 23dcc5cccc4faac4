package agg

import (
	"math"
	"slices"
	"strconv"

	"github.com/gagg-dev/gagg/internal/column"
)

// This file is states as columns: how the state of a group leaves a row, to be combined in another
// run, and how it comes back (state_take.go).
//
// STATES-PLAIN: with Options.States the columns of a layout depend on the calls alone, not on how
// many rows there are, nor on where their values lie. So two runs of the same calls have the same
// columns. So do its words, but for those of exact sums of floats, whose window may be any. They
// are those of part 0: what takes each different value once is made of these values
// again, which are columns of their own, and the caller's.
//
//	of                       columns
//	the count of rows        rows
//	a set of arguments       nulls: how many rows have a NULL among them; or seen: whether one has none
//	a sum, a product, bits   its words as they are; those of nothing are what a fresh row has
//	an exact sum             the number, and whether NaN or infinities have come: see state_exact.go
//	min, max                 the value; NULL: none
//	first, last              the position of its row, and the value; NULL: none
//	arg_min, arg_max         the key, the position, the value; NULL: none
//	a chain                  its entries as bytes, side by side, in words of 64 bits, low byte first
//
// STATES-PIECES: a group may come in several rows, whose combination is its state. A group with
// long chains comes as a row without them, and then as one row for each piece of a chain: its other
// states are those of a group without rows.

// StateColumn is a column of states.
type StateColumn struct {
	Name string // of what it is: "sum"
	Args []int  // the arguments of that
	Over []int  // the arguments that are not NULL in the rows that count; nil: Args
	Part string // which part of the state: "high"; "": it has one
	Type column.Type

	Position bool // it holds numbers of rows, in file order

	// Encoding is how values stand for the part: a value of the type as it is, a word of a state,
	// or entries, of what they consist.
	Encoding string

	what stateKind
	set  int // of stateNulls, stateSeen
	slot int
	off  int // of stateWord: from the first word of a row on
}

// stateKind is where the values of a column are.
type stateKind uint8

const (
	stateRows  stateKind = iota
	stateNulls           // of a set
	stateSeen            // of a set
	stateWord            // a word of a slot
	stateValue           // of a slot: the value that it keeps
	stateKey             // of a slot: the value by which it chooses
	stateChain           // of a slot
	stateExact           // of a slot: an exact sum
)

var (
	stateInt   = column.Type{Kind: column.Int64}
	stateFloat = column.Type{Kind: column.Float64}
	stateBool  = column.Type{Kind: column.Bool}
	stateBytes = column.Type{Kind: column.Binary}
)

// StateColumns is the columns of a layout with Options.States.
func (l *Layout) StateColumns() []StateColumn { return l.states }

// stateColumns lists the columns of the part 0 of a layout.
func (l *Layout) stateColumns() (cols []StateColumn) {
	if l.counted[0].in() {
		cols = append(cols, StateColumn{Name: "rows", Type: stateInt, Encoding: "value", what: stateRows})
	}
	for i, s := range l.sets {
		switch {
		case s.part > 0:
		case s.nulls.in():
			cols = append(cols, StateColumn{Name: "nulls", Args: s.args, Type: stateInt, Encoding: "value", what: stateNulls, set: i})
		case s.unseen.in():
			cols = append(cols, StateColumn{Name: "seen", Args: s.args, Type: stateBool, Encoding: "value", what: stateSeen, set: i})
		}
	}
	for i := range l.slots {
		if s := &l.slots[i]; l.sets[s.set].part == 0 {
			cols = append(cols, l.slotColumns(i, s)...)
		}
	}
	return cols
}

// slotNames names what slots keep, for columns.
var slotNames = [...]string{
	opAddInt: "sum", opAddCounted: "sum", opAddInt128: "sum", opAddUint128: "sum", opAddWide192: "sum", opAddWide320: "sum",
	opAddFloat: "sum", opAddDouble: "sum",
	opMinInt: "min", opMaxInt: "max", opMinFloat: "min", opMaxFloat: "max", opMinWide: "min", opMaxWide: "max", opMinBytes: "min", opMaxBytes: "max",
	opAnd: "and", opOr: "or", opXor: "xor", opProduct: "product",
	opMulInt: "product_sum", opMulInt128: "product_sum", opMulInt192: "product_sum", opMulFloat: "product_sum",
	opPowFloat3: "cube_sum", opPowFloat4: "fourth_power_sum",
	opFixedSum: "sum", opFixedMul: "product_sum", opFixedPow3: "cube_sum", opFixedPow4: "fourth_power_sum",
	opFirst: "first", opLast: "last", opArgMin: "arg_min", opArgMax: "arg_max",
}

// chainNames names what chains keep, for columns.
var chainNames = [...]string{
	keepAll: "values", keepOrder: "values_in_order", keepCounts: "counts", keepFirsts: "counts_and_firsts", keepBuckets: "buckets",
	keepHashes: "hashes", keepLeast: "least", keepGreatest: "greatest",
}

// slotColumns is the columns of a slot.
func (l *Layout) slotColumns(number int, s *slot) (cols []StateColumn) {
	of := StateColumn{Args: []int{s.x}, slot: number}
	if s.op != opChain && s.op != opTop {
		of.Name = slotNames[s.op]
	} else {
		of.Name = chainNames[s.chain.keep]
	}
	if s.y != none {
		of.Args = append(of.Args, s.y)
	}
	if over := l.sets[s.set].args; !slices.Equal(over, slices.Compact(slices.Sorted(slices.Values(of.Args)))) {
		of.Over = over
	}
	add := func(k stateKind, part string, t column.Type, off int) {
		c := of
		c.what, c.Part, c.Type, c.off, c.Position, c.Encoding = k, part, t, off, part == positionPart, "value"
		if k == stateWord && part != positionPart {
			c.Encoding = "word"
		}
		cols = append(cols, c)
	}
	word := func(part string, off int) { add(stateWord, part, stateInt, off) }
	switch s.op {
	case opAddInt128, opAddUint128, opMulInt128:
		word("low", s.hot)
		word("high", s.cold)
	case opMulInt192:
		word("low", s.hot)
		word("middle", s.cold)
		word("high", s.cold+1)
	case opAddWide192, opAddWide320:
		for i := range wideWords(s.op) {
			word(wordParts[i], s.hot+i)
		}
	case opAddFloat, opAddDouble, opMulFloat, opPowFloat3, opPowFloat4:
		add(stateWord, "sum", stateFloat, s.hot)
		add(stateWord, "error", stateFloat, s.hot+1)
	case opFixedSum, opFixedMul, opFixedPow3, opFixedPow4:
		add(stateExact, "exact", stateBytes, 0)
		cols[0].Encoding = "exact"
	case opProduct:
		add(stateWord, "fraction", stateFloat, s.hot)
		word("exponent", s.hot+1)
	case opAnd, opOr, opXor:
		word("", s.hot)
	case opMinInt, opMaxInt, opMinFloat, opMaxFloat, opMinWide, opMaxWide, opMinBytes, opMaxBytes:
		add(stateValue, "", l.types[s.x], 0)
	case opFirst, opLast:
		word(positionPart, s.hot)
		add(stateValue, "value", l.types[s.x], 0)
	case opArgMin, opArgMax:
		add(stateKey, "key", l.types[s.y], 0)
		word(positionPart, s.hot+s.keyWords())
		add(stateValue, "value", l.types[s.x], 0)
	case opTop:
		for i := range s.chain.n {
			word(wordParts[i], s.hot+i)
		}
	case opChain:
		add(stateChain, "", stateBytes, 0)
		cols[0].Position, cols[0].Encoding = s.chain.pos != none, s.chain.encoding()
	default:
		panic("agg: a slot without columns of states")
	}
	if n := s.chain.n; n > 0 {
		for i := range cols {
			cols[i].Name += "_" + strconv.Itoa(n)
		}
	}
	return cols
}

const positionPart = "position"

// wordParts names the words of a number, from the lowest on.
var wordParts = [topWords]string{"0", "1", "2", "3", "4", "5", "6", "7"}

// stateShare is the most bytes of values in a batch of states, about: a run that combines them
// holds as much for each worker.
const stateShare = 2 << 20

// statePiece is the bytes of a piece of a long chain, but for an entry that is longer.
const statePiece = 256 << 10

// stateInline is the bytes of a chain that stays in its row.
const stateInline = 16 << 10

// State writes a column of the states of groups: rows are their whole rows, end to end, of stride
// words each. Long chains (LongState) are left out. Like Finish it overwrites out, and the error
// may be ErrBatchFull; large is the memory for one group whose values are too large for a batch,
// else nil.
func (l *Layout) State(col int, rows []uint64, stride int, reg refs, large *column.LargeRow, out *column.Vector) error {
	c := &l.states[col]
	f := finisher{Layout: l.exporter, call: &call{}, rows: rows, stride: stride, reg: reg, out: out, large: large}
	if c.what >= stateWord {
		s := &l.slots[c.slot]
		f.call.slots[0], f.call.set = c.slot, s.set
		f.call.fn = stateFuncs[s.op]
	}
	if large != nil && c.Type.Rep() == column.RepBytes {
		if err := large.Make(out, c.Type, 0, l.stateBytes(c, rows, reg)); err != nil {
			return err
		}
	}
	prepare(out, c.Type, len(rows)/stride)
	if err := f.state(c); err != nil {
		return err
	}
	if large != nil && c.Type.Rep() == column.RepBytes {
		large.Settle(int64(len(out.Data)))
	}
	f.seal()
	return nil
}

// stateFuncs is the aggregate whose result is the value that a slot keeps, for errors.
var stateFuncs = map[op]funcID{opMinBytes: fnMin, opMaxBytes: fnMax, opFirst: fnFirst, opLast: fnLast, opArgMin: fnArgMin, opArgMax: fnArgMax}

// stateBytes is at most how many bytes the texts of a column take for one group.
func (l *Layout) stateBytes(c *StateColumn, row []uint64, reg refs) int {
	stop := l.stop()
	s := &l.slots[c.slot]
	if c.what == stateExact {
		return 8 * (1 + s.fixed.n)
	}
	return 8 * l.wordsOf(s, row, reg, &stop)
}

// state is State.
func (f *finisher) state(c *StateColumn) error {
	switch c.what {
	case stateRows:
		f.stateField(f.counted[0])
	case stateNulls:
		f.stateField(f.sets[c.set].nulls)
	case stateSeen:
		f.stateField(f.sets[c.set].unseen)
		for i := range f.out.Int {
			f.out.Int[i] ^= 1
		}
	case stateWord:
		for i, row := range f.groups() {
			if c.Type.IsFloat() {
				f.out.Float[i] = math.Float64frombits(row[c.off])
			} else {
				f.out.Int[i] = int64(row[c.off])
			}
		}
	case stateKey:
		return f.stateKeys()
	case stateChain:
		return f.stateChains()
	case stateExact:
		return f.stateExact()
	case stateValue:
		switch f.slot(0).op {
		case opFirst, opLast:
			return f.place()
		case opArgMin, opArgMax:
			return f.arg()
		}
		return f.extreme()
	}
	return nil
}

func (f *finisher) stateField(from field) {
	for i, row := range f.groups() {
		f.out.Int[i] = int64(from.get(row))
	}
}

// stateKeys writes the keys of arg_min and arg_max.
func (f *finisher) stateKeys() error {
	s := f.slot(0)
	for i, row := range f.groups() {
		w := row[s.hot:]
		key := int64(w[0])
		if s.op == opArgMax {
			key = ^key
		}
		switch f.out.Type.Rep() {
		case column.RepBytes:
			if err := f.setBytes(i, w[1]); err != nil {
				return err
			}
		case column.RepWide:
			f.out.Wide[i] = loadWide(w)
		case column.RepFloat64:
			f.out.Float[i] = keyFloat(key)
		default:
			if f.out.Int[i] = key; f.out.Type.Kind == column.Uint64 {
				f.out.Int[i] ^= math.MinInt64
			}
		}
		if w[s.keyWords()] == neverFirst {
			f.setNull(i)
		}
	}
	return nil
}
