package parquetio

import (
	"context"
	"io"
	"runtime"
	"sync"
	"unsafe"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/filepool"
	"github.com/gagg-dev/gagg/internal/invariant"
)

// Input is one thing to read: a path or a reader.
type Input struct {
	// Path is a file, a folder (all *.parquet, *.parq and *.pq below it), or
	// a glob with * ? [a-z] {a,b} and **. It is used when Reader is nil.
	Path string

	// Name stands for a reader in messages.
	Name   string
	Reader io.ReaderAt // safe for concurrent use; stays the caller's to close
	Size   int64       // bytes in Reader; of a path, what a table says of it (0: nothing)

	// Of a file of a table (Options.Table): values of columns that it lacks, by field, and rows
	// that are none of the table; nil: there are none.
	Values  []column.Value
	Deleted Deleted
}

// Options says how to open a dataset.
type Options struct {
	Limits

	// UnionByName takes a column that a file lacks as NULL. Without it such a
	// column cannot be scanned.
	UnionByName bool

	// BatchRows is the most rows of a batch; 0 means DefaultBatchRows.
	BatchRows int

	// Table has the columns of all files; the inputs are files, none of which is looked for. nil:
	// the files have them.
	Table *TableSchema

	// Pruning leaves out folders and files of the paths among the inputs; nil: nothing does.
	Pruning *Pruning
}

// DefaultBatchRows keeps a few columns of a batch within the first-level
// cache.
const DefaultBatchRows = 4096

// maxOpening is how many footers are read at once.
const maxOpening = 16

// A Dataset is several Parquet files as one table. Its methods may be called
// concurrently. The caller closes it, after the last of its readers.
type Dataset struct {
	opt   Options
	files []*dataFile
	hive  []hiveColumn
	table *table
	rows  int64
	pool  filepool.Pool

	listed account // for the list of files
}

// dataFile is a file and its place in the dataset.
type dataFile struct {
	*file
	src    *filepool.Source
	layout int
	first  int64 // row number of its first row in the dataset

	deleted Deleted // nil: no row is
}

// FileInfo describes a file of a dataset.
type FileInfo struct {
	Name      string
	Rows      int64
	RowGroups int
	Bytes     int64  // size of the file
	CreatedBy string // the writer, as it calls itself
}

// Open finds the files of all inputs, reads and checks their footers, and
// brings their schemas together. It does all of that before it fails: the
// error names every input and file that has one. A *UsageError in it is a
// mistake in naming the inputs, an *Error a fault of a file.
func Open(ctx context.Context, inputs []Input, opt Options) (_ *Dataset, err error) {
	if opt.BatchRows <= 0 {
		opt.BatchRows = DefaultBatchRows
	}
	d := &Dataset{opt: opt, listed: account{from: opt.Budget}}
	defer func() {
		if err != nil {
			_ = d.Close()
		}
	}()
	found, err := d.list(ctx, inputs)
	if err == nil && len(found) == 0 && opt.Table == nil {
		err = &UsageError{"no input files"}
	}
	if err != nil {
		// The files that were found are not opened: they may be many.
		return nil, err
	}
	if err := d.openFiles(ctx, found); err != nil {
		return nil, err
	}
	paths := make([]string, len(found))
	for i, in := range found {
		paths[i] = in.Path
	}
	if opt.Table != nil {
		d.hive = tableConstants(opt.Table, found)
	} else if d.hive, err = hiveColumns(paths, opt.Pruning.known()); err != nil {
		return nil, err
	}
	if err := d.unify(); err != nil {
		return nil, err
	}
	return d, nil
}

// list finds the files. Those of a table are known.
func (d *Dataset) list(ctx context.Context, inputs []Input) ([]Input, error) {
	if d.opt.Table == nil {
		return listInputs(ctx, inputs, &d.listed, d.opt.Pruning)
	}
	for i := range inputs {
		size := fileBytes + 2*int64(len(inputs[i].Path)) + int64(len(d.opt.Table.Fields))*int64(unsafe.Sizeof(column.Value{}))
		if err := d.listed.draw(size, "a list of files"); err != nil {
			return nil, err
		}
	}
	return inputs, nil
}

