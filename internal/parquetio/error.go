package parquetio

import (
	"fmt"
	"strings"
)

// Error tells that a file cannot be read or is not valid. Its message is one
// line: `FILE: row group 3, column "x": cause`.
type Error struct {
	File     string
	RowGroup int    // -1: not about one row group
	Column   string // "": not about one column
	Err      error
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	sep := ": "
	if e.RowGroup >= 0 {
		fmt.Fprintf(&b, "%srow group %d", sep, e.RowGroup)
		sep = ", "
	}
	if e.Column != "" {
		fmt.Fprintf(&b, "%scolumn %q", sep, e.Column)
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// A PrecisionError tells that decimals have more digits than the types of
// their columns declare, as pandas and others write them, and would fit wider
// types: see Dataset.Widen. It is in an *Error.
type PrecisionError struct {
	Digits map[int]int // by field of the schema: how many digits hold what was met
	Err    error       // about the first of them
}

func (e *PrecisionError) Error() string { return e.Err.Error() }

// fileError is an Error about a file as a whole.
func fileError(file, format string, args ...any) error {
	return &Error{File: file, RowGroup: -1, Err: fmt.Errorf(format, args...)}
}
