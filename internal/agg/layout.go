package agg

import (
	"math"
	"slices"
	"sync"

	"github.com/gagg-dev/gagg/internal/column"
)

// Call is one aggregate of a query.
type Call struct {
	Func  Func
	Args  []int         // which vectors of Input.Args; empty for count(*)
	Types []column.Type // their types

	Params []column.Value // the literals behind them, as quantile(x, 0.9) has one

	// Part is which rows the call is of: 0, those of the input, or a number that the caller gave to
	// other rows of the same groups, such as each different value once. See Layout.Part.
	Part int

	// Counted says that a row of the part stands for several rows of part 0, by Input.Counts, which
	// have the same argument. Func.TakesCounts tells of which calls that may be.
	Counted bool

	// Linear says of a sum or mean that its argument is computed from Args[0] by constants; nil: it
	// is Args[0].
	Linear *Linear
}

// Options tells Compile what it may rely on.
type Options struct {
	// MaxRows is the most rows that any state can see, in all batches and
	// merges together; -1: not known. Fewer words suffice when it is small.
	MaxRows int64

	// BatchBytes is how many bytes the strings, lists or maps of a batch of
	// results may take before it takes no more groups; 0: 64 MiB.
	BatchBytes int

	// ScratchBytes is about what one Finish may take to sort values; 0: 40 MiB.
	ScratchBytes int

	// Filled has the arguments that are never NULL, by their indexes into Input.Args. Each
	// group must have a row then.
	Filled []bool

	// Ranges has the ranges of arguments' values, by their indexes into Input.Args. It is
	// looked at for calls of part 0: see Layout.Relies.
	Ranges []column.Range

	// Device says that rows may be combined on a device (DeviceOps). The rows of each
	// group are then counted (Layout.Rows) even if no aggregate needs them, and
	// sums of products may be rounded more: see deviceNoise.
	Device bool

	// Deterministic has sums of floats, and all that is made of them, kept exactly, so that results
	// have the same bits for any order of rows, tables and merges; and of values that are
	// as good as one another mode and approx_top_k take the least, not the first.
	Deterministic bool

	// Windows has the windows of the digits of arguments' values, by their indexes into Input.Args,
	// for exact sums of floats; unknown: anywhere. Values elsewhere must not count: see
	// Table.Outside.
	Windows []Window

	// Special says that exact sums of floats may be of NaN and infinities. If not, those are
	// outside of all windows.
	Special bool

	// States makes the words depend on the calls alone, but for those of exact sums of floats, so
	// that the states of groups may leave their rows as columns (StateColumns). Where other values
	// lie, and how many rows there are, is not looked at.
	States bool

	// Take says that the rows of part 0 are such states; nil: they are not.
	Take *Take

	// Cancelled tells why the run has been cancelled; nil: it has not been, or there is no
	// Cancelled. All that takes longer the more values a group has asks now and then: Move, Finish
	// and FinishLarge return its error, Update, Combine and Join leave chains as they are.
	Cancelled func() error

	// Runs is where long chains go when their rows are moved; nil: chains
	// of any length stay with their rows.
	Runs Runs
}

// Runs keeps blocks of at most 1 MiB outside of memory. Its methods may be
// called from several goroutines.
type Runs interface {
	// Write stores a block and returns its ref.
	Write(block []byte) (ref uint64, err error)
	// Read returns a block that Write stored, in the memory of buf if that is
	// large enough.
	Read(ref uint64, buf []byte) ([]byte, error)
}

// Layout is the compiled aggregates of a query: which words a row has and
// what each of them means. It does not change, so all workers share it.
type Layout struct {
	base     int
	template []uint64 // the state words of a new group
	empty    []uint64 // the state words of a group without rows
	types    []column.Type
	part     int     // whose rows Update takes
	rows     field   // the count of its rows; off is none if it is not needed
	counted  []field // by part: the same
	sets     []argSet
	slots    []slot
	calls    []call
	counts   []int // words that hold counts: rows, nulls
	flags    []int // words that hold unseen bits
	refs     []int // words that hold refs of values in the arena
	chains   []int // slots that are chains
	lists    []int // those of part 0
	needsPos bool
	// a call is Counted
	countsValues bool
	// the slot whose position is that of counted values (FirstOf); none: there are no such, or
	// where they come first does not matter
	firsts int
	// the slot that counts the rows beside its sum (COUNT-PACKED); none: there is no such
	packed int
	relies []bool // by argument: see Relies
	// by argument: none of its values is negative, and the layout relies on that
	natural []bool

	batchBytes int

	deterministic bool          // Options.Deterministic
	states        []StateColumn // with Options.States
	take          *Take         // rows of part 0 are states; nil: they are not
	exporter      *Layout       // with Options.States: the same, for smaller batches

	noise float64 // of sums of products: momentNoise or deviceNoise

	runs      Runs
	cancelled func() error // nil: it is never cancelled
	limits    limits
	pools     *pools
}

