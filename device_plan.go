package gagg

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math"

	"github.com/dustin/go-humanize"

	"github.com/gagg-dev/gagg/ega"
	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/device"
	"github.com/gagg-dev/gagg/internal/expr"
	"github.com/gagg-dev/gagg/internal/gpu"
	"github.com/gagg-dev/gagg/streams"
)

// DevicePlan is how devices are used.
type DevicePlan struct {
	Numbers  []int   `json:"numbers"`
	Memory   int64   `json:"memory"`    // bytes of each that may be taken; 0: nine tenths of what is free when the run begins
	Streams  int     `json:"streams"`   // of each
	RowBytes int64   `json:"row_bytes"` // that cross the link for each row: hash, key, states
	LoadFull float64 `json:"load_full"` // of a table that a partition is loaded into: it counts as full,
	LoadMost float64 `json:"load_most"` // and the most it gets
	Groups   int64   `json:"groups"`    // about how many; -1: as many as rows
	Encoded  bool    `json:"encoded"`   // column chunks cross as they are in the file, and the rows are made there, as far as pages allow it
	RowsBy   string  `json:"rows_by"`   // why workers make all rows; "": they need not
}

// Prediction is how long a run would take, reading included, without what waits
// for a disk.
type Prediction struct {
	CPU    float64 `json:"cpu_s"`
	Device float64 `json:"gpu_s"`
}

// String is the plan for people.
func (d *DevicePlan) String() string {
	memory := "nine tenths of the free memory"
	if d.Memory > 0 {
		memory = "at most " + humanize.IBytes(uint64(d.Memory)) + " of memory"
	}
	rows := "column chunks are decoded there"
	if !d.Encoded {
		rows = fmt.Sprintf("rows are made by the CPU, of %d bytes: %s", d.RowBytes, d.RowsBy)
	}
	return fmt.Sprintf("%s, %d streams; %s; a bucket's table is full above load %g and has %g at most",
		memory, d.Streams, rows, d.LoadFull, d.LoadMost)
}

// chosen is the outcome of planDevice.
type chosen struct {
	deviceChoice
	numbers []int // of the devices to use; none: the CPU computes
}

// planDevice decides what computes. It looks for devices only where one may be
// used: a small query opens no driver. The error is an ErrDevice.
func (p *prepared) planDevice(ctx context.Context) (chosen, error) {
	c, err := p.chooseDevice(ctx)
	if err == nil {
		p.opt.logger().Debug("device", slog.String("device", device.Names(c.numbers)), slog.String("reason", c.Reason))
	}
	return c, err
}

func (p *prepared) chooseDevice(ctx context.Context) (chosen, error) {
	f, _ := p.deviceFacts()
	c := chosen{deviceChoice: p.tuning.costs.choose(f)}
	if c.Use = c.Use && !p.onCPU; !c.Use {
		return c, nil
	}
	numbers, err := device.Find(ctx, f.Spec)
	switch {
	case err == nil:
		c.numbers = numbers
		return c, nil
	case context.Cause(ctx) != nil:
		return chosen{}, context.Cause(ctx)
	case f.Spec.Required():
		return chosen{}, f.Spec.Refused(err)
	}
	f.NoDevice = "no GPU: " + device.Problem(err)
	return chosen{deviceChoice: p.tuning.costs.choose(f)}, nil
}

// deviceSpec is what Options.Device says, which Options.validate has seen.
func (p *prepared) deviceSpec() device.Spec {
	d, _ := device.Parse(p.opt.Device)
	return d
}

// mayUseDevice reports whether a device may take part in a run, as far as is known before one is looked for.
func (p *prepared) mayUseDevice() bool {
	if !p.deviceSpec().Required() && !device.Present() {
		return false
	}
	f, _ := p.deviceFacts()
	return p.tuning.costs.choose(f).Use
}

// deviceFacts are the facts of the plan, and how devices would make rows themselves, which looks at each unit and so is asked for
// only where one may be used. How many groups there may be, which may read some pages, is only asked for where a device
// could be worth it at all.
func (p *prepared) deviceFacts() (f deviceFacts, decoding gpu.Decoding) {
	d, states := p.deviceSpec(), p.deviceStates()
	f = deviceFacts{
		Spec: d, Unsupported: p.unsupported(states), Again: p.scan.Rereadable(), Kept: p.opt.GPUs.devices().Keeps(d), Devices: len(d.Numbers), Memory: p.opt.GPUMemory,
		Rows: p.facts.Rows, Bytes: p.facts.Bytes, Groups: math.Inf(1), Threads: p.threads,
		RowSize: p.deviceRow(states), Lists: int64(len(states.DeviceLists())),
	}
	if f.Unsupported == "" && d.Kind != device.CPU {
		var why string
		decoding, why = p.decoding(states)
		if f.Lists > 0 && decoding.Plan == nil {
			f.Unsupported = "lists of values are only kept where a GPU makes the rows, and the CPU does: " + why
		}
	}
	if units := &decoding.Units; decoding.Plan != nil {
		f.Encoded = float64(units.All.Rows) / float64(max(p.facts.Rows, units.All.Rows))
		f.Crossing, f.Unpacked = units.All.Bytes, units.Unpacked
	}
	if !device.Present() {
		f.NoDevice = "there is no NVIDIA driver"
	}
	if !d.Required() && p.tuning.costs.choose(f).Use {
		f.Groups = p.expectedGroups()
	}
	return f, decoding
}

