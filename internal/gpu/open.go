package gpu

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/decode"
	"github.com/gagg-dev/gagg/streams"
)

// Config says which devices a run uses, and how.
type Config struct {
	// Open opens the driver and makes contexts of the devices, which are closed with them.
	Open func() ([]*cuda.Context, error)
	// Refused is the error of a run that needs a device when err keeps it from having one; nil: the
	// run goes on without.
	Refused func(err error) error
	// Pays predicts, for a run that needs none, whether devices are faster for the rest of the input, of which rows
	// made so many groups in a worker's table. ready: they are.
	Pays func(rows, groups int64, ready bool) bool

	// Early is the most bytes of host memory for rows that are packed before devices are ready.
	Early int64

	Layout  ega.Layout          // of rows
	CPU     *cpu.Config         // of the run
	Memory  int64               // the most bytes of each device; 0: nine tenths of what is free
	Streams int                 // of each device; 0: chosen
	Load    feedback.LoadConfig // of tables that partitions are loaded into
	Gain    float64             // feedback.BucketGain from which on devices aggregate partitions that left them

	// Decode is how devices make rows themselves; its Plan is nil if they cannot.
	Decode Decoding

	// Keep is how many bytes of pinned memory may be taken, for all devices, for rows that stay in it when they have left a
	// device, where memory is not limited; 0: none.
	Keep int64

	// Trace is asked, when a device's pipeline is about to begin, who is told of its
	// intervals; nil: nobody.
	Trace func(device int) func(streams.Interval)

	// Leave has Close leave all to the driver, since the process ends.
	Leave bool
}

// Devices is the devices of a run.
type Devices struct {
	config Config
	ctx    context.Context
	stop   context.CancelFunc

	opened   chan struct{} // closed when all are open, or one has failed
	took     time.Duration // until then
	contexts []*cuda.Context
	passes   []*pass     // also when they are closed
	ready    atomic.Bool // passes take tiles
	err      error       // why they do not
	turn     atomic.Int64
	early    early
	parcels  parcels

	outcome
}

// pass is the first pass on one device.
type pass struct {
	*ega.MultiPass
	devices  *Devices
	stopped  <-chan struct{} // closed when it stops before its end
	context  *cuda.Context
	memory   int64 // bytes that it may take
	placers  []*cpu.Placer
	pinned   *pinned
	decoding *decode.Kernels // nil: no parcels are taken
	loading  sync.WaitGroup  // of kernels, in the background
	closed   *closing        // the first pass; nil: nobody closes it yet

	first  ega.MultiPassStats // once it is finished
	second secondStats
}

// New returns the devices of a run, which begin to be opened in the background. The caller closes
// them. The end of ctx stops them.
func New(ctx context.Context, c Config) *Devices {
	d := &Devices{config: c, opened: make(chan struct{}), early: early{most: c.Early}}
	d.parcels.changed.L = &d.parcels.mu
	d.ctx, d.stop = context.WithCancel(ctx)
	context.AfterFunc(d.ctx, d.parcels.wake)
	began := time.Now()
	go func() {
		defer close(d.opened)
		d.err = d.open()
		d.took = time.Since(began)
		if d.err != nil {
			d.early.fail()
			return
		}
		d.ready.Store(true)
		d.early.start(c.CPU.Threads)
	}()
	return d
}

// Pays reports whether a worker should give up its table, in which rows made so many groups, for the
// devices (cpu.Offload).
func (d *Devices) Pays(rows, groups int64) bool {
	if d.config.Pays == nil {
		return true
	}
	if rows == 0 {
		return false // nobody knows
	}
	if pending, err := d.Opened(); !pending && err != nil {
		return false
	}
	return d.config.Pays(rows, groups, d.ready.Load())
}

func (d *Devices) open() (err error) {
	defer cpu.Recovered(&err)
	if d.contexts, err = d.config.Open(); err != nil {
		if d.config.Refused != nil {
			return d.config.Refused(err)
		}
		return err
	}
	for _, c := range d.contexts {
		if d.ctx.Err() != nil {
			return context.Cause(d.ctx)
		}
		p, err := d.start(c)
		if p != nil {
			d.passes = append(d.passes, p)
		}
		if err != nil {
			return failed(c, err)
		}
	}
	return nil
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

	// stageParts: the stages of a device take up to one of so many parts of its memory. A guess.
	stageParts = 4
)

// tileBytes is the size of a tile of rows or of a parcel.
func (c *Config) tileBytes() int {
	if c.Decode.Plan != nil {
		return c.Decode.Limits.Bytes
	}
	return slotBytes
}

// slotBytes is the size of a slot for rows: less on a small device, where the stages would leave no room for anything else.
func (d *Devices) slotBytes(memory int64) int {
	stages := int64(2 * streams.DefaultDepth * cmp.Or(d.config.Streams, streams.DefaultStreams))
	return int(min(slotBytes, max(memory/(stageParts*stages)/leastSlot*leastSlot, leastSlot)))
}

func (d *Devices) start(c *cuda.Context) (p *pass, err error) {
	host := d.config.CPU
	p = &pass{devices: d, context: c}
	p.load()
	if p.memory, err = d.memory(c); err != nil {
		return p, err
	}
	share := planHost(host, len(d.contexts))
	config := p.plan(&share)
	if p.pinned, err = newPinned(host, share); err != nil {
		return p, err
	}
	if err := p.openPlacers(host, share.placers); err != nil {
		return p, err
	}
	config.Host, config.Placers = p.pinned.take, len(p.placers)
	if d.config.Trace != nil {
		config.Began, config.Trace = time.Now(), d.config.Trace(c.Device().Ordinal)
	}
	if p.MultiPass, err = ega.StartMultiPass(d.ctx, c, config); err == nil {
		err = p.loaded()
	}
	if err == nil {
		d.watch(p)
	}
	return p, limited(err, p.memory, d.config.Memory)
}

