package cpu

import (
	"errors"
	"slices"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/internal/spill"
	"github.com/gagg-dev/gagg/partition"
)

// Filter appends to sel the rows of a batch that pass.
type Filter interface {
	Filter(b *column.Batch, sel []int32) ([]int32, error)
}

// Evaluator computes a column from a batch. out is valid until the next call
// and may alias the batch.
type Evaluator interface {
	Eval(b *column.Batch, out *column.Vector) error
}

// Filled is what is not expected to be NULL.
type Filled struct{ Keys, Args []bool }

// ErrFilled is a NULL in a column that is not expected to have any (Config.Filled).
var ErrFilled = errors.New("a column that was not expected to have a NULL has one")

// ErrRange is an argument that is not where it is expected (Config.Ranges).
var ErrRange = errors.New("a value is beyond what the statistics of its column say")

// evaluate computes column i of those of which filled tells that they are not expected to have a
// NULL.
func evaluate(e Evaluator, b *column.Batch, filled []bool, i int, v *column.Vector) error {
	if err := e.Eval(b, v); err != nil {
		return err
	}
	if v.Null == nil || i >= len(filled) || !filled[i] {
		return nil
	}
	if slices.Contains(v.Null[:v.Len], true) {
		return ErrFilled
	}
	v.Null = nil
	return nil
}

// Config says what a run groups and how. It is made once, before the run, and never changed: what
// changes is the [Run]'s.
type Config struct {
	Keys       *key.Layout
	Intern     *key.Interner
	States     *agg.Layout // its words begin at Keys.Base()+Keys.Words
	Arenas     *arena.Arenas
	Stride     int // words of a row: see Stride
	Threads    int
	Partitions int   // a power of two; 0: as many as the groups ask for
	Rows       int64 // rows that all workers are to see; -1: not known
	AtMost     int64 // groups that there can be; -1: not known
	Table      feedback.TableConfig
	Share      bool    // workers aggregate beside an accelerator that is busy
	Expected   float64 // about how many groups there are; 0: not known
	CacheBytes int64   // of partition.Level
	Memory     Memory

	// Budget lends the memory. Where it is a budget.Budget, reserved bytes (Reserve) do not count
	// as committed before their memory is made.
	Budget budget.Lender

	// LongText is called with the length of texts of some megabytes, each longer than those before.
	// Its error ends the run. It may be called from several workers at once. nil: it is not called.
	LongText func(bytes int64) error

	// Spill makes a file for rows when Budget refuses memory. nil: there is
	// nowhere to spill to, and a refusal ends the run.
	Spill func() (*spill.File, error)

	// Filled has the keys and the arguments that are not expected to be NULL: Keys and States have
	// no place for a NULL of theirs. One that comes ends the run with ErrFilled.
	Filled Filled

	// Ranges is where arguments are expected, which States relies on; none: anywhere. One that is
	// elsewhere ends the run with ErrRange.
	Ranges []column.Range

	// Groupings is the sets of keys that are grouped by; none: one set, of all keys.
	Groupings Groupings

	// Distinct is the parts of States that take each different value once (distinct.go).
	Distinct []Distinct

	// KeepDistinct has the groups of inner runs put out as they are (Groups.Inner), in place of
	// becoming rows of the outer run.
	KeepDistinct bool

	// Limit is how many groups are wanted, the first in order of hash; 0: all are.
	Limit int

	// TopN says that only the groups of the greatest rank are wanted; nil: all are.
	TopN *TopN

	// PassLeast is how many rows a partition has at least for a device to aggregate it (Pass);
	// DefaultPassLeast outside of tests.
	PassLeast int
}

// Memory is how the memory of a run is shared out, in bytes; 0: no limit.
type Memory struct {
	// the most that a worker may take for groups: table, pages, values; less beside what is
	// reserved
	Worker int64
	Table  int64 // the most of it that the table may take
	Pages  int64 // the most that pages being filled may take, in all workers
	Merge  int64 // the most that a merger may take
}

// Stride is the number of words of a row with the given key and state. Rows that lack one word of a
// cache line fill it, so that none lies across two. More is not left free: what is written to
// partitions and read back costs more than a second line now and then.
func Stride(keys *key.Layout, states *agg.Layout) int {
	n := keys.Base() + keys.Words + states.Words()
	if n%8 == 7 {
		n++
	}
	return n
}

// Level is the facts for the plan of level 0, by the expected number of groups.
func (c *Config) Level(groups float64) partition.Level {
	return partition.Level{
		Groups: groups, RowBytes: 8 * int64(c.Stride), GroupBytes: c.groupBytes(),
		MergeBytes: c.mergeRoom(), PageBytes: partition.PageBytes, Workers: c.Threads,
		OpenBytes: c.Memory.Pages, Least: c.leastPartitions(), Left: 64, CacheBytes: c.CacheBytes,
	}
}

// leastPartitions is some for each worker where it takes long to finish a group, so that none has
// much more to do than others.
func (c *Config) leastPartitions() int {
	const each = 4 // the last one to end is late by a quarter of its work at most
	if !c.States.HasChains() {
		return 0
	}
	return each * c.Threads
}

// groupBytes is the memory of a group while it is merged: its row, and up to four
// slots of the directory.
func (c *Config) groupBytes() int64 { return 8*int64(c.Stride) + 4*4 }

// mergeRoom is the most memory for the groups of a partition while it is merged.
func (c *Config) mergeRoom() int64 { return int64(loadShare * float64(c.Memory.Merge)) }

// openPages is the most memory of a worker for pages that are being filled.
func (c *Config) openPages() int64 { return c.Memory.Pages / int64(c.workers()) }
