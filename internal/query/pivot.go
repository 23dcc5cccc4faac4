package query

import (
	"fmt"
	"strings"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/expr"
)

// This file is the part of a pivot that a run has (Query.Pivot): whoever reads the result puts the
// aggregates of a group into columns that its value of one key names. For that the result has one
// more column, the last, which is that key as text; it is in order of the other keys unless another
// order is asked for; and limit and offset, which count rows of the pivot, are left to the reader.

// Pivot is what the reader of a result needs to know for it.
type Pivot struct {
	Key  int // which column names the columns; -1: there is no pivot
	Keys int // columns that are keys, in front of the others
}

// pivot resolves the key, and adds its text to the outputs.
func (c *compiler) pivot() error {
	c.out.Pivot.Key = -1
	name := strings.TrimSpace(c.q.Pivot)
	if name == "" {
		return nil
	}
	list, err := expr.ParseKeys(name)
	if err != nil {
		return err
	}
	if c.q.hasSets() {
		return usagef("pivot: the rows of grouping sets and totals have no column: drop one of them")
	}
	key := -1
	if len(list) == 1 {
		key = c.keyOutput(list[0])
	}
	keys := c.byItems
	switch {
	case key < 0:
		var names []string
		for _, it := range c.items[:keys] {
			names = append(names, it.name)
		}
		return usagef("pivot: %s is none of the keys: %s", name, strings.Join(names, ", "))
	case len(c.items) == keys:
		return usagef("pivot: there are no aggregates to put into columns: add some")
	}
	text, err := c.bindResult(&expr.Cast{X: c.outputAt(key), To: column.Type{Kind: column.String}}, name, false)
	if err != nil {
		return err
	}
	e, err := expr.Bind(text, name, c.resultColumn)
	if err != nil {
		return fmt.Errorf("pivot: the values of %s cannot name columns: %w", name, err)
	}
	c.out.Pivot = Pivot{Key: key, Keys: keys}
	if len(c.q.OrderBy) == 0 {
		for i := range keys {
			if i != key {
				c.out.Order = append(c.out.Order, Term{Expr: c.out.Out[i].Expr})
			}
		}
	}
	c.out.Out = append(c.out.Out, Output{name, e, c.outputType(e)})
	c.out.Limit, c.out.Offset = 0, 0
	return nil
}

// keyOutput is the number of the output column that a key is: by its name, its number, or as the
// same expression; -1: it is none.
func (c *compiler) keyOutput(it expr.Item) int {
	if i := c.outputOf(it, c.byItems); i >= 0 {
		return i
	}
	for i, item := range c.items[:c.byItems] {
		if item.node.String() == it.Expr.String() {
			return i
		}
	}
	return -1
}
