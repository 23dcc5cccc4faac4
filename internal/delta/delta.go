// Package delta reads the log of Delta Lake tables: which files a version of a table has, with what
// the log says of them, and its columns. It reads no data.
//
// The log is the folder _delta_log of a table. Version 12 is the file 00000000000000000012.json, a
// commit: JSON objects, one a line, each an action. A checkpoint stands for all commits up to a
// version, in one of four forms:
//
//	12.checkpoint.parquet              one file
//	12.checkpoint.1.3.parquet          the first of three files (numbers have ten digits)
//	12.checkpoint.UUID.json, .parquet  version 2: files may be in _sidecars/UUID.parquet
//
// To read a version is to take the latest checkpoint up to it, and replay the commits behind: add
// puts a file into the table, remove takes it out. A file is told from others by its path and by
// its deletion vector, which says what rows of it are deleted.
//
// A table says what a reader must understand: what is not understood here is refused by name.
//
// Reference: github.com/delta-io/delta, PROTOCOL.md.
package delta

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/lake"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// LogFolder is the folder of the log in that of the table.
const LogFolder = "_delta_log"

// add is an action.
type add struct {
	Path            string
	PartitionValues map[string]*string
	Size            int64
	Stats           string
	DeletionVector  *vector
}

func (a *add) key() string {
	if a.DeletionVector == nil {
		return a.Path
	}
	return fmt.Sprintf("%s\x00%s%s@%d", a.Path, a.DeletionVector.StorageType, a.DeletionVector.PathOrInlineDv, a.DeletionVector.Offset)
}

type action struct {
	Add      *add
	Remove   *add
	Protocol *protocol
	MetaData *metadata
	Sidecar  *struct {
		Path        string
		SizeInBytes int64
	}
}

type protocol struct {
	MinReaderVersion int
	ReaderFeatures   []string
}

type metadata struct {
	SchemaString     string
	PartitionColumns []string
	Configuration    map[string]string
}

// understood are the features of readers that this one has.
var understood = []string{"columnMapping", "deletionVectors", "timestampNtz", "v2Checkpoint", "vacuumProtocolCheck"}

const (
	mostReader   = 3 // the version from which on features are named
	maxLine      = 64 << 20
	versionWidth = 20
)