// plan is the shape of the pass, within its share of the host's memory, of which it leaves what it cannot use.
func (p *pass) plan(share *hostShare) ega.MultiPassConfig {
	d, host := p.devices, p.devices.config.CPU
	slots, bytes := share.slots(host.Threads+underWay, d.slotBytes(p.memory))
	config := ega.MultiPassConfig{
		Layout: d.config.Layout, Streams: d.config.Streams, Device: p.memory,
		Slots: slots, SlotBytes: bytes,
		Groups: groupsOf(host), Bound: boundOf(host), Place: p.place, Readers: host.Threads, Timed: true,
	}
	if d.config.Keep > 0 {
		config.Keep, config.KeepPays = share.keep(d.config.Keep/int64(len(d.contexts))), p.keepPays
	}
	p.planDecoding(&config, share)
	share.use(int64(config.Slots)*int64(config.SlotBytes), config.Keep, host.Threads)
	return config
}

// load begins to load all kernels that a run needs whose groups stay on the device: a driver that
// does not have them in its cache compiles each for some 100 ms. Whoever needs one waits for that one, tries
// again should it have failed, and tells.
func (p *pass) load() {
	kernels := ega.PassKernels(p.context, &p.devices.config.Layout)
	if p.devices.config.Decode.Plan != nil {
		kernels = append(decode.NewKernels(p.context).Parts(), kernels...)
	}
	p.loading.Go(func() { _ = p.context.Load(kernels...) })
}

// loaded waits for the kernels without which no tile is taken.
func (p *pass) loaded() error {
	if p.decoding == nil {
		return nil
	}
	return p.context.Load(p.decoding.Parts()...)
}

// openPlacers makes a placer for each thread, or for as many as there is memory: each copies a small part of what a link
// does, and workers wait for the device meanwhile. All have up to most bytes for rows; 0: any number.
func (p *pass) openPlacers(host *cpu.Config, most int64) error {
	for range host.Threads {
		placer := cpu.NewPlacer(host, most/int64(host.Threads))
		if err := placer.Reserve(); err != nil {
			closed := placer.Close()
			if len(p.placers) > 0 {
				return closed
			}
			return errors.Join(err, closed)
		}
		p.placers = append(p.placers, placer)
	}
	return nil
}

// groupsOf is an estimate of the groups; 0: there may be almost as many as rows, and so any number.
func groupsOf(c *cpu.Config) uint64 {
	if c.AtMost < 0 || c.Rows < 0 || c.AtMost > c.Rows/4 {
		return 0
	}
	return uint64(c.AtMost)
}

// boundOf is how many groups there can be at most; 0: nobody knows.
func boundOf(c *cpu.Config) uint64 {
	bound := c.Rows
	if bound < 0 || c.AtMost >= 0 && c.AtMost < bound {
		bound = c.AtMost
	}
	return uint64(max(bound, 0))
}

// place copies rows into the buckets of a placer.
func (p *pass) place(placer int, rows []uint64) error {
	if err := p.copied(placer, rows); err != nil {
		return &placeError{err}
	}
	return nil
}

// copied is place with a panic as an error, which is no failure of the device either.
func (p *pass) copied(placer int, rows []uint64) (err error) {
	defer cpu.Recovered(&err)
	return p.placers[placer].Place(rows)
}

// Close lets go of all that the run has on devices, once nothing uses it any more. While they are still being
// opened, which the driver cannot be kept from, that is done behind its back.
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
			_ = d.close() // nobody is left to tell
		}()
		return nil
	}
}

// Void lets go of all that the run has on devices and of the rows that they gave back, after a failure of one: others
// need the memory now, whatever Leave says.
func (d *Devices) Void() error {
	d.stop()
	<-d.opened
	return d.close()
}

func (d *Devices) close() error {
	d.early.movers.Wait()
	d.early.close()
	err := errors.Join(d.kept.close(), d.closing(d.context, d.outcome.close()))
	for _, p := range d.passes {
		err = errors.Join(err, d.closing(p.context, p.close()), p.closePlacers())
	}
	for _, c := range d.contexts {
		err = errors.Join(err, d.closing(c, c.Close()))
	}
	d.contexts = nil
	return err
}

// closing is what becomes of an error of a device that lets go of something. Nobody needs it any more, so
// that a run which would have done without the device goes on without it.
func (d *Devices) closing(c *cuda.Context, err error) error {
	if d.config.Refused == nil {
		return nil
	}
	return failed(c, err)
}

// close ends a pass.
func (p *pass) close() error {
	var err error
	switch {
	case p.closed != nil:
		err = p.closed.wait()
	case p.MultiPass != nil:
		err = p.MultiPass.Close()
	}
	p.loading.Wait()
	if p.pinned != nil {
		p.pinned.lift() // of a pass that was never finished
	}
	p.MultiPass, p.decoding, p.closed = nil, nil, nil
	return err
}

// closePlacers lets go of rows that nobody has taken. The pass has ended.
func (p *pass) closePlacers() error {
	var err error
	for _, placer := range p.placers {
		err = errors.Join(err, placer.Close())
	}
	p.placers = nil
	return err
}
