package parquetio

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/gagg-dev/gagg/internal/budget"
)

// An account is what one part of a dataset, a file's metadata or a reader,
// has drawn from the memory budget (DRAWN). What a column takes anyway, its
// structs of a few KiB, is not counted. It is for one goroutine.
type account struct {
	from     budget.Lender // nil: there is no limit
	used     int64         // by what is allocated
	held     int64         // drawn from the budget: at least used
	reserved int64         // held at least, however little is used
}

// A MemoryError is a refusal of memory by the budget, whose error it wraps.
type MemoryError struct {
	What  string // wants it
	Bytes int64  // it wants
	All   int64  // that the reader takes to go on
	Value int64  // bytes of a value of the page that is to be read, about; 0: not known
	Err   error
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("%s of %s: %v", e.What, humanize.IBytes(uint64(e.Bytes)), e.Err)
}

func (e *MemoryError) Unwrap() error { return e.Err }

// draw asks for bytes. The error is the budget's, and tells what wants them.
func (a *account) draw(bytes int64, what string) error {
	if more := a.used + bytes - a.held; more > 0 {
		if err := a.ask(more); err != nil {
			return &MemoryError{What: what, Bytes: bytes, All: a.used + bytes, Err: err}
		}
	}
	a.used += bytes
	return nil
}

func (a *account) ask(more int64) error {
	if err := budget.Or(a.from).Draw(more); err != nil {
		return err
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
	a.reserved = bytes
	return nil
}

// close gives everything back.
func (a *account) close() {
	a.used, a.reserved = 0, 0
	a.settle()
}

func (a *account) settle() {
	less := a.held - max(a.used, a.reserved)
	if less <= 0 {
		return
	}
	a.held -= less
	budget.Or(a.from).Release(less)
}
