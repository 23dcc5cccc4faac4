package expr

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gagg-dev/gagg/internal/column"
)

// function is a row of the table of scalar functions (function_table.go), from
// which binding, messages, the help and the documentation are made.
type function struct {
	name    string
	also    []string // other names of the same
	section string
	params  []param
	least   int  // how many arguments there must be; 0: one for each param
	more    bool // the last one may be repeated
	result  result
	nulls   nullRule
	doc     string // what it gives, for the documentation
	shown   string // its arguments there; "": made of params
	alike   bool   // a text literal is read as the type of another argument, a date or time

	// bind makes the node, once count and classes of the arguments are right.
	// No argument of a strict function is a constant NULL.
	bind func(c *call) (*bound, error)
}

// param is one argument of a function.
type param struct {
	name     string
	takes    class
	constant bool // the same for all rows: it is looked at while binding
}

// class is a set of types, with its name in messages.
type class struct {
	name      string
	holds     func(column.Type) bool
	intervals bool // also intervals
	lists     bool // also lists
}

// result is the type that a function gives, with its name in documentation.
type result struct {
	name string
	of   func(args []*bound) column.Type
}

// nullRule is what NULL in an argument means.
type nullRule uint8

const (
	strictNulls nullRule = iota // the result is NULL
	skipNulls                   // it does not count; NULL if all are
	ownNulls                    // the documentation tells
)

// The sections of the table, in its order: what a function is about.
const (
	sectionAny    = "any type"
	sectionNumber = "numbers"
	sectionText   = "text"
	sectionJSON   = "JSON in texts"
	sectionList   = "lists, of aggregates"
	sectionDate   = "dates and times"
)

// Function is what users are told of a scalar function.
type Function struct {
	Name      string
	Also      []string // other names of the same
	Section   string
	Signature string // substring(text, start[, count])
	Result    string // type of the result
	Doc       string
	Parts     []string // the names of parts of dates that its first argument, a constant, takes
}

// call is a function call while it is bound.
type call struct {
	b    *binder
	n    *Call
	f    *function
	args []*bound
	typ  column.Type // of the result
}

// functions is functionTable by name. It is filled by init: binders of the
// table refer to it.
var functions = map[string]*function{}

func init() {
	for i := range functionTable {
		f := &functionTable[i]
		for _, name := range append([]string{f.name}, f.also...) {
			if functions[name] != nil {
				panic("expr: two functions are called " + name)
			}
			functions[name] = f
		}
	}
}

// IsFunction reports whether a scalar function is called name, in lower case.
// A Call with another name has to be replaced (as an aggregate is) before Bind.
func IsFunction(name string) bool { return functions[name] != nil }

// FunctionNames gives all names of scalar functions.
func FunctionNames() []string {
	return slices.Sorted(maps.Keys(functions))
}

// Functions describes the scalar functions, by section and name.
func Functions() []Function {
	var list []Function
	for i := range functionTable {
		f := &functionTable[i]
		list = append(list, Function{Name: f.name, Also: f.also, Section: f.section, Signature: f.signature(), Result: f.result.name, Doc: f.described(), Parts: firstParts(f)})
	}
	return list
}

// described is the documentation with the rule for NULL, where it is not the
// usual one.
func (f *function) described() string {
	if f.nulls == skipNulls {
		return f.doc + "; NULL does not count"
	}
	return f.doc
}

// signature is name(a, b[, c]).
func (f *function) signature() string {
	if f.shown != "" {
		return f.shown
	}
	var b strings.Builder
	b.WriteString(f.name + "(")
	least, _ := f.count()
	for i, p := range f.params {
		switch {
		case i >= least && i > 0:
			b.WriteString("[, " + p.name)
		case i > 0:
			b.WriteString(", " + p.name)
		default:
			b.WriteString(p.name)
		}
	}
	if f.more {
		b.WriteString(", …")
	}
	return b.String() + strings.Repeat("]", len(f.params)-least) + ")"
}

// count is how many arguments there may be.
func (f *function) count() (least, most int) {
	least, most = f.least, len(f.params)
	if least == 0 {
		least = most
	}
	if f.more {
		most = maxText
	}
	return least, most
}

func (f *function) checkCount(n int) error {
	least, most := f.count()
	switch {
	case n >= least && n <= most:
		return nil
	case most == maxText:
		return typeErrorf("%s takes at least %s, not %d", f.name, counted(least), n)
	case least != most:
		return typeErrorf("%s takes %d to %s, not %d: %s", f.name, least, counted(most), n, f.signature())
	}
	return typeErrorf("%s takes %s, not %d: %s", f.name, counted(least), n, f.signature())
}

