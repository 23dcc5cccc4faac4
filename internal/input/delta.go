package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/delta"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// This file reads Delta Lake tables: what package delta reads of the log, as files for package
// parquetio. Files that the filter rules out by what the log says of them are not opened.

// deltaFolder tells whether the one path is the folder of a Delta table.
func (s fileSource) deltaFolder(w *web) (root string, is bool, err error) {
	for _, p := range s {
		root, is, err = w.deltaFolder(p)
		switch {
		case err != nil:
			return "", false, err
		case is && len(s) > 1:
			return "", false, usagef("%s is a Delta table: name it alone", p)
		}
	}
	if !is && w.o.AsOf != "" {
		return "", false, usagef("as-of: %s is no Delta table, and has no versions", s[0])
	}
	return root, is, nil
}

func (w *web) deltaFolder(path string) (root string, is bool, err error) {
	if w.o.Remote.Stores(path) {
		if strings.ContainsAny(path, "*?[{") || parquetio.HasParquetName(path) {
			return "", false, nil
		}
		root = strings.TrimSuffix(path, "/")
		keys, err := w.logOf(w.ctx, root)
		if err != nil && w.ctx.Err() == nil && !strings.HasSuffix(path, "/") {
			err = nil // an object may be read by those who may not list
		}
		return root, len(keys) > 0, err
	}
	if isHTTP(path) {
		return "", false, nil
	}
	if root, err = localPath(path); err != nil {
		return "", false, err
	}
	info, err := os.Stat(filepath.Join(root, delta.LogFolder))
	return root, err == nil && info.IsDir(), nil
}

// logOf lists the log of a table in a store.
func (w *web) logOf(ctx context.Context, root string) ([]string, error) {
	at := root + "/" + delta.LogFolder + "/"
	keys, err := w.o.Remote.List(ctx, at, func(string) bool { return true }, nil)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, &Error{fmt.Errorf("%s: %w", root, err)}
	}
	for i, k := range keys {
		keys[i] = strings.TrimPrefix(k, at)
	}
	return keys, nil
}

// deltaStore has the files of a table, in a folder or in a store.
type deltaStore struct {
	w      *web
	root   string
	stored bool
}

func (d *deltaStore) Log(ctx context.Context) ([]string, error) {
	if d.stored {
		return d.w.logOf(ctx, d.root)
	}
	entries, err := os.ReadDir(filepath.Join(d.root, delta.LogFolder))
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, err
}

// place is the whole path of a file of the table; stored: it is on a server.
func (d *deltaStore) place(path string) (place string, stored bool, err error) {
	if strings.Contains(path, "://") || strings.HasPrefix(path, "file:") {
		if d.w.o.Remote.Stores(path) {
			return path, true, nil
		}
		if rest, ok := strings.CutPrefix(path, "file:/"); ok && !strings.HasPrefix(rest, "/") {
			path = "file:///" + rest
		}
		place, err = localPath(path)
		if err == nil && strings.Contains(place, "://") {
			err = usagef("%s: a file of the Delta table is where nothing can be read from", path)
		}
		return place, false, err
	}
	if d.stored {
		return d.root + "/" + path, true, nil
	}
	if filepath.IsAbs(path) {
		return path, false, nil
	}
	return d.root + "/" + path, false, nil
}

func (d *deltaStore) Open(_ context.Context, path string) (in parquetio.Input, done func(), err error) {
	place, stored, err := d.place(path)
	if err != nil {
		return in, nil, err
	}
	if stored {
		in, err = d.w.open(place)
		return in, func() {}, err
	}
	f, err := os.Open(place)
	if err != nil {
		return in, nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return in, nil, errors.Join(err, f.Close())
	}
	return parquetio.Input{Name: place, Reader: io.ReaderAt(f), Size: info.Size()}, func() { _ = f.Close() }, nil // only read from
}

// asOf is the version that is asked for; -1: the latest.
func (o *Options) asOf() (int64, error) {
	if o.AsOf == "" {
		return -1, nil
	}
	n, err := strconv.ParseInt(o.AsOf, 10, 64)
	if err != nil || n < 0 {
		return 0, usagef("as-of: %q is no version: a whole number", o.AsOf)
	}
	return n, nil
}

