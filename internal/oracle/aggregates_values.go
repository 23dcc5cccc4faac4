package oracle

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gagg-dev/gagg/internal/column"
)

// parameterized are the aggregates whose last argument is a constant.
var parameterized = map[string]func(param column.Value) function{
	"quantile":      func(p column.Value) function { return quantile(exactOf(p)) },
	"quantile_disc": func(p column.Value) function { return quantileDisc(exactOf(p)) },
	"string_agg":    func(separator column.Value) function { return join(separator.Bytes) },
	"min":           func(n column.Value) function { return extremes(n.Int, false) },
	"max":           func(n column.Value) function { return extremes(n.Int, true) },
	"arg_min":       func(n column.Value) function { return firstBy(n.Int, false) },
	"arg_max":       func(n column.Value) function { return firstBy(n.Int, true) },
	"list":          func(column.Value) function { return firstBy(math.MaxInt64, true) },
	"approx_top_k":  func(n column.Value) function { return mostFrequent(n.Int) },
}

// tally is a distinct value, first of its rows, and how many these are.
type tally struct {
	value column.Value
	rows  int64
}

// tallies are in the order of their first rows.
func tallies(args [][]column.Value) (all []*tally) {
	byKey := map[string]*tally{}
	for _, row := range args {
		key := keyText([]Cell{CellOf(row[0])})
		if byKey[key] == nil {
			byKey[key] = &tally{value: row[0]}
			all = append(all, byKey[key])
		}
		byKey[key].rows++
	}
	return all
}

// once is the different values.
func once(args [][]column.Value) (out [][]column.Value) {
	for _, t := range tallies(args) {
		out = append(out, []column.Value{t.value})
	}
	return out
}

func countDistinct(args [][]column.Value, _ column.Type) (Cell, error) {
	return integer(int64(len(tallies(args)))), nil
}

// mode is the most frequent value; of several the one that comes first.
func mode(args [][]column.Value, _ column.Type) (Cell, error) {
	best := &tally{value: column.Value{Null: true}}
	for _, t := range tallies(args) {
		if t.rows > best.rows {
			best = t
		}
	}
	return CellOf(best.value), nil
}

// firstBy is a list of the first argument of the n rows whose last one is least, or greatest; of
// several with an equal one that with the lesser first argument.
func firstBy(n int64, greatest bool) function {
	return func(args [][]column.Value, t column.Type) (Cell, error) {
		if len(args) == 0 {
			return Cell{}, nil
		}
		rows := slices.Clone(args)
		slices.SortStableFunc(rows, func(a, b []column.Value) int {
			c := compare(a[len(a)-1], b[len(b)-1])
			if greatest {
				c = -c
			}
			return cmp.Or(c, compare(a[0], b[0]))
		})
		var values []column.Value
		for _, row := range rows[:min(n, int64(len(rows)))] {
			values = append(values, row[0])
		}
		return CellOf(nested(column.ListOf(t), values, nil)), nil
	}
}

// mostFrequent is a list of the n most frequent values; of several with as many rows those that
// come first.
func mostFrequent(n int64) function {
	return func(args [][]column.Value, t column.Type) (Cell, error) {
		if len(args) == 0 {
			return Cell{}, nil
		}
		all := tallies(args)
		slices.SortStableFunc(all, func(a, b *tally) int { return cmp.Compare(b.rows, a.rows) })
		var values []column.Value
		for _, t := range all[:min(n, int64(len(all)))] {
			values = append(values, t.value)
		}
		return CellOf(nested(column.ListOf(t), values, nil)), nil
	}
}

// entropy is Shannon's, in bits.
func entropy(args [][]column.Value, _ column.Type) (Cell, error) {
	if len(args) == 0 {
		return Cell{}, nil
	}
	bits := 0.0
	for _, t := range tallies(args) {
		share := float64(t.rows) / float64(len(args))
		bits -= share * math.Log2(share)
	}
	return Cell{Kind: Float, Float: bits, Magnitude: 1 + bits}, nil
}

func histogram(args [][]column.Value, t column.Type) (Cell, error) {
	if len(args) == 0 {
		return Cell{}, nil
	}
	all := tallies(args)
	slices.SortFunc(all, func(a, b *tally) int { return compare(a.value, b.value) })
	var keys []column.Value
	var counts []int64
	for _, t := range all {
		keys, counts = append(keys, t.value), append(counts, t.rows)
	}
	return CellOf(nested(column.MapOf(t), keys, counts)), nil
}

func list(args [][]column.Value, t column.Type) (Cell, error) {
	if len(args) == 0 {
		return Cell{}, nil
	}
	var values []column.Value
	for _, row := range args {
		values = append(values, row[0])
	}
	return CellOf(nested(column.ListOf(t), values, nil)), nil
}

func join(separator string) function {
	return func(args [][]column.Value, t column.Type) (Cell, error) {
		if t.Kind != column.String {
			return Cell{}, fmt.Errorf("string_agg of %s", t)
		}
		if len(args) == 0 {
			return Cell{}, nil
		}
		var texts []string
		for _, row := range args {
			texts = append(texts, row[0].Bytes)
		}
		return Cell{Kind: Text, Text: strings.Join(texts, separator)}, nil
	}
}

// extremes is a list of the n least values, ascending, or the n greatest,
// descending; of all if there are fewer.
func extremes(n int64, greatest bool) function {
	return func(args [][]column.Value, t column.Type) (Cell, error) {
		if len(args) == 0 {
			return Cell{}, nil
		}
		sorted := sortedValues(args)
		if greatest {
			slices.Reverse(sorted)
		}
		return CellOf(nested(column.ListOf(t), sorted[:min(n, int64(len(sorted)))], nil)), nil
	}
}

// nested is a list or map as a value.
func nested(t column.Type, values []column.Value, counts []int64) column.Value {
	elem := column.Vector{Type: t.Elem()}
	for _, v := range values {
		elem.Append(v)
	}
	one := []column.Span{{Len: uint32(len(values))}}
	return column.Value{Type: t, List: &column.Vector{Type: t, Len: 1, Span: one, Elem: &elem, Counts: counts}}
}