// check refuses what this reader does not understand.
func (p *protocol) check() error {
	if p.MinReaderVersion > mostReader {
		return fmt.Errorf("the Delta table needs a reader of version %d; up to %d are supported", p.MinReaderVersion, mostReader)
	}
	var missing []string
	for _, f := range p.ReaderFeatures {
		if !slices.Contains(understood, f) {
			missing = append(missing, f)
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return fmt.Errorf("the Delta table needs a reader with %s, which is not supported", strings.Join(missing, ", "))
	}
	return nil
}

// replay is the state of a table as its log is read.
type replay struct {
	ctx      context.Context
	store    lake.Store
	limits   parquetio.Limits
	protocol *protocol
	metadata *metadata
	files    map[string]*add
	sidecars []string
}

// Read reads a version of the table in a store, whose LogFolder has files of these names; -1: the
// latest. Memory is drawn from the budget of limits, which the caller gives back as a whole.
func Read(ctx context.Context, store lake.Store, names []string, version int64, limits parquetio.Limits, excludes lake.Excludes) (*lake.Table, error) {
	l, err := choose(names, version)
	if err != nil {
		return nil, err
	}
	r := &replay{ctx: ctx, store: store, limits: limits, files: map[string]*add{}}
	for _, name := range l.files {
		if err := r.file(name); err != nil {
			return nil, fmt.Errorf("%s/%s: %w", LogFolder, name, err)
		}
	}
	switch {
	case r.protocol == nil:
		return nil, errors.New("damaged: the Delta log says no protocol")
	case r.metadata == nil:
		return nil, errors.New("damaged: the Delta log says no columns")
	}
	if err := r.protocol.check(); err != nil {
		return nil, err
	}
	return r.table(excludes)
}

// table is the table that the log has come to.
func (r *replay) table(excludes lake.Excludes) (*lake.Table, error) {
	t := &lake.Table{}
	var parts []int
	var err error
	if t.Schema.Fields, parts, err = fields(r.metadata); err != nil {
		return nil, err
	}
	filter := excludes.Filter(t.Schema.Fields)
	for _, a := range r.files {
		f, err := r.tableFile(t.Schema.Fields, a, parts)
		if err != nil {
			return nil, err
		}
		if filter.Active() {
			if s := statsOf(t.Schema.Fields, &f, a.Stats); filter.Excludes(s.of) {
				filter.Leave(1, s.rows, f.Size)
				continue
			}
		}
		t.Files = append(t.Files, f)
	}
	slices.SortFunc(t.Files, func(a, b lake.File) int { return strings.Compare(a.Path, b.Path) })
	t.Left = filter.Left
	return t, nil
}

// tableFile is a file of the table.
func (r *replay) tableFile(fields []Field, a *add, parts []int) (f lake.File, err error) {
	f = lake.File{Size: a.Size, Values: make([]column.Value, len(fields))}
	if f.Path, err = url.PathUnescape(a.Path); err != nil {
		return f, fmt.Errorf("damaged: a file of the Delta log is called %q", a.Path)
	}
	if f.Size <= 0 {
		return f, fmt.Errorf("damaged: the Delta log says that %s has %d bytes", f.Path, f.Size)
	}
	if v := a.DeletionVector; v != nil {
		f.ReadDeleted = func(ctx context.Context) (*lake.Rows, error) {
			rows, err := v.deleted(ctx, r.store, budget.Or(r.limits.Budget))
			if err != nil {
				err = fmt.Errorf("%s: deletion vector: %w", f.Path, err)
			}
			return rows, err
		}
	}
	for _, i := range parts {
		text := a.PartitionValues[fields[i].Stored[0]]
		v := column.Value{Type: fields[i].Type, Null: true}
		if text != nil && *text != "" {
			if v, err = partitionValue(*text, fields[i].Type); err != nil {
				return f, fmt.Errorf("%s: partition column %q: %w", f.Path, fields[i].Path[0], err)
			}
		}
		f.Values[i] = v
	}
	return f, nil
}

// log is the files that make a version: a checkpoint's, then commits.
type log struct {
	version int64
	files   []string
}

// checkpoint is the files of one.
type checkpoint struct {
	parts int
	files []string
}

// choose finds the files of a version; -1: of the latest.
func choose(names []string, version int64) (l log, err error) {
	slices.Sort(names)
	commits, points := map[int64]string{}, map[int64][]*checkpoint{}
	first, last := int64(-1), int64(-1)
	for _, name := range names {
		v, point, ok := parseName(name)
		if !ok {
			continue
		}
		if point == nil {
			commits[v] = name
		} else if old := points[v]; point.parts > 1 && len(old) > 0 && old[len(old)-1].parts == point.parts {
			old[len(old)-1].files = append(old[len(old)-1].files, name)
			continue
		} else {
			points[v] = append(old, point)
		}
		if first < 0 || v < first {
			first = v
		}
		last = max(last, v)
	}
	switch {
	case last < 0:
		return l, errors.New("the Delta log has no version: _delta_log is empty")
	case version > last:
		return l, fmt.Errorf("the Delta table has no version %d: its latest is %d", version, last)
	}
	if l.version = version; version < 0 {
		l.version = last
	}
	from := int64(0)
	for v, all := range points {
		for _, p := range all {
			if len(p.files) == p.parts && v <= l.version && v+1 > from {
				from, l.files = v+1, slices.Clone(p.files)
			}
		}
	}
	for v := from; v <= l.version; v++ {
		name, ok := commits[v]
		if !ok {
			return l, fmt.Errorf("version %d of the Delta table cannot be read: commit %d is not in its log, which begins at %d", l.version, v, first)
		}
		l.files = append(l.files, name)
	}
	return l, nil
}

// parseName takes the name of a file of the log apart; point is nil for a commit.
func parseName(name string) (version int64, point *checkpoint, ok bool) {
	digits, rest, _ := strings.Cut(name, ".")
	version, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || len(digits) != versionWidth || version < 0 {
		return 0, nil, false
	}
	if rest == "json" {
		return version, nil, true
	}
	parts := strings.Split(rest, ".")
	if parts[0] != "checkpoint" || len(parts) < 2 {
		return 0, nil, false
	}
	form := parts[len(parts)-1]
	switch point = (&checkpoint{parts: 1, files: []string{name}}); {
	case len(parts) == 2 && form == "parquet", len(parts) == 3 && (form == "parquet" || form == "json"):
		return version, point, true
	case len(parts) == 4 && form == "parquet":
		point.parts, err = strconv.Atoi(strings.TrimLeft(parts[2], "0"))
		return version, point, err == nil
	}
	return 0, nil, false
}

// file reads a file of the log, and the sidecars that it names.
func (r *replay) file(name string) error {
	in, done, err := r.store.Open(r.ctx, LogFolder+"/"+name)
	if err != nil {
		return err
	}
	defer done()
	if strings.HasSuffix(name, ".parquet") {
		err = r.parquet(in)
	} else {
		err = r.json(in)
	}
	sidecars := r.sidecars
	r.sidecars = nil
	for _, path := range sidecars {
		if err == nil {
			err = r.file("_sidecars/" + path)
		}
	}
	return err
}

// json replays a commit.
func (r *replay) json(in parquetio.Input) error {
	lines := bufio.NewScanner(io.NewSectionReader(in.Reader, 0, in.Size))
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		var a action
		if err := json.Unmarshal(line, &a); err != nil {
			return fmt.Errorf("damaged: line %d is no action: %w", n, err)
		}
		if err := r.do(&a); err != nil {
			return err
		}
	}
	return lines.Err()
}

