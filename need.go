package gagg

import (
	"errors"
	"fmt"
	"strings"
)

// This file is what a run does about a memory limit that is too small for it:
// it says so before any row is read.

// NeedError says that a query cannot begin within its memory limit or, with Result set, that a group cannot be put out. It is an
// ErrBudget.
type NeedError struct {
	Limit   int64  // bytes
	Need    int64  // bytes of the least limit under which it runs, with one thread; or that are enough for the group
	Columns int    // that are read
	Result  string // what of the group takes how much
}

func (e *NeedError) Error() string {
	if e.Result != "" {
		return fmt.Sprintf("memory limit too small: %s; %s are enough, it has %s", e.Result, mib(e.Need), mib(e.Limit))
	}
	columns := "column"
	if e.Columns != 1 {
		columns = "columns"
	}
	return fmt.Sprintf("memory limit too small: needs at least %s for %d %s and 1 thread, has %s",
		mib(e.Need), e.Columns, columns, mib(e.Limit))
}

// mib is bytes in MiB, rounded up, so that a need that is shown is enough.
func mib(bytes int64) string {
	tenths := (bytes*10 + 1<<20 - 1) >> 20
	return strings.TrimSuffix(fmt.Sprintf("%d.%d", tenths/10, tenths%10), ".0") + " MiB"
}

// leastOpen is what opening an input may take under any limit: the metadata
// must be known for a NeedError to say what is enough.
const leastOpen = 8 << 20

// openLimit is the limit while an input is opened.
func openLimit(limit int64) int64 {
	if limit == 0 {
		return 0
	}
	return max(limit, leastOpen)
}

// whileOpening is a failure to open an input, said in terms of the input.
func whileOpening(err error) error {
	var over *BudgetError
	if !errors.As(err, &over) {
		return err
	}
	return &kindError{ErrBudget, fmt.Errorf("memory limit too small: the metadata of the input alone takes %s or more; give a larger one", mib(over.Want))}
}

// opened sets the real limit again once the input is open. It returns what the input's metadata holds, and what is
// left of the limit beside it; 0: there is no limit.
func (b *budget) opened(limit int64) (metadata, left int64) {
	if b.limit = limit; limit == 0 {
		return 0, 0
	}
	metadata = b.used.Load()
	return metadata, max(limit-metadata, 1)
}

// beside adds the metadata of the input to what a query needs.
func (b *budget) beside(metadata int64, err error) error {
	var need *NeedError
	if errors.As(err, &need) {
		return &NeedError{Limit: b.limit, Need: need.Need + metadata, Columns: need.Columns}
	}
	return err
}
