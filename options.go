package gagg

import (
	"log/slog"
	"runtime"

	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gagg-dev/gagg/internal/spill"
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
	// TempDir is an existing folder for what does not fit in memory, which
	// must be usable from the start; "": DefaultTempDir, which need only be
	// usable if it is needed. Nothing is left in it.
	TempDir string
	// TempLimit is the most bytes that may lie there; 0: no limit. A query
	// that needs more ends with ErrBudget.
	TempLimit int64
	// Partitions, a power of two, has groups partitioned from the first row
	// on into as many partitions; 0: when it pays. For experiments.
	Partitions int
	// BatchRows is the most rows processed at a time; 0: chosen. For
	// experiments.
	BatchRows int
	// UnionByName reads a column that a file lacks as NULL.
	UnionByName bool
	// NoPruning reads all row groups, whatever their statistics say.
	NoPruning bool
	// Observer is told of progress; nil: nobody.
	Observer Observer
	// Logger is told of decisions at level debug; nil: nobody.
	Logger *slog.Logger
	// Allocator gives the memory of result records; nil: the Go heap.
	Allocator memory.Allocator
}

// DefaultTempDir is the folder of an empty Options.TempDir: $TMPDIR, else
// /var/tmp, else that of the system for temporary files.
func DefaultTempDir() string { return spill.DefaultDir() }

// Progress is how far a run is.
type Progress struct {
	Phase      Phase
	BytesDone  int64 // compressed bytes of the wanted columns that were read
	BytesTotal int64 // of those that will be
	RowsDone   int64
	Groups     int64 // groups put out
}

// Phase is what a run is doing.
type Phase string

const (
	PhaseScan   Phase = "scan"   // reading and aggregating; then PhaseOutput
	PhaseOutput Phase = "output" // merging partitions and making records
)

// Observer is told how far a run is. Its method is called often, also from
// several goroutines at once, and must return quickly.
type Observer interface {
	Progress(p Progress)
}

func (o Options) threads() int {
	if o.Threads > 0 {
		return o.Threads
	}
	return runtime.GOMAXPROCS(0)
}

func (o Options) allocator() memory.Allocator {
	if o.Allocator != nil {
		return o.Allocator
	}
	return memory.NewGoAllocator()
}

func (o Options) logger() *slog.Logger {
	if o.Logger != nil {
		return o.Logger
	}
	return slog.New(slog.DiscardHandler)
}

// validate reports every problem of the options.
func (o Options) validate() error {
	var p problems
	if o.Threads < 0 {
		p.add("threads: %d is negative", o.Threads)
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
	return p.err()
}