// actionBytes is the memory of a file in the log, beside its texts.
const actionBytes = 512

// do takes an action into account.
func (r *replay) do(a *action) error {
	if r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	switch {
	case a.Add != nil:
		if b := r.limits.Budget; b != nil {
			if err := b.Draw(actionBytes + int64(len(a.Add.Path)+len(a.Add.Stats))); err != nil {
				return err
			}
		}
		r.files[a.Add.key()] = a.Add
	case a.Remove != nil:
		delete(r.files, a.Remove.key())
	case a.Protocol != nil:
		r.protocol = a.Protocol
	case a.MetaData != nil:
		r.metadata = a.MetaData
	case a.Sidecar != nil:
		r.sidecars = append(r.sidecars, a.Sidecar.Path)
	}
	return nil
}

// wanted names the columns of checkpoints that are read.
func wanted(path []string) (string, bool) {
	last := path[len(path)-1]
	switch name := strings.Join(path, "."); name {
	case "add.path", "add.size", "add.stats", "protocol.minReaderVersion", "metaData.schemaString", "sidecar.path",
		"add.deletionVector.storageType", "add.deletionVector.pathOrInlineDv", "add.deletionVector.offset",
		"add.deletionVector.sizeInBytes", "add.deletionVector.cardinality":
		return name, true
	}
	if len(path) != 4 {
		return "", false
	}
	switch owner := path[0] + "." + path[1]; owner {
	case "add.partitionValues", "metaData.configuration":
		return owner + "." + last, last == "key" || last == "value"
	case "protocol.readerFeatures", "metaData.partitionColumns":
		return owner, true
	}
	return "", false
}

// parquet replays a checkpoint.
func (r *replay) parquet(in parquetio.Input) error {
	return parquetio.ReadRecords(r.ctx, in, r.limits, wanted, func(row map[string][]parquetio.Cell) error {
		return r.do(actionOf(row))
	})
}

func actionOf(row map[string][]parquetio.Cell) *action {
	text := func(name string) (s string, ok bool) {
		if c := row[name]; len(c) > 0 && c[0].Set {
			return c[0].Text, true
		}
		return "", false
	}
	number := func(name string) int64 {
		if c := row[name]; len(c) > 0 {
			return c[0].Int
		}
		return 0
	}
	list := func(name string) (all []string) {
		for _, c := range row[name] {
			if c.Set {
				all = append(all, c.Text)
			}
		}
		return all
	}
	var a action
	if path, ok := text("add.path"); ok {
		a.Add = &add{Path: path, Size: number("add.size"), PartitionValues: map[string]*string{}}
		a.Add.Stats, _ = text("add.stats")
		values := row["add.partitionValues.value"]
		for i, k := range row["add.partitionValues.key"] {
			if k.Set && i < len(values) && values[i].Set {
				a.Add.PartitionValues[k.Text] = &values[i].Text
			}
		}
		if kind, ok := text("add.deletionVector.storageType"); ok {
			a.Add.DeletionVector = &vector{
				StorageType: kind, Offset: number("add.deletionVector.offset"), SizeInBytes: number("add.deletionVector.sizeInBytes"),
				Cardinality: number("add.deletionVector.cardinality"),
			}
			a.Add.DeletionVector.PathOrInlineDv, _ = text("add.deletionVector.pathOrInlineDv")
		}
	}
	if schema, ok := text("metaData.schemaString"); ok {
		a.MetaData = &metadata{SchemaString: schema, PartitionColumns: list("metaData.partitionColumns"), Configuration: map[string]string{}}
		values := row["metaData.configuration.value"]
		for i, k := range row["metaData.configuration.key"] {
			if k.Set && i < len(values) {
				a.MetaData.Configuration[k.Text] = values[i].Text
			}
		}
	}
	if c := row["protocol.minReaderVersion"]; len(c) > 0 && c[0].Set {
		a.Protocol = &protocol{MinReaderVersion: int(c[0].Int), ReaderFeatures: list("protocol.readerFeatures")}
	}
	if path, ok := text("sidecar.path"); ok {
		a.Sidecar = &struct {
			Path        string
			SizeInBytes int64
		}{Path: path}
	}
	return &a
}
