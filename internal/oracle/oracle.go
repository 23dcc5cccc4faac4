// Package oracle answers group-by queries in the slowest and plainest way
// that can be checked by reading: every row becomes a slice of values, every
// group keeps its rows, every aggregate is computed from those rows at the
// end, with big integers, rationals and floats. It shares no code with the
// engine. Tests compare the two.
//
//	oracle.go      query and grouping
//	cell.go        one value of a result, and when two are the same
//	list.go        cells of lists and maps
//	aggregates.go  what each aggregate means, one function each; those that
//	               need all values at once are in aggregates_*.go
//	functions.go   functions of one value, for computed keys
//	exact.go       arithmetic on floats without rounding
//	compare.go     results against results, order aside
//	table.go       CSV and NDJSON text → rows of fields
//	sqltype.go     fields → cells, by SQL type name
//	listtext.go    the same for lists and maps
//	corpus.go      tables against the expected answers of a corpus
//
// The trap: a tolerance is a property of the expected value (Cell.Magnitude),
// so Equal(got, want) is not symmetric.
package oracle

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gagg-dev/gagg/internal/column"
)

// ErrOverflow reports a result that does not fit its type.
var ErrOverflow = errors.New("overflow")

// Query says what to group by and compute.
type Query struct {
	Keys []int      // columns; none: one group of all rows
	Of   []Function // what of each key counts, the zero value for all; nil: all of all
	// Sets tells, of each grouping set, which keys it has. A row of it has NULL for the others, and
	// behind the keys the number whose bits tell them, that of the last key the lowest, as
	// grouping(…) does. nil: there is one set, of all keys, and no such number.
	Sets  [][]bool
	Aggs  []Agg
	Where func(row []column.Value) bool // nil: every row
}

// Agg is one aggregate over columns. Func is its name or a synonym, in lower
// case; count without Args is count(*). Param is the constant that quantile,
// quantile_disc (a decimal), string_agg (a text), min and max (an integer)
// take behind the columns, min and max if they are lists; else its Type is
// Invalid.
type Agg struct {
	Func  string
	Args  []int
	Param column.Value

	Distinct bool // each different value of the first argument, which is the only one, counts once
}

// Result is the answer: one row a group, keys first, in the order in which
// the groups appear in the input, set by set.
type Result struct {
	Keys int // how many of the cells of a row are keys, or tell its set
	Rows [][]Cell
}

// Run answers q over the batches, which are put into the order of their
// first rows.
func Run(batches []column.Batch, schema column.Schema, q Query) (Result, error) {
	var rows [][]column.Value
	for _, b := range inFileOrder(batches) {
		for i := range b.Rows {
			row := rowOf(b, i)
			if q.Where == nil || q.Where(row) {
				rows = append(rows, row)
			}
		}
	}
	result := Result{Keys: len(q.Keys)}
	all := groups(rows, q)
	if q.Sets != nil {
		result.Keys++
		all = nil
		for _, has := range q.Sets {
			all = append(all, groupsOfSet(rows, q, has)...)
		}
	}
	for _, group := range all {
		cells := slices.Clone(group.key)
		for _, a := range q.Aggs {
			cell, err := aggregate(a, schema, group.rows)
			if err != nil {
				return Result{}, fmt.Errorf("%s of group %q: %w", a.Func, keyText(group.key), err)
			}
			cells = append(cells, cell)
		}
		result.Rows = append(result.Rows, cells)
	}
	return result, nil
}

// Rows reads batches as a result: what an engine gave, for Equal. Batches
// are taken in the order given.
func Rows(batches []column.Batch, keys int) Result {
	result := Result{Keys: keys}
	for _, b := range batches {
		for i := range b.Rows {
			var cells []Cell
			for _, v := range rowOf(b, i) {
				cells = append(cells, CellOf(v))
			}
			result.Rows = append(result.Rows, cells)
		}
	}
	return result
}

func inFileOrder(batches []column.Batch) []column.Batch {
	sorted := slices.Clone(batches)
	slices.SortStableFunc(sorted, func(a, b column.Batch) int { return int(a.First - b.First) })
	return sorted
}

func rowOf(b column.Batch, i int) []column.Value {
	row := make([]column.Value, len(b.Cols))
	for c := range b.Cols {
		row[c] = b.Cols[c].At(i)
	}
	return row
}

type group struct {
	key  []Cell
	rows [][]column.Value
}

// groups splits rows by their keys. Without keys there is one group, even of
// no rows.
func groups(rows [][]column.Value, q Query) []*group {
	var all []*group
	if len(q.Keys) == 0 {
		return []*group{{rows: rows}}
	}
	byKey := map[string]*group{}
	for _, row := range rows {
		var key []Cell
		for i, k := range q.Keys {
			v := row[k]
			if q.Of != nil && q.Of[i].Of != nil && !v.Null {
				v = q.Of[i].Of(v)
			}
			key = append(key, CellOf(v))
		}
		g := byKey[keyText(key)]
		if g == nil {
			g = &group{key: key}
			byKey[keyText(key)] = g
			all = append(all, g)
		}
		g.rows = append(g.rows, row)
	}
	return all
}

// groupsOfSet is the groups of one grouping set.
func groupsOfSet(rows [][]column.Value, q Query, has []bool) []*group {
	of, left := Query{}, int64(0)
	for i, k := range q.Keys {
		left *= 2
		if !has[i] {
			left++
			continue
		}
		of.Keys = append(of.Keys, k)
		if q.Of != nil {
			of.Of = append(of.Of, q.Of[i])
		}
	}
	all := groups(rows, of)
	for _, g := range all {
		key := g.key
		g.key = nil
		for i := range q.Keys {
			if !has[i] {
				g.key = append(g.key, CellOf(column.Value{Null: true}))
				continue
			}
			g.key, key = append(g.key, key[0]), key[1:]
		}
		g.key = append(g.key, integer(left))
	}
	return all
}

// keyText is a text that two keys share if, and only if, they are the same
// group. It is also what failures show.
func keyText(key []Cell) string {
	var b strings.Builder
	b.WriteByte('(')
	for i, c := range key {
		if i > 0 {
			b.WriteString(", ")
		}
		if c.Kind != Text {
			b.WriteString(c.String())
			continue
		}
		fmt.Fprintf(&b, "%d:", len(c.Text)) // its length tells where it ends
		b.WriteString(c.Text)
	}
	b.WriteByte(')')
	return b.String()
}

// aggregate computes a over the rows of one group: rows with a NULL argument
// are passed over, except by count(*).
func aggregate(a Agg, schema column.Schema, rows [][]column.Value) (Cell, error) {
	if a.Func == "count" && len(a.Args) == 0 {
		return integer(int64(len(rows))), nil
	}
	f, ok := functions[a.Func]
	if with, takes := parameterized[a.Func]; takes && a.Param.Type.Kind != column.Invalid {
		f, ok = with(a.Param), true
	}
	if !ok {
		return Cell{}, fmt.Errorf("the oracle does not know %s", a.Func)
	}
	var args [][]column.Value
	for _, row := range rows {
		values := make([]column.Value, len(a.Args))
		hasNull := false
		for i, c := range a.Args {
			values[i] = row[c]
			hasNull = hasNull || row[c].Null
		}
		if !hasNull {
			args = append(args, values)
		}
	}
	if a.Distinct {
		args = once(args)
	}
	return f(args, schema.Fields[a.Args[0]].Type)
}
