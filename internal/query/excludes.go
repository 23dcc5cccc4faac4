package query

import (
	"github.com/gagg-dev/gagg/internal/column"
)

// Excludes is what Where rules out before files are opened: a test of bounds of the columns of in,
// by their place in its schema, whether no row within them is wanted. nil: nothing is ruled out;
// what is wrong with Where, Compile tells. A sample counts rows that Where rules out.
func Excludes(in Columns, q Query) func(bounds func(i int) column.Bounds) bool {
	if q.Sample.Percent != 0 {
		return nil
	}
	c, err := newCompiler(in, q)
	if err != nil || c.where() != nil || c.out.Where == nil {
		return nil
	}
	return func(bounds func(i int) column.Bounds) bool {
		return c.out.Where.CanSkip(func(i int) column.Bounds { return bounds(c.out.Cols[i]) })
	}
}
