package gagg

import (
	"context"
	"io"

	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/parquetio"
	"github.com/gagg-dev/gagg/internal/query"
)

// Source is what a query reads: Files, Parquet or Records.
type Source interface {
	// open draws the memory of the input, and of its scans, from grow: see
	// budget. nil: there is no budget.
	open(ctx context.Context, o Options, grow func(bytes int64) error) (input, error)
}

// input is an open source: a table of columns.
type input interface {
	query.Columns
	widen(digits map[int]int) // by column of the schema: a decimal has so many at least
	scan(o parquetio.ScanOptions) (scan, error)
	describe() Description
	io.Closer
}

// scan is the reading of some columns of an input.
type scan interface {
	units() int
	rowGroups() int                 // that they are, or are parts of
	split(workers int, least int64) // has them, of least bytes or more, be parts of row groups where it takes that to keep so many workers busy
	unitBytes(i int) int64
	facts() scanFacts
	// ends is from where to where the values of column col of the scan are, as far as known.
	ends(col int) (least, most column.Value, ok bool)
	filled(col int) bool     // column col of the scan has no NULL, as far as known
	dictAll(col int) bool    // column col of the scan is dictionary-coded throughout, as far as known
	dictEntries(col int) int // the most entries of a dictionary, -1: not known
	dictBytes(col int) int64 // bytes of all dictionaries together, about, -1: not known
	// dictRepeats is what share of the entries of a dictionary others have too, if that can be told.
	dictRepeats(col int) (share float64, ok bool)
	textLength(col int) (bytes int, ok bool) // what most texts have at most, if that can be told
	workerBytes() int64                      // what a reader takes, about
	int96(col int) bool                      // column col of the scan holds timestamps that may not fit (boundedTimes)
	// encoded tells how column col of the scan is stored, if devices can decode it.
	encoded(col int) (t parquetio.EncodedType, ok bool)
	encodedUnit(i int) (u parquetio.EncodedUnit, ok bool) // what the metadata tells of one
	passed() (pages, rows int64)                          // what readers left out of units
	reader() cpu.Reader
	unchanged() error // the input is still what it was when it was opened
	again() bool      // it can be read once more
}

// scanFacts is what a scan will read and what it need not.
type scanFacts struct {
	rows, bytes                             int64 // rows is -1 if not known
	skippedGroups, skippedRows, skippedByte int64
}

// Files reads Parquet files: paths, globs (** and {a,b} too) and directories
// with all Parquet files below them. Names like year=2024 in their paths
// become columns. Many files are one table, columns matched by name.
func Files(paths ...string) Source { return fileSource(paths) }

type fileSource []string

func (s fileSource) open(ctx context.Context, o Options, grow func(int64) error) (input, error) {
	if len(s) == 0 {
		return nil, usagef("no input: name a Parquet file, a directory or a glob")
	}
	inputs := make([]parquetio.Input, len(s))
	for i, p := range s {
		inputs[i].Path = p
	}
	return openParquet(ctx, inputs, o, grow)
}

// ListFiles tells which files a source of Files with these paths reads.
func ListFiles(ctx context.Context, paths ...string) ([]string, error) {
	files, err := parquetio.List(ctx, paths)
	return files, classify(err)
}

// Parquet reads one Parquet file of size bytes from r; errors call it name.
func Parquet(name string, r io.ReaderAt, size int64) Source {
	return readerSource{Name: name, Reader: r, Size: size}
}

type readerSource parquetio.Input

func (s readerSource) open(ctx context.Context, o Options, grow func(int64) error) (input, error) {
	return openParquet(ctx, []parquetio.Input{parquetio.Input(s)}, o, grow)
}

func openParquet(ctx context.Context, inputs []parquetio.Input, o Options, grow func(int64) error) (input, error) {
	d, err := parquetio.Open(ctx, inputs, parquetio.Options{
		Limits: parquetio.Limits{Grow: grow}, UnionByName: o.UnionByName, BatchRows: o.BatchRows,
	})
	if err != nil {
		return nil, err
	}
	return &parquetInput{d}, nil
}

type parquetInput struct{ d *parquetio.Dataset }

func (p *parquetInput) Schema() column.Schema         { return p.d.Schema() }
func (p *parquetInput) Find(name string) (int, error) { return p.d.Find(name) }
func (p *parquetInput) widen(digits map[int]int)      { p.d.Widen(digits) }
func (p *parquetInput) Close() error                  { return p.d.Close() }

func (p *parquetInput) describe() Description {
	var d Description
	for _, f := range p.d.Files() {
		d.Files++
		d.Rows += f.Rows
		d.RowGroups += f.RowGroups
		d.Bytes += f.Bytes
	}
	return d
}

func (p *parquetInput) scan(o parquetio.ScanOptions) (scan, error) {
	s, err := p.d.Scan(o)
	if err != nil {
		return nil, err
	}
	return &parquetScan{s, s.Units()}, nil
}

type parquetScan struct {
	s    *parquetio.Scan
	list []parquetio.Unit
}

func (p *parquetScan) units() int                                       { return len(p.list) }
func (p *parquetScan) rowGroups() int                                   { return p.s.RowGroups() }
func (p *parquetScan) unitBytes(i int) int64                            { return p.list[i].Bytes }
func (p *parquetScan) filled(col int) bool                              { return p.s.Filled(col) }
func (p *parquetScan) ends(col int) (least, most column.Value, ok bool) { return p.s.Ends(col) }
func (p *parquetScan) dictAll(col int) bool                             { return p.s.DictAll(col) }
func (p *parquetScan) dictEntries(col int) int                          { return p.s.DictEntries(col) }

func (p *parquetScan) dictBytes(col int) int64 { return p.s.DictBytes(col) }

func (p *parquetScan) dictRepeats(col int) (float64, bool) { return p.s.DictRepeats(col) }

func (p *parquetScan) textLength(col int) (int, bool) { return p.s.TextLength(col) }
func (p *parquetScan) workerBytes() int64             { return p.s.WorkerBytes() }
func (p *parquetScan) int96(col int) bool             { return p.s.Int96(col) }
func (p *parquetScan) passed() (pages, rows int64)    { return p.s.Passed() }
func (p *parquetScan) reader() cpu.Reader             { return p.s.NewReader() }
func (p *parquetScan) unchanged() error               { return p.s.Unchanged() }
func (p *parquetScan) again() bool                    { return true }

func (p *parquetScan) encodedUnit(i int) (parquetio.EncodedUnit, bool) { return p.s.EncodedUnit(i) }
func (p *parquetScan) encoded(col int) (parquetio.EncodedType, bool)   { return p.s.Encoded(col) }

func (p *parquetScan) split(workers int, least int64) {
	p.s.Split(workers, least)
	p.list = p.s.Units()
}

func (p *parquetScan) facts() (f scanFacts) {
	for i := range p.list {
		f.rows += p.list[i].Rows
		f.bytes += p.list[i].Bytes
	}
	groups, rows, bytes := p.s.Skipped()
	f.skippedGroups, f.skippedRows, f.skippedByte = int64(groups), rows, bytes
	return f
}

// Records reads Arrow records. They are read once: a query from them cannot
// be run a second time. The caller keeps the reader and releases it after
// the run.
func Records(r array.RecordReader) Source { return recordSource{r} }

type recordSource struct{ r array.RecordReader }

func (s recordSource) open(_ context.Context, _ Options, grow func(int64) error) (input, error) {
	return newRecordInput(s.r, grow)
}
