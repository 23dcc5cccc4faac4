package expr

import "github.com/gagg-dev/gagg/internal/column"

// Node is one node of a parsed expression. Nodes are immutable once parsed:
// Rewrite makes new ones.
type Node interface {
	// Pos is the byte offset of the node in its text: of its operator where
	// it has one, else of its first character.
	Pos() int
	// String is the canonical text: lower-case keywords and function names,
	// one blank around operators, no parentheses but the needed ones. Nodes
	// with equal text mean the same.
	String() string

	level() level
	print(p *printer)
	children() []Node
	with(children []Node) Node
}

// Column is a name to look up. A dotted name (a.b) and a quoted one ("a.b")
// are the same: the leaf of a struct is named by its path.
type Column struct {
	At   int
	Name string
	// Of is what was written in place of the column, and what errors print;
	// nil: the name.
	Of Node
}

// Literal is a constant.
type Literal struct {
	At    int
	Value column.Value
}

// Call is a function call, scalar or aggregate.
type Call struct {
	At       int
	Name     string // lower case
	Args     []Node
	Star     bool   // count(*)
	Distinct bool   // count(distinct x)
	Filter   Node   // filter (where …); nil: none
	Order    []Item // list(x order by …)
}

// Unary is -, ~ or not.
type Unary struct {
	At int
	Op string // "-", "~", "not"
	X  Node
}

// Binary is an operator between two operands.
type Binary struct {
	At int
	// "+" "-" "*" "/" "//" "%" "||" "&" "|" "<<" ">>" "=" "<>" "<" "<=" ">" ">=" "and" "or"
	Op   string
	L, R Node
}

// IsNull is `x is null` or `x is not null`.
type IsNull struct {
	At  int
	X   Node
	Not bool
}

// In is `x in (…)`.
type In struct {
	At   int
	X    Node
	List []Node // at least one
	Not  bool
}

// Between is `x between lo and hi`; both ends count.
type Between struct {
	At        int
	X, Lo, Hi Node
	Not       bool
}

// Like is `x like pattern` or `x ilike pattern`.
type Like struct {
	At         int
	X, Pattern Node
	Fold       bool   // ilike
	Escape     string // the character that takes their meaning from % and _; "": none
	Not        bool
}

// Cast is `cast(x as t)` or `x::t`.
type Cast struct {
	At  int
	X   Node
	To  column.Type
	Try bool // try_cast: NULL where it fails
}

// Interval is `interval '1 month'`.
type Interval struct {
	At   int
	Span Span
}

// List is `[a, b]`, which some aggregates take.
type List struct {
	At    int
	Items []Node // at least one
}

// When is one branch of a Case.
type When struct {
	If, Then Node
}

// Case is `case when … then … else … end`, with an operand or without.
type Case struct {
	At      int
	Operand Node // nil: the branches are conditions
	Whens   []When
	Else    Node // nil: NULL
}

func (n *Column) Pos() int  { return n.At }
func (n *Literal) Pos() int { return n.At }
func (n *Call) Pos() int    { return n.At }
func (n *Unary) Pos() int   { return n.At }
func (n *Binary) Pos() int  { return n.At }
func (n *IsNull) Pos() int  { return n.At }
func (n *In) Pos() int      { return n.At }
func (n *Between) Pos() int { return n.At }
func (n *Like) Pos() int    { return n.At }
func (n *Cast) Pos() int    { return n.At }
func (n *Case) Pos() int    { return n.At }

// Pos is that of the bracket.
func (n *List) Pos() int { return n.At }

// Pos is that of the word interval.
func (n *Interval) Pos() int { return n.At }

// NullsOrder is where an order puts NULLs.
type NullsOrder uint8

const (
	NullsDefault NullsOrder = iota // not said
	NullsFirst
	NullsLast
)

// Item is one element of a list of keys, aggregates or orders.
type Item struct {
	Expr  Node
	Alias string // "": none
	Text  string // as typed, without alias and order words, trimmed
	Pos   int    // byte offset of Text in the list
	Desc  bool
	Nulls NullsOrder
}
