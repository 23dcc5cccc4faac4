package expr

import (
	"slices"

	"github.com/gagg-dev/gagg/internal/sortkey"
)

// Pack is a value behind what it is ordered by, packed (package sortkey). Nobody writes it:
// aggregates with an order are made of it. Package agg takes the value out again.
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
	// nodes are shared by their text
	p.WriteString(map[bool]string{true: "pack strict(", false: "pack("}[n.Strict])
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
	kind := boundLax
	if n.Strict {
		kind = boundStrict
	}
	x := &bound{kind: kind, typ: binaryType, src: n, args: args, kernel: func(f *frame) error {
		if !n.Strict {
			f.out.Null = f.args[value].Null
		}
		keys := make([]func([]byte, int) []byte, value)
		for k, key := range n.Keys {
			keys[k] = sortkey.PackedKey(f.args[k], key.Desc, key.Nulls == NullsFirst)
		}
		last := sortkey.PackedValue(f.args[value])
		return f.eachBytes(func(i int, to []byte) []byte {
			for _, key := range keys {
				to = key(to, i)
			}
			return last(append(to, sortkey.PackedEnd), i)
		})
	}}
	return x.finish(), nil
}
