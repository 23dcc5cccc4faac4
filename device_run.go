package gagg

import (
	"context"
	"errors"
	"log/slog"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/device"
	"github.com/gagg-dev/gagg/internal/gpu"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/internal/parquetio"
	"github.com/gagg-dev/gagg/internal/trace"
	"github.com/gagg-dev/gagg/merge"
)

// openDevices lets devices take part in an attempt, if they may pay.
func (r *run) openDevices(ctx context.Context, a *attempt) error {
	facts, decoding := r.deviceFacts()
	choice := r.tuning.costs.choose(facts)
	choice.Use = choice.Use && !r.onCPU
	r.opt.logger().Debug("device", slog.Bool("gpu", choice.Use), slog.String("reason", choice.Reason))
	if !choice.Use {
		return r.checkRequired(ctx, facts)
	}
	states := r.states(a.runs, true)
	lists, err := a.cfg.Reserve(r.listsBytes(states))
	if err != nil {
		return err // at first all memory is free
	}
	layout := ega.Layout{Hash: true, KeyWords: r.layout.Words}
	layout.Ops, layout.Mates, _ = states.DeviceOps()
	a.cfg.States, a.cfg.Stride = states, layout.Stride()
	c := gpu.Config{
		Open: facts.Spec.Contexts, Layout: layout, Lists: states.DeviceLists(), ListsMemory: lists, CPU: a.cfg, Spare: r.spare(),
		Memory: r.opt.GPUMemory, Streams: r.opt.Streams, Load: r.opt.load(), Gain: r.tuning.bucketGain, Leave: r.opt.LastRun, Early: r.earlyRows(), Keep: r.tuning.keptRows, Decode: decoding,
	}
	if r.trace != nil {
		c.Trace = r.trace.Pipeline
	}
	if facts.Spec.Required() {
		c.Refused, c.Needed = facts.Spec.Refused, max(len(facts.Spec.Numbers), 1)
	} else {
		c.Pays = r.devicePays(facts)
	}
	a.devices = gpu.New(ctx, c)
	a.cfg.Offload = r.tuning.offload(a.devices)
	if c.Decode.Plan != nil {
		a.packer = func(reader cpu.Reader) cpu.Packer {
			return trace.Packing(reader, func(p *parquetio.Reader) cpu.Packer {
				return a.devices.NewPacker(p, key.NewEncoder(a.cfg.Keys, a.cfg.Intern))
			})
		}
	}
	return nil
}

// decoding is how devices make the rows themselves. If they do not, why says what keeps them from it, for people.
func (p *prepared) decoding(states *agg.Layout) (_ gpu.Decoding, why string) {
	if p.opt.NoGPUDecoding {
		return gpu.Decoding{}, "as asked for"
	}
	plan, why := p.encodedPlan(states)
	if why != "" {
		return gpu.Decoding{}, why
	}
	units := p.encodedUnits()
	if units.All.Rows == 0 {
		return gpu.Decoding{}, "no row group is stored as devices decode it"
	}
	d := gpu.PlanDecoding(plan, units, p.opt.GPUMemory, p.opt.Streams)
	if d.Plan == nil {
		return d, "a GPU has no room for row groups of this size"
	}
	return d, ""
}

// encodedUnits is the sizes of the units that devices decode, as far as footers tell.
func (p *prepared) encodedUnits() (u gpu.Units) {
	for i := range p.scan.Units() {
		s, ok := p.scan.EncodedUnit(i)
		if !ok {
			continue
		}
		u.All.Rows, u.All.Bytes, u.All.Expanded = u.All.Rows+s.Rows, u.All.Bytes+s.Bytes, u.All.Expanded+s.Expanded
		u.Unpacked += s.Unpacked
		u.Largest.Rows, u.Largest.Bytes = max(u.Largest.Rows, s.Rows), max(u.Largest.Bytes, s.Bytes)
		u.Largest.Expanded = max(u.Largest.Expanded, s.Expanded)
	}
	return u
}

