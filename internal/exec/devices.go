package exec

import (
	"context"
	"log/slog"
	"time"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/device"
	"github.com/gagg-dev/gagg/internal/gpu"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/internal/parquetio"
	"github.com/gagg-dev/gagg/internal/plan"
	"github.com/gagg-dev/gagg/internal/trace"
	"github.com/gagg-dev/gagg/merge"
)

// openDevices lets devices take part in an attempt, if the plan says so. They open while workers
// begin.
func (r *run) openDevices(ctx context.Context, a *attempt) error {
	decision := &r.plan.Device
	spec := decision.Facts.Spec
	r.opt.logger().Debug("device", slog.Bool("gpu", decision.Use), slog.String("reason", decision.Reason))
	if !decision.Use {
		return r.checkRequired(ctx)
	}
	states := a.cfg.States
	lists, err := a.run.Reserve(r.plan.ListsBytes(states))
	if err != nil {
		return err // at first all memory is free
	}
	c := gpu.Config{
		Open: spec.Contexts, Layout: r.deviceLayout(a.cfg.Keys, states), States: states, Keys: a.cfg.Keys, Arenas: a.cfg.Arenas, Lists: states.DeviceLists(), ListsMemory: lists,
		Kept: decision.Facts.Kept, Threads: a.cfg.Threads, Rows: a.cfg.Rows, AtMost: a.cfg.AtMost, Host: a.cfg.Memory, Run: a.run, Spare: r.spare(),
		Memory: r.plan.Options.GPUMemory, Streams: r.plan.Options.Streams, Load: r.plan.Options.Load,
		Gain: r.opt.Tuning.BucketGain, RetainBytes: r.opt.Tuning.PinnedRetainBytes, Tiles: r.opt.Tuning.Tiles,
		Leave: r.opt.LastRun, Early: r.earlyRows(), Decode: decision.Decoding, Select: decision.Select, FewFrom: r.opt.Tuning.FewFrom,
	}
	if a.grouping == byOther {
		c.Select, c.Regroup = nil, r.regroupOnDevice(a)
	}
	if r.trace != nil {
		c.Trace = r.trace.Pipeline
	}
	if spec.Required() {
		c.Refused, c.Needed = spec.Refused, max(decision.Facts.Devices, 1)
	}
	if unused := len(spec.Numbers) - decision.Facts.Devices; unused > 0 {
		r.opt.logger().Warn("the first GPU works alone", slog.String("reason", "it keeps the texts"), slog.Int("unused", unused))
	}
	if c.Decode.Plan != nil {
		a.texts, c.Texts = r.newTexts(a)
		c.TextMemory = a.texts.lender()
	}
	a.devices = gpu.New(ctx, c)
	a.run.Accelerate(r.opt.Tuning.Accelerator(a.devices))
	if c.Decode.Plan != nil {
		a.builder = func(reader cpu.Reader) cpu.BatchBuilder {
			return trace.Building(reader, func(p *parquetio.Reader) cpu.BatchBuilder {
				keys := key.NewEncoder(a.cfg.Keys, a.cfg.Intern)
				keys.Texts = a.texts.table()
				return a.devices.NewBuilder(p, keys)
			})
		}
	}
	return nil
}

// driverMemory is the host's memory that a driver and a context may take beside the limit of a run
// that may do without them.
const driverMemory = 1 << 30

// opensBeside reports whether a device is opened beside workers that may find that it pays
// (docs/decisions/0035). Only the last run of a process does that: what it has opened in vain is
// left to the driver, and closing it would take longer than is gained. A process that opens devices
// which are not initialized could not end before they are.
func (o *Options) opensBeside(initialized func() bool) bool {
	return o.LastRun && (o.MemoryLimit == 0 || o.MemoryLimit >= driverMemory) && initialized()
}

// opening is a device that may be of use, and is being opened beside the planner and the workers.
type opening struct{ began time.Time }

// begin begins to open it, once, if that is allowed.
func (b *opening) begin(o *Options, spec device.Spec) {
	if b.began.IsZero() && o.opensBeside(device.Initialized) {
		b.began = time.Now()
		spec.Begin(true)
	}
}

// since is for how long it has been being opened; 0: none is.
func (b *opening) since() time.Duration {
	if b.began.IsZero() {
		return 0
	}
	return time.Since(b.began)
}

