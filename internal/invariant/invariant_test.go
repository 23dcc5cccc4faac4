package invariant_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/invariant"
)

func TestCheck(t *testing.T) {
	invariant.Check(true, "holds")
	defer func() {
		if broken := recover() != nil; broken != invariant.Enabled {
			t.Errorf("a broken invariant panics: %v, want %v", broken, invariant.Enabled)
		}
	}()
	invariant.Check(false, "does not hold")
}

// A panic of code that is not gagg's becomes what is made of it, and what a caller's source panics
// with keeps the stack.
func TestFence(t *testing.T) {
	call := func(made func(any) error, do func() error) (err error) {
		defer invariant.Fence(&err, made)
		return do()
	}
	why := errors.New("a reason")
	if err := call(invariant.Foreign, func() error { return why }); !errors.Is(err, why) {
		t.Errorf("error %v, want %v", err, why)
	}
	damaged := func(p any) error { return fmt.Errorf("damaged (%v)", p) }
	if err := call(damaged, func() error { panic("oh") }); err == nil || err.Error() != "damaged (oh)" {
		t.Errorf("a panic of a decoder: %v", err)
	}
	err := call(invariant.Foreign, sourceThatPanics)
	var foreign *invariant.ForeignError
	var bug *invariant.PanicError
	if !errors.As(err, &foreign) || errors.As(err, &bug) || err.Error() != "it panicked: a reason" {
		t.Fatalf("a panic of a caller's source: %v", err)
	}
	if !strings.Contains(string(foreign.Stack()), "sourceThatPanics") {
		t.Errorf("its stack:\n%s", foreign.Stack())
	}
}

func sourceThatPanics() error { panic(errors.New("a reason")) }

// A panic becomes an error with its value and stack; an error stays as it is.
func TestFenced(t *testing.T) {
	why := errors.New("a reason")
	if err := invariant.Fenced(func() error { return why }); !errors.Is(err, why) {
		t.Errorf("error %v, want %v", err, why)
	}
	err := invariant.Fenced(func() error { panic(why) })
	var bug *invariant.PanicError
	if !errors.As(err, &bug) || bug.Value != any(why) || len(bug.Stack) == 0 || err.Error() != "internal error: a reason" {
		t.Errorf("a panic: %v", err)
	}
}
