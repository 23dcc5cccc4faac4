package firstpass

import (
	"errors"
	"fmt"
	"time"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/combine"
	"github.com/gagg-dev/gagg/ega/evict"
	"github.com/gagg-dev/gagg/ega/groups"
	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/streams"
)

// Config is the shape of a Pass. Zero fields have defaults.
type Config struct {
	Layout ega.Layout // with Hash

	// Streams, Depth, Slots and SlotBytes are as in streams.Config. All lanes combine into one
	// table, so another lane costs only its stages; two lanes are enough. Where Device is small,
	// the default of SlotBytes is smaller.
	Streams, Depth, Slots, SlotBytes int

	Made MadeConfig // jobs of SubmitMade, which need memory of the stages

	// Lists are the lists of values that groups keep. Only jobs of SubmitMade may have values, so
	// with lists Submit is not called. ListRows is the most rows that such jobs make in all. A job
	// for which there is no room is declined (StopFull, ErrListsFull), and none of its rows is
	// evicted.
	Lists    []combine.List
	ListRows uint64

	Device int64         // bytes of device memory that all of it may take, Groups too
	Host   budget.Lender // of pinned memory, as in streams.Config; nil: there is no limit
	Groups uint64        // an estimate of how many groups there are; 0: not known
	Bound  uint64        // how many there can be at most; 0: not known

	// Limit is how many groups are wanted, the first in order of hash; 0: all. The pass calls Lower
	// now and then with a hash that at least as many groups of its table do not exceed, from
	// several goroutines at once. Rows with greater hashes need not be submitted from then on.
	Limit uint64
	Lower func(hash uint64)

	// Writers is the number of goroutines that take rows for which the device has no room; default
	// 1. Each calls Write with its number, from 0, and with rows of its own. Write copies the
	// rows, which are not valid after it has returned.
	Writers int
	Write   func(writer int, rows []uint64) error

	// RetainBytes is how many bytes of pinned memory, drawn from Host's budget, may hold evicted
	// rows in place of Write (Pass.EvictedRows); 0: none. RetainPays decides whether rows are
	// retained, by what is known when the first of them are evicted. It is called again, now and
	// then, until it returns true. nil: they are retained.
	RetainBytes int64
	RetainPays  func(feedback.GainCounts) bool
	// spare buffers: retained rows take their memory from them and leave it to them; may be nil
	Spares *evict.Spares

	Readers   int // how many groups.Readers there may be at a time; default 1
	ReadBytes int // of each of the two pinned buffers of a groups.Reader at most; default 4 MiB

	Trace func(streams.Interval) // as in streams.Config
	Began time.Time              // the same
	Timed bool                   // the same
}

func (c Config) withDefaults() Config {
	set := func(field *int, value int) {
		if *field == 0 {
			*field = value
		}
	}
	set(&c.Streams, streams.DefaultStreams)
	set(&c.Depth, streams.DefaultDepth)
	set(&c.Writers, 1)
	set(&c.Readers, 1)
	set(&c.ReadBytes, groups.DefaultReadBytes)
	return c
}

// Validate reports everything that is wrong, but for too little device memory.
func (c *Config) Validate() error {
	errs := []error{c.Layout.Validate()}
	if !c.Layout.Hash {
		errs = append(errs, errors.New("rows without their hash"))
	}
	if c.Write == nil {
		errs = append(errs, errors.New("nobody to write evicted rows"))
	}
	for _, f := range []struct {
		name  string
		value int
	}{
		{"Streams", c.Streams},
		{"Depth", c.Depth},
		{"Slots", c.Slots},
		{"SlotBytes", c.SlotBytes},
		{"Writers", c.Writers},
		{"Readers", c.Readers},
		{"ReadBytes", c.ReadBytes},
		{"Made.Rows", c.Made.Rows},
		{"Made.WorkBytes", c.Made.WorkBytes},
	} {
		if f.value < 0 {
			errs = append(errs, fmt.Errorf("%s is %d", f.name, f.value))
		}
	}
	for i := range c.Lists {
		errs = append(errs, c.Lists[i].Validate(c.Layout.Ops))
	}
	if c.Limit > 0 && c.Lower == nil {
		errs = append(errs, errors.New("nobody to tell which groups are first"))
	}
	if c.RetainBytes < 0 {
		errs = append(errs, fmt.Errorf("%d bytes for rows to stay in", c.RetainBytes))
	}
	if c.Made.Rows > MaxMadeRows {
		errs = append(errs, fmt.Errorf("Made.Rows is %d, more than %d", c.Made.Rows, MaxMadeRows))
	}
	return errors.Join(errs...)
}
