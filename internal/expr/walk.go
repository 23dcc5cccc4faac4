package expr

// Walk calls f for n and the nodes below it, parents first, left to right.
// Where f returns false, the nodes below are left out.
func Walk(n Node, f func(Node) bool) {
	if !f(n) {
		return
	}
	for _, c := range n.children() {
		Walk(c, f)
	}
}

// Rewrite returns n with every node for which f returns true replaced by
// f's node, parents first; what f returned is not looked into. Nodes
// without a replacement below them are kept as they are.
func Rewrite(n Node, f func(Node) (Node, bool)) Node {
	if r, ok := f(n); ok {
		return r
	}
	old := n.children()
	var changed []Node
	for i, c := range old {
		r := Rewrite(c, f)
		if r == c {
			continue
		}
		if changed == nil {
			changed = append([]Node(nil), old...)
		}
		changed[i] = r
	}
	if changed == nil {
		return n
	}
	return n.with(changed)
}

func (n *Column) children() []Node   { return nil }
func (n *Literal) children() []Node  { return nil }
func (n *Interval) children() []Node { return nil }
func (n *Unary) children() []Node    { return []Node{n.X} }
func (n *Binary) children() []Node   { return []Node{n.L, n.R} }
func (n *IsNull) children() []Node   { return []Node{n.X} }
func (n *Between) children() []Node  { return []Node{n.X, n.Lo, n.Hi} }
func (n *Like) children() []Node     { return []Node{n.X, n.Pattern} }
func (n *Cast) children() []Node     { return []Node{n.X} }

func (n *List) children() []Node { return n.Items }

func (n *In) children() []Node {
	return append([]Node{n.X}, n.List...)
}

func (n *Call) children() []Node {
	if n.Filter == nil && n.Order == nil {
		return n.Args
	}
	c := append(append([]Node(nil), n.Args...), orderNodes(n.Order)...)
	if n.Filter != nil {
		c = append(c, n.Filter)
	}
	return c
}

// children of a Case are the operand, the branches in order, and else, each
// where there is one; with relies on this order.
func (n *Case) children() []Node {
	var c []Node
	if n.Operand != nil {
		c = append(c, n.Operand)
	}
	for _, w := range n.Whens {
		c = append(c, w.If, w.Then)
	}
	if n.Else != nil {
		c = append(c, n.Else)
	}
	return c
}

func (n *Column) with([]Node) Node   { return n }
func (n *Literal) with([]Node) Node  { return n }
func (n *Interval) with([]Node) Node { return n }

func (n *Unary) with(c []Node) Node {
	m := *n
	m.X = c[0]
	return &m
}

func (n *Binary) with(c []Node) Node {
	m := *n
	m.L, m.R = c[0], c[1]
	return &m
}

func (n *List) with(c []Node) Node { return &List{At: n.At, Items: c} }

func (n *IsNull) with(c []Node) Node {
	m := *n
	m.X = c[0]
	return &m
}

func (n *In) with(c []Node) Node {
	m := *n
	m.X, m.List = c[0], c[1:]
	return &m
}

func (n *Between) with(c []Node) Node {
	m := *n
	m.X, m.Lo, m.Hi = c[0], c[1], c[2]
	return &m
}

func (n *Like) with(c []Node) Node {
	m := *n
	m.X, m.Pattern = c[0], c[1]
	return &m
}

func (n *Cast) with(c []Node) Node {
	m := *n
	m.X = c[0]
	return &m
}

func (n *Call) with(c []Node) Node {
	m := *n
	m.Args = c[:len(n.Args)]
	m.Order = orderWith(n.Order, c[len(n.Args):])
	if n.Filter != nil {
		m.Filter = c[len(c)-1]
	}
	return &m
}

func (n *Case) with(c []Node) Node {
	m := *n
	if n.Operand != nil {
		m.Operand, c = c[0], c[1:]
	}
	m.Whens = make([]When, len(n.Whens))
	for i := range m.Whens {
		m.Whens[i] = When{If: c[0], Then: c[1]}
		c = c[2:]
	}
	if n.Else != nil {
		m.Else = c[0]
	}
	return &m
}
