package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/filepool"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// FS reads files of fsys, by the rules of Files. Those that can only be read from their beginning,
// as in a ZIP archive, go to the temp folder first.
func FS(fsys fs.FS, paths ...string) Source { return &fsSource{fsys, paths} }

type fsSource struct {
	fsys  fs.FS
	paths []string
}

// fsFile is a file that was kept, for Temp.
type fsFile struct {
	of   *fsSource
	name string
}

func (s *fsSource) Open(ctx context.Context, o Options, from budget.Lender) (_ Input, err error) {
	if s.fsys == nil || len(s.paths) == 0 {
		return nil, usagef("no input: name a file system and a file, a folder or a glob of it")
	}
	names, err := until(ctx, func() ([]string, error) { return parquetio.ListFS(s.fsys, s.paths) })
	if err != nil {
		return nil, err
	}
	pool := new(filepool.Pool)
	defer func() {
		if err != nil {
			pool.Close()
		}
	}()
	inputs := make([]parquetio.Input, len(names))
	if err := filepool.Each(len(names), func(i int) (err error) {
		inputs[i], err = s.open(ctx, names[i], pool, o, from)
		return err
	}); err != nil {
		return nil, err
	}
	in, err := openFiles(ctx, inputs, o, from, nil)
	if err != nil {
		return nil, err
	}
	return &pooledInput{in, pool}, nil
}

// open looks at a file.
func (s *fsSource) open(ctx context.Context, name string, pool *filepool.Pool, o Options, from budget.Lender) (in parquetio.Input, err error) {
	in = parquetio.Input{Name: name, Path: name}
	if f := o.Temp.Spooled(fsFile{s, name}); f != nil {
		in.Reader, in.Size = f, f.Size()
		return in, nil
	}
	src := pool.FS(s.fsys, name)
	in.Size, err = until(ctx, func() (int64, error) { return src.Size(0) })
	switch {
	case err == nil:
		in.Reader = watch(ctx, from, name, src)
		return in, nil
	case ctx.Err() != nil:
		return in, context.Cause(ctx)
	case !errors.Is(err, filepool.ErrNotRegular):
		return in, &Error{fmt.Errorf("%s: %w", name, &SourceError{name, filepool.WithoutPath(err)})}
	}
	f, err := o.Temp.Spool(ctx, fsFile{s, name}, name, interruptible(ctx, &openedReader{open: func() (io.ReadCloser, error) { return s.fsys.Open(name) }}), from)
	if err != nil {
		return in, err
	}
	in.Reader, in.Size = f, f.Size()
	return in, nil
}

// pooledInput is an input whose files are in a pool.
type pooledInput struct {
	Input
	pool *filepool.Pool
}

// Close closes the input, and then its files.
func (p *pooledInput) Close() error {
	err := p.Input.Close()
	p.pool.Close()
	return err
}
