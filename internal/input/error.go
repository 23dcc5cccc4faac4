package input

import "fmt"

// Error says that records cannot be read, or hold what their schema does not allow.
type Error struct{ cause error }

func (e *Error) Error() string { return e.cause.Error() }
func (e *Error) Unwrap() error { return e.cause }

// SourceError is an error of a reader or an iterator of the caller's.
type SourceError struct {
	Source string // as messages call it
	Err    error
}

func (e *SourceError) Error() string { return e.Err.Error() }
func (e *SourceError) Unwrap() error { return e.Err }

// UsageError says that an input has not what a query asks of it, or that none was named.
type UsageError struct{ cause error }

func (e *UsageError) Error() string { return e.cause.Error() }
func (e *UsageError) Unwrap() error { return e.cause }

func usagef(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }
