package iceberg

import (
	"fmt"
	"slices"
	"strconv"
	"unsafe"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/lake"
)

// manifest is what a manifest list says of a manifest.
type manifest struct {
	path     string
	size     int64 // 0: not said
	spec     *spec
	deletes  bool
	sequence int64
}

// Contents of manifests and files.
const (
	contentData      = 0
	contentPositions = 1
	contentEquality  = 2

	contentDeletes = 1 // of a manifest
)

// statusDeleted is of an entry whose file is no longer of the table.
const statusDeleted = 2

// dataFile is what a manifest says of a data file or a delete file.
type dataFile struct {
	content     int64
	path        string
	format      string
	rows, size  int64
	sequence    int64
	spec        *spec
	partition   []any          // by field of the spec
	lower       map[int]string // bounds by the id of the column
	upper       map[int]string //
	nulls       map[int]int64  // how many values are NULL, by the id of the column
	equalityIDs []int          // of equality deletes: the ids of their columns
	referenced  string         // of a delete file: the one data file whose rows it has; "": of any
}

// entryBytes is the memory of an entry, beside its texts, and that of each bound.
const (
	entryBytes = int64(unsafe.Sizeof(dataFile{})) + 256
	boundBytes = 64
)

// manifests reads which manifests of a snapshot the filter leaves.
func (r *reading) manifests(s *snapshot) (all []manifest, err error) {
	if s.ManifestList == "" {
		for _, path := range s.Manifests {
			all = append(all, manifest{path: path})
		}
		return all, nil
	}
	err = r.readAvro(s.ManifestList, 0, func(*avroFile) (func(record) error, error) {
		return func(rec record) error {
			f := fields{of: rec}
			m, err := r.listed(&f)
			if err == nil {
				err = f.err
			}
			if err != nil || m == nil {
				return err
			}
			if err := r.mem.Draw(entryBytes + int64(len(m.path))); err != nil {
				return err
			}
			all = append(all, *m)
			return nil
		}, nil
	})
	if err != nil {
		err = fmt.Errorf("manifest list %s: %w", s.ManifestList, err)
	}
	return all, err
}

// listed is a manifest of a list; nil: the filter rules it out.
func (r *reading) listed(f *fields) (*manifest, error) {
	m := &manifest{}
	m.path, _ = get[string](f, "manifest_path")
	m.size = f.must("manifest_length")
	content, _ := f.number("content")
	m.deletes = content == contentDeletes
	m.sequence, _ = f.number("sequence_number")
	var err error
	if m.spec, err = r.meta.specOf(f.must("partition_spec_id")); err != nil {
		return nil, err
	}
	if _, encrypted := get[[]byte](f, "key_metadata"); encrypted {
		return nil, errEncrypted
	}
	bounds := r.summaries(f, m.spec)
	if !r.filter.Excludes(func(i int) column.Bounds {
		if b, ok := bounds[i]; ok {
			return b
		}
		return column.Bounds{Nulls: -1}
	}) {
		return m, nil
	}
	if !m.deletes {
		count := func(names ...string) (n int64) {
			for _, name := range names {
				k, _ := f.number(name)
				n += k
			}
			return n
		}
		r.filter.Leave(count("added_files_count", "existing_files_count", "added_data_files_count", "existing_data_files_count"),
			count("added_rows_count", "existing_rows_count"), 0)
	}
	return nil, nil
}

// specOf is the way to partition that has a number.
func (m *metadata) specOf(id int64) (*spec, error) {
	i := slices.IndexFunc(m.Specs, func(s spec) bool { return int64(s.ID) == id })
	if i < 0 {
		return nil, fmt.Errorf("damaged: the metadata of the Iceberg table has no partition spec %d", id)
	}
	return &m.Specs[i], nil
}

// summaries is the bounds of columns that the partitions of a manifest are made of.
func (r *reading) summaries(f *fields, s *spec) map[int]column.Bounds {
	bounds := map[int]column.Bounds{}
	if !r.filter.Active() {
		return bounds
	}
	n := 0
	f.each("partitions", func(f *fields) {
		lower, hasLower := get[[]byte](f, "lower_bound")
		upper, hasUpper := get[[]byte](f, "upper_bound")
		if n++; n > len(s.Fields) {
			return
		}
		i, p, ok := r.partField(s, n-1)
		if !ok {
			return
		}
		low, okLow := boundOf(lower, p.result)
		high, okHigh := boundOf(upper, p.result)
		b := column.Bounds{Nulls: -1}
		if hasLower && okLow {
			from := p.span(low)
			b.Min, b.HasMin = from.Min, from.HasMin
		}
		if hasUpper && okHigh {
			to := p.span(high)
			b.Max, b.HasMax = to.Max, to.HasMax
		}
		bounds[i] = meet(bounds[i], b)
	})
	return bounds
}

