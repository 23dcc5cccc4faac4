package streams

import (
	"errors"
	"fmt"
	"time"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/cuda"
)

// The defaults of Config. docs/experiments/0007 has what bench/streams says of them.
const (
	// DefaultStreams: two, so that one lane's gap between jobs is filled by the other.
	DefaultStreams = 2
	// DefaultDepth: three, a job in each of copy in, kernels, copy out.
	DefaultDepth = 3
	// DefaultSlotBytes is large enough for the full rate of the link, small enough
	// that a ring of them is pinned in some 30 ms (0.3 ms a MiB).
	DefaultSlotBytes = 8 << 20
	// spareSlots are those that producers fill while all stages are busy.
	spareSlots = 2
)

// minSlots is how many slots there are at least, pageable if need be: one to fill
// while the other crosses.
const minSlots = 2

// NoOutput is OutBytes of jobs that put nothing out. They take neither host memory nor events nor a
// stream for it.
const NoOutput = -1

// factWords is how many 64-bit words kernels tell the host with their output.
const factWords = 8

const factBytes = cuda.Size(8 * factWords)

// alignment of the parts of a stage's device memory, as cuda.Thread.Alloc aligns.
const alignment = 256

// Config says how a pipeline is built. Zero fields have the defaults.
type Config struct {
	Streams int // lanes
	Depth   int // stages of each lane: jobs under way at once
	Slots   int // staging slots of the pipeline; default: one for each stage and two more

	SlotBytes    int // the longest input of a job
	ScratchBytes int // device memory of each stage for kernels to work and leave their output in
	OutBytes     int // the longest output of a job; default: ScratchBytes; NoOutput: there is none

	// Host and Device are what memory is drawn from; nil: there is no limit. They are
	// asked by several goroutines. What a lost context holds of either is not freed
	// and stays drawn.
	Host, Device budget.Lender

	Began time.Time // when the times of intervals begin; default: when the pipeline is started
	Timed bool      // Stats has the device's times
	// is told of each interval, from many goroutines at once; nil: none. It implies Timed
	Trace func(Interval)
}

func (c Config) withDefaults() Config {
	set := func(field *int, value int) {
		if *field == 0 {
			*field = value
		}
	}
	set(&c.Streams, DefaultStreams)
	set(&c.Depth, DefaultDepth)
	set(&c.Slots, c.Streams*c.Depth+spareSlots)
	set(&c.SlotBytes, DefaultSlotBytes)
	set(&c.OutBytes, c.ScratchBytes)
	if c.Began.IsZero() {
		c.Began = time.Now()
	}
	c.Timed = c.Timed || c.Trace != nil
	return c
}

// Validate reports every field that makes no sense.
func (c Config) Validate() error {
	var errs []error
	for _, f := range []struct {
		name  string
		value int
	}{
		{"Streams", c.Streams},
		{"Depth", c.Depth},
		{"Slots", c.Slots},
		{"SlotBytes", c.SlotBytes},
		{"ScratchBytes", c.ScratchBytes},
		{"OutBytes", c.outBytes()},
	} {
		if f.value < 0 {
			errs = append(errs, fmt.Errorf("streams: %s is %d", f.name, f.value))
		}
	}
	return errors.Join(errs...)
}

// outBytes is the longest output of a job.
func (c *Config) outBytes() int {
	if c.OutBytes == NoOutput {
		return 0
	}
	return c.OutBytes
}

// stageBytes is the device memory of a stage: input, facts, scratch.
func (c *Config) stageBytes() int {
	return int(aligned(c.SlotBytes) + aligned(int(factBytes)) + aligned(c.ScratchBytes))
}

func aligned(n int) cuda.Size { return cuda.Size((n + alignment - 1) / alignment * alignment) }
