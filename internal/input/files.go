package input

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/filepool"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// Files reads Parquet or Arrow IPC files: paths, globs (** and {a,b} too) and directories
// with all Parquet files below them. Names like year=2024 in their paths
// become columns. Many files are one table, columns matched by name. What comes by a pipe (a FIFO)
// is read once, and told by its first bytes, as in Stream.
func Files(paths ...string) Source { return fileSource(paths) }

type fileSource []string

func (s fileSource) Open(ctx context.Context, o Options, from budget.Lender) (Input, error) {
	if len(s) == 0 {
		return nil, usagef("no input: name a Parquet file, a directory or a glob")
	}
	if len(s) == 1 && isPipe(s[0]) {
		return openPipe(ctx, s[0], s[0], opened(s[0]), o, from)
	}
	w := &web{ctx: ctx, o: o, from: from}
	table, err := s.table(w)
	if err != nil {
		return nil, err
	}
	if table != nil {
		in, err := table.open()
		if err != nil {
			w.rest()
			return nil, err
		}
		return &remoteInput{in, w}, nil
	}
	pruning := s.pruning(w)
	in, err := s.open(w, pruning)
	if folders, files := pruning.Counts(); folders+files > 0 && err == nil && !isParquet(in) && s.far(w) > 0 {
		err = in.Close() // folder names are no columns of Arrow files
		if err == nil {
			in, err = s.open(w, nil)
		}
	}
	return in, err
}

// open opens the files, less what is pruned.
func (s fileSource) open(w *web, pruning *parquetio.Pruning) (Input, error) {
	paths, err := w.list(s, pruning)
	if err != nil {
		return nil, err
	}
	inputs, err := fileSource(paths).inputs(w)
	if err == nil {
		var in Input
		if in, err = openFiles(w.ctx, inputs, w.o, w.from, pruning); err == nil && len(w.objects) > 0 {
			return &remoteInput{in, w}, nil
		} else if err == nil {
			return in, nil
		}
	}
	w.rest()
	return nil, err
}

// far is how many of the paths are on servers.
func (s fileSource) far(w *web) (n int) {
	for _, p := range s {
		if isHTTP(p) || w.o.Remote.Stores(p) {
			n++
		}
	}
	return n
}

// pruning leaves out files by their names; nil: nothing does. All files of a union are asked for
// their columns, and pipes have no names.
func (s fileSource) pruning(w *web) *parquetio.Pruning {
	far := s.far(w)
	if w.o.UnionByName || far > 0 && far < len(s) || far == 0 && slices.ContainsFunc(s, isPipe) {
		return nil
	}
	return parquetio.NewPruning(w.o.Folders)
}

func isParquet(in Input) bool {
	if r, ok := in.(*remoteInput); ok {
		in = r.Input
	}
	_, is := in.(*parquetInput)
	return is
}

// inputs are the paths for those who read files: what comes by a pipe is kept, those on servers are
// opened. Pipes all at once, since one process may write to several.
func (s fileSource) inputs(w *web) ([]parquetio.Input, error) {
	inputs := make([]parquetio.Input, len(s))
	var far, pipes []int
	for i, p := range s {
		local, err := localPath(p)
		if err != nil {
			return nil, err
		}
		switch inputs[i].Path = local; {
		case isHTTP(p), w.o.Remote.Stores(p):
			far = append(far, i)
		case isPipe(local):
			pipes = append(pipes, i)
		}
	}
	var wait sync.WaitGroup
	errs := make([]error, len(pipes)+1)
	for n, i := range pipes {
		wait.Go(func() { inputs[i], errs[n] = w.keepPipe(inputs[i].Path) })
	}
	errs[len(pipes)] = filepool.Each(len(far), func(n int) (err error) {
		inputs[far[n]], err = w.open(s[far[n]])
		return err
	})
	wait.Wait()
	return inputs, errors.Join(errs...)
}

// keepPipe keeps what comes by a pipe.
func (w *web) keepPipe(path string) (in parquetio.Input, err error) {
	f := w.o.Temp.Spooled(path)
	if f == nil {
		f, err = w.o.Temp.Spool(w.ctx, path, path, interruptible(w.ctx, opened(path)), w.from)
	}
	if err != nil {
		return in, err
	}
	return parquetio.Input{Name: path, Reader: f, Size: f.Size()}, nil
}

// isPipe reports whether a path is a pipe: a FIFO, or what a shell makes of <(…).
func isPipe(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}

