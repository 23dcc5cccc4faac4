package cpu

import (
	"errors"
	"math/bits"
	"slices"
	"sync/atomic"

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

// Config is what all workers of a run share.
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
	Tile       feedback.TileConfig
	CacheBytes int64 // of partition.Level
	Memory     Memory

	// Budget is what memory is drawn from. Where it is a budget.Budget, what is reserved (Reserve)
	// does not count as committed before it is made.
	Budget budget.Lender

	// LongText is told of texts of some megabytes, each longer than those before. Its error ends
	// the run. It may be called from several workers at once. nil: nobody wants to know.
	LongText func(bytes int64) error

	// Spill makes a file for rows when Budget refuses memory. nil: there is
	// nowhere to spill to, and a refusal ends the run.
	Spill func() (*spill.File, error)

	// Filled tells of keys and of arguments that they are not expected to be NULL: Keys and States
	// have no place for it. One that is ends the run with ErrFilled.
	Filled Filled

	// Ranges is where arguments are expected, which States relies on; none: anywhere. One that is
	// elsewhere ends the run with ErrRange.
	Ranges []column.Range

	// Groupings is the sets of keys that are grouped by; none: one set, of all keys.
	Groupings Groupings

	// Distinct is the parts of States that take each different value once (distinct.go).
	Distinct []Distinct

	// First tells that only the first groups in order of hash are wanted; nil: all are.
	First *First

	// Top tells that only the groups with the greatest counts are wanted; nil: all are.
	Top *Top

	// Offload aggregates tiles in the workers' stead (offload.go). nil: there is
	// no device, or the rows of this query can only be combined on the CPU.
	Offload Offload
	// PassLeast is how many rows a partition has at least for a device to aggregate it (Pass);
	// DefaultPassLeast outside of tests.
	PassLeast int

	plan     atomic.Pointer[partition.Plan] // of level 0; nil: not chosen yet
	sent     atomic.Int64                   // input rows that the device was given, as rows or groups
	back     []Returned                     // rows that the device does not take
	taken    atomic.Int64                   // how many of them workers have begun to place
	long     atomic.Bool                    // beside a device, rows with long strings went to buckets
	longest  atomic.Int64                   // bytes of the longest text that was told
	joined   bool                           // no key is in two tables
	groups   float64                        // about how many there are, from the end of the input on; 0: not known
	reserved budget.Reservations
}

// Memory is how the memory of a run is shared out, in bytes; 0: no limit.
type Memory struct {
	Worker int64 // the most that a worker may take for groups: table, pages, values; less beside what is reserved
	Table  int64 // the most of it that the table may take
	Pages  int64 // what pages that are being filled may take, over all workers
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

// choose returns the number of hash bits for partitions, which is the same for all workers: the
// first that asks decides, from how many groups it expects in all or, where nothing was counted
// (0), from an estimate of the groups among the rows it has seen, and from the bytes of their
// values, of which later rows are expected to bring as many.
func (c *Config) choose(estimate, expected float64, rows, total, values int64) uint {
	switch {
	case expected == 0:
		expected = partition.Expected(estimate, rows, total, c.AtMost)
	case c.AtMost >= 0:
		expected = min(expected, float64(c.AtMost))
	}
	l := c.Level(expected)
	if total > rows && l.Groups > 0 {
		values = int64(float64(values) * float64(total) / float64(rows))
		l.GroupBytes += int64(float64(values) / l.Groups)
	}
	p := l.Plan()
	if c.Partitions > 0 {
		p.Bits = uint(bits.TrailingZeros(uint(c.Partitions)))
	}
	c.plan.CompareAndSwap(nil, &p)
	return c.plan.Load().Bits
}

// LongestText is how many bytes the longest text has, if that is some megabytes.
func (c *Config) LongestText() int64 { return c.longest.Load() }

// Plan is how groups were divided into partitions; nil: they were not.
func (c *Config) Plan() *partition.Plan { return c.plan.Load() }

// Level is what level 0 knows when so many groups are expected.
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

// groupBytes is what a group takes while it is merged: its row, and up to four
// slots of the directory.
func (c *Config) groupBytes() int64 { return 8*int64(c.Stride) + 4*4 }

// mergeRoom is what the groups of a partition may take while it is merged.
func (c *Config) mergeRoom() int64 { return int64(loadShare * float64(c.Memory.Merge)) }

// openPages is what one worker may take for pages that are being filled.
func (c *Config) openPages() int64 { return c.Memory.Pages / int64(c.workers()) }
