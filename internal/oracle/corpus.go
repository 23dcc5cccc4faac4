package oracle

import (
	"fmt"
	"math"
	"math/big"
	"strings"
)

// Expectation is the answer that a corpus expects of a query.
type Expectation struct {
	Table Table
	Types []string // SQL types of the columns: keys, then aggregates
	Keys  int

	// For an answer that is too large to keep, Table is a sample of its
	// groups; the fields below say something about the rest.
	Sampled bool
	Groups  int               // in the whole answer
	Totals  map[string]string // by column name: sum over all groups, or "N non-null"
}

// Check compares an answer in text with what is expected. Column names are
// not compared: engines differ in how they write them.
func (e Expectation) Check(got Table) error {
	g, err := e.result(got)
	if err != nil {
		return fmt.Errorf("the answer: %w", err)
	}
	want, err := e.result(e.Table)
	if err != nil {
		return fmt.Errorf("the expected answer: %w", err)
	}
	if !e.Sampled {
		return Equal(g, want)
	}
	if len(g.Rows) != e.Groups {
		return fmt.Errorf("%d groups, want %d", len(g.Rows), e.Groups)
	}
	if err := e.checkTotals(g); err != nil {
		return err
	}
	sample, err := pickGroups(g, want)
	if err != nil {
		return err
	}
	return Equal(sample, want)
}

func (e Expectation) result(t Table) (Result, error) {
	r := Result{Keys: e.Keys}
	for n, row := range t.Rows {
		if len(row) != len(e.Types) {
			return r, fmt.Errorf("%d columns, want %d", len(row), len(e.Types))
		}
		cells := make([]Cell, len(row))
		for i, f := range row {
			var err error
			if cells[i], err = ReadCell(f, e.Types[i]); err != nil {
				return r, fmt.Errorf("row %d, column %d: %w", n+1, i+1, err)
			}
		}
		r.Rows = append(r.Rows, cells)
	}
	return r, nil
}

// pickGroups returns the rows of all whose keys are in sample. A key that
// occurs twice in all stays twice, for Equal to find.
func pickGroups(all, sample Result) (Result, error) {
	wanted, seen := map[string]bool{}, map[string]bool{}
	for _, row := range sample.Rows {
		wanted[keyText(row[:sample.Keys])] = true
	}
	picked := Result{Keys: all.Keys}
	for _, row := range all.Rows {
		key := keyText(row[:all.Keys])
		if seen[key] {
			return picked, fmt.Errorf("group %q occurs twice", key)
		}
		seen[key] = true
		if wanted[key] {
			picked.Rows = append(picked.Rows, row)
		}
	}
	return picked, nil
}

func (e Expectation) checkTotals(got Result) error {
	for i, name := range e.Table.Header {
		want, ok := e.Totals[name]
		if i < e.Keys || !ok {
			continue
		}
		if err := checkTotal(got, i, want); err != nil {
			return fmt.Errorf("%s over all groups: %w", name, err)
		}
	}
	return nil
}

func checkTotal(got Result, column int, want string) error {
	count, exact, sum, magnitude := 0, new(big.Rat), 0.0, 0.0
	for _, row := range got.Rows {
		switch c := row[column]; c.Kind {
		case Null:
			continue
		case Exact:
			exact.Add(exact, c.Exact)
		case Float:
			sum += c.Float
			magnitude += math.Abs(c.Float)
		}
		count++
	}
	if text, ok := strings.CutSuffix(want, " non-null"); ok {
		if fmt.Sprint(count) != text {
			return fmt.Errorf("%d are not NULL, want %s", count, text)
		}
		return nil
	}
	w, ok := new(big.Rat).SetString(want)
	if !ok {
		return fmt.Errorf("cannot read the expected total %q", want)
	}
	if magnitude == 0 && exact.Cmp(w) == 0 {
		return nil
	}
	f, _ := w.Float64()
	if magnitude > 0 && float(sum).Matches(Cell{Kind: Float, Float: f, Magnitude: magnitude}) {
		return nil
	}
	return fmt.Errorf("%s or %g, want %s", exact.RatString(), sum, want)
}
