package expr

import (
	"math"
	"slices"
	"strings"

	"github.com/gagg-dev/gagg/internal/column"
)

// This file makes programs of expressions: lists of operations on words of 64 bits, for whoever
// computes rows elsewhere and knows neither types nor vectors.
//
// A node that computes with integers and floats says by which operations (bound.words). Any other
// node of a single column, a function of a text say, is an input of the program, to be computed on
// the entries of the column's dictionary. Of some nodes it is enough to know how long a text is
// (bound.lengths). What is none of these has no program.

// Code is an operation of a [Step]. Each gives what the node's kernel gives, to the bit; where that
// is an error the operation fails. Except where it says so, what is made of NULL is NULL, and what
// is made of something that failed fails. Integers are int64.
type Code uint8

// The operations.
const (
	CodeLoad    Code = iota // input number Constant
	CodeLiteral             // Constant
	CodeNone                // NULL
	CodeStore               // A is value number Constant
	CodeKeep                // the row is passed over unless A is 1; nothing is stored before
	// 1 or 0: whether A < B, A = B, A > B is wanted: bits 0, 1 and 2 of Constant
	CodeCompareInt
	CodeCompareUint   // the same of uint64
	CodeCompareDouble // the same of float64: NaN equals NaN and is above all others
	CodeAnd           // three-valued; fails where an operand does
	CodeOr            // likewise
	CodeNot
	CodeIsNull     // 1 or 0; of Constant 1 is not null
	CodeSelect     // B where C is 1, else A; NULL or failed as the one taken is
	CodeReplace    // Constant
	CodeNullUnless // A where it is 1, else NULL
	CodeAdd        // of integers; fails where it overflows, as the next two do
	CodeSubtract
	CodeMultiply
	CodeDivide    // cut to whole; by 0 NULL
	CodeRemainder // by 0 NULL
	CodeWithin    // A; fails outside of -Constant-1 to Constant
	CodeBitAnd
	CodeBitOr
	CodeBitXor
	CodeFloor     // the greatest q with q*Constant <= A; Constant > 0
	CodeFloorRest // A - q*Constant
	CodeCivil     // of days since 1970 the year, month or day of the month: Constant 0, 1, 2
	CodeToDouble  // an integer
	CodeToFloat   // a float64 rounded to a float32
	CodeToInteger // a float64 without a fraction; fails outside of int64
	CodeMagnitude // a float64 without its sign
	CodeAddDouble
	CodeSubtractDouble
	CodeMultiplyDouble
	CodeDivideDouble // by 0 NULL
	// A to multiples of 1/B, by the product with B, or of B: bit 3 of Constant. Bits 0 to 2 are a
	// rounding.
	CodeRoundDouble
)

// Step is an operation: register To becomes what Code makes of registers A, B and C.
type Step struct {
	Code        Code
	To, A, B, C uint8
	Constant    uint64
}

// Input is what a program loads: a column, or what is computed of it alone.
type Input struct {
	Column     int
	Of         *Expr // NULL where the column is; nil: the column
	Length     bool  // how many bytes the column's texts have or, of Characters, how many of these
	Characters bool
	Match      *Match // whether the column's texts are of a pattern; nil: the others say
	Cut        *Cut   // the part of the texts that Of is, and Length and Match are about; nil: all of them
}

// Program is a filter and expressions as steps.
type Program struct {
	Inputs    []Input
	Steps     []Step
	Registers int
}

// NewProgram makes the program, of so many registers at most, that passes over rows that where, if
// it is not nil, is not true for, and stores each of the values. wide: columns of decimals of more
// than 18 digits may be loaded, which fails where an int64 does not hold them. If there is no
// program, why is what has no operations, for people.
func NewProgram(where *Expr, values []*Expr, registers int, wide bool) (p *Program, why string) {
	c := programmer{p: &Program{}, at: map[*bound]int{}, inputs: map[*bound]int{}, able: map[*bound]bool{}, wide: wide}
	if where != nil {
		if !c.can(where.root) {
			return nil, "the filter"
		}
		c.emit(virtualStep{code: CodeKeep, args: []int{c.node(where.root)}})
	}
	for i, v := range values {
		if !c.can(v.root) {
			return nil, "a value"
		}
		c.emit(virtualStep{code: CodeStore, args: []int{c.node(v.root)}, constant: uint64(i)})
	}
	if c.allocate(); c.p.Registers > registers {
		return nil, "so many of its values at a time"
	}
	return c.p, ""
}

