package extsort

import (
	"errors"
	"fmt"
	"math"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/spill"
)

// Config describes the rows to sort, their order, and the memory and disk for it.
type Config struct {
	Terms []Term
	Cols  []column.Type // the values of a row, beside its key
	Keep  int64         // rows wanted; negative: all

	// Budget is what memory is drawn from.
	Budget budget.Lender
	// Memory is the bytes that a sorter may count on; 0: there is no limit.
	// Sizes are chosen for it; the sorter draws more where Budget allows it.
	Memory int64
	// Spill makes the file that rows go to; nil: they stay in memory.
	Spill func() (*spill.File, error)
}

// Term is a column that is sorted by. NaN is greater than any number. Lists
// are in order of the first element in which they differ, maps of the first
// key or count; what another begins with comes before it.
type Term struct {
	Type       column.Type
	Desc       bool
	NullsFirst bool
}

// RowError is a row that is too wide to be sorted.
type RowError struct{ Bytes int64 }

func (e *RowError) Error() string {
	return fmt.Sprintf("order by: a row of %d bytes is too wide to be sorted", e.Bytes)
}

var errNoSpill = errors.New("there is nowhere to spill to")

// Sizes. Sorting 1e6 rows within 4 MiB to 1 GiB did not contradict them.
const (
	// unitRows is how many rows are sorted at a time: their index stays in
	// the cache, and sorting them takes too little time to be interrupted.
	unitRows = 256 << 10

	mostPage  = 1 << 20   // bytes
	mostBlock = 256 << 10 // bytes
	leastSize = 4 << 10   // bytes, of either

	pageShare  = 16 // of a sorter's memory in a page
	blockShare = 32 // and in a block
	farShare   = 4  // of a block that values may take without being far

	// pruneRows is the most rows more than twice those wanted that are collected
	// before the rest is thrown away: enough that it seldom has to be. Where few are
	// wanted it is pruneLeast: from then on there is a bound, and few rows come in.
	pruneRows  = 64 << 10
	pruneLeast = 2 << 10

	maxRow = math.MaxUint32
	maxKey = math.MaxInt32
)

// pruneAfter is how many rows more than twice those wanted are collected.
func (c *Config) pruneAfter() int64 { return min(max(8*c.Keep, pruneLeast), pruneRows) }

// pageBytes is the size of a page.
func (c *Config) pageBytes() int {
	if c.Memory == 0 {
		return mostPage
	}
	return int(min(max(c.Memory/pageShare&^(leastSize-1), leastSize), mostPage))
}

// blockBytes is the size of a block.
func (c *Config) blockBytes() int {
	if c.Memory == 0 {
		return mostBlock
	}
	return int(min(max(c.Memory/blockShare&^(leastSize-1), leastSize), mostBlock))
}

// spillBytes is the memory that spilling takes: the block to be written, and
// the file's buffers to write and to read one.
func (c *Config) spillBytes() int64 {
	if c.Memory == 0 || c.Spill == nil {
		return 0
	}
	return int64(c.blockBytes()) + 2*spill.BufferBytes(c.blockBytes())
}
