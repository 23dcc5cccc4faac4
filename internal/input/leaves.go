package input

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gagg-dev/gagg/internal/column"
)

// leafTable is the leaves of Arrow records as the columns of a table.
type leafTable struct {
	of     string // whose they are, in messages
	cols   []column.Leaf
	states string // of which query they are states; "": they are none
}

// Schema is the columns.
func (in *leafTable) Schema() (s column.Schema) {
	for i := range in.cols {
		s.Fields = append(s.Fields, in.cols[i].Field)
	}
	return s
}

// Find looks a column up as files do: a column by its exact name, a field of a
// struct by its exact dotted path, both without regard to case, or by position (#2).
func (in *leafTable) Find(name string) (int, error) {
	for _, fits := range []func(l *column.Leaf) bool{
		func(l *column.Leaf) bool { return len(l.Path) == 1 && l.Name == name },
		func(l *column.Leaf) bool { return l.Name == name },
		func(l *column.Leaf) bool { return len(l.Path) == 1 && strings.EqualFold(l.Name, name) },
		func(l *column.Leaf) bool { return strings.EqualFold(l.Name, name) },
	} {
		found := -1
		for i := range in.cols {
			if !fits(&in.cols[i]) {
				continue
			}
			if found >= 0 {
				return 0, usagef("column %q is ambiguous: it could be #%d or #%d", name, found+1, i+1)
			}
			found = i
		}
		if found >= 0 {
			return in.readable(name, found)
		}
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(name, "#")); err == nil && name[0] == '#' && n >= 1 && n <= len(in.cols) {
		return in.readable(name, n-1)
	}
	for i := range in.cols {
		l := &in.cols[i]
		for n := 1; n < len(l.Path); n++ {
			if strings.EqualFold(name, strings.Join(l.Path[:n], ".")) {
				return 0, usagef("column %q cannot be used: it is a struct; use a field of it, such as %q", name, l.Name)
			}
		}
	}
	if in.states != "" {
		return 0, usagef("column %q does not exist in %s: these are states of %s (gagg --merge finishes them)", name, in.of, in.states)
	}
	return 0, usagef("column %q does not exist in %s (--schema lists the columns)", name, in.of)
}

func (in *leafTable) readable(name string, i int) (int, error) {
	if err := in.cols[i].Err; err != nil {
		return 0, &UsageError{fmt.Errorf("column %q cannot be used: %w", name, err)}
	}
	return i, nil
}
