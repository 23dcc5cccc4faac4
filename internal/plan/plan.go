// Package plan decides how a query will be run. Its outcome, a Plan, is a pure value, made once
// before any row is read: it is printed, and it is run. It is made of the query, the options and
// the input's facts about its columns, for which some pages of dictionaries may be read. No memory
// is drawn here, and no device is opened.
//
//	memory, threads   how many workers there are, and how the memory limit is shared out (memory.go)
//	keys              the form of each key in words (keys.go)
//	hints             places for NULL that are not needed, sums of fewer words (hints.go)
//	windows           where exact sums of floats have their digits (windows.go)
//	device            the CPU or devices: counts in, a decision out (device.go, choice.go), and how
//	                  devices make rows of encoded columns (encoded.go)
//	groups            how many there can be, and into how many partitions they go (groups.go)
//
// A plan rests on hints: what footers say of NULLs, of values, of texts. Where one is wrong the run
// ends with an error that teaches (Learnt), and another plan is made that knows better.
package plan

import (
	"runtime"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/device"
	"github.com/gagg-dev/gagg/internal/input"
	"github.com/gagg-dev/gagg/internal/key"
	"github.com/gagg-dev/gagg/internal/parquetio"
	"github.com/gagg-dev/gagg/internal/query"
)

// Options is what a caller asks of a plan.
type Options struct {
	Threads       int         // CPU workers; 0: all that the process may use
	MemoryLimit   int64       // bytes; 0: none
	Device        device.Spec // the devices that may compute
	DevicePresent bool        // there is a driver to open
	DeviceKept    bool        // the devices are open, since the caller keeps them so
	DeviceLeft    bool        // what is held on devices is left to the driver, as the process ends
	GPUMemory     int64       // bytes of each device that may be taken; 0: most of its free memory
	Streams       int         // of each device; 0: chosen
	Load          feedback.LoadConfig
	Partitions    int // into how many groups are partitioned from the first row on; 0: when it pays
	BatchRows     int // the most rows processed at a time; 0: chosen
	NoGPUDecoding bool
	NoPruning     bool
	Deterministic bool

	Tuning Tuning
}

// Tuning is what tests change of a plan: sizes that small inputs would never reach.
type Tuning struct {
	PartLeast int64 // the size of a part of a row group at least, in bytes
	Needs     Needs
	Shared    int64 // see leastShared
	Costs     Costs
	Table     feedback.TableConfig
	Counting  Counting
	Sampling  Sampling
	MostParts float64 // see defaultMostParts
}

// DefaultTuning is that of all other plans.
func DefaultTuning() Tuning {
	return Tuning{PartLeast: parquetio.DefaultLeastPart, Needs: defaultNeeds, Shared: leastShared, Costs: defaultCosts, Table: feedback.DefaultTableConfig, Counting: defaultCounting, Sampling: defaultSampling, MostParts: defaultMostParts}
}

func (o *Options) threads() int {
	if o.Threads > 0 {
		return o.Threads
	}
	return runtime.GOMAXPROCS(0)
}

// Inputs is what a plan is made of.
type Inputs struct {
	Query    *query.Compiled
	Input    input.Input
	Scan     input.Scan // of the columns of the query
	Options  Options
	Metadata int64 // bytes of the memory limit that the input's metadata takes
	Learnt   Learnt
	// Likely is called, at times more than once, where a device is likely to be used, before some
	// rows are looked at: to begin to open it meanwhile; nil: nobody wants to know
	Likely func(device.Spec)
}

// Plan is how a query will be run.
type Plan struct {
	Query   *query.Compiled
	Options Options
	Learnt  Learnt // by runs that had to begin again

	Columns    []string // names of those that are read
	Facts      input.Facts
	RowGroups  int  // that are read
	Rereadable bool // the input can be read once more

	Threads int
	Memory  Memory
	AtMost  int64 // groups that there can be; -1: not known
	Table   feedback.TableConfig

	Layout     *key.Layout // of the keys in words
	KeyColumns []key.Column
	Sets       []Set          // distinct values, or one that is counted, grouped by beside the keys
	Counted    bool           // of the one in Sets the values are counted (counted.go)
	Tried      bool           // whether that pays is to be seen (Uncounts)
	Divided    *Divided       // keys that devices do not compute; nil: there are none, or workers do
	Parted     bool           // the CPU groups by the parts of Divided, too
	Filled     cpu.Filled     // keys and arguments that are not expected to be NULL
	Ranges     []column.Range // by argument: where it is expected
	// by argument: where the digits of its values are expected, for exact sums
	Windows []agg.Window

	Device Device

	reading  int64 // bytes that a reader takes, about
	metadata int64 // of the memory limit
}

// planner makes a plan.
type planner struct {
	*Plan
	in   input.Input
	scan input.Scan
	left int64 // of the memory limit, beside the metadata; 0: there is none
	cuts bool  // devices take parts of texts out of these

	likely func(device.Spec) // of Inputs

	sampled   sampled // the last sample
	forced    bool    // to count values, as where a device that is asked for needs that
	countable float64 // groups by the keys and a value that may be counted, at most; 0: none may
}