// openFiles reads the footers, several at a time.
func (d *Dataset) openFiles(ctx context.Context, found []Input) error {
	d.files = make([]*dataFile, len(found))
	errs := make([]error, len(found))
	for i, in := range found {
		d.files[i] = &dataFile{src: d.pool.File(in.Path)}
		if in.Reader != nil {
			d.files[i].src = d.pool.Reader(in.Reader)
		}
		d.files[i].deleted = in.Deleted
	}
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(len(found), maxOpening, 2*runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := range next {
				d.files[i].file, errs[i] = openInput(d.files[i].src, found[i], d.opt.Limits)
			}
		})
	}
	for i := range found {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	return joinErrors(errs)
}

func openInput(src *filepool.Source, in Input, lim Limits) (f *file, err error) {
	defer invariant.Fence(&err, damagedIn(in.Name))
	size, err := src.Size(in.Size)
	if err != nil {
		return nil, pathError(in.Name, err)
	}
	if in.Size > 0 && in.Size != size {
		return nil, fileError(in.Name, "damaged: %d bytes, where the table says %d", size, in.Size)
	}
	return openFile(in.Name, src, size, lim)
}

// unify numbers the rows of all files and makes one table of their columns.
func (d *Dataset) unify() error {
	d.table = newTable()
	if d.opt.Table != nil {
		d.table.declare(d.opt.Table)
	}
	for i, f := range d.files {
		if f.rows > maxRows-d.rows {
			return fileError(f.name, "damaged: more rows than can be counted, with those of the files before it")
		}
		f.first = d.rows
		d.rows += f.rows
		if d.opt.Table != nil {
			if err := d.table.identify(f.leaves); err != nil {
				return &Error{File: f.name, RowGroup: -1, Err: err}
			}
			d.table.adapt(f.leaves)
		}
		f.layout = d.table.add(d.files, i)
	}
	if d.opt.Table == nil {
		d.table.addHive(d.hive)
	}
	return nil
}

// maxRows is how many rows a dataset may have: their numbers are kept in 62 bits.
const maxRows = 1 << 62

// Schema returns the columns of all files, nested ones by their leaves, and
// those of the folder names. A column whose values cannot be read is
// there too, and so is one whose types do not agree, with the type of the first
// file; Find and Scan tell what is wrong.
func (d *Dataset) Schema() column.Schema {
	s := column.Schema{Fields: make([]column.Field, len(d.table.cols))}
	for i, c := range d.table.cols {
		s.Fields[i] = column.Field{Name: c.name, Type: c.typ}
		if c.typ == (column.Type{Kind: column.String}) {
			s.Fields[i].Type.Form = c.form
		}
	}
	return s
}

// Widen gives decimal columns digits, by field, where their types have fewer.
// It is called before the first Scan.
func (d *Dataset) Widen(digits map[int]int) {
	for i, n := range digits {
		if t := &d.table.cols[i].typ; t.Kind == column.Decimal {
			t.Precision = max(t.Precision, uint8(n))
		}
	}
}

// Find returns the index in the schema of the column that name means: its
// name, exactly or, if only one fits, without regard to case; the dotted path
// of a nested column; or # and a position counted from 1. The error is a
// *ColumnError.
func (d *Dataset) Find(name string) (int, error) { return d.table.find(name) }

// Rows is the number of rows in all files, by their footers.
func (d *Dataset) Rows() int64 { return d.rows }

// Files describes the files in the order in which they are read.
func (d *Dataset) Files() []FileInfo {
	infos := make([]FileInfo, len(d.files))
	for i, f := range d.files {
		infos[i] = FileInfo{Name: f.name, Rows: f.rows, RowGroups: len(f.groups), Bytes: f.size, CreatedBy: f.meta.CreatedBy}
	}
	return infos
}

// Close closes all files and gives the memory of their footers back to the
// budget. It may be called again.
func (d *Dataset) Close() error {
	d.pool.Close()
	for _, f := range d.files {
		if f.file != nil { // else it could not be opened
			f.metadata.close()
		}
	}
	d.listed.close()
	return nil
}

// unchanged compares all files with what they were when they were opened.
func (d *Dataset) unchanged() error {
	errs := make([]error, len(d.files))
	for i, f := range d.files {
		if err := f.src.Unchanged(); err != nil {
			errs[i] = pathError(f.name, err)
		}
	}
	return joinErrors(errs)
}
