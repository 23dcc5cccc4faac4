package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/delta"
	"github.com/gagg-dev/gagg/internal/filepool"
	"github.com/gagg-dev/gagg/internal/iceberg"
	"github.com/gagg-dev/gagg/internal/lake"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// This file reads tables of Delta Lake and of Iceberg: what packages delta and iceberg read of
// their lists of files, as files for package parquetio. Files that the filter rules out by what is
// said of them there are not opened.

// lakeTable is a table that a path names.
type lakeTable struct {
	w      *web
	format string
	root   string   // its folder
	far    bool     // that is on a server
	names  []string // of the files in the folder that tells the format
	named  string   // of Iceberg, the file of metadata that the path is, from the root on; "": none
}

// Formats of tables.
const (
	deltaFormat   = "Delta"
	icebergFormat = "Iceberg"
)

// table finds the table that the one path names; nil: they name files.
func (s fileSource) table(w *web) (t *lakeTable, err error) {
	for _, p := range s {
		t, err = w.table(p)
		switch {
		case err != nil:
			return nil, err
		case t != nil && len(s) > 1:
			return nil, usagef("%s is %s table: name it alone", p, parquetio.WithArticle(t.format))
		}
	}
	if t == nil && w.o.AsOf != "" {
		return nil, usagef("as-of: %s is no table of Delta Lake or Iceberg, and has no versions", s[0])
	}
	return t, nil
}

func (w *web) table(path string) (t *lakeTable, err error) {
	t = &lakeTable{w: w, root: strings.TrimSuffix(path, "/"), far: w.o.Remote.Stores(path) || isHTTP(path)}
	if !t.far {
		if t.root, err = localPath(path); err != nil {
			return nil, err
		}
	}
	switch {
	case iceberg.IsMetadata(t.root) && !strings.ContainsAny(path, "*?[{"):
		if !t.far {
			if t.root, err = filepath.Abs(t.root); err != nil {
				return nil, err
			}
		}
		t.format = icebergFormat
		t.root, t.named = iceberg.RootOf(filepath.ToSlash(t.root))
		return t, nil
	case isHTTP(path), t.far && (strings.ContainsAny(path, "*?[{") || parquetio.HasParquetName(path)):
		return nil, nil
	}
	t.format = deltaFormat
	t.names, err = t.list(delta.LogFolder)
	if err == nil && len(t.names) == 0 {
		t.format = icebergFormat
		if t.names, err = t.list(iceberg.MetadataFolder); !iceberg.IsTable(t.names) {
			t.names = nil
		}
	}
	if err != nil && t.far && w.ctx.Err() == nil && !strings.HasSuffix(path, "/") {
		err = nil // an object may be read by those who may not list
	}
	if err != nil || len(t.names) == 0 {
		return nil, err
	}
	return t, nil
}

// list lists the names of the files in a folder of the table; one that is not there has none.
func (t *lakeTable) list(folder string) (names []string, err error) {
	if !t.far {
		at := filepath.Join(t.root, folder)
		if info, err := os.Stat(at); err != nil || !info.IsDir() {
			return nil, nil
		}
		entries, err := os.ReadDir(at)
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if err != nil {
			err = &Error{fmt.Errorf("%s: %w", t.root, err)}
		}
		return names, err
	}
	at := t.root + "/" + folder + "/"
	keys, err := t.w.o.Remote.List(t.w.ctx, at, func(string) bool { return true }, nil)
	if err != nil {
		if t.w.ctx.Err() != nil {
			return nil, context.Cause(t.w.ctx)
		}
		return nil, &Error{fmt.Errorf("%s: %w", t.root, err)}
	}
	for i, k := range keys {
		keys[i] = strings.TrimPrefix(k, at)
	}
	return keys, nil
}

// place is the whole path of a file of the table; far: it is on a server.
func (t *lakeTable) place(path string) (place string, far bool, err error) {
	if strings.Contains(path, "://") || strings.HasPrefix(path, "file:") {
		if t.w.o.Remote.Stores(path) {
			return path, true, nil
		}
		if rest, ok := strings.CutPrefix(path, "file:/"); ok && !strings.HasPrefix(rest, "/") {
			path = "file:///" + rest
		}
		place, err = localPath(path)
		// a table elsewhere names no file of this machine
		if err == nil && (t.far || strings.Contains(place, "://")) {
			err = usagef("%s: a file of the %s table is where nothing can be read from", path, t.format)
		}
		return place, false, err
	}
	switch {
	case isHTTP(t.root):
		return t.root + "/" + (&url.URL{Path: path}).EscapedPath(), true, nil
	case !t.far && filepath.IsAbs(path):
		return path, false, nil
	}
	return t.root + "/" + path, t.far, nil
}

