package input

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gagg-dev/gagg/internal/arrowio"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/filepool"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// openFiles opens files, all of them Parquet or all of them Arrow IPC.
func openFiles(ctx context.Context, inputs []parquetio.Input, o Options, from budget.Lender, pruning *parquetio.Pruning) (Input, error) {
	in, err := openParquet(ctx, inputs, o, from, pruning)
	var fault *parquetio.Error
	if err == nil || !errors.As(err, &fault) {
		return in, err
	}
	pool := new(filepool.Pool)
	files, mixed := arrowFiles(ctx, inputs, pool)
	switch {
	case mixed != nil:
		err = mixed
	case len(files) > 0:
		return openArrow(ctx, files, pool, o, from)
	} // else what Parquet's reader says is the better message
	pool.Close()
	return nil, err
}

// arrowFiles are the files of inputs if the first that is no Parquet file is Arrow IPC. It is an
// error if there are files of both kinds.
func arrowFiles(ctx context.Context, inputs []parquetio.Input, pool *filepool.Pool) (files []*arrowFile, err error) {
	var parquet, arrow string
	for _, in := range inputs {
		found := []string{in.Path}
		if in.Reader == nil {
			if found, err = parquetio.List(ctx, []string{in.Path}); err != nil {
				return nil, nil //nolint:nilerr // told already
			}
		}
		for _, path := range found {
			f := &arrowFile{name: path, src: pool.File(path)}
			if in.Reader != nil {
				f.name, f.src = in.Name, pool.Reader(in.Reader)
			}
			if f.size, err = f.src.Size(in.Size); err != nil {
				return nil, nil //nolint:nilerr // as above
			}
			switch f.announced(); f.kind() {
			case parquetMagic:
				parquet = f.name
			case arrowMagic:
				arrow = f.name
			default:
				return nil, nil
			}
			files = append(files, f)
		}
	}
	switch {
	case arrow == "":
		return nil, nil
	case parquet != "":
		return nil, &Error{fmt.Errorf("%s is Arrow IPC and %s is Parquet: a table has files of one kind", arrow, parquet)}
	}
	return files, nil
}

// arrowFile is an Arrow IPC file, or a stream in one.
type arrowFile struct {
	*arrowio.File
	name   string
	src    *filepool.Source
	size   int64
	first  int64 // row number of its first row
	leaves []int // by column of the table: its own; noLeaf
	own    []column.Leaf
}

const noLeaf = -1

// headBytes is about how much stands before the records: the first bytes, and the schema.
const headBytes = 16 << 10

// far is the reader of a file that is far away; nil: it is not.
func (f *arrowFile) far() parquetio.Far {
	far, _ := f.src.Given().(parquetio.Far)
	return far
}

// announced says that the file's beginning is read, until it is open.
func (f *arrowFile) announced() {
	if far := f.far(); far != nil {
		far.Want(arrowio.HeadPart, [][2]int64{{0, min(headBytes, f.size)}}, true, true)
	}
}

// open reads the index.
func (f *arrowFile) open(from budget.Lender) (err error) {
	r := io.ReaderAt(f.src)
	if far := f.far(); far != nil {
		r = far
		defer far.Done(arrowio.HeadPart)
	}
	f.File, err = arrowio.Open(r, f.size, from)
	return err
}

// kind tells a file by its first bytes: parquetMagic, arrowMagic, or "".
func (f *arrowFile) kind() string {
	var start [8]byte
	_, err := f.src.ReadAt(start[:], 0)
	switch text := string(start[:]); {
	case err != nil:
	case text[:4] == parquetMagic:
		return parquetMagic
	case text[:6] == arrowMagic, text[:4] == "\xFF\xFF\xFF\xFF":
		return arrowMagic
	}
	return ""
}

// failure says of which file an error is. What looks like damage may be a file that another process
// writes to.
func (f *arrowFile) failure(err error) error {
	if f.src.Unchanged() != nil {
		err = filepool.ErrChanged
	}
	if budget.Refusal(err, budget.Memory) != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	return &Error{fmt.Errorf("%s: %w", f.name, err)}
}

// openArrow makes one table of files.
func openArrow(ctx context.Context, files []*arrowFile, pool *filepool.Pool, o Options, from budget.Lender) (_ Input, err error) {
	in := &arrowInput{files: files, pool: pool, from: from, leafTable: leafTable{of: "the input"}}
	defer func() {
		if err != nil {
			_ = in.Close()
		}
	}()
	for _, f := range files {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err = f.open(from); err != nil {
			return nil, f.failure(err)
		}
		f.first = in.rows
		for i := range f.Records() {
			in.units = append(in.units, arrowUnit{file: f, record: i, first: in.rows})
			in.rows += f.Rows(i)
		}
		f.own = column.Leaves(f.Schema)
	}
	in.states = statesOfSchema(in.files[0].Schema)
	in.unify(o.UnionByName)
	return in, nil
}
