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

// Fence turns a panic of the calling function into the error that made makes of it; for defer. It
// is for code that is not gagg's: what a decoder panics with is damage of its input, and what a
// source of a caller panics with is the caller's ([Foreign]).
func Fence(err *error, made func(p any) error) {
	if p := recover(); p != nil {
		*err = made(p)
	}
}

// ForeignError is a panic of a caller's code that was made an error, and no mistake in gagg.
type ForeignError struct {
	Value any
	stack []byte
}

// Foreign is what Fence makes a *ForeignError with.
func Foreign(p any) error { return &ForeignError{p, debug.Stack()} }

func (e *ForeignError) Error() string { return fmt.Sprintf("it panicked: %v", e.Value) }

// Stack is where it panicked, for callers that cannot name the type.
func (e *ForeignError) Stack() []byte { return e.stack }

// Fenced calls do and makes a panic of it a *PanicError.
func Fenced(do func() error) (err error) {
	defer Recovered(&err)
	return do()
}
