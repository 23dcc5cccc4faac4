package exec

import (
	"fmt"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/plan"
)

// leastOpen is the memory that opening an input may draw under any limit: only with the
// metadata can a plan.NeedError say which limit is enough.
const leastOpen = 8 << 20

// openLimit is the limit while an input is opened.
func openLimit(limit int64) int64 {
	if limit == 0 {
		return 0
	}
	return max(limit, leastOpen)
}

// newBudget is the budget of the memory of a run, the input's metadata included, while that is
// opened.
//
// While the input is read, a part of the memory is held back for merging and putting out: these
// must not fail because the groups to be merged fill the memory.
//
// Lists of blocks on disk are counted, 48 bytes for a block of 8 to 256 KiB, but they are never
// refused. Blocks of a few rows are compacted (BLOCKS-COMPACT in package partition), or their lists
// would fill the memory. Not counted are results that wait to be read, which have a share
// (plan.Memory.Output), and lists that are small for their data: lists of pages of groups, 24 bytes
// for 8 KiB or more, and what a builder notes of the pages that it has put into a batch, 40 bytes
// for each and 32 for each of its uses, 0.03 to 0.05 % of batches of db-benchmark's table; a chunk
// of more than 2^10 pages is not packed.
func newBudget(limit int64) *budget.Budget { return budget.New(budget.Memory, openLimit(limit)) }

// whileOpening is a failure to open an input, said in terms of the input.
func whileOpening(err error) error {
	over := budget.Refusal(err, budget.Memory)
	if over == nil {
		return err
	}
	return &kindError{ErrBudget, fmt.Errorf("memory limit too small: the metadata of the input alone takes %s or more; give a larger one", plan.MiB(over.Want))}
}
