package gagg

import (
	"io"
	"log/slog"
	"net/http"

	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg/internal/exec"
)

// Options says how a query runs. The zero value is a good choice.
type Options struct {
	// Threads is the number of CPU workers; 0: all that the process may use.
	Threads int
	// MemoryLimit is the most bytes that a query may take for all it holds:
	// tables, pages, values, buffers to read, to sort and to put out; 0: no
	// limit. What does not fit goes to TempDir. A limit that is too small
	// even for that is an ErrBudget.
	MemoryLimit int64
	// Slack is how many bytes may be resident beside those that MemoryLimit counts: memory that
	// was freed and is used again, and huge pages of which a part is used. Runs of a process share
	// what they bring. 0: none; where there is no MemoryLimit, 128 MiB.
	Slack int64
	// TempDir is an existing folder for what does not fit in memory, which
	// must be usable from the start; "": DefaultTempDir, which need only be
	// usable if it is needed. Nothing is left in it.
	TempDir string
	// TempLimit is the most bytes that may lie there; 0: no limit. A query
	// that needs more ends with ErrBudget.
	TempLimit int64
	// Device is what computes: "auto" or "", the CPU or a GPU, whichever is
	// predicted to be faster; "cpu"; "gpu", the first usable GPU; or numbers
	// of GPUs such as "0" and "0,1", as Devices counts them. A GPU that was
	// asked for and cannot be used is an ErrDevice.
	Device string
	// GPUs is devices that are open already; nil: the run opens what it uses, and
	// closes it.
	GPUs *GPUs
	// LastRun is for the last run of a process, which ends up to 0.1 s sooner then: once its rows
	// are released memory is left to the system to free, and what is held on GPUs to the driver. A
	// GPU that may turn out to be faster is opened beside the CPU.
	LastRun bool
	// GPUMemory is the most bytes of device memory that a query may take on
	// each GPU; 0: nine tenths of what is free when it begins. What does not
	// fit goes to the host's memory.
	GPUMemory int64
	// Streams is the number of streams of each GPU, which overlap copies and
	// kernels, up to 64; 0: chosen. For experiments.
	Streams int
	// LoadFactor is the loads A and B of the tables that partitions are loaded
	// into on a GPU, when nobody knows whether they fit: one above A counts as
	// full, and none exceeds B (alpha and beta of paper 003, §4.2.2). Zeros:
	// 0.5 and 0.75. For experiments.
	LoadFactor [2]float64
	// Trace gets the timeline of the run in Chrome's trace event format, a JSON
	// document that Perfetto shows; nil: nobody. It is written to while the run
	// goes on, by one goroutine at a time, and is complete once Rows is released,
	// or Run has failed. When a write fails the rest of the timeline is left out
	// and the run goes on.
	Trace io.Writer
	// Partitions, a power of two, has groups partitioned from the first row
	// on into as many partitions; 0: when it pays. For experiments.
	Partitions int
	// BatchRows is the most rows processed at a time; 0: chosen. For
	// experiments.
	BatchRows int
	// UnionByName reads a column that a file lacks as NULL.
	UnionByName bool
	// NoGPUDecoding has the CPU decode everything, and make the rows that GPUs combine. For
	// experiments.
	NoGPUDecoding bool
	// AsOf is the version of a table that is read: of Delta Lake a whole number; of Iceberg the id
	// of a snapshot, or the name of a branch or a tag; of both a time such as 2024-01-31 12:00:00,
	// of UTC if it does not say its zone. "": the latest.
	AsOf string

	// Deterministic has sums of floats, and all that is made of them, come out with the same bits
	// whatever the number of threads, devices and partitions, the memory, and the order of files
	// and rows: sums are exact, and rounded once. So it is of product, and of the choice among
	// values that come equally often. docs/semantics.md lists the aggregates.
	Deterministic bool
	// NoPruning reads all row groups, whatever their statistics say.
	NoPruning bool
	// Observer is told of progress; nil: nobody.
	Observer Observer
	// Logger is told of decisions at level debug; nil: nobody.
	Logger *slog.Logger
	// Allocator gives the memory of result records; nil: the Go heap, where
	// buffers that were released are used again for later records.
	Allocator memory.Allocator

	// Transport asks servers for inputs that are URLs; nil: one of the run's own, without a proxy.
	Transport http.RoundTripper
	// Stores are by scheme where buckets are, and who asks for them: with "s3" among them,
	// paths may be s3://BUCKET/KEY, a folder that ends with a slash, or a glob.
	Stores map[string]Store

	tuned *exec.Tuning // nil: as all runs are; tests have others
}

