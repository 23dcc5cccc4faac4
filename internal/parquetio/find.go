package parquetio

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gagg-dev/gagg/internal/spelling"
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
	Name string // as asked for
	Kind ColumnErrorKind
	// unknown: similar names; ambiguous: the columns as NAME (#POSITION); unsupported: fields of it
	// that can be read
	Candidates []string
	Err        error // unsupported: why
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

// similar proposes the names closest to name, in quotes.
func (t *table) similar(name string) []string {
	all := make([]string, len(t.cols))
	for i := range t.cols {
		all[i] = t.cols[i].name
	}
	near := spelling.Similar(name, all, maxSimilar)
	for i := range near {
		near[i] = strconv.Quote(near[i])
	}
	return near
}
