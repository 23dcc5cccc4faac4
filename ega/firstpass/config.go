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
	// table, so more of them cost only their stages; two are enough. SlotBytes is less by default
	// where Device is small.
	Streams, Depth, Slots, SlotBytes int

	Made MadeConfig // jobs of SubmitMade, which need memory of the stages

	// Lists are those that groups keep, of which only jobs of SubmitMade may have values: Submit is
	// not called then. ListRows is how many rows such jobs make at most. What there is no room for
	// is declined (StopFull, ErrListsFull), and no row is placed.
	Lists    []combine.List
	ListRows uint64

	Device int64         // bytes of device memory that all of it may take, Groups too
	Host   budget.Lender // of pinned memory, as in streams.Config; nil: there is no limit
	Groups uint64        // an estimate of how many groups there are; 0: not known
	Bound  uint64        // how many there can be at most; 0: not known

	// Writers is how many goroutines take rows for which the device has no room; default 1. Write
	// is called by them, with their number from 0, each with other rows, which it copies; they are
	// not valid after it returned.
	Writers int
	Write   func(writer int, rows []uint64) error

	// RetainBytes is how many bytes of pinned memory may be taken, of Host's budget, for evicted
	// rows to stay in instead of going to Write (Pass.EvictedRows); 0: none. RetainPays says
	// whether they should, by what is known when the first of them are evicted; it is asked again,
	// now and then, until it says yes. nil: they should.
	RetainBytes int64
	RetainPays  func(feedback.GainCounts) bool
	// where their memory comes from, as far as it goes, and goes to; may be nil
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
	if c.RetainBytes < 0 {
		errs = append(errs, fmt.Errorf("%d bytes for rows to stay in", c.RetainBytes))
	}
	if c.Made.Rows > MaxMadeRows {
		errs = append(errs, fmt.Errorf("Made.Rows is %d, more than %d", c.Made.Rows, MaxMadeRows))
	}
	return errors.Join(errs...)
}
