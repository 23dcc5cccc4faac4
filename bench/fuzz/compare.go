package main

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/gagg-dev/gagg/internal/oracle"
)

type cell = oracle.Cell

// expected is DuckDB's answer to a query.
type expected struct {
	types []string // of keys and items
	rows  map[string]expectedRow
	err   error // a refusal: the query fails
	q     *query
}

type expectedRow struct {
	cells []cell
	large []float64 // beside the items
	other []cell
	place int
}

// expect asks DuckDB.
func expect(d *duck, q *query) (expected, error) {
	e := expected{q: q, rows: map[string]expectedRow{}}
	a, err := d.query(q.sql())
	var refused refusal
	if errors.As(err, &refused) {
		e.err = err
		return e, nil
	}
	if err != nil {
		return e, err
	}
	width := len(q.keys) + len(q.outputs())
	e.types = slices.Clone(a.types[:width])
	for _, fields := range a.rows {
		row, err := e.row(fields, a.types)
		if err != nil {
			return e, err
		}
		e.rows[q.identity(row.cells)] = row
	}
	for i, it := range q.items {
		if it.agg != nil && it.agg.gives != "" {
			e.types[len(q.keys)+i] = it.agg.gives
		}
	}
	if len(e.rows) != len(a.rows) {
		return e, fmt.Errorf("DuckDB has %d rows of %d keys", len(a.rows), len(e.rows))
	}
	return e, nil
}

func (e *expected) row(fields []field, types []string) (expectedRow, error) {
	var row expectedRow
	width := len(e.types)
	for i, f := range fields {
		c, err := oracle.ReadCell(f, types[i])
		if err != nil {
			return row, fmt.Errorf("DuckDB's column %d: %w", i+1, err)
		}
		switch {
		case i < width:
			row.cells = append(row.cells, c)
		case i == len(fields)-1:
			row.place, err = strconv.Atoi(f.Text)
		case (i-width)%2 == 0:
			row.large = append(row.large, math.Abs(c.Float))
		default:
			row.other = append(row.other, c)
		}
		if err != nil {
			return row, err
		}
	}
	return row, nil
}

func keyText(key []cell) string {
	var parts []string
	for _, c := range key {
		parts = append(parts, c.String())
	}
	return strings.Join(parts, " | ")
}

// check compares an outcome with what is expected, and returns the keys in their order; nil if
// the format is one that is not read.
func (e *expected) check(r *runner, o outcome, c config) ([]string, error) {
	if o.status < 0 {
		return nil, errLate
	}
	if e.err != nil || o.status != 0 {
		return nil, e.checkFailure(o)
	}
	rows, err := e.read(r, o, c)
	if err != nil || rows == nil {
		return nil, err
	}
	want := len(e.rows)
	if e.q.limit >= 0 {
		want = min(want, e.q.limit)
	}
	if len(rows) != want {
		return nil, fmt.Errorf("%d rows, want %d", len(rows), want)
	}
	var order []string
	seen, places := map[string]bool{}, e.places()
	for i, row := range rows {
		key := e.q.identity(row)
		wanted, ok := e.rows[key]
		if !ok || seen[key] {
			return nil, fmt.Errorf("group %s should not be there (twice: %t)", key, seen[key])
		}
		seen[key] = true
		if wanted.place != places[i] {
			return nil, fmt.Errorf("group %s is row %d, out of order", key, i+1)
		}
		if err := e.checkRow(row, wanted); err != nil {
			return nil, fmt.Errorf("group %s: %w", key, err)
		}
		order = append(order, key)
	}
	return order, nil
}

var errLate = errors.New("not done in time")

// checkFailure: both fail, in one of the ways that values make a query fail.
func (e *expected) checkFailure(o outcome) error {
	if e.err == nil {
		return fmt.Errorf("status %d: %s", o.status, o.stderr)
	}
	overflows := strings.Contains(e.err.Error(), "Out of Range") || strings.Contains(e.err.Error(), "Conversion") || strings.Contains(e.err.Error(), "Overflow")
	if overflows && o.status == 4 {
		return nil
	}
	return fmt.Errorf("status %d %s, but %w", o.status, o.stderr, e.err)
}

// places is the places that the rows have in order, however many rows share one.
func (e *expected) places() []int {
	count := make([]int, len(e.rows)+1)
	for _, r := range e.rows {
		count[r.place]++
	}
	var out []int
	for place, n := range count {
		for range n {
			out = append(out, place)
		}
	}
	return out
}

func (e *expected) checkRow(got []cell, want expectedRow) error {
	items := e.q.outputs()
	for i := len(e.q.keys); i < len(got); i++ {
		n := i - len(e.q.keys)
		w := want.cells[i]
		switch it := items[n]; {
		case math.IsNaN(want.large[n]) || math.IsInf(want.large[n], 0):
			w.Magnitude = math.Inf(1)
		case it.agg != nil && it.agg.of.rule == squared:
			w.Magnitude = want.large[n] // of the squares
		default:
			w.Magnitude = max(w.Magnitude, want.large[n])
		}
		if !items[n].matches(got[i], w, want.other[n]) {
			return fmt.Errorf("%s is %s, want %s", e.q.name(i), got[i], w)
		}
	}
	return nil
}

func (it item) matches(got, want, other cell) bool {
	switch {
	case it.over != nil:
		return got.Matches(want)
	case math.IsInf(want.Magnitude, 1) && !math.IsInf(want.Float, 0) && got.Kind != oracle.Exact && want.Kind != oracle.Exact:
		return true // DuckDB's has no correct digit
	}
	switch it.agg.of.rule {
	case squared:
		got.Float *= got.Float
		want.Float *= want.Float
	case scaled:
		if got.Kind == oracle.Exact {
			ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(it.agg.scale)), nil)
			got.Exact = new(big.Rat).Mul(got.Exact, new(big.Rat).SetInt(ten))
		}
	case counted:
		g, _ := got.Exact.Float64()
		w, _ := want.Exact.Float64()
		return math.Abs(g-w) <= 0.05*w
	case between256:
		if got.Kind == oracle.Exact {
			got.Kind = oracle.Float
			got.Float, _ = got.Exact.Float64()
		}
		if got.Kind == oracle.Float && want.Kind == oracle.Float {
			lo, hi := min(want.Float, other.Float), max(want.Float, other.Float)
			return got.Float >= lo-math.Abs(lo)/255 && got.Float <= hi+math.Abs(hi)/255
		}
	}
	return got.Matches(want)
}
