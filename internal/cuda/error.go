package cuda

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"
)

// The classes of errors. Test for them with errors.Is; the error itself is an
// [*Error]. [Advice] says what a person can do about each.
var (
	// no libcuda, or a build without GPU
	ErrNoDriver = errors.New("no CUDA driver")
	// its text tells both versions
	ErrOldDriver = errors.New("CUDA driver too old or mismatched")
	// kernel module not loaded, no permission, MPS
	ErrNotReady = errors.New("CUDA driver does not start")
	// none, or all hidden from this process
	ErrNoDevice = errors.New("no CUDA device")
	// exclusive or prohibited compute mode
	ErrBusy        = errors.New("CUDA device not available")
	ErrUnsupported = errors.New("not supported by this CUDA device")   // architecture or PTX
	ErrOutOfMemory = errors.New("out of device or pinned host memory") // the context stays usable
	// could not start, or faulted: then ErrLost too
	ErrLaunch = errors.New("kernel failed")
	// all results of the context are void
	ErrLost = errors.New("CUDA context lost")
	// a handle was used after its Close or Unlock
	ErrClosed = errors.New("closed")
	// a context that holds something was closed
	ErrOpen = errors.New("still in use")
)

// Error is a failure of the driver, or of what this package asks of it.
type Error struct {
	Op   string // what was done, ending in the driver's function: "allocate 5 GiB (cuMemAlloc_v2)"
	Code int    // the driver's code; 0: the failure is not one of a driver call
	Name string // of the code: CUDA_ERROR_OUT_OF_MEMORY
	Text string // what it means, in words
	Log  string // of the JIT compiler, whole; else empty

	class error // nil: a mistake in a call
	cause error // an error of another kind that it stands for; nil: none
}

// Error is one line, without the log.
func (e *Error) Error() string {
	if e.Code == 0 {
		return e.Op + ": " + e.Text
	}
	return fmt.Sprintf("%s: %s (%s, %d)", e.Op, e.Text, e.Name, e.Code)
}

// Is makes an Error its class, and a kernel's fault both ErrLaunch and ErrLost.
func (e *Error) Is(target error) bool {
	if target == ErrLaunch && e.class == ErrLost {
		return code(e.Code).kernelFault()
	}
	return e.class != nil && target == e.class
}

// Unwrap is the cause, if there is one of another kind.
func (e *Error) Unwrap() error { return e.cause }

// classOf is the class of code c from a context.
func classOf(c code) error {
	if c.sticky() {
		return ErrLost
	}
	return running[c]
}

// failure is an Error for c, which function f returned; what says in words what
// was being done. The names of codes are a table in the driver: to ask for one
// is safe in any state.
func (d *Driver) failure(f symbol, c code, what string, class error) *Error {
	e := &Error{Op: operation(f, what), Code: int(c), class: class}
	e.Name = d.errorText(cuGetErrorName, c)
	e.Text = d.errorText(cuGetErrorString, c)
	if e.Name == "" {
		e.Name = "unknown code"
	}
	if e.Text == "" {
		e.Text = "unknown error"
	}
	return e
}

func operation(f symbol, what string) string {
	if what == "" {
		return symbols[f].name
	}
	return what + " (" + symbols[f].name + ")"
}

// errorText is what cuGetErrorName or cuGetErrorString say about c.
func (d *Driver) errorText(f symbol, c code) string {
	var text out
	if d.library.call(f, uintptr(c), uintptr(unsafe.Pointer(&text))) != success {
		return ""
	}
	return cString(text.pointer())
}

// misuse is an Error that this package finds before it asks the driver.
func misuse(f symbol, format string, args ...any) *Error {
	return &Error{Op: symbols[f].name, Code: int(invalidValue), Name: "CUDA_ERROR_INVALID_VALUE", Text: fmt.Sprintf(format, args...)}
}

func closed(what string) *Error {
	return &Error{Op: what, Text: "used after it was closed", class: ErrClosed}
}

// firstLine is the first line of text that says something.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}
