package streams

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// ErrStopped is what producers are told once the pipeline takes no more jobs
// because of an error, which is wrapped beside it and which Finish returns.
var ErrStopped = errors.New("streams: stopped")

// ErrOutput is the class of an output that is longer than OutBytes.
var ErrOutput = errors.New("output of a job is too long")

// errClosed stops a pipeline that is closed before it is finished.
var errClosed = errors.New("closed before Finish")

// PanicError is a panic of a job's method or of what else was fenced: a mistake in the
// program.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Fenced calls do and makes a panic of it a *PanicError: a goroutine that does not
// recover would end the whole process.
func Fenced(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &PanicError{Value: p, Stack: debug.Stack()}
		}
	}()
	return do()
}
