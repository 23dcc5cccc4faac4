package invariant

import (
	"fmt"
	"runtime/debug"
)

// PanicError is a panic that was made an error: a mistake in gagg. (What a decoder panics with
// over damaged input is an error of the input: internal/parquetio.)
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("internal error: %v", e.Value) }

// Recovered turns a panic of the calling function into a *PanicError; for defer. A goroutine that
// does not recover would end the whole process.
func Recovered(err *error) {
	if p := recover(); p != nil {
		*err = &PanicError{Value: p, Stack: debug.Stack()}
	}
}

// Fenced calls do and makes a panic of it a *PanicError.
func Fenced(do func() error) (err error) {
	defer Recovered(&err)
	return do()
}
