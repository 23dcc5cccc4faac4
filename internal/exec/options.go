package exec

import (
	"io"
	"log/slog"
	"net/http"

	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/device"
	"github.com/gagg-dev/gagg/internal/plan"
	"github.com/gagg-dev/gagg/internal/remote"
	"github.com/gagg-dev/gagg/internal/spill"
)

// Options says how a query runs: those of the library, which says what each one means.
type Options struct {
	Threads       int
	MemoryLimit   int64
	Slack         int64
	TempDir       string
	TempLimit     int64
	Device        string
	GPUs          *device.Set // nil: the run opens the devices that it uses
	LastRun       bool
	GPUMemory     int64
	Streams       int
	LoadFactor    [2]float64
	Trace         io.Writer
	Partitions    int
	BatchRows     int
	UnionByName   bool
	NoGPUDecoding bool
	NoPruning     bool
	AsOf          string // the version of a table of Delta Lake or Iceberg; "": the latest
	Deterministic bool
	Observe       func(Progress) // nil: it is not called
	Logger        *slog.Logger
	Allocator     memory.Allocator
	Transport     http.RoundTripper
	Stores        map[string]Store

	Tuning *Tuning // nil: DefaultTuning
}

// What the library says of buckets.
type (
	// Store is where buckets are.
	Store = remote.Store
	// Keys are those of an account.
	Keys = remote.Keys
	// KeyFinder finds them.
	KeyFinder = remote.KeyFinder
)

// Progress is how far a run is.
type Progress struct {
	Output      bool  // groups are put out; false: the input is read
	BytesDone   int64 // compressed bytes of the wanted columns that were read
	BytesTotal  int64 // -1: not known
	RowsDone    int64
	RowsTotal   int64 // -1: not known
	Ranges      int   // of partitions, each merged as one; 0: the input is read
	Merged      int   // ranges of these that have been merged
	GroupsTotal int64 // about how many groups there are, before a limit; 0: not known
	Groups      int64 // groups put out
	Spilled     int64 // bytes written to the temp folder, as stored
}

// DefaultTempDir is the folder of an empty TempDir.
func DefaultTempDir() string { return spill.DefaultDir() }

// withDefaults is o with a tuning.
func (o Options) withDefaults() Options {
	if o.Tuning == nil {
		tuning := DefaultTuning()
		o.Tuning = &tuning
	}
	return o
}

// plan is the options of a plan. o is valid.
func (o *Options) plan() plan.Options {
	spec, _ := device.Parse(o.Device)
	spec = o.GPUs.Prefer(spec)
	return plan.Options{
		Threads: o.Threads, MemoryLimit: o.MemoryLimit, Device: spec, DevicePresent: device.Present(), DeviceKept: o.GPUs.Keeps(spec), DeviceLeft: o.LastRun,
		GPUMemory: o.GPUMemory, Streams: o.Streams, Load: o.load(), Partitions: o.Partitions, BatchRows: o.BatchRows,
		NoGPUDecoding: o.NoGPUDecoding, NoPruning: o.NoPruning, Deterministic: o.Deterministic, Tuning: o.Tuning.Plan,
	}
}

// unlimitedSlack is the slack of a run without a limit.
const unlimitedSlack = 128 << 20

func (o *Options) slack() int64 {
	if o.Slack == 0 && o.MemoryLimit == 0 {
		return unlimitedSlack
	}
	return o.Slack
}

// allocator is Allocator, or one that keeps most bytes for records.
func (o *Options) allocator(most int64) memory.Allocator {
	if o.Allocator != nil {
		return o.Allocator
	}
	return column.NewRecycler(most)
}

func (o *Options) logger() *slog.Logger {
	if o.Logger != nil {
		return o.Logger
	}
	return slog.New(slog.DiscardHandler)
}

const (
	// maxStreams is more than overlap needs: 2 make the rate of the link (docs/experiments/0007),
	// and each pins some slots.
	maxStreams = 64

	maxBatchRows  = 64 << 10 // so that the strings of a result batch fit Arrow's 32-bit offsets
	maxPartitions = 1 << 12
)

// load is LoadFactor, or what stands for its zero value.
func (o *Options) load() feedback.LoadConfig {
	if o.LoadFactor == [2]float64{} {
		return feedback.DefaultLoadConfig
	}
	return feedback.LoadConfig{Full: o.LoadFactor[0], Max: o.LoadFactor[1]}
}

// validate reports every problem of the options.
func (o *Options) validate() error {
	var p problems
	if o.Threads < 0 {
		p.add("threads: %d is negative", o.Threads)
	}
	if o.Slack < 0 {
		p.add("slack: %d is negative", o.Slack)
	}
	if o.MemoryLimit < 0 {
		p.add("memory limit: %d is negative", o.MemoryLimit)
	}
	if o.TempLimit < 0 {
		p.add("temp limit: %d is negative", o.TempLimit)
	}
	if n := o.Partitions; n < 0 || n > maxPartitions || n&(n-1) != 0 {
		p.add("partitions: %d is not a power of two up to %d", n, maxPartitions)
	}
	if o.BatchRows < 0 || o.BatchRows > maxBatchRows {
		p.add("batch rows: %d is not between 0 and %d", o.BatchRows, maxBatchRows)
	}
	if _, err := device.Parse(o.Device); err != nil {
		p.add("%v", err)
	}
	if o.GPUMemory < 0 {
		p.add("GPU memory: %d is negative", o.GPUMemory)
	}
	if o.Streams < 0 || o.Streams > maxStreams {
		p.add("streams: %d is not between 0 and %d", o.Streams, maxStreams)
	}
	if o.load().Validate() != nil {
		p.add("load factor: %v,%v are not two loads A < B from 0 to 1", o.LoadFactor[0], o.LoadFactor[1])
	}
	return p.err()
}
