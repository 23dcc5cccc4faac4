package agg

import (
	"slices"

	"github.com/gagg-dev/gagg/internal/column"
)

// call is an aggregate as compiled: where its result comes from.
type call struct {
	fn     funcID
	types  []column.Type // of the arguments
	result column.Type
	set    int    // the set of the arguments
	slots  [5]int // what the function needs, in the order that finish expects
	null   bool   // an argument is a literal NULL: no row ever counts
}

// compile splits a call into slots.
func (b *builder) compile(c Call) call {
	id := c.Func.id
	out := call{fn: id, types: slices.Clone(c.Types), set: allRows, slots: [5]int{none, none, none, none, none}}
	_, out.result, _ = Resolve(signatures[id].name, c.Types) // checked before
	for _, t := range c.Types {
		if t.Kind == column.Null {
			out.null = true
			return out
		}
	}
	switch id {
	case fnCount:
		b.wantRows = true
		if len(c.Args) > 0 {
			out.set = b.counted(c.Args...)
		}
	case fnSum:
		out.set = b.seen(c.Args...)
		out.slots[0] = b.slot(sumOp(c.Types[0], b.maxRows), out.set, c.Args[0], none)
	case fnMean:
		out.set = b.counted(c.Args...)
		out.slots[0] = b.slot(sumOp(c.Types[0], b.maxRows), out.set, c.Args[0], none)
	case fnMin, fnMax:
		out.set = b.seen(c.Args...)
		out.slots[0] = b.slot(extremeOp(c.Types[0], id == fnMax), out.set, c.Args[0], none)
	}
	return out
}
