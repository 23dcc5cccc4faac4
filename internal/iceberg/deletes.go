package iceberg

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/lake"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// Columns of files of position deletes: a data file by its path, and the number of a row in it.
const (
	deletedPath = "file_path"
	deletedRow  = "pos"

	deletedPathID = 2147483546
)

// deletes is the delete files of a snapshot, by what they may be for.
type deletes struct {
	byPath      map[string][]*deleteFile    // position deletes of one data file
	byPartition map[partition][]*deleteFile // position deletes of many
	equality    []*dataFile
}

type partition struct {
	spec *spec
	key  string
}

// deleteFile is a file of position deletes. It is read once, for all data files.
type deleteFile struct {
	*dataFile
	once sync.Once
	rows map[string]*lake.Rows // by data file
	err  error
}

func (d *deletes) add(f *dataFile) {
	if f.content == contentEquality {
		d.equality = append(d.equality, f)
		return
	}
	if d.byPath == nil {
		d.byPath, d.byPartition = map[string][]*deleteFile{}, map[partition][]*deleteFile{}
	}
	of := &deleteFile{dataFile: f}
	if f.referenced == "" { // bounds that are the same are no prefixes
		if lower, ok := f.lower[deletedPathID]; ok && lower == f.upper[deletedPathID] {
			f.referenced = lower
		}
	}
	if f.referenced != "" {
		d.byPath[f.referenced] = append(d.byPath[f.referenced], of)
		return
	}
	at := partition{f.spec, f.partitionKey()}
	d.byPartition[at] = append(d.byPartition[at], of)
}

// of makes what reads the deleted rows of a data file; nil: none are.
func (d *deletes) of(r *reading, f *dataFile) (read func(ctx context.Context) (*lake.Rows, error), err error) {
	at := partition{f.spec, f.partitionKey()}
	for _, e := range d.equality {
		everywhere := len(e.spec.Fields) == 0
		if e.sequence > f.sequence && (everywhere || at == partition{e.spec, e.partitionKey()}) {
			return nil, fmt.Errorf("the Iceberg table has equality deletes, which are not supported: %s, for one, says which rows of %s are deleted", e.path, f.path)
		}
	}
	var found []*deleteFile
	for _, of := range d.byPath[f.path] {
		if of.sequence >= f.sequence {
			found = append(found, of)
		}
	}
	for _, of := range d.byPartition[at] {
		lower, upper := of.lower[deletedPathID], of.upper[deletedPathID]
		if of.sequence >= f.sequence && (lower == "" || lower <= f.path) && (upper == "" || upper >= f.path) {
			found = append(found, of)
		}
	}
	for _, of := range found {
		if of.format != "PARQUET" {
			return nil, fmt.Errorf("%s is of format %s; of the delete files of Iceberg tables only Parquet is supported", of.path, strings.ToLower(of.format))
		}
	}
	if len(found) == 0 {
		return nil, nil
	}
	return func(ctx context.Context) (*lake.Rows, error) { return r.deletedRows(ctx, f, found) }, nil
}

// deletedRows is the deleted rows of a data file; nil: there are none.
func (r *reading) deletedRows(ctx context.Context, f *dataFile, from []*deleteFile) (rows *lake.Rows, err error) {
	for _, of := range from {
		of.once.Do(func() {
			if of.rows, of.err = r.readPositions(ctx, of.dataFile); of.err != nil {
				of.err = fmt.Errorf("delete file %s: %w", of.path, of.err)
			}
		})
		if of.err != nil {
			return nil, of.err
		}
		found := of.rows[f.path]
		switch {
		case found == nil:
		case len(from) == 1:
			return found, nil
		default:
			if rows == nil {
				rows = &lake.Rows{}
			}
			if err := rows.Unite(found, r.mem); err != nil {
				return nil, err
			}
		}
	}
	return rows, nil
}

// readPositions reads a file of position deletes.
func (r *reading) readPositions(ctx context.Context, f *dataFile) (_ map[string]*lake.Rows, err error) {
	in, done, err := r.store.Open(ctx, r.meta.place(f.path))
	if err != nil {
		return nil, err
	}
	defer done()
	set, err := parquetio.Open(ctx, []parquetio.Input{in}, parquetio.Options{Limits: r.limits, Table: &parquetio.TableSchema{Fields: []parquetio.TableField{
		{Path: []string{deletedPath}, Stored: []string{deletedPath}, Type: column.Type{Kind: column.String}},
		{Path: []string{deletedRow}, Stored: []string{deletedRow}, Type: column.Type{Kind: column.Int64}},
	}}})
	if err != nil {
		return nil, err
	}
	defer func() { _ = set.Close() }() // only read from
	scan, err := set.Scan(parquetio.ScanOptions{Columns: []int{0, 1}})
	if err != nil {
		return nil, err
	}
	reader := scan.NewReader()
	defer reader.Close()
	p := positions{r: r, rows: map[string]*lake.Rows{}}
	for i := range scan.Units() {
		if err := reader.Open(i); err != nil {
			return nil, err
		}
		for {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			var b column.Batch
			if ok, err := reader.Next(&b); err != nil {
				return nil, err
			} else if !ok {
				break
			}
			if err := p.add(&b); err != nil {
				return nil, err
			}
		}
	}
	return p.rows, nil
}

// positions is the rows of a file of position deletes, as they are read.
type positions struct {
	r    *reading
	rows map[string]*lake.Rows
	path string
	last *lake.Rows // of path; files are in its order
}

// add takes a batch of paths and rows.
func (p *positions) add(b *column.Batch) error {
	for i := range b.Rows {
		path, row := b.Cols[0].At(i), b.Cols[1].At(i)
		if path.Null || row.Null || row.Int < 0 {
			return fmt.Errorf("damaged: it says that row %d of %q is deleted", row.Int, path.Bytes)
		}
		if p.last == nil || p.path != path.Bytes {
			p.path = path.Bytes
			if p.last = p.rows[p.path]; p.last == nil {
				if err := p.r.mem.Draw(entryBytes + int64(len(p.path))); err != nil {
					return err
				}
				p.last = &lake.Rows{}
				p.rows[p.path] = p.last
			}
		}
		if err := p.last.Add(uint64(row.Int), p.r.mem); err != nil {
			return err
		}
	}
	return nil
}
