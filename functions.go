package gagg

import (
	"maps"

	"github.com/gagg-dev/gagg/internal/query"
)

// Operator describes an operator of expressions.
type Operator struct {
	Name   string
	Also   []string // other ways to write it
	Shown  string   // with its operands
	Result string   // its type
	Doc    string   // what it gives, in some words of Markdown
}

// Operators lists the operators, in falling precedence.
func Operators() []Operator {
	var list []Operator
	for _, o := range query.Operators() {
		list = append(list, Operator(o))
	}
	return list
}

// Form describes a form of expressions: what is written with words of its own, such as case.
type Form struct {
	Name    string
	Also    []string // other words by which it is looked for
	Shown   string
	Result  string   // its type
	Doc     string   // what it gives, in some words of Markdown
	Example string   // "": there is none that stands alone
	Parts   []string // the parts of dates that stand first in it, such as month; nil: there are none
}

// Forms lists the forms that are neither operators nor functions.
func Forms() []Form {
	var list []Form
	for _, f := range query.Forms() {
		list = append(list, Form(f))
	}
	return list
}

// CastType is a type that casts take.
type CastType struct {
	Name  string   // as a schema shows it
	Casts []string // its names in casts, the usual one first
}

// CastTypes lists the types that casts take, by name.
func CastTypes() []CastType {
	var list []CastType
	for _, t := range query.Types() {
		list = append(list, CastType(t))
	}
	return list
}

// Function describes a scalar function of expressions.
type Function struct {
	Name      string
	Also      []string // other names of the same
	Section   string   // what it is about: text, numbers, …
	Signature string   // as in substring(s, start[, count])
	Result    string   // its type
	Doc       string   // what it gives, in some words of Markdown
	Parts     []string // the parts of dates that its first argument names, such as month; nil: it is another one
}

// Functions lists the scalar functions, by section and name.
func Functions() []Function {
	var list []Function
	for _, f := range query.Functions() {
		list = append(list, Function(f))
	}
	return list
}

// OtherNames is functions and aggregates as other systems call them, in lower case, and what to
// write here for each.
func OtherNames() map[string]string { return maps.Clone(query.OtherNames()) }

// Aggregate describes an aggregate.
type Aggregate struct {
	Name      string
	Also      []string // other names of the same
	Signature string   // as in arg_min(a,b)
	Takes     string   // types of its arguments
	Result    string   // its type
	Doc       string   // what it gives, in some words of Markdown
}

// Aggregates lists the aggregates.
func Aggregates() []Aggregate {
	var list []Aggregate
	for _, a := range query.Aggregates() {
		list = append(list, Aggregate(a))
	}
	return list
}

// ColumnText is a column as expressions name it: in quotes where its name is a word of the
// language, or holds more than letters, digits and _.
func ColumnText(name string) string { return query.ColumnText(name) }
