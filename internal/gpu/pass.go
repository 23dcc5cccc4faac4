package gpu

import (
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gagg-dev/gagg/ega/firstpass"
	"github.com/gagg-dev/gagg/ega/groups"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/decode"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// pass is the first pass on one device.
type pass struct {
	*firstpass.Pass
	devices  *Devices
	stopped  <-chan struct{} // closed when it stops before its end
	context  *cuda.Context
	memory   int64 // bytes that it may take
	writers  []*cpu.PartitionWriter
	pinned   *budget.Reservation // see newPinned
	decoding *decode.Kernels     // nil: no batches are taken
	texts    *texts              // nil: rows have no long strings of the device
	loading  sync.WaitGroup      // of kernels, in the background
	closed   *closing            // the first pass; nil: it is not being closed yet

	joined atomic.Uint64 // rows that are groups of other devices
	// groups of those in the table that were wanted, if the others were left there
	selected  int64
	regrouped int64           // groups that those in the table became
	first     firstpass.Stats // once it is finished
	second    secondStats
}

// start begins the pass of a device.
func (p *pass) start() (err error) {
	d, c, host := p.devices, p.context, &p.devices.config
	p.load()
	if host.Memory > 0 { // of a device; beside spares it would take more
		if err := c.FreeMemorySpares(); err != nil {
			return err
		}
	}
	if p.memory, err = d.memory(c); err != nil {
		return err
	}
	if err := p.openTexts(); err != nil {
		return err
	}
	share := planHost(host, len(d.contexts))
	if share.pinned > 0 { // no run's budget counts them
		if err := c.FreePinnedSpares(); err != nil {
			return err
		}
	}
	config := p.plan(&share)
	if p.pinned, err = newPinned(host, share, d.reserve); err != nil {
		return err
	}
	if err := p.openWriters(host, share.writers); err != nil {
		return err
	}
	config.Host, config.Writers = p.pinned, len(p.writers)
	if d.config.Trace != nil {
		config.Began, config.Trace = time.Now(), d.config.Trace(c.Device().Ordinal)
	}
	if p.Pass, err = firstpass.Start(d.ctx, c, config); err == nil {
		err = p.loaded()
	}
	if err == nil {
		d.watch(p)
	}
	return limited(err, p.memory, d.config.Memory)
}

// plan is the shape of the pass, within its share of the host's memory. It gives back the part of
// the share that it cannot use.
func (p *pass) plan(share *hostShare) firstpass.Config {
	d, host := p.devices, &p.devices.config
	slots, bytes := share.slots(host.Threads+underWay, d.slotBytes(p.memory))
	config := firstpass.Config{
		Layout: d.config.Layout, Streams: d.config.Streams, Device: p.memory,
		Slots: slots, SlotBytes: bytes,
		Groups: groupsOf(host), Bound: boundOf(host), Write: p.write, Readers: host.Threads, Timed: true,
	}
	if p.texts != nil {
		config.Layout.Texts = p.texts.Memory()
	}
	if limit := host.Run.Limit(); limit > 0 {
		config.Limit, config.Lower = uint64(limit), host.Run.LowerBound
	}
	if len(d.config.Lists) > 0 {
		config.Lists, config.ListRows = d.config.Lists, rowsOf(host)
	} else if d.config.RetainBytes > 0 {
		config.RetainBytes, config.RetainPays = share.retain(d.config.RetainBytes/int64(len(d.contexts))), p.retainPays
	}
	p.planDecoding(&config, share)
	share.use(int64(config.Slots)*int64(config.SlotBytes), config.RetainBytes, host.Threads)
	return config
}

// load begins to load all kernels that a run needs whose groups stay on the device: a driver that
// does not have them in its cache compiles each for some 100 ms. A caller that needs one waits for
// that one, and loads it again if it failed.
func (p *pass) load() {
	kernels := firstpass.Sources(p.context, &p.devices.config.Layout, len(p.devices.config.Lists) > 0)
	if p.devices.config.Decode.Plan != nil {
		kernels = append(decode.NewKernels(p.context, nil).Parts(p.devices.config.Decode.Plan), kernels...)
	}
	if len(p.devices.config.Lists) == 0 { // else no groups leave alone
		kernels = append(kernels, groups.SelectSources(p.context)...)
	}
	if r := p.devices.config.Regroup; r != nil {
		kernels = append(kernels, groups.RegroupSources(p.context, &p.devices.config.Layout, r.Rows)...)
	}
	p.loading.Go(func() { _ = p.context.Load(kernels...) })
}

// loaded waits for the kernels without which no tile is taken.
func (p *pass) loaded() error {
	if p.decoding == nil {
		return nil
	}
	return p.context.Load(p.decoding.Parts(p.devices.config.Decode.Plan)...)
}

// openWriters makes a writer for each thread, or for as many as there is memory: each copies a
// small part of what a link does, and workers wait for the device meanwhile. All have up to most
// bytes for rows; 0: any number.
func (p *pass) openWriters(host *Config, most int64) error {
	for range host.Threads {
		writer := host.Run.NewPartitionWriter(most / int64(host.Threads))
		if err := writer.Reserve(p.devices.reserve); err != nil {
			closed := writer.Close()
			if len(p.writers) > 0 {
				return closed
			}
			return errors.Join(err, closed)
		}
		p.writers = append(p.writers, writer)
	}
	return nil
}

// groupsOf is an estimate of the groups; 0: there may be almost as many as rows, and so any number.
func groupsOf(c *Config) uint64 {
	if c.AtMost < 0 || c.Rows < 0 || c.AtMost > c.Rows/4 {
		return 0
	}
	return uint64(c.AtMost)
}

// rowsOf is how many rows there are at most.
func rowsOf(c *Config) uint64 {
	if c.Rows < 0 {
		return math.MaxUint64
	}
	return uint64(c.Rows)
}

// boundOf is how many groups there can be at most; 0: not known.
func boundOf(c *Config) uint64 {
	bound := c.Rows
	if bound < 0 || c.AtMost >= 0 && c.AtMost < bound {
		bound = c.AtMost
	}
	return uint64(max(bound, 0))
}

// write copies rows into the buckets of a writer.
func (p *pass) write(writer int, rows []uint64) error {
	if err := p.copied(writer, rows); err != nil {
		return &writeError{err}
	}
	return nil
}

// copied is write with a panic as an error, which is no failure of the device either.
func (p *pass) copied(writer int, rows []uint64) (err error) {
	defer invariant.Recovered(&err)
	to := p.writers[writer]
	if err := p.leaveEarly(rows, to); err != nil {
		return err
	}
	return to.Write(rows)
}

// close ends a pass.
func (p *pass) close() error {
	var err error
	switch {
	case p.closed != nil:
		err = p.closed.wait()
	case p.Pass != nil:
		err = p.Pass.Close()
	}
	p.loading.Wait()
	if p.pinned != nil {
		p.pinned.Close() // of a pass that was never finished
	}
	err = errors.Join(err, p.texts.close())
	p.Pass, p.decoding, p.closed = nil, nil, nil
	return err
}

// closeWriters frees rows that were not added to the groups. The pass has ended.
func (p *pass) closeWriters() error {
	var err error
	for _, writer := range p.writers {
		err = errors.Join(err, writer.Close())
	}
	p.writers = nil
	return err
}
