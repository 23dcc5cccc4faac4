package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/gagg-dev/gagg/internal/arrowio"
	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// openFiles opens files, all of them Parquet or all of them Arrow IPC.
func openFiles(ctx context.Context, inputs []parquetio.Input, o Options, from budget.Lender) (Input, error) {
	in, err := openParquet(ctx, inputs, o, from)
	var fault *parquetio.Error
	if err == nil || !errors.As(err, &fault) {
		return in, err
	}
	files, mixed := arrowFiles(ctx, inputs)
	switch {
	case mixed != nil:
		return nil, mixed
	case len(files) == 0: // what Parquet's reader says is the better message
		return nil, err
	}
	return openArrow(ctx, files, o, from)
}

// arrowFiles are the files of inputs if the first that is no Parquet file is Arrow IPC. It is an
// error if there are files of both kinds.
func arrowFiles(ctx context.Context, inputs []parquetio.Input) (files []*arrowFile, err error) {
	var parquet, arrow string
	for _, in := range inputs {
		found := []string{in.Path}
		if in.Reader == nil {
			if found, err = parquetio.List(ctx, []string{in.Path}); err != nil {
				return nil, nil //nolint:nilerr // told already
			}
		}
		for _, path := range found {
			f := &arrowFile{name: path, path: path, reader: in.Reader, size: in.Size}
			if in.Reader != nil {
				f.name = in.Name
			}
			switch f.kind() {
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
	path   string
	reader io.ReaderAt // in place of a path
	size   int64
	info   os.FileInfo // as it was when it was opened; nil: a reader
	first  int64       // row number of its first row
	leaves []int       // by column of the table: its own; noLeaf
	own    []column.Leaf
}

const noLeaf = -1

// kind tells a file by its first bytes: parquetMagic, arrowMagic, or "".
func (f *arrowFile) kind() string {
	var start [8]byte
	done, err := f.with(func(r io.ReaderAt) error {
		_, err := r.ReadAt(start[:], 0)
		return err
	})
	defer done()
	switch text := string(start[:]); {
	case err != nil:
	case text[:4] == parquetMagic:
		return parquetMagic
	case text[:6] == arrowMagic, text[:4] == "\xFF\xFF\xFF\xFF":
		return arrowMagic
	}
	return ""
}

var errChanged = errors.New("changed while it was read; run again when nothing writes to it")

// with calls do with the open file, which done closes.
func (f *arrowFile) with(do func(r io.ReaderAt) error) (done func(), err error) {
	if f.reader != nil {
		return func() {}, do(f.reader)
	}
	h, err := os.Open(f.path)
	if err != nil {
		return func() {}, err
	}
	done = func() { _ = h.Close() } // only read from: nothing can be lost
	info, err := h.Stat()
	switch {
	case err != nil:
	case f.info == nil:
		f.info, f.size = info, info.Size()
	case !same(f.info, info):
		err = errChanged
	}
	if err == nil {
		err = do(h)
	}
	return done, err
}

func same(then, now os.FileInfo) bool {
	return os.SameFile(then, now) && then.Size() == now.Size() && then.ModTime().Equal(now.ModTime())
}

// failure says of which file an error is.
func (f *arrowFile) failure(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	if budget.Refusal(err, budget.Memory) != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	return &Error{fmt.Errorf("%s: %w", f.name, err)}
}

// openArrow makes one table of files.
func openArrow(ctx context.Context, files []*arrowFile, o Options, from budget.Lender) (_ Input, err error) {
	in := &arrowInput{files: files, from: from, leafTable: leafTable{of: "the input"}}
	defer func() {
		if err != nil {
			_ = in.Close()
		}
	}()
	for _, f := range files {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		done, err := f.with(func(r io.ReaderAt) (err error) {
			f.File, err = arrowio.Open(r, f.size, from)
			return err
		})
		done()
		if err != nil {
			return nil, f.failure(err)
		}
		f.first = in.rows
		for i := range f.Records() {
			in.units = append(in.units, arrowUnit{file: f, record: i, first: in.rows})
			in.rows += f.Rows(i)
		}
		f.own = column.Leaves(f.Schema)
	}
	in.unify(o.UnionByName)
	return in, nil
}
