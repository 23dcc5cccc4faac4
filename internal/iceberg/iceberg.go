// Package iceberg reads the metadata of Apache Iceberg tables: which files a snapshot of a table
// has, with what is said of them, and its columns. It reads no data.
//
// From the top to the bottom, a table is
//
//	metadata/v7.metadata.json, or    schemas, ways to partition (specs), snapshots: written anew
//	metadata/00007-ID.metadata.json  by every change; version-hint.text may name the latest
//	a manifest list                  Avro: the manifests of a snapshot, with the least and greatest
//	                                 values of their partitions
//	a manifest                       Avro: data files, or delete files, of one spec: the values of
//	                                 each one's partition, and bounds of its columns
//	data files, delete files         Parquet
//
// Columns have ids, which name them in files, in bounds and in specs, so that they can be renamed.
// A change gives what it adds a sequence number, which says what a delete file is for: rows of data
// files whose number is not above its own, within the same partition. Files are named by absolute
// paths; those below the location of the table are looked for below the folder where it is now.
//
// What is not understood here is refused by name: format versions above 2, files other than
// Parquet, encryption.
//
// Reference: iceberg.apache.org/spec.
package iceberg

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/filepool"
	"github.com/gagg-dev/gagg/internal/lake"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// Request says which table to read, and which snapshot of it.
type Request struct {
	Names    []string // of the files in MetadataFolder
	Metadata string   // the path of the metadata below the table's folder; "": see Names
	// AsOf is a snapshot: by its id, by a time, as the one that was current then, or by the name of
	// a branch or a tag. "": the current one.
	AsOf     string
	Limits   parquetio.Limits // memory is drawn, which the caller gives back as a whole
	Excludes lake.Excludes
}

// reading is the reading of a table's metadata.
type reading struct {
	ctx    context.Context
	store  lake.Store
	mem    budget.Lender
	limits parquetio.Limits
	meta   *metadata
	fields []parquetio.TableField
	idsOf  func(path []string) []int32
	byID   map[int]int // fields by the last of their ids
	filter *lake.Filter
}

// Read reads a snapshot of the table in a store.
func Read(ctx context.Context, store lake.Store, q Request) (*lake.Table, error) {
	r := &reading{ctx: ctx, store: store, mem: budget.Or(q.Limits.Budget), limits: q.Limits}
	path := q.Metadata
	if path == "" {
		var err error
		if path, err = r.latest(q.Names); err != nil {
			return nil, err
		}
	}
	var err error
	if r.meta, err = r.readMetadata(path); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r.meta.moved = strings.HasPrefix(path, MetadataFolder+"/")
	snapshot, err := r.meta.choose(q.AsOf)
	if err != nil {
		return nil, err
	}
	t := &lake.Table{}
	if t.Schema, err = r.meta.tableSchema(snapshot, q.AsOf != ""); err != nil {
		return nil, err
	}
	r.fields, r.idsOf, r.byID = t.Schema.Fields, t.Schema.IDsOf, map[int]int{}
	for i := range r.fields {
		ids := r.fields[i].IDs
		r.byID[int(ids[len(ids)-1])] = i
	}
	r.filter = q.Excludes.Filter(r.fields)
	if snapshot != nil {
		if t.Files, err = r.files(snapshot); err != nil {
			return nil, err
		}
	}
	t.Left = r.filter.Left
	return t, nil
}

// files is the data files of a snapshot that the filter leaves, with what is deleted of each.
func (r *reading) files(s *snapshot) (files []lake.File, err error) {
	manifests, err := r.manifests(s)
	if err != nil {
		return nil, err
	}
	var (
		mu      sync.Mutex
		data    []*dataFile
		deletes deletes
	)
	if err := filepool.Each(len(manifests), func(i int) error {
		entries, left, err := r.manifest(&manifests[i])
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		r.filter.Leave(left.Files, left.Rows, left.Bytes)
		for _, f := range entries {
			if f.content == contentData {
				data = append(data, f)
			} else {
				deletes.add(f)
			}
		}
		return nil
	}); err != nil {
		return nil, err
	}
	slices.SortFunc(data, func(a, b *dataFile) int { return strings.Compare(a.path, b.path) })
	for _, f := range data {
		if f.format != "PARQUET" {
			return nil, fmt.Errorf("%s is of format %s; of the files of Iceberg tables only Parquet is supported", f.path, strings.ToLower(f.format))
		}
		out := lake.File{Path: r.meta.place(f.path), Size: f.size, Values: f.values(r)}
		if out.ReadDeleted, err = deletes.of(r, f); err != nil {
			return nil, err
		}
		files = append(files, out)
	}
	return files, nil
}

// place is where a file is that the metadata names: what is below the location of the table is
// below its folder, wherever that is now.
func (m *metadata) place(path string) string {
	path, location := plainPath(path), strings.TrimRight(plainPath(m.Location), "/")
	if rest, ok := strings.CutPrefix(path, location+"/"); ok && m.moved && location != "" {
		return strings.TrimLeft(rest, "/")
	}
	return path
}

// plainPath is a path or URL as this program knows it. In these URLs of files nothing is escaped.
func plainPath(path string) string {
	scheme, rest, ok := strings.Cut(path, ":")
	switch {
	case !ok:
	case scheme == "file" && strings.HasPrefix(rest, "///"):
		return rest[2:]
	case scheme == "file" && strings.HasPrefix(rest, "/") && !strings.HasPrefix(rest, "//"):
		return rest
	case (scheme == "s3a" || scheme == "s3n") && strings.HasPrefix(rest, "//"):
		return "s3:" + rest
	}
	return path
}
