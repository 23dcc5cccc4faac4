package iceberg

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/lake"
	"github.com/gagg-dev/gagg/internal/parquetio"
	"github.com/gagg-dev/gagg/internal/sortkey"
)

// This file finds the delete files of data files, and makes sets of deleted rows of them. Position
// deletes name rows. Equality deletes have values of some columns: rows with the same values are
// deleted, for which these columns of a data file are read before the query reads it.

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
	equality    map[partition][]*deleteFile // of a spec without fields: of all data files
}

type partition struct {
	spec *spec
	key  string
}

// everywhere is the partition of equality deletes for all data files.
var everywhere = partition{}

// deleteFile is a delete file. It is read once, for all data files.
type deleteFile struct {
	*dataFile
	once sync.Once
	rows map[string]*lake.Rows // of position deletes, by data file
	keys map[string]struct{}   // of equality deletes: the values of its columns
	err  error
}

func (d *deletes) add(f *dataFile) {
	if d.byPath == nil {
		d.byPath, d.byPartition, d.equality = map[string][]*deleteFile{}, map[partition][]*deleteFile{}, map[partition][]*deleteFile{}
	}
	of := &deleteFile{dataFile: f}
	at := partition{f.spec, f.partitionKey()}
	switch {
	case f.content == contentEquality && len(f.spec.Fields) == 0:
		d.equality[everywhere] = append(d.equality[everywhere], of)
		return
	case f.content == contentEquality:
		d.equality[at] = append(d.equality[at], of)
		return
	case f.referenced == "": // bounds that are the same are no prefixes
		if lower, ok := f.lower[deletedPathID]; ok && lower == f.upper[deletedPathID] {
			f.referenced = lower
		}
	}
	if f.referenced != "" {
		d.byPath[f.referenced] = append(d.byPath[f.referenced], of)
		return
	}
	d.byPartition[at] = append(d.byPartition[at], of)
}

