package expr

import (
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow/decimal256"

	"github.com/gagg-dev/gagg/internal/column"
)

// in binds x in (…): a set if the list is constant, else x = a or x = b …, as of intervals.
func (b *binder) in(n *In) (*bound, error) {
	args, err := b.operands(n.children()...)
	if err != nil {
		return nil, err
	}
	var x *bound
	if !slices.ContainsFunc(args, func(a *bound) bool { return a.kind == boundInterval }) {
		x, err = b.inSet(n, args[0], args[1:])
	}
	if x == nil && err == nil {
		x, err = b.inAny(n, args[0], args[1:])
	}
	if err == nil && n.Not {
		x = not(x, n)
	}
	return x, err
}

func (b *binder) inAny(n *In, x *bound, list []*bound) (*bound, error) {
	var any *bound
	for i, e := range list {
		eq, err := b.compare(opEQ, x, e, n.X, n.List[i], n)
		if err != nil {
			return nil, b.at(n.List[i].Pos(), err)
		}
		if any == nil {
			any = eq
		} else if any, err = logic("or", any, eq); err != nil {
			return nil, err
		}
	}
	return any, nil
}

// inSet binds x in (constants) as a look-up. It gives nil where the list is
// not of that kind.
func (b *binder) inSet(n *In, x *bound, list []*bound) (*bound, error) {
	if x.kind == boundConst || x.typ.Kind == column.Null {
		return nil, nil
	}
	var set []column.Value
	withNull := false
	for i, e := range list {
		if e.kind != boundConst || x.typ.Kind == column.Decimal && e.typ.IsFloat() {
			return nil, nil
		}
		if e.value.Null {
			withNull = true
			continue
		}
		e, err := literalAs(e, x.typ)
		if err == nil && familyOf(e.typ) != familyOf(x.typ) {
			err = typeErrorf("cannot compare %s and %s", x.typ, e.typ)
		}
		if err != nil {
			return nil, b.at(n.List[i].Pos(), err)
		}
		if v, ok := inDomain(e.value, x.typ); ok {
			set = append(set, v)
		}
	}
	node := &bound{kind: boundStrict, typ: boolType, src: n, args: []*bound{x}, kernel: inKernel(x.typ, set)}
	if withNull {
		node.kernel = nullUnlessTrue(node.kernel)
	}
	if x.kind == boundColumn {
		node.skip = skipIn(x.col, set, withNull)
	}
	node = node.finish()
	if IsWord(x.typ) && len(set) <= smallSet {
		node.onWords(inWords(x.typ, set, withNull)...)
	}
	return node, nil
}

// inWords is the operations of inKernel on words.
func inWords(t column.Type, set []column.Value, withNull bool) []wordOp {
	op := wordOp{code: comparing(t), constant: opEQ.outcomes(), anyOf: []uint64{}}
	for _, v := range set {
		word, _ := wordOf(v)
		op.anyOf = append(op.anyOf, word)
	}
	if withNull {
		return []wordOp{op, {code: CodeNullUnless}}
	}
	return []wordOp{op}
}

// inDomain gives the value of type t that equals c, if there is one.
func inDomain(c column.Value, t column.Type) (column.Value, bool) {
	switch {
	case t.Rep() == column.RepBytes:
		c.Type = t
		return c, true
	case t.IsFloat():
		f, side := nearest(c, t)
		return column.Value{Type: t, Float: f}, side == 0
	}
	e := exactOf(c)
	if e.inf != 0 {
		return c, false
	}
	n, same := e.floor(t)
	lo, hi := storedRange(t)
	if !same || n.Cmp(lo) < 0 || n.Cmp(hi) > 0 {
		return c, false
	}
	return stored(n, t), true
}

// nullUnlessTrue is `in` with NULL in the list: what is not found is NULL.
func nullUnlessTrue(k kernel) kernel {
	return func(f *frame) error {
		err := k(f)
		null := f.ownNulls()
		for i, found := range f.out.Int {
			null[i] = null[i] || found == 0
		}
		return err
	}
}

// smallSet is up to how many integers a list is searched from end to end
// instead of hashed: eight comparisons take about as long as a hash and a look-up.
const smallSet = 8

func inKernel(t column.Type, set []column.Value) kernel {
	switch t.Rep() {
	case column.RepBytes:
		return inBytes(set)
	case column.RepWide:
		return inWides(set)
	case column.RepFloat64:
		return inDoubles(set)
	}
	if len(set) <= smallSet {
		return inFewInts(set)
	}
	m := make(map[int64]struct{}, len(set))
	for _, v := range set {
		m[v.Int] = struct{}{}
	}
	return func(f *frame) error {
		for i, v := range f.args[0].Int[:f.n] {
			_, found := m[v]
			f.out.Int[i] = truth(found)
		}
		return nil
	}
}

func inFewInts(set []column.Value) kernel {
	var list []int64
	for _, v := range set {
		list = append(list, v.Int)
	}
	return func(f *frame) error {
		out := f.out.Int
		in := f.args[0].Int[:len(out)]
		for i, v := range in {
			hit := int64(0)
			for _, c := range list {
				hit |= truth(v == c)
			}
			out[i] = hit
		}
		return nil
	}
}

// doubleKey makes equal what is equal: one NaN, one zero.
func doubleKey(f float64) uint64 {
	switch {
	case f == 0:
		return 0
	case f != f:
		return math.Float64bits(math.NaN())
	}
	return math.Float64bits(f)
}

func inDoubles(set []column.Value) kernel {
	m := make(map[uint64]struct{}, len(set))
	for _, v := range set {
		m[doubleKey(v.Float)] = struct{}{}
	}
	return func(f *frame) error {
		for i, v := range f.args[0].Float[:f.n] {
			_, found := m[doubleKey(v)]
			f.out.Int[i] = truth(found)
		}
		return nil
	}
}

func inWides(set []column.Value) kernel {
	m := make(map[decimal256.Num]struct{}, len(set))
	for _, v := range set {
		m[v.Wide] = struct{}{}
	}
	return func(f *frame) error {
		for i, v := range f.args[0].Wide[:f.n] {
			_, found := m[v]
			f.out.Int[i] = truth(found)
		}
		return nil
	}
}

func inBytes(set []column.Value) kernel {
	m := make(map[string]struct{}, len(set))
	for _, v := range set {
		m[v.Bytes] = struct{}{}
	}
	return func(f *frame) error {
		for i := range f.n {
			_, found := m[string(f.args[0].Bytes(i))]
			f.out.Int[i] = truth(found)
		}
		return nil
	}
}
