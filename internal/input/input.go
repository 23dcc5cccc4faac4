// Package input gives what a query reads one form, a table of columns, whether it is Parquet files
// or Arrow records: sources are opened, and scanned. A scan tells what is known of its columns
// before any row is read, for plans, and makes a reader for each worker.
package input

import (
	"context"
	"io"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/parquetio"
	"github.com/gagg-dev/gagg/internal/query"
	"github.com/gagg-dev/gagg/internal/remote"
)

// Source is what a query reads, before it is opened.
type Source interface {
	// Open draws the memory of the input, and of its scans, from a lender; nil: there is no limit.
	Open(ctx context.Context, o Options, from budget.Lender) (Input, error)
}

// Options says how a source is opened.
type Options struct {
	UnionByName bool // a column that a file lacks is NULL
	BatchRows   int  // the most rows of a batch; 0: chosen

	AsOf string // the version of a table of Delta Lake or Iceberg; "": the latest
	// Excludes makes a test of what the query rules out before files are opened, by bounds of the
	// columns by their place in the schema; its answer may be nil. nil: nothing is.
	Excludes func(query.Columns) func(bounds func(i int) column.Bounds) bool

	// Folders is what the query says of values that folders are named after; nil: nothing.
	Folders parquetio.Bind

	Temp   *Temp          // for what comes by pipes; nil: nothing may
	Remote *remote.Client // asks servers; nil: nobody does
}

// Input is an open source: a table of columns. Who has opened it closes it.
type Input interface {
	query.Columns
	Widen(digits map[int]int) // by column of the schema: a decimal has so many at least
	Scan(o parquetio.ScanOptions) (Scan, error)
	sizes() Description // without columns
	io.Closer
}

// Scan is the reading of some columns of an input. Columns are numbered as they are in the scan.
type Scan interface {
	Units() int
	RowGroups() int // that they are, or are parts of
	// Split has units, of least bytes or more, be parts of row groups where it takes that to keep
	// so many workers busy.
	Split(workers int, least int64)
	UnitBytes(unit int) int64
	Facts() Facts

	// Ends is from where to where the values of a column are, as far as known.
	Ends(col int) (least, most column.Value, ok bool)
	Filled(col int) bool     // the column has no NULL, as far as known
	DictAll(col int) bool    // it is dictionary-coded throughout, as far as known
	DictEntries(col int) int // the most entries of a dictionary; -1: not known
	DictBytes(col int) int64 // bytes of all dictionaries together, about; -1: not known
	// DictRepeats is what share of the entries of a dictionary others have too, if that can be
	// told.
	DictRepeats(col int) (share float64, ok bool)
	TextLength(col int) (bytes int, ok bool) // what most texts have at most, if that can be told
	Int96(col int) bool                      // it holds timestamps that may not fit

	// Encoded tells how a column is stored, if devices can decode it.
	Encoded(col int) (t parquetio.EncodedType, ok bool)
	EncodedUnit(unit int) (u parquetio.EncodedUnit, ok bool) // what the metadata tells of one

	// Observe has observe called with what is read as it comes, by any goroutine; false: it is
	// never called, since the sizes of units are known.
	Observe(observe func(bytes, rows int64)) bool

	WorkerBytes() int64 // what a reader takes, about
	Reader() cpu.Reader
	SkippedInside() (pages, rows int64) // what readers skipped inside units
	Unchanged() error                   // the input is still what it was when it was opened
	Rereadable() bool                   // it can be read once more
}

// Facts is what a scan will read and what it need not.
type Facts struct {
	Rows, Bytes                              int64 // Rows is -1 if not known
	Plain                                    int64 // Bytes decompressed, about
	Slow                                     int64 // of Plain: out of codecs that take several times as long as Snappy
	SkippedGroups, SkippedRows, SkippedBytes int64
	// not looked into, and not opened: their names ruled them out
	SkippedFolders, SkippedFiles int
}
