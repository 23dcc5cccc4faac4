package gagg

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gagg-dev/gagg/internal/budget"
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

// newBudget is the budget of the memory of a run, the input's metadata included, while that is opened.
//
// While the input is read a part is held back for what comes after it: merging and putting out must not starve because the
// groups to be merged fill the memory.
//
// Lists of what is on disk are counted, 48 bytes a block of 8 to 256 KiB, but nobody can refuse them. Blocks of a few rows
// do not stay (BLOCKS-FOLD in package partition), else their lists would leave nothing to others. Not counted are results
// that wait to be read, which have a share (MemoryPlan.Output), and what is little for its data: lists of pages of groups,
// 24 bytes for 8 KiB or more, and what a packer notes of the pages that it has put into a parcel, 40 bytes for each and 32
// for each of its uses, 0.03 to 0.05 % of parcels of db-benchmark's table; a chunk of more than 2^10 pages is not packed.
func newBudget(limit int64) *budget.Budget { return budget.New(budget.Memory, openLimit(limit)) }

// whileOpening is a failure to open an input, said in terms of the input.
func whileOpening(err error) error {
	over := budget.Refusal(err, budget.Memory)
	if over == nil {
		return err
	}
	return &kindError{ErrBudget, fmt.Errorf("memory limit too small: the metadata of the input alone takes %s or more; give a larger one", mib(over.Want))}
}

// opened sets the real limit again once the input is open, and notes what the input's metadata holds, and what is
// left of the limit beside it.
func (p *prepared) opened(limit int64) {
	p.budget.SetLimit(limit)
	if limit == 0 {
		p.metadata, p.left = 0, 0
		return
	}
	p.metadata = p.budget.Reserved()
	p.left = max(limit-p.metadata, 1)
}

// beside adds the metadata of the input to what a query needs.
func (p *prepared) beside(err error) error {
	var need *NeedError
	if errors.As(err, &need) {
		return &NeedError{Limit: p.budget.Limit(), Need: need.Need + p.metadata, Columns: need.Columns}
	}
	return err
}