func newPlanner(in Inputs) *planner {
	p := &planner{in: in.Input, scan: in.Scan, likely: in.Likely, Plan: &Plan{
		Query: in.Query, Options: in.Options, Learnt: in.Learnt,
		Facts: in.Scan.Facts(), Rereadable: in.Scan.Rereadable(),
		Table: in.Options.Tuning.Table,
	}}
	if limit := in.Options.MemoryLimit; limit > 0 {
		p.metadata, p.left = in.Metadata, max(limit-in.Metadata, 1)
	}
	if in.Options.Partitions > 0 {
		p.Table = feedback.NoTables
	}
	fields := in.Input.Schema().Fields
	for _, c := range in.Query.Cols {
		p.Columns = append(p.Columns, fields[c].Name)
	}
	return p
}

// Make makes a plan. It has the scan divide its units for the workers that the plan has. The error
// is a NeedError.
func Make(in Inputs) (_ *Plan, err error) {
	p := newPlanner(in)
	if err := p.decide(); err != nil {
		return nil, err
	}
	if d, ok := p.deviceOfCounted(in); ok {
		p.Device = d
	}
	if p.Tried && p.Device.Use { // workers would not see the groups of a device
		switch required := p.Device.Facts.Spec.Required(); {
		case required && p.countable > float64(p.Facts.Rows) && !p.deviceCounts():
			in.Learnt.Uncounted = true
			return Make(in)
		case required:
			p.Tried = false
		default:
			p.Device.Use = false
			p.Device.Reason += "; the CPU counts values first"
		}
	}
	if p.Device.reconsiders() {
		p.Device.Use, p.Device.Reconsiders = false, true
		p.Device.Reason += "; the CPU begins, and a GPU takes over if workers find it so"
	}
	switch {
	case !p.Device.Use:
		err = p.forCPU()
	case p.Device.Decoding.Plan == nil:
		err = p.split()
	}
	if err != nil {
		return nil, err
	}
	p.AtMost = p.atMostBy(p.Query.Keys)
	for i := range p.Sets {
		p.Sets[i].AtMost = p.atMostBy(p.setKeys(p.Sets[i]))
	}
	p.RowGroups = p.scan.RowGroups()
	return p.Plan, nil
}

// decide plans as far as to the choice of what computes.
func (p *planner) decide() error {
	if err := p.planThreads(); err != nil {
		return err
	}
	if err := p.countValues(); err != nil {
		return err
	}
	p.placeKeys()
	p.planWindows()
	p.Device = p.decideDevice()
	return nil
}

// forCPU adds what pays where no device takes part: a device that decodes takes row groups as they
// are, and all take rows of one layout.
func (p *planner) forCPU() error {
	if p.oneGroup() {
		p.layOut() // no device compares its key
	}
	p.partKeys()
	if err := p.split(); err != nil {
		return err
	}
	if !p.Learnt.Nulls {
		p.fill()
	}
	p.omitHashes()
	if !p.Learnt.Ranges {
		p.reach()
	}
	return nil
}

// split cuts row groups into parts if they are few: workers read them all.
func (p *planner) split() error {
	if p.Options.threads() <= 1 {
		return nil
	}
	p.scan.Split(p.Options.threads(), p.Options.Tuning.PartLeast)
	return p.planThreads()
}

// cpuThreads is how many workers there will be if no device takes part.
func (p *planner) cpuThreads() int {
	threads := p.Options.threads()
	if p.scan.Units() >= threads {
		return p.Threads
	}
	p.scan.Split(threads, p.Options.Tuning.PartLeast)
	threads = max(p.Threads, min(threads, p.scan.Units()))
	p.scan.Split(1, 0)
	return threads
}

// planThreads chooses how many workers there are, and shares out the memory.
func (p *planner) planThreads() (err error) {
	p.Threads, p.reading = max(1, min(p.Options.threads(), p.scan.Units())), p.scan.WorkerBytes()
	p.Memory, p.Threads, err = p.Options.Tuning.Needs.share(p.left, p.Threads, p.reading, len(p.Query.Cols), groupingsOf(p.Query))
	if err != nil {
		return p.beside(err)
	}
	if m, threads, ok := p.planLearnt(); ok {
		p.Memory, p.Threads = m, threads
	}
	return nil
}

// States lays out the aggregates behind the hash and the key. Long chains of values go to runs;
// device: rows may be combined on a device; cancelled tells why a run has been cancelled.
func (p *Plan) States(runs agg.Runs, device bool, cancelled func() error) *agg.Layout {
	return p.StatesOf(p.Layout, runs, device, cancelled)
}

// StatesOf is States behind other keys.
func (p *Plan) StatesOf(keys *key.Layout, runs agg.Runs, device bool, cancelled func() error) *agg.Layout {
	var take *agg.Take
	if p.Query.Mode.Takes() {
		take = &agg.Take{First: p.Query.TakeFrom}
	}
	return agg.Compile(p.Query.Calls, keys.Base()+keys.Words, agg.Options{
		States: p.Query.Mode != query.Whole, Take: take,
		Deterministic: p.Options.Deterministic, Windows: p.Windows, Special: p.Learnt.Special || !p.Rereadable,
		MaxRows: p.Facts.Rows, Filled: p.Filled.Args, Ranges: p.Ranges, Device: device, Runs: runs,
		BatchBytes: p.Memory.BatchBytes(), ScratchBytes: p.Memory.ScratchBytes(), Cancelled: cancelled,
	})
}