// OnWords reports whether the expression is operations on words of columns, and on words that are
// computed of single columns, and its value a word. Decimals of more than 18 digits are those that
// an int64 holds.
func (e *Expr) OnWords() bool {
	c := programmer{able: map[*bound]bool{}, wide: true}
	return c.can(e.root) && e.root.kind != boundColumn && (e.root.plain() || !e.root.ofEntries())
}

// OfEntries returns the expression, as an input, if it is computed of a single column alone, so
// that entries of the column's dictionary may stand for rows.
func (e *Expr) OfEntries() (in Input, ok bool) {
	return Input{Column: e.root.single, Of: e}, e.root.ofEntries()
}

// onLength says what a node does whose argument is a column of texts or a part of one, if it
// depends on how many bytes they have alone: operations on that number. No operations: it is the
// number.
func (n *bound) onLength(ops ...wordOp) *bound {
	if text, ok := n.asksOf(); ok && !text.lowers {
		n.lengths = append([]wordOp{}, ops...)
	}
	return n
}

// onCharacters says that a node is how many characters its argument has, if that is a column of
// texts or a part of one.
func (n *bound) onCharacters() *bound {
	n = n.onLength()
	n.characters = n.lengths != nil
	return n
}

// onMatch says what a condition is of its first argument, if that is a column of texts or a part of
// one, or these in lower case: whether they are of the pattern of these pieces or, negated, are
// not. folded: they count in lower case in any case.
func (n *bound) onMatch(negated, folded bool, pieces ...string) *bound {
	text, ok := n.asksOf()
	if !ok {
		return n
	}
	folded = folded || text.lowers
	if folded && !isASCII([]byte(strings.Join(pieces, ""))) {
		return n
	}
	switch n.args[0].typ.Kind {
	case column.String, column.Binary:
		m := newMatch(pieces)
		if m.Folded = folded; m.bytes() <= mostPattern {
			n.match, n.unmatched = m, negated
		}
	}
	return n
}

// mostPattern is the most bytes of a pattern that programs compare with.
const mostPattern = 1 << 10

func (n *bound) ofEntries() bool { return n.kind != boundColumn && n.nullIn && n.single >= 0 }

// EvalColumn computes an expression of the one column col on values of it. What it returns is flat,
// and valid until the next call.
func (v *Eval) EvalColumn(col int, values *column.Vector) (*column.Vector, error) {
	cols := make([]column.Vector, col+1)
	cols[col] = *values
	v.begin(&column.Batch{Rows: values.Len, Cols: cols})
	return v.root.flat()
}

// wordOp is an operation of a node on words. The first of a node's takes its arguments, each of the
// others what the one before gave, unless it says so (back); an operand that is missing is with.
type wordOp struct {
	code     Code
	constant uint64
	with     uint64
	anyOf    []uint64 // of a comparison: whether it holds with any of them; nil: with the operands
	// back, if not 0: the first operand is what the operation gave that is so many before this one,
	// or an argument, as if these came before the first; and a second operand what the last gave
	back int
}

// onWords says what a node does, if it is a kernel over words; no operations: it gives its
// argument's words.
func (n *bound) onWords(ops ...wordOp) *bound {
	if n.kind == boundStrict {
		n.words = append([]wordOp{}, ops...)
	}
	return n
}

// programmer makes the steps of a program, of registers of which each is written once.
type programmer struct {
	p      *Program
	steps  []virtualStep
	at     map[*bound]int // where a node's word is
	inputs map[*bound]int // number of the input
	able   map[*bound]bool
	wide   bool // see NewProgram
}

// virtualStep is a step before registers are shared: the register that it writes has its number.
type virtualStep struct {
	code     Code
	args     []int // A, B, C
	constant uint64
}

