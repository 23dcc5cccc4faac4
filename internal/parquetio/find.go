package parquetio

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ColumnErrorKind says what is wrong with a column that was asked for.
type ColumnErrorKind uint8

const (
	UnknownColumn     ColumnErrorKind = iota // there is none of that name
	AmbiguousColumn                          // there are several
	UnsupportedColumn                        // there is one, but its values cannot be read
)

// ColumnError is a column that was asked for and cannot be had.
type ColumnError struct {
	Name       string // as asked for
	Kind       ColumnErrorKind
	Candidates []string // unknown: similar names; ambiguous: the columns as NAME (#POSITION); unsupported: fields of it that can be read
	Err        error    // unsupported: why
}

func (e *ColumnError) Error() string {
	switch e.Kind {
	case AmbiguousColumn:
		return fmt.Sprintf("column %q is ambiguous (it could be %s; name one by its position, such as #1)", e.Name, strings.Join(e.Candidates, ", "))
	case UnsupportedColumn:
		if len(e.Candidates) > 0 {
			return fmt.Sprintf("column %q cannot be used (%v; use a field of it, such as %s)", e.Name, e.Err, strings.Join(e.Candidates, ", "))
		}
		return fmt.Sprintf("column %q cannot be used (%v)", e.Name, e.Err)
	}
	if len(e.Candidates) > 0 {
		return fmt.Sprintf("column %q does not exist (similar names: %s)", e.Name, strings.Join(e.Candidates, ", "))
	}
	return fmt.Sprintf("column %q does not exist (--schema lists the columns)", e.Name)
}

func (e *ColumnError) Unwrap() error { return e.Err }

// find returns the index of the column that name means.
//
// The first of these that fits any column decides: the exact name of a
// top-level column (dots in it mean nothing), the exact dotted path of a
// nested one, both of them again without regard to case, and "#n" for the n-th
// column. If it fits several, name is ambiguous.
func (t *table) find(name string) (int, error) {
	rules := []func(c *tableColumn) bool{
		func(c *tableColumn) bool { return len(c.path) == 1 && c.name == name },
		func(c *tableColumn) bool { return c.name == name },
		func(c *tableColumn) bool { return len(c.path) == 1 && strings.EqualFold(c.name, name) },
		func(c *tableColumn) bool { return strings.EqualFold(c.name, name) },
	}
	for _, rule := range rules {
		if fit := t.fitting(rule); len(fit) == 1 {
			return fit[0], t.readable(name, fit[0])
		} else if len(fit) > 1 {
			return 0, &ColumnError{Name: name, Kind: AmbiguousColumn, Candidates: t.positions(fit)}
		}
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(name, "#")); err == nil && name[0] == '#' && n >= 1 && n <= len(t.cols) {
		return n - 1, t.readable(name, n-1)
	}
	if err := t.nested(name); err != nil {
		return 0, err
	}
	return 0, &ColumnError{Name: name, Kind: UnknownColumn, Candidates: t.similar(name)}
}

func (t *table) fitting(rule func(*tableColumn) bool) (fit []int) {
	for i := range t.cols {
		if rule(&t.cols[i]) {
			fit = append(fit, i)
		}
	}
	return fit
}

// readable is the error of a column that exists but cannot be read.
func (t *table) readable(name string, c int) error {
	if err := t.cols[c].err; err != nil {
		return &ColumnError{Name: name, Kind: UnsupportedColumn, Err: err}
	}
	return nil
}

func (t *table) positions(cols []int) []string {
	out := make([]string, len(cols))
	for i, c := range cols {
		out[i] = fmt.Sprintf("%q (#%d)", t.cols[c].name, c+1)
	}
	return out
}

var errStruct = errors.New("it is a struct")

// nested is the error for the name of a struct, list or map, which is no
// column itself; nil if name is not one.
func (t *table) nested(name string) error {
	var e *ColumnError
	for i := range t.cols {
		c := &t.cols[i]
		if len(c.path) < 2 || !isPrefix(name, c.path) {
			continue
		}
		if e == nil {
			e = &ColumnError{Name: name, Kind: UnsupportedColumn, Err: c.err}
		}
		if c.err == nil && len(e.Candidates) < maxSimilar {
			e.Err = errStruct
			e.Candidates = append(e.Candidates, strconv.Quote(c.name))
		}
	}
	if e == nil {
		return nil
	}
	return e
}

func isPrefix(name string, path []string) bool {
	for n := 1; n < len(path); n++ {
		if strings.EqualFold(name, strings.Join(path[:n], ".")) {
			return true
		}
	}
	return false
}

// maxSimilar is how many names a message proposes.
const maxSimilar = 3

// similar proposes the names closest to name, at most a third of it away.
func (t *table) similar(name string) []string {
	type candidate struct {
		name string
		dist int
	}
	want := strings.ToLower(name)
	limit := min(max(utf8.RuneCountInString(want)/3, 1), 8)
	var near []candidate
	for i := range t.cols {
		if d := editDistance(want, strings.ToLower(t.cols[i].name), limit); d <= limit {
			near = append(near, candidate{t.cols[i].name, d})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return a.dist - b.dist })
	var names []string
	for _, c := range near[:min(len(near), maxSimilar)] {
		names = append(names, strconv.Quote(c.name))
	}
	return names
}

// editDistance is the least number of runes inserted, deleted or replaced
// that turn a into b. Past limit it may return any greater number.
func editDistance(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if d := len(x) - len(y); d > limit || -d > limit {
		return limit + 1
	}
	row := make([]int, len(y)+1) // row[j]: distance of x[:i] and y[:j]
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			d := diagonal
			if x[i] != y[j] {
				d = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], d
		}
	}
	return row[len(y)]
}