// of makes what reads the deleted rows of a data file; nil: none are.
func (d *deletes) of(r *reading, f *dataFile) (read func(ctx context.Context) (*lake.Rows, error), err error) {
	at := partition{f.spec, f.partitionKey()}
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
	for _, of := range slices.Concat(d.equality[at], d.equality[everywhere]) {
		if of.sequence > f.sequence { // rows that were added with it stay
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
	var equality []*deleteFile
	for _, of := range from {
		of.once.Do(func() {
			if of.err = of.read(ctx, r); of.err != nil {
				of.err = fmt.Errorf("delete file %s: %w", of.path, of.err)
			}
		})
		if of.err != nil {
			return nil, of.err
		}
		found := of.rows[f.path]
		switch {
		case of.content == contentEquality:
			equality = append(equality, of)
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
	for len(equality) > 0 && err == nil { // files with the same columns at once
		ids := equality[0].equalityIDs
		same := func(of *deleteFile) bool { return slices.Equal(of.equalityIDs, ids) }
		var now []*deleteFile
		for _, of := range equality {
			if same(of) {
				now = append(now, of)
			}
		}
		equality = slices.DeleteFunc(equality, same)
		if rows == nil {
			rows = &lake.Rows{}
		}
		err = r.matching(ctx, f, now, rows)
	}
	return rows, err
}

// read reads a delete file.
func (of *deleteFile) read(ctx context.Context, r *reading) error {
	if of.content == contentEquality {
		fields, err := r.equalityFields(of.equalityIDs)
		if err != nil {
			return err
		}
		of.keys = map[string]struct{}{}
		return r.scan(ctx, of.dataFile, parquetio.TableSchema{Fields: fields, ByID: true}, nil, func(b *column.Batch) error {
			return eachKey(b, func(_ int, key []byte) error {
				if _, there := of.keys[string(key)]; there {
					return nil
				}
				if err := r.mem.Draw(keyBytes + int64(len(key))); err != nil {
					return err
				}
				of.keys[string(key)] = struct{}{}
				return nil
			})
		})
	}
	p := positions{r: r, rows: map[string]*lake.Rows{}}
	of.rows = p.rows
	return r.scan(ctx, of.dataFile, parquetio.TableSchema{Fields: []parquetio.TableField{
		{Path: []string{deletedPath}, Stored: []string{deletedPath}, Type: column.Type{Kind: column.String}},
		{Path: []string{deletedRow}, Stored: []string{deletedRow}, Type: column.Type{Kind: column.Int64}},
	}}, nil, p.add)
}

// keyBytes is the memory of a key in a map, beside its text.
const keyBytes = 48

// scan reads all columns of a file. Values are of those that it may lack.
func (r *reading) scan(ctx context.Context, f *dataFile, columns parquetio.TableSchema, values []column.Value, each func(b *column.Batch) error) error {
	in, done, err := r.store.Open(ctx, r.meta.place(f.path))
	if err != nil {
		return err
	}
	defer done()
	in.Values = values
	set, err := parquetio.Open(ctx, []parquetio.Input{in}, parquetio.Options{Limits: r.limits, Table: &columns})
	if err != nil {
		return err
	}
	defer func() { _ = set.Close() }() // only read from
	all := make([]int, len(columns.Fields))
	for i := range all {
		all[i] = i
	}
	scan, err := set.Scan(parquetio.ScanOptions{Columns: all})
	if err != nil {
		return err
	}
	reader := scan.NewReader()
	defer reader.Close()
	for i := range scan.Units() {
		if err := reader.Open(i); err != nil {
			return err
		}
		for {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			var b column.Batch
			if ok, err := reader.Next(&b); err != nil {
				return err
			} else if !ok {
				break
			}
			if err := each(&b); err != nil {
				return err
			}
		}
	}
	return nil
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

// equalityFields is the columns of equality deletes, by their ids. One that the table has no more
// has the type of the last schema with it.
func (r *reading) equalityFields(ids []int) (fields []parquetio.TableField, err error) {
	if len(ids) == 0 {
		return nil, errors.New("damaged: it does not say by which columns rows are deleted")
	}
	for _, id := range ids {
		i, there := r.byID[id]
		if there {
			fields = append(fields, r.fields[i])
			continue
		}
		for _, s := range slices.Backward(r.meta.Schemas) {
			all, err := appendFields(nil, s.Fields, parquetio.TableField{}, 0)
			if err != nil {
				return nil, err
			}
			if i := slices.IndexFunc(all, func(f parquetio.TableField) bool { return int(f.IDs[len(f.IDs)-1]) == id }); i >= 0 {
				fields, there = append(fields, all[i]), true
				break
			}
		}
		if !there {
			return nil, fmt.Errorf("damaged: rows are deleted by a column with id %d, which the Iceberg table has not", id)
		}
	}
	return fields, nil
}

// matching adds the rows of a data file that equality deletes with the same columns have.
func (r *reading) matching(ctx context.Context, f *dataFile, from []*deleteFile, rows *lake.Rows) error {
	fields, err := r.equalityFields(from[0].equalityIDs)
	if err != nil {
		return err
	}
	values := make([]column.Value, len(fields))
	known := f.values(r)
	for k, id := range from[0].equalityIDs {
		if i, there := r.byID[id]; there && known != nil {
			values[k] = known[i]
		}
	}
	columns := parquetio.TableSchema{Fields: fields, ByID: true, IDsOf: r.idsOf}
	return r.scan(ctx, f, columns, values, func(b *column.Batch) error {
		return eachKey(b, func(i int, key []byte) error {
			for _, of := range from {
				if _, is := of.keys[string(key)]; is {
					return rows.Add(uint64(b.First)+uint64(i), r.mem)
				}
			}
			return nil
		})
	})
}

// eachKey calls do with the values of each row, as bytes that are the same for the same values:
// NULL is NULL, the zeros of floats are equal, and so are all NaN.
func eachKey(b *column.Batch, do func(i int, key []byte) error) error {
	type source struct {
		of    *column.Vector
		write func(to []byte, i int) []byte
	}
	sources := make([]source, len(b.Cols))
	for k := range b.Cols {
		v := &b.Cols[k]
		flat := v
		if v.Dict != nil {
			flat = &v.Dict.Values
		}
		sources[k] = source{v, sortkey.PackedKey(flat, false, true)}
	}
	var key []byte
	for i := range b.Rows {
		key = key[:0]
		for _, s := range sources {
			switch {
			case s.of.IsNull(i):
				key = append(key, sortkey.PackedNullFirst)
			case s.of.Dict != nil:
				key = s.write(key, int(s.of.Codes[i]))
			default:
				key = s.write(key, i)
			}
		}
		if err := do(i, key); err != nil {
			return err
		}
	}
	return nil
}