// pools is memory that calls of Combine, Move and Finish use one after the
// other.
type pools struct {
	spaces sync.Pool // of *workspace
	arenas sync.Pool // of *arena.Arena: see spareArena
}

// argSet is the arguments of one or more aggregates.
type argSet struct {
	part   int
	args   []int // ascending, distinct
	nulls  field // how many rows have a NULL among them; off is none if not counted
	unseen field // one bit: all rows had one; off is none if not kept

	wantNulls, wantSeen bool // words that the calls ask for, before words are given out
}

// field is a count or a flag in a word of a row.
type field struct {
	off   int
	shift uint8
	mask  uint64 // of the value, before it is shifted
}

func (f field) in() bool                  { return f.off != none }
func (f field) get(row []uint64) uint64   { return row[f.off] >> f.shift & f.mask }
func (f field) one() uint64               { return 1 << f.shift }
func word(off int) field                  { return field{off: off, mask: math.MaxUint64} }
func half(off int, shift uint8) field     { return field{off: off, shift: shift, mask: math.MaxUint32} }
func bit(off int, number int) field       { return field{off: off, shift: uint8(number), mask: 1} }
func (l *Layout) init(row, from []uint64) { copy(row[l.base:l.base+len(from)], from) }

// Slots is how many states a row changes, beside the count of rows.
func (l *Layout) Slots() int { return len(l.slots) }

// Words is the number of state words of a row.
func (l *Layout) Words() int { return len(l.template) }

// NeedsPos reports whether Update needs Input.Pos.
func (l *Layout) NeedsPos() bool { return l.needsPos }

// Rows is how many rows a group has, in a layout that counts them.
func (l *Layout) Rows(row []uint64) uint64 { return l.rows.get(row) }

// CountsValues reports whether rows of another part need Input.Counts and Input.Pos, which Rows and
// FirstOf tell of groups of the rows of part 0.
func (l *Layout) CountsValues() bool { return l.countsValues }

// FirstOf is the position of the first row of a group, for Input.Pos of a counted value; 0: the
// layout does not need it.
func (l *Layout) FirstOf(row []uint64) int64 {
	if l.firsts == none {
		return 0
	}
	return int64(row[l.slots[l.firsts].hot])
}

// Init writes the state words of a new group, one whose first row is in the
// batch that Update gets next, into row[base:base+Words()].
func (l *Layout) Init(row []uint64) { l.init(row, l.template) }

// InitEmpty writes the state words of a group without any row: the one group
// of a query without keys. It is not new for Update, and a table that holds
// it must have Unseen set. Combining it with a row does not change that row.
func (l *Layout) InitEmpty(row []uint64) { l.init(row, l.empty) }

// usualBatchBytes is Options.BatchBytes where nothing is said: sixteen workers have 1 GiB then.
const usualBatchBytes = 64 << 20

// Compile lays out the state words of calls, which begin at word base of a row.
func Compile(calls []Call, base int, o Options) *Layout {
	if o.BatchBytes == 0 {
		o.BatchBytes = usualBatchBytes
	}
	if o.States {
		o.MaxRows, o.Filled, o.Ranges, o.Device = -1, nil, nil, false
	}
	if o.Take != nil {
		o.Windows, o.Special = nil, true // states may be of any
	}
	b := builder{
		Layout:  &Layout{base: base, batchBytes: o.BatchBytes, runs: o.Runs, cancelled: o.Cancelled, pools: new(pools), packed: none, firsts: none, relies: make([]bool, len(o.Ranges)), natural: make([]bool, len(o.Ranges)), deterministic: o.Deterministic},
		maxRows: o.MaxRows, filled: o.Filled, ranges: o.Ranges, wantRows: []bool{o.Device}, device: o.Device,
		windows: o.Windows, special: o.Special,
	}
	if b.noise = momentNoise; o.Device && !o.Deterministic {
		b.noise = deviceNoise
	}
	for _, c := range calls {
		b.declare(c)
		b.countsValues = b.countsValues || c.Counted
	}
	b.wantRows[0] = b.wantRows[0] || b.countsValues
	for _, c := range calls {
		b.part = c.Part
		for len(b.wantRows) <= c.Part {
			b.wantRows = append(b.wantRows, false)
		}
		b.calls = append(b.calls, b.compile(c))
	}
	b.part = 0
	b.place()
	b.limits = limitsFor(o.ScratchBytes, len(b.chains))
	if o.States {
		b.asStates(o.Take)
	}
	return b.Layout
}