// Store is where the buckets of a scheme are, with the interface of S3: the Endpoint, a URL
// ("": Amazon's), and the Region ("": us-east-1); and the keys of who asks: as they
// are, or by a Finder, which is asked before each request. Without either requests are not signed.
type Store = exec.Store

// KeyFinder finds the keys of who asks a store, keeps them, and finds others before they end. It
// may be called concurrently. Keys without an AccessKey are none.
type KeyFinder = exec.KeyFinder

// Keys are what a KeyFinder finds.
type Keys = exec.Keys

// DefaultTempDir is the folder of an empty Options.TempDir: $TMPDIR, else
// /var/tmp, else that of the system for temporary files.
func DefaultTempDir() string { return exec.DefaultTempDir() }

// Progress is how far a run is. Of files, wherever they are, what is to be read is known from the
// beginning: the bytes of the wanted columns as they lie in the files, and the rows, in the row
// groups that are not excluded by their statistics. Of records, and of Arrow IPC streams, only what
// came is: the bytes of their buffers, and their rows. While a file that comes by a pipe goes to
// the temp folder nothing is told.
type Progress struct {
	Phase      Phase
	BytesDone  int64
	BytesTotal int64 // -1: not known
	RowsDone   int64
	RowsTotal  int64 // -1: not known
	// Partitions is how many partitions are to be merged once the input is read, small ones that
	// are merged together counted as one; 0: the input is read. PartitionsMerged of them have been.
	Partitions, PartitionsMerged int
	GroupsTotal                  int64 // about how many there are, before a limit; 0: not known
	Groups                       int64 // groups put out
	BytesSpilled                 int64 // written to the temp folder, as stored
}

// Phase is what a run is doing.
type Phase string

const (
	PhaseScan   Phase = "scan"   // reading and aggregating; then PhaseOutput
	PhaseOutput Phase = "output" // merging partitions and making records
)

// Observer is told how far a run is. Its method is called often, also from
// several goroutines at once, and must return quickly. Reports of several
// goroutines may come in another order than they were made in: take the greatest
// numbers. A run that begins to read again tells from zero. After the rows were
// released, or Run failed, it is not called any more.
type Observer interface {
	Progress(p Progress)
}

// exec is o for the package of runs.
func (o Options) exec() exec.Options {
	e := exec.Options{
		Threads: o.Threads, MemoryLimit: o.MemoryLimit, Slack: o.Slack, TempDir: o.TempDir, TempLimit: o.TempLimit,
		Device: o.Device, GPUs: o.GPUs.devices(), LastRun: o.LastRun, GPUMemory: o.GPUMemory, Streams: o.Streams, LoadFactor: o.LoadFactor,
		Trace: o.Trace, Partitions: o.Partitions, BatchRows: o.BatchRows, UnionByName: o.UnionByName,
		NoGPUDecoding: o.NoGPUDecoding, NoPruning: o.NoPruning, Deterministic: o.Deterministic, AsOf: o.AsOf, Logger: o.Logger, Allocator: o.Allocator, Transport: o.Transport, Stores: o.Stores, Tuning: o.tuned,
	}
	if o.Observer != nil {
		e.Observe = func(p exec.Progress) { o.Observer.Progress(progress(p)) }
	}
	return e
}

// progress is how far a run is, for an observer.
func progress(p exec.Progress) Progress {
	phase := PhaseScan
	if p.Output {
		phase = PhaseOutput
	}
	return Progress{
		Phase: phase, BytesDone: p.BytesDone, BytesTotal: p.BytesTotal, RowsDone: p.RowsDone, RowsTotal: p.RowsTotal,
		Partitions: p.Ranges, PartitionsMerged: p.Merged, GroupsTotal: p.GroupsTotal, Groups: p.Groups, BytesSpilled: p.Spilled,
	}
}
