package expr

import (
	"bytes"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/gagg-dev/gagg/internal/column"
)

// function is a scalar function.
type function struct {
	least, most int // arguments
	bind        func(b *binder, n *Call, args []*bound) (*bound, error)
}

// functions is filled by init: nullif refers to the binder, which refers to
// functions.
var functions map[string]function

func init() {
	functions = map[string]function{
		"abs":      {1, 1, absolute},
		"coalesce": {1, maxText, coalesce},
		"nullif":   {2, 2, nullIf},
		"lower":    {1, 1, mapString(bytes.ToLower)},
		"upper":    {1, 1, mapString(bytes.ToUpper)},
		"length":   {1, 1, length},
		"year":     {1, 1, datePart(func(year, _, _ int64) int64 { return year })},
		"month":    {1, 1, datePart(func(_, month, _ int64) int64 { return month })},
		"day":      {1, 1, datePart(func(_, _, day int64) int64 { return day })},
	}
}

// Functions gives the names of the scalar functions. A Call with another name
// has to be replaced (as an aggregate is) before Bind.
func Functions() []string { return slices.Sorted(maps.Keys(functions)) }

func (b *binder) call(n *Call) (*bound, error) {
	f, ok := functions[n.Name]
	switch {
	case !ok:
		return nil, typeErrorf("unknown function \"%s\"%s", oneLine(n.Name), didYouMean(n.Name, Functions()))
	case n.Star || n.Distinct || n.Filter != nil:
		return nil, typeErrorf("%s is not an aggregate: it takes no *, distinct or filter", n.Name)
	case len(n.Args) < f.least || len(n.Args) > f.most:
		return nil, typeErrorf("%s takes %d argument(s), not %d", n.Name, f.least, len(n.Args))
	}
	args, err := b.bindAll(n.Args...)
	if err != nil {
		return nil, err
	}
	return f.bind(b, n, args)
}

// absolute binds abs(x).
func absolute(_ *binder, n *Call, args []*bound) (*bound, error) {
	x := args[0]
	switch t := x.typ; {
	case t.Kind == column.Null || t.IsUnsigned():
		return x, nil
	case t.IsFloat():
		return strict(t, n, absDoubles, x), nil
	case t.Rep() == column.RepWide:
		return strict(t, n, func(f *frame) error {
			for i, v := range f.args[0].Wide[:f.n] {
				f.out.Wide[i] = v.Abs()
			}
			return nil
		}, x), nil
	case t.Kind == column.Decimal:
		return strict(t, n, absInts, x), nil
	case t.IsInteger():
		return strict(int64Type, n, absInts, x), nil
	}
	return nil, typeErrorf("abs needs a number, not %s", x.typ)
}

func absDoubles(f *frame) error {
	for i, v := range f.args[0].Float[:f.n] {
		if v < 0 || v == 0 {
			v = 0 - v
		}
		f.out.Float[i] = v
	}
	return nil
}

func absInts(f *frame) error {
	in := f.args[0].Int[:f.n]
	alarm := false
	for i, v := range in {
		f.out.Int[i] = int64(magnitude(v))
		alarm = alarm || f.out.Int[i] < 0
	}
	if !alarm {
		return nil
	}
	return f.check(func(i int) bool { return f.out.Int[i] < 0 })
}

// mapString binds a function from string to string.
func mapString(m func([]byte) []byte) func(*binder, *Call, []*bound) (*bound, error) {
	return func(_ *binder, n *Call, args []*bound) (*bound, error) {
		x := args[0]
		if x.typ.Kind == column.Null {
			return newNull(stringType), nil
		}
		if x.typ.Kind != column.String {
			return nil, typeErrorf("%s needs a string, not %s", n.Name, x.typ)
		}
		return strict(stringType, n, func(f *frame) error {
			return f.eachBytes(func(i int, to []byte) []byte { return append(to, m(f.args[0].Bytes(i))...) })
		}, x), nil
	}
}

// eachBytes fills out with what add appends for each row that is not NULL.
func (f *frame) eachBytes(add func(i int, to []byte) []byte) error {
	for i := range f.n {
		if f.out.IsNull(i) {
			f.clearRow(i)
			continue
		}
		start := len(f.out.Data)
		f.out.Data = add(i, f.out.Data)
		if err := f.closeSpan(i, start); err != nil {
			return err
		}
	}
	return nil
}

// concat binds l || r; what is not a string becomes its text.
func concat(l, r *bound, src Node) (*bound, error) {
	var err error
	if l, err = explicitCast(l, stringType, src); err != nil {
		return nil, err
	}
	if r, err = explicitCast(r, stringType, src); err != nil {
		return nil, err
	}
	return strict(stringType, src, func(f *frame) error {
		return f.eachBytes(func(i int, to []byte) []byte {
			return append(append(to, f.args[0].Bytes(i)...), f.args[1].Bytes(i)...)
		})
	}, l, r), nil
}

// length binds length(x): the characters of a string, the bytes of a binary.
func length(_ *binder, n *Call, args []*bound) (*bound, error) {
	x := args[0]
	count := func(b []byte) int { return len(b) }
	switch {
	case x.typ.Kind == column.Null:
		return newNull(int64Type), nil
	case x.typ.Kind == column.String:
		count = utf8.RuneCount
	case x.typ.Rep() != column.RepBytes:
		return nil, typeErrorf("length needs a string, not %s", x.typ)
	}
	return strict(int64Type, n, func(f *frame) error {
		for i := range f.n {
			f.out.Int[i] = int64(count(f.args[0].Bytes(i)))
		}
		return nil
	}, x), nil
}

// datePart binds a function of the calendar date.
func datePart(part func(year, month, day int64) int64) func(*binder, *Call, []*bound) (*bound, error) {
	return func(_ *binder, n *Call, args []*bound) (*bound, error) {
		x := args[0]
		if x.typ.Kind == column.Null {
			return newNull(int64Type), nil
		}
		if familyOf(x.typ) != familyDay {
			return nil, typeErrorf("%s needs a date or a timestamp, not %s", n.Name, x.typ)
		}
		perDay := stepsPerDay(x.typ)
		return strict(int64Type, n, func(f *frame) error {
			for i, v := range f.args[0].Int[:f.n] {
				f.out.Int[i] = part(civilFromDays(clampDays(floorDiv(v, perDay))))
			}
			return nil
		}, x), nil
	}
}