// asStates makes a layout of columns, whose rows of part 0 are states if there is a take.
func (l *Layout) asStates(take *Take) {
	l.states = l.stateColumns()
	exporter := *l
	exporter.batchBytes = min(l.batchBytes, stateShare)
	l.exporter = &exporter
	if l.take = take; take != nil {
		l.template, l.needsPos = l.empty, false // a state is no row, and knows its position
	}
}

// builder is a layout in the making.
type builder struct {
	*Layout
	maxRows  int64
	filled   []bool         // by argument
	ranges   []column.Range // by argument
	wantRows []bool         // by part
	device   bool

	windows []Window // by argument
	special bool
}

func (b *builder) declare(c Call) {
	for i, arg := range c.Args {
		if arg >= len(b.types) {
			b.types = append(b.types, make([]column.Type, arg+1-len(b.types))...)
		}
		b.types[arg] = c.Types[i]
	}
}

// set returns the index of the set of args.
func (b *builder) set(args ...int) int {
	args = slices.Compact(slices.Sorted(slices.Values(args)))
	for i := range b.sets {
		if b.sets[i].part == b.part && slices.Equal(b.sets[i].args, args) {
			return i
		}
	}
	b.sets = append(b.sets, argSet{part: b.part, args: args, nulls: field{off: none}, unseen: field{off: none}})
	return len(b.sets) - 1
}

// countedSet returns the set of args and has its rows counted.
func (b *builder) countedSet(args ...int) int {
	i := b.set(args...)
	b.wantRows[b.part] = true
	b.sets[i].wantNulls = !b.allFilled(args)
	return i
}

// seen returns the set of args and has it known whether there was a row.
func (b *builder) seen(args ...int) int {
	i := b.set(args...)
	b.sets[i].wantSeen = !b.allFilled(args)
	return i
}

// allFilled reports whether none of the arguments is ever NULL.
func (b *builder) allFilled(args []int) bool {
	return !slices.ContainsFunc(args, func(arg int) bool { return arg >= len(b.filled) || !b.filled[arg] })
}

// chainSlot returns the index of the slot of that kind and chain for argument x.
func (b *builder) chainSlot(o op, set, x int, c chain) int {
	for i := range b.slots {
		if s := &b.slots[i]; s.op == o && s.set == set && s.x == x && s.chain == c {
			return i
		}
	}
	b.slots = append(b.slots, slot{op: o, x: x, y: none, set: set, xRep: b.types[x].Rep(), chain: c})
	return len(b.slots) - 1
}

// slot returns the index of the slot that does op, a new one if need be. Sums of floats are exact
// where results are deterministic.
func (b *builder) slot(o op, set, x, y int) int {
	if fixed, is := fixedOps[o]; is && b.deterministic {
		o = fixed
	}
	for i := range b.slots {
		s := &b.slots[i]
		if s.set != set || s.x != x || s.y != y {
			continue
		}
		if o == opAddDouble && s.op == opAddFloat {
			s.op = opAddDouble
		}
		if s.op == o || s.op == opAddDouble && o == opAddFloat {
			return i
		}
	}
	s := slot{op: o, x: x, y: y, set: set, xRep: b.types[x].Rep()}
	if y != none {
		s.yRep = b.types[y].Rep()
	}
	if s.isFixed() {
		s.fixed = b.fixedSlot(o, x, y)
	}
	b.slots = append(b.slots, s)
	return len(b.slots) - 1
}

// fixedOps is the exact sum in place of a compensated one.
var fixedOps = map[op]op{
	opAddFloat: opFixedSum, opAddDouble: opFixedSum, opMulFloat: opFixedMul, opPowFloat3: opFixedPow3, opPowFloat4: opFixedPow4,
}
