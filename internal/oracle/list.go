package oracle

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gagg-dev/gagg/internal/column"
)

// listCell is the cell of the only row of v.
func listCell(v *column.Vector) Cell {
	c := Cell{Kind: List}
	from, to := v.Range(0)
	for i := from; i < to; i++ {
		c.Elems = append(c.Elems, CellOf(v.Elem.At(i)))
	}
	if v.Type.Nest == column.Map {
		c.Kind, c.Counts = Map, v.Counts[from:to]
	}
	return c
}

// listString is String of a list or map.
func (c Cell) listString() string {
	var parts []string
	for i, e := range c.Elems {
		text := e.String()
		if c.Kind == Map {
			text += "=" + strconv.FormatInt(c.Counts[i], 10)
		}
		parts = append(parts, text)
	}
	if c.Kind == Map {
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// listMatches is Matches of a list or map: element by element, in order.
func (c Cell) listMatches(want Cell) bool {
	return slices.EqualFunc(c.Elems, want.Elems, Cell.Matches) && slices.Equal(c.Counts, want.Counts)
}
