package gpu

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/ega/combine"
	"github.com/gagg-dev/gagg/ega/groups"
	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/arena"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/invariant"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/streams"
)

// Config says which devices a run uses, and how.
type Config struct {
	// Open opens the driver and makes contexts of the devices, which are closed with them.
	Open func() ([]*cuda.Context, error)
	// Refused is the error of a run that needs devices when err keeps it from having them; nil: the
	// run goes on without.
	Refused func(err error) error
	Needed  int // how many these are
	// Kept: the devices are open, and will be ready within some milliseconds, mostly.
	Kept bool

	// Early is the most bytes of host memory for rows that are packed before devices are ready.
	Early int64

	Layout ega.Layout // of rows
	// of the layout: of rows that devices make alone, since those of workers refer to theirs
	Lists []combine.List

	// ListsMemory is reserved for the values of lists, until they come back; may be nil.
	ListsMemory *budget.Reservation

	// Texts is how many bytes are reserved for long strings of keys, for which writers have less;
	// 0: memory is not limited. TextMemory is what those of devices draw theirs from; nil: there
	// is none.
	Texts      int64
	TextMemory budget.Lender

	Keys    *key.Layout   // of the keys of rows
	Arenas  *arena.Arenas // where rows with long strings refer to
	States  *agg.Layout   // of the states of rows
	Threads int           // workers and mergers
	Rows    int64         // of the input, at most; -1: not known
	AtMost  int64         // groups that there can be; -1: not known
	Host    cpu.Memory    // how the memory of the host is shared out

	// Run is the run that devices take part in. They reserve memory beside its workers, read its
	// partitions and whether it has long strings, and report batches that they decline.
	Run *cpu.Run

	// Spare is what memory is drawn from while partitions are merged, less what mergers may count
	// on.
	Spare budget.Lender

	Memory  int64               // the most bytes of each device; 0: nine tenths of the free memory
	Streams int                 // of each device; 0: chosen
	Load    feedback.LoadConfig // of tables that partitions are loaded into
	// feedback.BucketGain from which on devices aggregate partitions that left them
	Gain float64

	// Decode is how devices make rows themselves; its Plan is nil if they cannot.
	Decode Decoding

	// Select says which groups are wanted; nil: all. It is of use where all groups are on one
	// device at the end: else no device knows the whole of any.
	Select *Selection

	// Regroup is how the groups of this run become those of another, by some of their keys; nil:
	// the caller does that. It is of use where Select would be.
	Regroup *Regroup

	// FewFrom is how many input rows there are at least where groups leave the device that has them
	// all, if they are few. With less rows they are read there, as many groups are.
	FewFrom int64

	// RetainBytes is how many bytes of pinned memory may be taken, for all devices, for rows that
	// stay in it when they have left a device, where memory is not limited; 0: none.
	RetainBytes int64

	// Tiles gives workers memory for batches in place of the devices; nil outside of tests.
	Tiles func() (BatchTile, error)

	// Trace returns, before a device's pipeline begins, the function that is called with its
	// intervals; nil: none is.
	Trace func(device int) func(streams.Interval)

	// Leave has Close leave all to the driver, since the process ends.
	Leave bool
}

// Selection says which groups are wanted.
type Selection = groups.Selection

// Devices is the devices of a run.
type Devices struct {
	config Config
	ctx    context.Context
	stop   context.CancelFunc

	since  time.Time     // when opening them began
	opened chan struct{} // closed when all are open, or one has failed
	took   time.Duration // until then
	// of the host's memory, for a run that needs devices: workers have all other by the time that
	// they are open
	reserve  *budget.Reservation
	contexts []*cuda.Context
	passes   []*pass     // also when they are closed
	ready    atomic.Bool // passes take tiles
	err      error       // why they do not
	turn     atomic.Int64
	early    early
	batches  batches
	copied   atomic.Bool // rows in buckets refer to copies of strings of a device (leaveEarly)

	outcome
}

// New returns the devices of a run, which begin to be opened in the background. The caller closes
// them. The end of ctx stops them.
func New(ctx context.Context, c Config) *Devices {
	d := &Devices{config: c, opened: make(chan struct{}), early: early{most: c.Early}}
	d.batches.changed.L = &d.batches.mu
	d.ctx, d.stop = context.WithCancel(ctx)
	context.AfterFunc(d.ctx, d.batches.wake)
	if c.Refused != nil {
		d.reserve = newReserve(&d.config, c.Needed)
	}
	d.begin()
	return d
}

