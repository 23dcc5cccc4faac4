package invariant_test

import (
	"errors"
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