func (c *programmer) emit(s virtualStep) int {
	c.steps = append(c.steps, s)
	return len(c.steps) - 1
}

// can reports whether there are steps for n.
func (c *programmer) can(n *bound) bool {
	able, known := c.able[n]
	if !known {
		able = n.lengths != nil || n.match != nil || mayBeWord(n.typ) && c.steppable(n) || IsWord(n.typ) && n.ofEntries() || n.kind == boundIsNull && c.can(known1(n.args[0]))
		c.able[n] = able
	}
	return able
}

// steppable reports whether a node is operations on words of its arguments.
func (c *programmer) steppable(n *bound) bool {
	switch n.kind {
	case boundColumn:
		return IsWord(n.typ) || c.wide && n.typ.Kind == column.Decimal
	case boundConst:
		_, ok := wordOf(n.value)
		return ok
	case boundStrict:
		if n.words == nil {
			return false
		}
	case boundAnd, boundOr, boundIsNull, boundChoose:
	default:
		return false
	}
	for _, a := range n.args {
		if !c.can(a) {
			return false
		}
	}
	return true
}

// plain reports whether no part of n is an input that is computed.
func (n *bound) plain() bool {
	if n.lengths != nil || n.match != nil {
		return true
	}
	if n.kind == boundStrict && n.words == nil || !mayBeWord(n.typ) {
		return false
	}
	for _, a := range n.args {
		if !a.plain() {
			return false
		}
	}
	return true
}

// known1 is 1 where x is not NULL: what stands for x where only that matters.
func known1(x *bound) *bound {
	if IsWord(x.typ) {
		return x
	}
	return decided(x, true, nil)
}

// IsWord reports whether values of a type are words of 64 bits.
func IsWord(t column.Type) bool {
	return t.Kind != column.Null && (t.Rep() == column.RepInt64 || t.Rep() == column.RepFloat64)
}

// mayBeWord reports whether values of a type may be words: of decimals of more digits, those that
// an int64 holds, as in narrow vectors. Operations fail for the others.
func mayBeWord(t column.Type) bool { return IsWord(t) || t.Kind == column.Decimal }

// node emits the steps of n, of which there are some, and returns where its word is.
func (c *programmer) node(n *bound) int {
	at, there := c.at[n]
	if !there {
		at = c.anew(n)
		c.at[n] = at
	}
	return at
}

func (c *programmer) anew(n *bound) int {
	switch {
	case n.kind == boundColumn:
		return c.load(n, Input{Column: n.col})
	case n.kind == boundConst && n.value.Null:
		return c.emit(virtualStep{code: CodeNone})
	case n.kind == boundConst:
		word, _ := wordOf(n.value)
		return c.literal(word)
	case n.lengths != nil:
		in := n.input()
		in.Length, in.Characters = true, n.characters
		return c.operations(n.lengths, []int{c.load(n, in)})
	case n.match != nil:
		in := n.input()
		in.Match = n.match
		at := c.load(n, in)
		if n.unmatched {
			at = c.emit(virtualStep{code: CodeNot, args: []int{at}})
		}
		return at
	case n.ofEntries() && !n.plain():
		return c.load(n, Input{Column: n.single, Of: &Expr{root: n}})
	case n.kind == boundAnd:
		return c.emit(virtualStep{code: CodeAnd, args: c.nodes(n.args)})
	case n.kind == boundOr:
		return c.emit(virtualStep{code: CodeOr, args: c.nodes(n.args)})
	case n.kind == boundIsNull:
		return c.emit(virtualStep{code: CodeIsNull, args: []int{c.node(known1(n.args[0]))}, constant: uint64(truth(n.negate))})
	case n.kind == boundChoose:
		return c.choice(n.choose)
	}
	return c.operations(n.words, c.nodes(n.args))
}

// operations emits those of a node, the first of which takes registers.
func (c *programmer) operations(ops []wordOp, args []int) int {
	made := slices.Clone(args)
	for _, op := range ops {
		if op.back > 0 {
			last := args[0]
			if args = []int{made[len(made)-op.back]}; op.code.binary() {
				args = append(args, last)
			}
		}
		at := c.operation(op, args)
		made, args = append(made, at), []int{at}
	}
	return args[0]
}