// Open implements lake.Store.
func (t *lakeTable) Open(_ context.Context, path string) (in parquetio.Input, done func(), err error) {
	place, far, err := t.place(path)
	if err != nil {
		return in, nil, err
	}
	if far {
		in, err = t.w.open(place)
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
	// only read from
	return parquetio.Input{Name: place, Reader: io.ReaderAt(f), Size: info.Size()}, func() { _ = f.Close() }, nil
}

// read reads what the table says of itself.
func (t *lakeTable) read(limits parquetio.Limits) (*lake.Table, error) {
	o := &t.w.o
	if t.format == icebergFormat {
		return iceberg.Read(t.w.ctx, t, iceberg.Request{Names: t.names, Metadata: t.named, AsOf: o.AsOf, Limits: limits, Excludes: o.excludes()})
	}
	version, err := t.deltaVersion(o.AsOf)
	if err != nil {
		return nil, err
	}
	return delta.Read(t.w.ctx, t, t.names, version, limits, o.excludes())
}

// deltaVersion is the version of a Delta table that is asked for: -1 for the latest.
func (t *lakeTable) deltaVersion(asOf string) (int64, error) {
	if asOf == "" {
		return -1, nil
	}
	if n, err := strconv.ParseInt(asOf, 10, 64); err == nil && n >= 0 {
		return n, nil
	}
	at, ok := lake.ParseTime(asOf)
	if !ok {
		return 0, usagef("as-of: %q is no version of a Delta table, which is a whole number, nor a time such as 2024-01-31 12:00:00", asOf)
	}
	return delta.VersionAt(t.w.ctx, t, t.names, at)
}

// excludes makes the test of files of a table.
func (o *Options) excludes() lake.Excludes {
	if o.Excludes == nil {
		return nil
	}
	return func(fields []parquetio.TableField) func(bounds func(i int) column.Bounds) bool {
		columns := &leafTable{of: "the input"}
		for i := range fields {
			f := &fields[i]
			columns.cols = append(columns.cols, column.Leaf{
				Field: column.Field{Name: strings.Join(f.Path, "."), Type: f.Type}, Path: f.Path, Err: f.Err,
			})
		}
		return o.Excludes(columns)
	}
}

// open opens the table.
func (t *lakeTable) open() (_ Input, err error) {
	w := t.w
	of := &drawn{from: budget.Or(w.from)}
	defer func() {
		if err != nil {
			of.release()
			err = lakeError(w.ctx, t.root, err)
		}
	}()
	table, err := t.read(parquetio.Limits{Budget: of})
	if err != nil {
		return nil, err
	}
	inputs := make([]parquetio.Input, len(table.Files))
	if err := filepool.Each(len(inputs), func(i int) (err error) {
		inputs[i], err = t.input(&table.Files[i])
		return err
	}); err != nil {
		return nil, err
	}
	set, err := parquetio.Open(w.ctx, inputs, parquetio.Options{
		Limits: parquetio.Limits{Budget: w.from}, BatchRows: w.o.BatchRows, Table: &table.Schema,
	})
	if err != nil {
		return nil, err
	}
	return &lakeInput{parquetInput{d: set}, of, table.Left}, nil
}

// input is a file of the table, as it is read.
func (t *lakeTable) input(f *lake.File) (in parquetio.Input, err error) {
	var deleted *lake.Rows
	if f.ReadDeleted != nil {
		if deleted, err = f.ReadDeleted(t.w.ctx); err != nil {
			return in, err
		}
	}
	place, far, err := t.place(f.Path)
	if err != nil {
		return in, err
	}
	in = parquetio.Input{Name: place, Path: place}
	if far {
		in, err = t.w.open(place)
	}
	if err == nil && far && in.Size != f.Size {
		err = fmt.Errorf("%s: damaged: %d bytes, where the table says %d", place, in.Size, f.Size)
	}
	in.Size, in.Values = f.Size, f.Values
	if deleted != nil {
		in.Deleted = deleted
	}
	return in, err
}

// lakeError says of which table an error is.
func lakeError(ctx context.Context, root string, err error) error {
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

// lakeInput is a table.
type lakeInput struct {
	parquetInput
	drawn *drawn
	left  lake.Left
}

// Scan implements Input.
func (in *lakeInput) Scan(o parquetio.ScanOptions) (Scan, error) {
	s, err := in.parquetInput.Scan(o)
	if err != nil {
		return nil, err
	}
	return &lakeScan{s.(*parquetScan), in.left}, nil
}

// Close implements Input.
func (in *lakeInput) Close() error {
	err := in.parquetInput.Close()
	in.drawn.release()
	return err
}

// lakeScan is a scan of a table.
type lakeScan struct {
	*parquetScan
	left lake.Left
}

func (s *lakeScan) Facts() Facts {
	f := s.parquetScan.Facts()
	f.SkippedGroups += s.left.Files
	f.SkippedRows += s.left.Rows
	f.SkippedBytes += s.left.Bytes
	return f
}