// deviceRow is the bytes of a row on its way to a device.
func (p *prepared) deviceRow(states *agg.Layout) int64 {
	return 8 * int64(1+p.layout.Words+states.Words())
}

// unsupported is why no device can do the query; "": one can.
func (p *prepared) unsupported(states *agg.Layout) string {
	switch words := p.layout.Words; {
	case words == 0:
		return "there are no keys, and so one group"
	case words > ega.MaxKeyWords:
		return fmt.Sprintf("all keys together take %d words, and a GPU compares at most %d", words, ega.MaxKeyWords)
	}
	if len(p.query.Distinct) > 0 {
		return "each different " + p.query.ArgTexts[p.query.Distinct[0]] + " counts once"
	}
	_, _, why := states.DeviceOps()
	if why == "" && p.listsBytes(states) > p.listsMost() {
		return "all values of a group are needed, and those of all groups may take more than a part of the memory limit"
	}
	return why
}

// deviceStates is the states that groups have on a device, for plans.
func (p *prepared) deviceStates() *agg.Layout {
	var runs agg.Runs
	if p.memory.Spill {
		runs = &valueRuns{}
	}
	return p.states(runs, true)
}

const (
	// listedBytes is what a value of a list takes on the host, with its part of what a group has beside. A guess.
	listedBytes = 16

	// listsPart: where memory is limited, the lists of devices have one of so many parts of what workers may take. They come back as a whole:
	// from there on they may go to disk. A guess.
	listsPart = 4
)

// listsBytes is the most memory of the host that lists of a device take, when they have come back.
func (p *prepared) listsBytes(states *agg.Layout) int64 {
	switch lists := int64(len(states.DeviceLists())); {
	case lists == 0 || !p.memory.Spill:
		return 0
	case p.facts.Rows < 0 || p.facts.Rows > math.MaxInt64/(lists*listedBytes):
		return math.MaxInt64
	default:
		return lists * listedBytes * p.facts.Rows
	}
}

// listsMost is how much they may take.
func (p *prepared) listsMost() int64 { return p.memory.Worker * int64(p.threads) / listsPart }

// expectedGroups is about how many groups there are, as far as dictionaries tell.
func (p *prepared) expectedGroups() float64 {
	product := 1.0
	for _, e := range p.query.Keys {
		product *= p.expectedDistinct(e)
	}
	if rows := p.facts.Rows; rows >= 0 {
		product = min(product, float64(rows))
	}
	return product
}

// expectedDistinct is about how many values an expression has: no more than its
// columns have together. A column has as many as make, among the rows of a
// unit, as many different ones as its largest dictionary holds; +Inf: nobody
// knows.
func (p *prepared) expectedDistinct(e *expr.Expr) float64 {
	product := 1.0
	for _, c := range e.Columns() {
		entries := int64(p.scan.DictEntries(c))
		if !p.scan.DictAll(c) || entries < 0 || p.facts.Rows < 0 || p.scan.RowGroups() == 0 {
			return math.Inf(1)
		}
		product *= feedback.EstimateGroups(p.facts.Rows/int64(p.scan.RowGroups()), entries) + 1 // and NULL
	}
	return product
}

// devicePlan is what QueryPlan tells of the devices that are used.
func (p *prepared) devicePlan(numbers []int) *DevicePlan {
	if len(numbers) == 0 {
		return nil
	}
	load, states := p.opt.load(), p.deviceStates()
	d := &DevicePlan{
		Numbers: numbers, Memory: p.opt.GPUMemory, Streams: cmp.Or(p.opt.Streams, streams.DefaultStreams),
		RowBytes: p.deviceRow(states), LoadFull: load.Full, LoadMost: load.Max, Groups: -1,
	}
	decoding, why := p.decoding(states)
	if d.RowsBy = why; why == "" {
		d.Encoded, d.Streams = true, decoding.Streams
	}
	if groups := p.expectedGroups(); groups < math.MaxInt64 {
		d.Groups = int64(groups)
	}
	return d
}