func (c *programmer) nodes(list []*bound) (at []int) {
	for _, n := range list {
		at = append(at, c.node(n))
	}
	return at
}

func (c *programmer) literal(word uint64) int {
	return c.emit(virtualStep{code: CodeLiteral, constant: word})
}

// load loads an input.
func (c *programmer) load(n *bound, in Input) int {
	number, there := c.inputs[n]
	if in.Length { // any node may have asked for it
		number = slices.Index(c.p.Inputs, in)
		there = number >= 0
	}
	if !there {
		number = len(c.p.Inputs)
		c.inputs[n] = number
		c.p.Inputs = append(c.p.Inputs, in)
	}
	return c.emit(virtualStep{code: CodeLoad, constant: uint64(number)})
}

// choice takes the values from the last to the first, each over those behind it where its condition
// is true.
func (c *programmer) choice(of *choice) int {
	at := c.node(of.els)
	for i := len(of.conds) - 1; i >= 0; i-- {
		at = c.emit(virtualStep{code: CodeSelect, args: []int{at, c.node(of.thens[i]), c.node(of.conds[i])}})
	}
	return at
}

// operation emits an operation on registers.
func (c *programmer) operation(op wordOp, args []int) int {
	if op.anyOf != nil {
		return c.anyOf(op, args[0])
	}
	if len(args) == 1 && op.code.binary() {
		args = append(args, c.literal(op.with))
	}
	return c.emit(virtualStep{code: op.code, args: args, constant: op.constant})
}

// anyOf emits the comparisons with each of a list, and the or of them. With an empty list it is 0.
func (c *programmer) anyOf(op wordOp, x int) int {
	if len(op.anyOf) == 0 {
		return c.emit(virtualStep{code: CodeReplace, args: []int{x}})
	}
	any := -1
	for _, word := range op.anyOf {
		one := c.emit(virtualStep{code: op.code, args: []int{x, c.literal(word)}, constant: op.constant})
		if any >= 0 {
			one = c.emit(virtualStep{code: CodeOr, args: []int{any, one}})
		}
		any = one
	}
	return any
}

// binary reports whether an operation takes two operands.
func (c Code) binary() bool {
	switch c {
	case CodeCompareInt, CodeCompareUint, CodeCompareDouble, CodeAnd, CodeOr,
		CodeAdd, CodeSubtract, CodeMultiply, CodeDivide, CodeRemainder, CodeBitAnd, CodeBitOr, CodeBitXor,
		CodeAddDouble, CodeSubtractDouble, CodeMultiplyDouble, CodeDivideDouble, CodeRoundDouble:
		return true
	}
	return false
}

// wordOf is a value as a word; false: it is none.
func wordOf(v column.Value) (word uint64, ok bool) {
	switch {
	case v.Null:
		return 0, mayBeWord(v.Type)
	case v.Type.Rep() == column.RepWide:
		n, ok := int64Of(v.Wide)
		return uint64(n), ok
	case v.Type.IsFloat():
		return math.Float64bits(v.Float), true
	}
	return uint64(v.Int), IsWord(v.Type)
}

// allocate gives steps the registers that those before do not need any more.
func (c *programmer) allocate() {
	last := make([]int, len(c.steps)) // step that reads a register last
	for i, s := range c.steps {
		for _, a := range s.args {
			last[a] = i
		}
	}
	free, of := []int{}, make([]int, len(c.steps))
	for i, s := range c.steps {
		step := Step{Code: s.code, Constant: s.constant}
		for k, a := range s.args {
			*[]*uint8{&step.A, &step.B, &step.C}[k] = uint8(of[a])
		}
		for k, a := range s.args {
			if last[a] == i && !slices.Contains(s.args[:k], a) {
				free = append(free, of[a])
			}
		}
		if s.code != CodeStore && s.code != CodeKeep {
			if len(free) == 0 {
				free = append(free, c.p.Registers)
				c.p.Registers++
			}
			of[i] = free[len(free)-1]
			step.To, free = uint8(of[i]), free[:len(free)-1]
		}
		c.p.Steps = append(c.p.Steps, step)
	}
}