// checkRequired refuses a device that is not there, also if it would have nothing to do.
func (r *run) checkRequired(ctx context.Context, f deviceFacts) error {
	if !f.Spec.Required() {
		return nil
	}
	if _, err := device.Find(ctx, f.Spec); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return f.Spec.Refused(err)
	}
	r.noted.fellBack(r.opt.logger(), "the whole query", f.Unsupported)
	return nil
}

// mostEarly is the most memory for rows that are packed while devices open: as many as workers pack in that
// time. A guess.
const mostEarly = 8 << 30

// earlyPart: where memory is limited, they may take one of so many parts of what workers may take. A guess.
const earlyPart = 4

// earlyRows is how much of the memory may be taken for them.
func (r *run) earlyRows() int64 {
	if all := r.memory.Worker * int64(r.threads); all > 0 {
		return min(all/earlyPart, mostEarly)
	}
	return mostEarly
}

// spare is the memory that merging, sorting and putting out can do without.
func (r *run) spare() budget.Lender { return r.budget.Beside(r.memory.later(r.threads)) }

// devicePays predicts, while the input is read, whether devices are faster for the rest of it: now
// from the groups that a worker's table has, and the memory that devices have.
func (r *run) devicePays(all deviceFacts) func(rows, groups, memory int64) bool {
	return func(rows, groups, memory int64) bool {
		f := all.rest(max(all.Rows-r.rowsRead.Load(), 0))
		f.Groups, f.Opened = min(all.Groups, feedback.EstimateGroups(rows, groups)), memory > 0
		if f.Opened {
			f.Memory = memory
		}
		return r.tuning.costs.choose(f).Use
	}
}

// mayRedo reports whether an error is the failure of a device that the CPU can stand in for: none
// was demanded, and the input can be read again.
func (r *run) mayRedo(err error) bool {
	var failed *gpu.Error
	return errors.As(err, &failed) && !failed.Late && !r.deviceSpec().Required() && r.scan.Rereadable()
}

// redo reads the input again and groups it on the CPU alone, in as many partitions as before if
// these have begun to be put out. What the failed attempt has made is not used any more (DEVICE-VOID),
// but once the output has begun it stays until the run is closed, since goroutines may still be reading it. Those that
// ask later wait.
func (r *run) redo(ctx context.Context, cause error) error {
	r.redone.Do(func() {
		r.void.Store(true)
		if r.partitions == 0 { // the output has not begun
			first := r.now.Load()
			_ = errors.Join(first.groups.Close(), first.devices.Void()) // it has failed already
		}
		r.noted.fellBack(r.opt.logger(), "the whole input, again", cause.Error())
		r.bytesDone.Store(0)
		r.bytesLeft.Store(0)
		r.rowsRead.Store(0)
		a := r.configure()
		if r.partitions > 0 {
			a.cfg.Partitions = r.partitions
		}
		if r.redoneErr = r.group(ctx, a); r.redoneErr != nil {
			r.redoneErr = errors.Join(r.redoneErr, a.close())
			return
		}
		r.failed.Store(r.now.Load())
		r.now.Store(a)
	})
	return r.redoneErr
}

// mergedRows is how many rows small partitions are put together to at most, if devices aggregate
// them: what a bucket costs beside its rows is little then. A guess.
const mergedRows = 16 * cpu.DefaultPassLeast

// planRanges says which partitions are merged together.
func (r *run) planRanges() []merge.Range {
	a := r.now.Load()
	sizes := a.groups.Sizes()
	if a.devices == nil || !a.devices.Second() {
		return merge.Buddies(sizes, -1)
	}
	together := a.devices.Kept(sizes)
	rows, sums := int64(0), make([]int64, len(sizes)/together)
	for p, n := range sizes {
		sums[p/together] += n
		rows += n
	}
	ranges, largest := merge.Buddies(sums, min(mergedRows, rows/int64(4*r.threads))), int64(0) // some for each goroutine
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

// startDevices begins to open devices that were asked for before the input is. One that may be done
// without waits for the plan: beginning earlier gained nothing (docs/experiments/0010). done is called
// when the run has them itself, or never will.
func startDevices(o Options) (done func()) {
	d, err := device.Parse(o.Device)
	if err != nil || !d.Required() || o.GPUs != nil {
		return func() {}
	}
	return d.Begin(o.LastRun)
}