// reconsider ends the run if another one would be faster, by what workers have seen: one that does
// not count values, or one with devices.
func (r *run) reconsider(seen cpu.Sample) error {
	if r.plan.Uncounts(seen) {
		return plan.ErrUncounted
	}
	if !r.plan.Device.Reconsiders {
		return nil
	}
	seen, rounds := r.samples.add(seen, r.plan.Threads)
	if rounds < believed {
		return nil
	}
	choice := r.plan.Device.Anew(seen, rounds >= settled, r.opening.since())
	r.reconsidered.Store(&choice)
	if !choice.Use {
		return nil
	}
	r.opt.logger().Debug("a device pays", slog.String("reason", choice.Reason), slog.Any("seen", seen))
	return plan.ErrDevicePays
}

// deviceLayout is the rows of a device, which have such keys and states.
func (r *run) deviceLayout(keys *key.Layout, states *agg.Layout) ega.Layout {
	layout := ega.Layout{Hash: true, KeyWords: keys.Words}
	layout.Ops, layout.Mates, _ = states.DeviceOps()
	return layout
}

// checkRequired refuses a device that is not there, also if it would have nothing to do.
func (r *run) checkRequired(ctx context.Context) error {
	decision := &r.plan.Device
	spec := decision.Facts.Spec
	if !spec.Required() {
		return nil
	}
	if _, err := device.Find(ctx, spec); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return spec.Refused(err)
	}
	r.fallbacks.add(r.opt.logger(), "the whole query", decision.Facts.Unsupported)
	return nil
}

// mostEarly is the most memory for rows that are packed while devices open: as many as workers pack
// in that time: 16 make 3.4e8 rows in the 0.3 s that opening takes (plan.Costs), 8 GB of 24 bytes.
const mostEarly = 8 << 30

// earlyPart is the divisor of the workers' memory that gives the most for rows that come before
// devices are open, where memory is limited. It is the share that devices may pin then (pinnedParts
// of internal/gpu).
const earlyPart = 4

// earlyRows is how much of the memory may be taken for them.
func (r *run) earlyRows() int64 {
	if all := r.plan.Memory.Worker * int64(r.plan.Threads); all > 0 {
		return min(all/earlyPart, mostEarly)
	}
	return mostEarly
}

// spare is the memory that merging, sorting and putting out can do without.
func (r *run) spare() budget.Lender { return r.budget.Beside(r.plan.Memory.Later(r.plan.Threads)) }

// mergedRows is the most rows up to which small partitions are put together, if devices aggregate
// them: the cost of a bucket, beside that of its rows, is then a sixteenth of that at PassLeast.
const mergedRows = 16 * cpu.DefaultPassLeast

// planRanges says which partitions are merged together.
func (r *run) planRanges(a *attempt) []merge.Range {
	sizes := a.groups.Sizes()
	switch {
	case !a.onDevices():
		return merge.Buddies(sizes, -1)
	case a.devices.Selected(): // partitions were made for all groups
		return merge.Buddies(sizes, resultRows)
	case !a.devices.Second():
		return merge.Buddies(sizes, -1)
	}
	together := a.devices.EvictedRows(sizes)
	rows, sums := int64(0), make([]int64, len(sizes)/together)
	for p, n := range sizes {
		sums[p/together] += n
		rows += n
	}
	// some for each goroutine
	ranges, largest := merge.Buddies(sums, min(mergedRows, rows/int64(4*r.plan.Threads))), int64(0)
	for i := range ranges {
		in := int64(0)
		for _, n := range sums[ranges[i].First:][:ranges[i].N] {
			in += n
		}
		largest = max(largest, in)
		ranges[i].First, ranges[i].N = ranges[i].First*together, ranges[i].N*together
	}
	a.devices.PlanPasses(largest)
	return ranges
}

// beginDevices begins to open devices that were asked for before the input is. One that may be done
// without waits until the planner finds it likely (plan.Inputs). done is called when the run has
// them itself, or never will.
func (o *Options) beginDevices() (done func()) {
	d, err := device.Parse(o.Device)
	if err != nil || !d.Required() || o.GPUs != nil {
		return func() {}
	}
	return d.Begin(o.LastRun)
}
