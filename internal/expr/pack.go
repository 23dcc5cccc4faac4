package expr

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/gagg-dev/gagg/internal/column"
)

// Pack is a value behind what it is ordered by, as bytes that sort as the order says; of equal ones
// the lesser value comes first. Nobody writes it: aggregates with an order are made of it.
//
//	key:   1 byte for what it is, then, turned around where the order falls,
//	       8 bytes of a number, 32 of a wide decimal, of a text its bytes with 0 as 0 255, and 0 0
//	       (turned around as well); nothing of NULL
//	16:    the end of the keys
//	value: as a key without the first byte, of a text its bytes alone
//
// All numbers begin with their highest byte, with the sign turned around. Package agg takes the
// value out again (finish_ordered.go).
type Pack struct {
	Keys   []Item // Expr, Desc and Nulls count
	Value  Node
	Strict bool // NULL if a key is NULL; else if the value is
}

// Pos is that of the value.
func (n *Pack) Pos() int { return n.Value.Pos() }

func (n *Pack) String() string { return text(n) }

func (n *Pack) level() level { return levelPrimary }

func (n *Pack) print(p *printer) {
	p.WriteString("pack(")
	n.Value.print(p)
	p.order(n.Keys)
	p.WriteByte(')')
}

func (n *Pack) children() []Node { return append(orderNodes(n.Keys), n.Value) }

func (n *Pack) with(c []Node) Node {
	return &Pack{Keys: orderWith(n.Keys, c), Value: c[len(n.Keys)], Strict: n.Strict}
}

// orderNodes is the expressions of an order.
func orderNodes(order []Item) (nodes []Node) {
	for _, o := range order {
		nodes = append(nodes, o.Expr)
	}
	return nodes
}

// orderWith is the order with other expressions.
func orderWith(order []Item, c []Node) []Item {
	order = slices.Clone(order)
	for i := range order {
		order[i].Expr = c[i]
	}
	return order
}

// order prints [ order by …].
func (p *printer) order(order []Item) {
	for i, o := range order {
		p.WriteString(map[bool]string{true: " order by ", false: ", "}[i == 0])
		o.Expr.print(p)
		if o.Desc {
			p.WriteString(" desc")
		}
		switch o.Nulls {
		case NullsFirst:
			p.WriteString(" nulls first")
		case NullsLast:
			p.WriteString(" nulls last")
		}
	}
}

// pack binds a Pack.
func (b *binder) pack(n *Pack) (*bound, error) {
	args, err := b.bindAll(n.children()...)
	if err != nil {
		return nil, err
	}
	value := len(n.Keys)
	x := &bound{kind: boundLax, typ: binaryType, src: n, args: args, kernel: func(f *frame) error {
		f.out.Null = f.args[value].Null
		if n.Strict {
			f.out.Null = nil
			f.mergeNulls()
		}
		return f.eachBytes(func(i int, to []byte) []byte {
			for k, key := range n.Keys {
				to = appendKey(to, f.args[k], args[k].typ, i, key)
			}
			return appendPacked(append(to, packedEnd), f.args[value], args[value].typ, i)
		})
	}}
	return x.finish(), nil
}

// What a key begins with.
const (
	packedNullFirst = 0
	packedNumber    = 1
	packedWide      = 2
	packedText      = 3
	packedTextDesc  = 4
	packedEnd       = 16
	packedNullLast  = 255
)

// appendKey appends row i of a flat vector as a key.
func appendKey(to []byte, v *column.Vector, t column.Type, i int, by Item) []byte {
	switch {
	case (t.Kind == column.Null || v.IsNull(i)) && by.Nulls == NullsFirst:
		return append(to, packedNullFirst)
	case t.Kind == column.Null || v.IsNull(i):
		return append(to, packedNullLast)
	}
	to = append(to, packedNumber)
	start := len(to)
	switch t.Rep() {
	case column.RepBytes:
		to[start-1] = packedText + byte(truth(by.Desc))
		for _, c := range v.Bytes(i) {
			if to = append(to, c); c == 0 {
				to = append(to, math.MaxUint8)
			}
		}
		to = append(to, 0, 0)
	case column.RepFloat64:
		x := v.Float[i] + 0 // -0 + 0 = 0
		if x != x {
			x = math.NaN()
		}
		to = appendDouble(to, x)
	case column.RepWide:
		to[start-1] = packedWide
		to = appendPacked(to, v, t, i)
	default:
		to = appendPacked(to, v, t, i)
	}
	if by.Desc {
		for k := range to[start:] {
			to[start+k] ^= math.MaxUint8
		}
	}
	return to
}

// appendPacked appends row i of a flat vector as a value.
func appendPacked(to []byte, v *column.Vector, t column.Type, i int) []byte {
	const sign = 1 << 63
	switch {
	case t.Kind == column.Null || v.IsNull(i):
		return to
	case t.Rep() == column.RepBytes:
		return append(to, v.Bytes(i)...)
	case t.Rep() == column.RepFloat64:
		return appendDouble(to, v.Float[i])
	case t.Rep() == column.RepWide:
		words := v.Wide[i].Array()
		words[3] ^= sign
		for k := 3; k >= 0; k-- {
			to = binary.BigEndian.AppendUint64(to, words[k])
		}
		return to
	case t.Kind == column.Uint64:
		return binary.BigEndian.AppendUint64(to, uint64(v.Int[i]))
	}
	return binary.BigEndian.AppendUint64(to, uint64(v.Int[i])^sign)
}

// appendDouble appends a double so that bytes sort as doubles do, NaN last.
func appendDouble(to []byte, x float64) []byte {
	bits := math.Float64bits(x)
	if x != x {
		bits &^= 1 << 63
	}
	if bits>>63 == 1 {
		bits = ^bits
	} else {
		bits |= 1 << 63
	}
	return binary.BigEndian.AppendUint64(to, bits)
}