// opened reads the file at a path, which it opens when it is first read from: a FIFO waits for who
// writes to it.
func opened(path string) io.Reader {
	return &openedReader{open: func() (io.ReadCloser, error) { return os.Open(path) }}
}

type openedReader struct {
	open func() (io.ReadCloser, error)
	f    io.ReadCloser
}

func (r *openedReader) Read(p []byte) (n int, err error) {
	if r.f == nil {
		if r.f, err = r.open(); err != nil {
			return 0, err
		}
	}
	if n, err = r.f.Read(p); err != nil {
		_ = r.f.Close() // only read from: nothing can be lost
	}
	return n, err
}

// ListFiles tells which files a source of Files with these paths reads.
func ListFiles(ctx context.Context, paths ...string) ([]string, error) {
	return parquetio.List(ctx, paths)
}

// File is a reader, its size, its name in messages, and the path whose folders may be columns.
type File = parquetio.Input

// Readers reads Parquet or Arrow IPC files out of readers, as one table.
func Readers(files ...File) Source { return readerSource(files) }

type readerSource []File

func (s readerSource) Open(ctx context.Context, o Options, from budget.Lender) (Input, error) {
	inputs := make([]parquetio.Input, len(s))
	for i, in := range s {
		if in.Reader == nil {
			return nil, usagef("%s: there is no reader", in.Name)
		}
		in.Reader = watch(ctx, from, in.Name, in.Reader)
		inputs[i] = in
	}
	if len(inputs) == 0 {
		return nil, usagef("no input: name a reader")
	}
	return openFiles(ctx, inputs, o, from, nil)
}

func openParquet(ctx context.Context, inputs []parquetio.Input, o Options, from budget.Lender, pruning *parquetio.Pruning) (Input, error) {
	d, err := parquetio.Open(ctx, inputs, parquetio.Options{
		Limits: parquetio.Limits{Budget: from}, UnionByName: o.UnionByName, BatchRows: o.BatchRows, Pruning: pruning,
	})
	if err != nil {
		return nil, err
	}
	return &parquetInput{d, pruning}, nil
}

type parquetInput struct {
	d       *parquetio.Dataset
	pruning *parquetio.Pruning // nil: no file was left out by its name
}

func (p *parquetInput) Schema() column.Schema         { return p.d.Schema() }
func (p *parquetInput) Find(name string) (int, error) { return p.d.Find(name) }
func (p *parquetInput) Widen(digits map[int]int)      { p.d.Widen(digits) }
func (p *parquetInput) Close() error                  { return p.d.Close() }

func (p *parquetInput) sizes() Description {
	var d Description
	for _, f := range p.d.Files() {
		d.Files++
		d.Rows += f.Rows
		d.RowGroups += f.RowGroups
		d.Bytes += f.Bytes
	}
	return d
}

func (p *parquetInput) Scan(o parquetio.ScanOptions) (Scan, error) {
	s, err := p.d.Scan(o)
	if err != nil {
		return nil, err
	}
	return &parquetScan{s, s.Units(), p.pruning}, nil
}

// parquetScan is a scan of Parquet files: most of it is that of package parquetio as it is.
type parquetScan struct {
	*parquetio.Scan
	list    []parquetio.Unit
	pruning *parquetio.Pruning
}

func (p *parquetScan) Units() int               { return len(p.list) }
func (p *parquetScan) UnitBytes(unit int) int64 { return p.list[unit].Bytes }
func (p *parquetScan) Reader() cpu.Reader       { return p.NewReader() }
func (p *parquetScan) Rereadable() bool         { return true }

// Observe leaves it to units.
func (p *parquetScan) Observe(func(bytes, rows int64)) bool { return false }

func (p *parquetScan) Split(workers int, least int64) {
	p.Scan.Split(workers, least)
	p.list = p.Scan.Units()
}

func (p *parquetScan) Facts() (f Facts) {
	for i := range p.list {
		f.Rows += p.list[i].Rows
		f.Bytes += p.list[i].Bytes
		f.Plain += p.list[i].Plain
		f.Slow += p.list[i].Slow
	}
	groups, rows, bytes := p.Skipped()
	f.SkippedGroups, f.SkippedRows, f.SkippedBytes = int64(groups), rows, bytes
	f.SkippedFolders, f.SkippedFiles = p.pruning.Counts()
	return f
}