// manifest reads the files of a manifest that are of the table, less the data files that the filter
// rules out.
func (r *reading) manifest(m *manifest) (files []*dataFile, left lake.Left, err error) {
	err = r.readAvro(m.path, m.size, func(a *avroFile) (func(record) error, error) {
		if m.spec == nil { // of version 1, without a list
			id, err := strconv.ParseInt(string(a.meta["partition-spec-id"]), 10, 64)
			if err != nil && len(a.meta["partition-spec-id"]) > 0 {
				return nil, fmt.Errorf("damaged: partition spec %q", a.meta["partition-spec-id"])
			}
			if m.spec, err = r.meta.specOf(id); err != nil {
				return nil, err
			}
		}
		names := a.partitionNames(m.spec)
		return func(rec record) error {
			f := fields{of: rec}
			d, err := r.entry(&f, m, names)
			if err == nil {
				err = f.err
			}
			if err != nil || d == nil {
				return err
			}
			if d.content == contentData {
				if r.filter.Excludes(d.bounds(r)) {
					left.Files, left.Rows, left.Bytes = left.Files+1, left.Rows+d.rows, left.Bytes+d.size
					return nil
				}
				d.lower, d.upper, d.nulls = nil, nil, nil // they have served
			}
			files = append(files, d)
			return r.mem.Draw(entryBytes + int64(len(d.path)+boundBytes*(len(d.lower)+len(d.upper)+len(d.nulls))))
		}, nil
	})
	if err != nil {
		err = fmt.Errorf("manifest %s: %w", m.path, err)
	}
	return files, left, err
}

// partitionNames is the names that fields of a spec have in a manifest, found by their ids.
func (a *avroFile) partitionNames(s *spec) []string {
	names := make([]string, len(s.Fields))
	for _, entry := range a.schema.Fields {
		if entry.Name != "data_file" {
			continue
		}
		for _, file := range entry.Type.Fields {
			if file.Name != "partition" {
				continue
			}
			for _, p := range file.Type.Fields {
				id, _ := p.Props["field-id"].(int64)
				for i := range s.Fields {
					if int64(s.Fields[i].FieldID) == id {
						names[i] = p.Name
					}
				}
			}
		}
	}
	return names
}

// entry is an entry of a manifest; nil: its file is no longer of the table.
func (r *reading) entry(f *fields, m *manifest, names []string) (*dataFile, error) {
	if f.must("status") == statusDeleted {
		return nil, nil
	}
	d := &dataFile{spec: m.spec}
	if sequence, ok := f.number("sequence_number"); ok {
		d.sequence = sequence
	} else { // it was added with the manifest
		d.sequence = m.sequence
	}
	rec, _ := get[record](f, "data_file")
	of := fields{of: rec}
	defer func() {
		if f.err == nil {
			f.err = of.err
		}
	}()
	d.content, _ = of.number("content")
	d.path, _ = get[string](&of, "file_path")
	d.format, _ = get[string](&of, "file_format")
	d.rows, d.size = of.must("record_count"), of.must("file_size_in_bytes")
	d.referenced, _ = get[string](&of, "referenced_data_file")
	ids, _ := get[[]any](&of, "equality_ids")
	for _, x := range ids {
		id, _ := ordinal(x)
		d.equalityIDs = append(d.equalityIDs, int(id))
	}
	if _, encrypted := get[[]byte](&of, "key_metadata"); encrypted {
		return nil, fmt.Errorf("%s: %w", d.path, errEncrypted)
	}
	if d.path == "" || d.size <= 0 || (d.content == contentData) == m.deletes {
		return nil, fmt.Errorf("damaged: a file %q of %d bytes and content %d", d.path, d.size, d.content)
	}
	partition, _ := get[record](&of, "partition")
	for i, name := range names {
		x, there := partition[name]
		if !there && m.spec.Fields[i].Transform != transformVoid {
			return nil, fmt.Errorf("damaged: %s has no value of partition field %q", d.path, m.spec.Fields[i].Name)
		}
		d.partition = append(d.partition, x)
	}
	if r.filter.Active() || d.content == contentPositions {
		d.lower, d.upper, d.nulls = boundsIn(&of, "lower_bounds"), boundsIn(&of, "upper_bounds"), map[int]int64{}
		of.each("null_value_counts", func(f *fields) { d.nulls[int(f.must("key"))] = f.must("value") })
	}
	return d, nil
}

func boundsIn(f *fields, name string) map[int]string {
	bounds := map[int]string{}
	f.each(name, func(f *fields) {
		value, _ := get[[]byte](f, "value")
		bounds[int(f.must("key"))] = string(value)
	})
	return bounds
}