// begin begins to open the devices.
func (d *Devices) begin() {
	d.since = time.Now()
	go func() {
		defer close(d.opened)
		d.err = d.open()
		d.took = time.Since(d.since)
		if d.err != nil {
			d.early.fail()
			return
		}
		d.ready.Store(true)
		d.early.start(d.config.Threads)
	}()
}

// Absent reports whether there are no devices, as opening them has failed (cpu.Accelerator).
func (d *Devices) Absent() bool {
	pending, err := d.Opened()
	return !pending && err != nil
}

func (d *Devices) open() (err error) {
	defer invariant.Recovered(&err)
	defer d.reserve.Close() // of which devices have taken their parts
	if d.contexts, err = d.config.Open(); err != nil {
		if d.config.Refused != nil {
			return d.config.Refused(err)
		}
		return err
	}
	if d.ctx.Err() != nil {
		return context.Cause(d.ctx)
	}
	d.passes = make([]*pass, len(d.contexts))
	errs := make([]error, len(d.contexts))
	var all sync.WaitGroup
	for i, c := range d.contexts {
		d.passes[i] = &pass{devices: d, context: c}
		all.Go(func() {
			defer invariant.Recovered(&errs[i])
			errs[i] = failed(c, d.passes[i].start())
		})
	}
	all.Wait()
	return cmp.Or(errs...) // of one device: others mostly say the same
}

// freeShare is what part of the free memory of a device is taken unless it is said.
const freeShare = 0.9

// memory is how much memory of a device the run may take, in bytes.
func (d *Devices) memory(c *cuda.Context) (int64, error) {
	t, err := c.Lock()
	if err != nil {
		return 0, err
	}
	defer t.Unlock()
	free, _, err := t.MemoryInfo()
	most := int64(freeShare * float64(free))
	if d.config.Memory > 0 {
		most = min(most, d.config.Memory)
	}
	return most, err
}

const (
	// slotBytes of rows, which processors write, leave their caches for the link at the most of its
	// rate (bench/outofcore, 1 to 8 MiB).
	slotBytes = 4 << 20

	// underWay is how many slots cross or are combined, beside the one that each worker fills.
	underWay = 8

	// stageParts is the divisor of a device's memory that gives the most for its stages. It decides
	// only below 192 MiB with two streams: above, slotBytes does.
	stageParts = 4
)

// tileBytes is the size of a tile of rows or of a batch.
func (c *Config) tileBytes() int {
	if c.Decode.Plan != nil {
		return c.Decode.Limits.Bytes
	}
	return slotBytes
}

// slotBytes is the size of a slot for rows: less on a small device, where the stages would leave no
// room for anything else.
func (d *Devices) slotBytes(memory int64) int {
	stages := int64(2 * streams.DefaultDepth * cmp.Or(d.config.Streams, streams.DefaultStreams))
	return int(min(slotBytes, max(memory/(stageParts*stages)/leastSlot*leastSlot, leastSlot)))
}

// Close lets go of all that the run has on devices, once nothing uses it any more. While they are
// still being opened, which the driver cannot be kept from, that is done behind its back.
func (d *Devices) Close() error {
	d.stop()
	if d.config.Leave {
		return nil
	}
	select {
	case <-d.opened:
		return d.close()
	default:
		go func() {
			<-d.opened
			_ = d.close() // no caller waits for this error
		}()
		return nil
	}
}

// Void lets go of all that the run has on devices and of the rows that they gave back, after a
// failure of one, also with Leave: other owners need the memory now.
func (d *Devices) Void() error {
	d.stop()
	<-d.opened
	return d.close()
}

func (d *Devices) close() error {
	d.config.ListsMemory.Close()
	d.early.movers.Wait()
	d.early.close()
	err := errors.Join(d.retained.close(), d.closing(d.context, d.outcome.close()))
	for _, p := range d.passes {
		err = errors.Join(err, d.closing(p.context, p.close()), p.closeWriters())
	}
	for _, c := range d.contexts {
		err = errors.Join(err, d.closing(c, c.Close()))
	}
	d.contexts = nil
	return err
}

// closing handles an error of a device while something of it is closed. The run does not need that
// any more, so a run that can do without the device goes on without it.
func (d *Devices) closing(c *cuda.Context, err error) error {
	if d.config.Refused == nil {
		return nil
	}
	return failed(c, err)
}
