package parquetio

import (
	"fmt"

	"github.com/dustin/go-humanize"
)

// An account is what one part of a dataset, a file's metadata or a reader,
// has drawn from the memory budget (DRAWN). What a column takes anyway, its
// structs of a few KiB, is not counted. It is for one goroutine.
type account struct {
	grow func(bytes int64) error // the budget; nil: none
	used int64                   // by what is allocated
	held int64                   // drawn from the budget: at least used
	kept int64                   // held at least, however little is used
}

// draw asks for bytes. The error is the budget's, and tells what wants them.
func (a *account) draw(bytes int64, what string) error {
	if more := a.used + bytes - a.held; more > 0 {
		if err := a.ask(more); err != nil {
			return fmt.Errorf("%s of %s: %w", what, humanize.IBytes(uint64(bytes)), err)
		}
	}
	a.used += bytes
	return nil
}

func (a *account) ask(more int64) error {
	if a.grow != nil {
		if err := a.grow(more); err != nil {
			return err
		}
	}
	a.held += more
	return nil
}

// give says that bytes drawn before are free again.
func (a *account) give(bytes int64) {
	a.used -= bytes
	a.settle()
}

// reserve makes sure that the next draws, up to bytes in all, will not be
// refused.
func (a *account) reserve(bytes int64) error {
	if bytes > a.held {
		if err := a.ask(bytes - a.held); err != nil {
			return err
		}
	}
	a.kept = bytes
	return nil
}

// close gives everything back.
func (a *account) close() {
	a.used, a.kept = 0, 0
	a.settle()
}

func (a *account) settle() {
	less := a.held - max(a.used, a.kept)
	if less <= 0 {
		return
	}
	a.held -= less
	if a.grow != nil {
		_ = a.grow(-less) // never refused
	}
}
