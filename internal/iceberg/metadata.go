package iceberg

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gagg-dev/gagg/internal/lake"
)

// MetadataFolder is the folder of the metadata in that of the table.
const MetadataFolder = "metadata"

const (
	hintName    = "version-hint.text"
	mostVersion = 2 // of the format

	maxHint     = 1 << 10
	maxMetadata = 256 << 20
)

// IsMetadata reports whether a path is that of a file of metadata.
func IsMetadata(path string) bool {
	return strings.HasSuffix(path, ".metadata.json") || strings.HasSuffix(path, ".metadata.json.gz")
}

// IsTable reports whether files of these names are in the folder of the metadata of a table.
func IsTable(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return name == hintName || IsMetadata(name) })
}

// RootOf is the folder of the table that a file of metadata is of, by its whole path, and the rest
// of that.
func RootOf(path string) (root, rest string) {
	parts := strings.Split(path, "/")
	n := len(parts) - 1
	if n > 0 && parts[n-1] == MetadataFolder {
		n--
	}
	return strings.Join(parts[:n], "/"), strings.Join(parts[n:], "/")
}

// latest finds the file of metadata of a folder: the one that the hint names, or one behind it,
// else that of the greatest version.
func (r *reading) latest(names []string) (string, error) {
	hint := ""
	if slices.Contains(names, hintName) {
		text, err := r.readAll(MetadataFolder+"/"+hintName, maxHint)
		if err != nil {
			return "", fmt.Errorf("%s/%s: %w", MetadataFolder, hintName, err)
		}
		hint = strings.TrimSpace(string(text))
	}
	name, err := choose(names, hint)
	return MetadataFolder + "/" + name, err
}

// choose is the name of the latest file of metadata. A hint is a version, or a name up to
// .metadata.json; who writes v8 may not have come to write it.
func choose(names []string, hint string) (string, error) {
	versions := map[int64][]string{}
	latest := int64(-1)
	for _, name := range names {
		stem, ok := stemOf(name)
		if !ok {
			continue
		}
		if stem == hint {
			return name, nil
		}
		digits, _, _ := strings.Cut(strings.TrimPrefix(stem, "v"), "-")
		v, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || v < 0 {
			continue
		}
		versions[v] = append(versions[v], name)
		latest = max(latest, v)
	}
	if hint != "" {
		v, err := strconv.ParseInt(hint, 10, 64)
		if err != nil || len(versions[v]) == 0 {
			return "", fmt.Errorf("damaged: %s/%s says %q, and there is no such file of metadata", MetadataFolder, hintName, hint)
		}
		for len(versions[v+1]) > 0 {
			v++
		}
		latest = v
	}
	switch found := versions[latest]; {
	case len(found) == 0:
		return "", errors.New("the Iceberg table has no file of metadata that is named like v1.metadata.json or 00001-….metadata.json: name that file")
	case len(found) > 1:
		slices.Sort(found)
		return "", fmt.Errorf("the Iceberg table has several files of metadata of version %d, %s and %s: name the one that its catalog has", latest, found[0], found[1])
	default:
		return found[0], nil
	}
}

// stemOf is the name of a file of metadata without its endings.
func stemOf(name string) (stem string, ok bool) {
	stem = strings.TrimSuffix(name, ".gz")
	if stem, ok = strings.CutSuffix(stem, ".metadata.json"); !ok {
		return "", false
	}
	return strings.TrimSuffix(stem, ".gz"), true
}

// metadata is what the file of metadata says.
type metadata struct {
	FormatVersion int    `json:"format-version"`
	Location      string `json:"location"`

	Schemas         []schema `json:"schemas"`
	Schema          *schema  `json:"schema"` // of version 1, where there are no Schemas
	CurrentSchemaID int      `json:"current-schema-id"`

	Specs []spec      `json:"partition-specs"`
	Spec  []specField `json:"partition-spec"` // of version 1, where there are no Specs

	Snapshots         []snapshot        `json:"snapshots"`
	CurrentSnapshotID *int64            `json:"current-snapshot-id"` // none, or -1: none
	SnapshotLog       []logged          `json:"snapshot-log"`
	Refs              map[string]ref    `json:"refs"`
	Properties        map[string]string `json:"properties"`

	moved bool // the table may be elsewhere than at its location
}

type logged struct {
	TimestampMs int64 `json:"timestamp-ms"`
	SnapshotID  int64 `json:"snapshot-id"`
}

type ref struct {
	SnapshotID int64 `json:"snapshot-id"`
}