func counted(n int) string {
	if n == 1 {
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", n)
}

// unrepeatable are functions of other engines whose values no two runs share.
var unrepeatable = map[string]bool{"random": true, "rand": true, "uuid": true, "gen_random_uuid": true, "uuidv4": true, "uuidv7": true}

// Refusal says why a function that other engines have is not there on purpose, and what there is
// instead; "": it is not such a one.
func Refusal(name string) string {
	if !unrepeatable[name] {
		return ""
	}
	return name + " would give other values in every run: --sample takes rows at random, the same ones for the " +
		"same seed, and hash(a, b) is a number that looks random and stays"
}

// call binds a function call.
func (b *binder) call(n *Call) (*bound, error) {
	f := functions[n.Name]
	switch {
	case f == nil && Refusal(n.Name) != "":
		return nil, typeError(Refusal(n.Name))
	case f == nil:
		return nil, typeErrorf("unknown function \"%s\"%s", oneLine(n.Name), Hint(n.Name, FunctionNames()))
	case n.Star || n.Distinct || n.Filter != nil || n.Order != nil:
		return nil, typeErrorf("%s is not an aggregate: it takes no *, distinct, order by or filter", n.Name)
	}
	if err := f.checkCount(len(n.Args)); err != nil {
		return nil, err
	}
	c := &call{b: b, n: n, f: f}
	for i, a := range n.Args {
		bind := b.operand
		if c.param(i).takes.lists {
			bind = b.any
		}
		x, err := bind(a)
		if err != nil {
			return nil, err
		}
		c.args = append(c.args, x)
	}
	if err := c.readLiterals(); err != nil {
		return nil, err
	}
	null, err := c.check()
	if err != nil {
		return nil, err
	}
	c.typ = f.result.of(c.args)
	if null && f.nulls == strictNulls {
		return newNull(c.typ), nil
	}
	return f.bind(c)
}

// check wants each argument to be of its class, and constant where it has to
// be. null: one of them is a constant NULL.
func (c *call) check() (null bool, err error) {
	for i, x := range c.args {
		p := c.param(i)
		switch {
		case isNullConst(x):
			null = true
		case x.kind == boundInterval && p.takes.intervals:
		case x.kind == boundInterval && p.takes.holds(x.typ):
			return false, c.fail(i, "%s", errInterval)
		case x.typ.Kind != column.Null && !p.takes.holds(x.typ):
			return false, c.fail(i, "%s needs %s, not %s", c.n.Name, p.takes.name, x.typ)
		case p.constant && x.kind != boundConst:
			return false, c.fail(i, "the %s of %s must be a constant", p.name, c.n.Name)
		}
	}
	return null, nil
}

// readLiterals reads text literals where others are dates or times.
func (c *call) readLiterals() error {
	if !c.f.alike {
		return nil
	}
	like := slices.IndexFunc(c.args, func(x *bound) bool { return isInstant(x.typ) })
	for i, x := range c.args {
		if like < 0 || c.param(i).constant || !isText(x) {
			continue
		}
		as, err := literalAs(x, c.args[like].typ)
		if err != nil {
			return c.fail(i, "%s", err)
		}
		c.args[i] = as
	}
	return nil
}

// param is the param of argument i.
func (c *call) param(i int) param { return c.f.params[min(i, len(c.f.params)-1)] }

// fail is an error about argument i.
func (c *call) fail(i int, format string, args ...any) error {
	return c.b.at(c.n.Args[i].Pos(), typeErrorf(format, args...))
}

// constant is the value of argument i, which is one; without that argument it
// is otherwise.
func (c *call) constant(i int, otherwise column.Value) column.Value {
	if i >= len(c.args) {
		return otherwise
	}
	return c.args[i].value
}

// strict makes the node of a kernel over the arguments that vary by row.
func (c *call) strict(k kernel, args ...*bound) *bound {
	return strict(c.typ, c.n, k, args...)
}

// gives is the result type t, whatever the arguments.
func gives(t column.Type) result {
	return result{t.String(), func([]*bound) column.Type { return t }}
}

// giveType is the type of the first argument.
var giveType = result{"its type", func(args []*bound) column.Type { return args[0].typ }}