// openDelta opens a Delta table.
func (w *web) openDelta(root string) (_ Input, err error) {
	d := &deltaStore{w, root, w.o.Remote.Stores(root)}
	version, err := w.o.asOf()
	if err != nil {
		return nil, err
	}
	of := &drawn{from: budget.Or(w.from)}
	defer func() {
		if err != nil {
			of.release()
			err = deltaError(w.ctx, root, err)
		}
	}()
	table, err := delta.Read(w.ctx, d, version, parquetio.Limits{Budget: of})
	if err != nil {
		return nil, err
	}
	in := &deltaInput{drawn: of}
	wanted, err := in.choose(table, w.o)
	if err != nil {
		return nil, err
	}
	inputs := make([]parquetio.Input, len(wanted))
	if err := all(len(wanted), func(i int) error {
		f := wanted[i]
		if err := f.ReadDeleted(w.ctx, d, of); err != nil {
			return err
		}
		place, stored, err := d.place(f.Path)
		if err != nil {
			return err
		}
		inputs[i] = parquetio.Input{Name: place, Path: place}
		if stored {
			inputs[i], err = w.open(place)
		}
		if err == nil && stored && inputs[i].Size != f.Size {
			err = fmt.Errorf("%s: damaged: %d bytes, where the table says %d", place, inputs[i].Size, f.Size)
		}
		inputs[i].Size, inputs[i].Values = f.Size, f.Values
		if f.Deleted != nil {
			inputs[i].Deleted = f.Deleted
		}
		return err
	}); err != nil {
		return nil, err
	}
	set, err := parquetio.Open(w.ctx, inputs, parquetio.Options{
		Limits: parquetio.Limits{Budget: w.from}, BatchRows: w.o.BatchRows, Table: &parquetio.TableSchema{Fields: table.Fields},
	})
	if err != nil {
		return nil, err
	}
	in.parquetInput = parquetInput{d: set}
	return in, nil
}

// deltaError says of which table an error is.
func deltaError(ctx context.Context, root string, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, new(*UsageError)), errors.As(err, new(*parquetio.Error)):
		return err
	case budget.Refusal(err, budget.Memory) != nil:
		return fmt.Errorf("%s: %w", root, err)
	}
	return &Error{fmt.Errorf("%s: %w", root, err)}
}

// drawn counts what was drawn from a lender, to be given back as a whole.
type drawn struct {
	from  budget.Lender
	bytes atomic.Int64
}

func (d *drawn) Draw(bytes int64) error {
	err := d.from.Draw(bytes)
	if err == nil {
		d.bytes.Add(bytes)
	}
	return err
}

func (d *drawn) Release(bytes int64) {
	d.bytes.Add(-bytes)
	d.from.Release(bytes)
}

func (d *drawn) release() { d.from.Release(d.bytes.Swap(0)) }

// deltaInput is a Delta table.
type deltaInput struct {
	parquetInput
	drawn *drawn
	left  Facts // what was ruled out by the log
}

// choose finds the files that the filter does not rule out.
func (in *deltaInput) choose(t *delta.Table, o Options) (files []*delta.File, err error) {
	var excludes func(bounds func(i int) column.Bounds) bool
	if o.Excludes != nil {
		columns := &leafTable{of: "the input"}
		for i := range t.Fields {
			f := &t.Fields[i]
			columns.cols = append(columns.cols, column.Leaf{
				Field: column.Field{Name: strings.Join(f.Path, "."), Type: f.Type}, Path: f.Path, Err: f.Err,
			})
		}
		excludes = o.Excludes(columns)
	}
	for i := range t.Files {
		f := &t.Files[i]
		if excludes != nil {
			if s := t.Bounds(f); excludes(s.Of) {
				in.left.SkippedGroups++
				in.left.SkippedRows += max(s.Rows, 0)
				in.left.SkippedBytes += f.Size
				continue
			}
		}
		files = append(files, f)
	}
	return files, nil
}

// Scan implements Input.
func (in *deltaInput) Scan(o parquetio.ScanOptions) (Scan, error) {
	s, err := in.parquetInput.Scan(o)
	if err != nil {
		return nil, err
	}
	return &deltaScan{s.(*parquetScan), in.left}, nil
}

// Close implements Input.
func (in *deltaInput) Close() error {
	err := in.parquetInput.Close()
	in.drawn.release()
	return err
}

// deltaScan is a scan of a Delta table.
type deltaScan struct {
	*parquetScan
	left Facts
}

func (s *deltaScan) Facts() Facts {
	f := s.parquetScan.Facts()
	f.SkippedGroups += s.left.SkippedGroups
	f.SkippedRows += s.left.SkippedRows
	f.SkippedBytes += s.left.SkippedBytes
	return f
}