type snapshot struct {
	ID           int64    `json:"snapshot-id"`
	TimestampMs  int64    `json:"timestamp-ms"`
	ManifestList string   `json:"manifest-list"`
	Manifests    []string `json:"manifests"` // of version 1, where there is no ManifestList
	SchemaID     *int     `json:"schema-id"`
}

// spec is a way to partition.
type spec struct {
	ID     int         `json:"spec-id"`
	Fields []specField `json:"fields"`
}

type specField struct {
	SourceID  int    `json:"source-id"`
	FieldID   int    `json:"field-id"` // 0 in old tables: counted from firstPartitionID
	Name      string `json:"name"`
	Transform string `json:"transform"`
}

const firstPartitionID = 1000

// readAll reads a file, of most bytes at most, whose size is drawn.
func (r *reading) readAll(path string, most int64) ([]byte, error) {
	in, done, err := r.store.Open(r.ctx, path)
	if err != nil {
		return nil, err
	}
	defer done()
	if in.Size > most {
		return nil, fmt.Errorf("damaged: it has %d bytes", in.Size)
	}
	if err := r.mem.Draw(in.Size); err != nil {
		return nil, err
	}
	data := make([]byte, in.Size)
	_, err = io.ReadFull(io.NewSectionReader(in.Reader, 0, in.Size), data)
	return data, err
}

func (r *reading) readMetadata(path string) (*metadata, error) {
	data, err := r.readAll(path, maxMetadata)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(data, []byte{0x1F, 0x8B}) {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err == nil {
			data, err = io.ReadAll(io.LimitReader(z, maxMetadata))
		}
		if err != nil {
			return nil, fmt.Errorf("damaged: %w", err)
		}
	}
	m := &metadata{}
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("damaged: the metadata of the Iceberg table: %w", err)
	}
	switch {
	case m.FormatVersion < 1:
		return nil, errors.New("damaged: the metadata of the Iceberg table says no format version")
	case m.FormatVersion > mostVersion:
		return nil, fmt.Errorf("the Iceberg table is of format version %d; up to %d are supported", m.FormatVersion, mostVersion)
	}
	if len(m.Specs) == 0 {
		m.Specs = []spec{{Fields: m.Spec}}
	}
	for _, s := range m.Specs {
		for i := range s.Fields {
			if s.Fields[i].FieldID == 0 {
				s.Fields[i].FieldID = firstPartitionID + i
			}
		}
	}
	return m, nil
}

// choose finds the snapshot that is asked for; nil: the table has none yet.
func (m *metadata) choose(asOf string) (*snapshot, error) {
	id := int64(-1)
	if m.CurrentSnapshotID != nil {
		id = *m.CurrentSnapshotID
	}
	if asOf != "" {
		var err error
		if id, err = m.chooseAsOf(asOf); err != nil {
			return nil, err
		}
	} else if id == -1 {
		return nil, nil
	}
	for i := range m.Snapshots {
		if m.Snapshots[i].ID == id {
			return &m.Snapshots[i], nil
		}
	}
	if asOf == "" || m.CurrentSnapshotID == nil || *m.CurrentSnapshotID == -1 {
		return nil, fmt.Errorf("the Iceberg table has no snapshot %d", id)
	}
	return nil, fmt.Errorf("the Iceberg table has no snapshot %d: its current one is %d", id, *m.CurrentSnapshotID)
}

func (m *metadata) chooseAsOf(asOf string) (id int64, err error) {
	if id, err = strconv.ParseInt(asOf, 10, 64); err == nil {
		return id, nil
	}
	if ref, ok := m.Refs[asOf]; ok {
		return ref.SnapshotID, nil
	}
	at, ok := lake.ParseTime(asOf)
	if !ok {
		return 0, fmt.Errorf("the Iceberg table has no branch or tag %q; a snapshot has a number, and a time is written like 2024-01-31 12:00:00", asOf)
	}
	log := m.SnapshotLog
	if len(log) == 0 {
		for _, s := range m.Snapshots {
			log = append(log, logged{s.TimestampMs, s.ID})
		}
	}
	slices.SortStableFunc(log, func(a, b logged) int { return cmp.Compare(a.TimestampMs, b.TimestampMs) })
	for _, l := range slices.Backward(log) {
		if l.TimestampMs <= at.UnixMilli() {
			return l.SnapshotID, nil
		}
	}
	if len(log) == 0 {
		return 0, errors.New("the Iceberg table has no snapshot")
	}
	return 0, fmt.Errorf("the Iceberg table has no snapshot of %s or before: its first is of %s", asOf, time.UnixMilli(log[0].TimestampMs).UTC().Format(time.RFC3339Nano))
}
