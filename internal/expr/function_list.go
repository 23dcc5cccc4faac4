package expr

import (
	"bytes"
	"cmp"
	"math"

	"github.com/gagg-dev/gagg/internal/column"
)

// Functions of lists, which some aggregates give. Elements are never NULL.

var (
	aList        = class{name: "a list", holds: func(t column.Type) bool { return t.Nest == column.List }, lists: true}
	bytesOrList  = class{name: "a string or a list", holds: func(t column.Type) bool { return someBytes.holds(t) || t.Nest == column.List }, lists: true}
	listOfNumber = class{name: "a list of numbers", holds: func(t column.Type) bool { return t.Nest == column.List && t.Elem().IsNumeric() }, lists: true}
)

// elementType is the type of the elements of the first argument.
var elementType = result{"type of its elements", func(args []*bound) column.Type { return args[0].typ.Elem() }}

var listFunctions = []function{
	{
		name: "list_contains", also: []string{"list_has", "array_contains"}, section: sectionList, params: []param{arg("l", aList), arg("x", aValue)},
		result: gives(boolType), bind: listContains, doc: "whether an element equals x, which is of their type",
	},
	{
		name: "list_extract", also: []string{"list_element", "array_extract"}, section: sectionList, params: []param{arg("l", aList), arg("i", aCount)},
		result: elementType, bind: listExtract, doc: "the element of that number, from 1 on, or, negative, from -1 at the end; NULL if there is none; `l[i]` is the same",
	},
	{
		name: "list_max", section: sectionList, params: []param{arg("l", aList)},
		result: elementType, bind: listBest(1), doc: "the greatest element",
	},
	{
		name: "list_min", section: sectionList, params: []param{arg("l", aList)},
		result: elementType, bind: listBest(-1), doc: "the least element",
	},
	{
		name: "list_sum", section: sectionList, params: []param{arg("l", listOfNumber)},
		result: result{"of integers int64, of decimals double, of floats that", listSumType}, bind: listSum, doc: "the sum of the elements",
	},
}

// elements calls f for each row that is not NULL with the vector of all elements and the range of
// its own. Where f gives a place, that element is the row's value, else it is NULL.
func (c *call) elements(f func(f *frame, row int, all *column.Vector, from, to int) (at int)) *bound {
	return c.strict(func(fr *frame) error {
		l := fr.args[0]
		for i := range fr.n {
			at := -1
			if !fr.out.IsNull(i) {
				from, to := l.Range(i)
				if at = f(fr, i, l.Elem, from, to); at < 0 {
					fr.setNull(i)
				}
			}
			if at < 0 {
				fr.clearRow(i)
			} else if err := fr.set(i, l.Elem.At(at)); err != nil {
				return err
			}
		}
		return nil
	}, c.args...)
}

func listExtract(c *call) (*bound, error) {
	return c.elements(func(f *frame, row int, _ *column.Vector, from, to int) int {
		n := int64(to - from)
		switch i := f.args[1].Int[row]; {
		case i > 0 && i <= n:
			return from + int(i) - 1
		case i < 0 && i >= -n:
			return to + int(i)
		}
		return -1
	}), nil
}

// listBest binds list_max for sign 1, list_min for -1.
func listBest(sign int) func(*call) (*bound, error) {
	return func(c *call) (*bound, error) {
		t := c.typ
		return c.elements(func(_ *frame, _ int, all *column.Vector, from, to int) int {
			best := -1
			for at := from; at < to; at++ {
				if best < 0 || sign*compareElements(t, all, at, all, best) > 0 {
					best = at
				}
			}
			return best
		}), nil
	}
}

func listContains(c *call) (*bound, error) {
	t := c.args[0].typ.Elem()
	x, err := literalAs(c.args[1], t)
	if err != nil {
		return nil, c.fail(1, "%s", err)
	}
	switch {
	case t.IsInteger() && t.Kind != column.Uint64 && aCount.holds(x.typ):
	case x.typ != t:
		return nil, c.fail(1, "%s of %s looks for %s, not for %s: cast it", c.n.Name, c.args[0].typ, t, x.typ)
	}
	return c.strict(func(f *frame) error {
		l, x := f.args[0], f.args[1]
		for i := range f.n {
			f.out.Int[i] = 0
			from, to := l.Range(i)
			for at := from; at < to && !f.out.IsNull(i) && f.out.Int[i] == 0; at++ {
				f.out.Int[i] = truth(compareElements(t, l.Elem, at, x, i) == 0)
			}
		}
		return nil
	}, c.args[0], x), nil
}

// compareElements compares row i of a with row k of b, values of type t: NaN equals NaN and is the
// greatest.
func compareElements(t column.Type, a *column.Vector, i int, b *column.Vector, k int) int {
	switch t.Rep() {
	case column.RepFloat64:
		x, y := a.Float[i], b.Float[k]
		if math.IsNaN(x) || math.IsNaN(y) {
			return int(truth(math.IsNaN(x)) - truth(math.IsNaN(y)))
		}
		return cmp.Compare(x, y)
	case column.RepWide:
		return a.Wide[i].Cmp(b.Wide[k])
	case column.RepBytes:
		return bytes.Compare(a.Bytes(i), b.Bytes(k))
	}
	if t.Kind == column.Uint64 {
		return cmp.Compare(uint64(a.Int[i]), uint64(b.Int[k]))
	}
	return cmp.Compare(a.Int[i], b.Int[k])
}

func listSumType(args []*bound) column.Type {
	if t := args[0].typ.Elem(); t.IsInteger() {
		return int64Type
	} else if t.IsFloat() {
		return t
	}
	return doubleType
}

// listSum binds list_sum: of integers exact, of others in doubles.
func listSum(c *call) (*bound, error) {
	t := c.args[0].typ.Elem()
	if t.IsInteger() {
		return c.strict(func(f *frame) error {
			return f.failing(func(i int) error {
				from, to := f.args[0].Range(i)
				if from == to {
					f.setNull(i)
				}
				for _, x := range f.args[0].Elem.Int[from:to] {
					sum, ok := addChecked(f.out.Int[i], x)
					if !ok || t.Kind == column.Uint64 && x < 0 {
						return errOverflow
					}
					f.out.Int[i] = sum
				}
				return nil
			})
		}, c.args...), nil
	}
	return c.strict(func(f *frame) error {
		for i := range f.n {
			f.out.Float[i] = 0
			from, to := f.args[0].Range(i)
			if from == to {
				f.setNull(i)
			}
			for at := from; at < to; at++ {
				x, _ := exactOf(f.args[0].Elem.At(at)).toDouble()
				if t.IsFloat() {
					x = f.args[0].Elem.Float[at]
				}
				f.out.Float[i] += x
			}
		}
		return nil
	}, c.args...), nil
}
