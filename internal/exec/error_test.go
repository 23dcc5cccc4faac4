package exec

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/gagg-dev/gagg/internal/spill"
)

// An error is one line. An error that several workers have is reported once.
func TestErrorsAreOneLine(t *testing.T) {
	full := func() error { return &spill.DeniedError{Dir: "/t", Advice: "raise it", Err: syscall.EMFILE} }
	const text = "temp folder /t: too many open files; raise it"
	for _, c := range []struct {
		err  error
		kind error
		want string
	}{
		{errors.Join(full(), full(), nil), ErrBudget, text},
		{errors.Join(errors.Join(full(), fs.ErrClosed), full()), ErrBudget, text + "; file already closed"},
		{fmt.Errorf("merging: %w", errors.Join(full(), full())), ErrBudget, "merging: " + text},
		{errors.Join(fs.ErrExist, fs.ErrClosed), fs.ErrExist, "file already exists; file already closed"},
		{full(), ErrBudget, text},
		{fs.ErrClosed, fs.ErrClosed, "file already closed"},
	} {
		if err := Classify(c.err); !errors.Is(err, c.kind) || err.Error() != c.want {
			t.Errorf("%q (%v: %v), want %q", err, c.kind, errors.Is(err, c.kind), c.want)
		}
	}
}
