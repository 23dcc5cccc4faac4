package gagg_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/avro"
	"github.com/twmb/avro/ocf"

	"github.com/gagg-dev/gagg"
)

// berg is the folder of an Iceberg table.
type berg struct {
	*lake
	version  int
	location string
	meta     object // what the file of metadata will say
	codec    func() ocf.Codec
	files    int // of Avro
}

func newBerg(t *testing.T, version int, partitions []object, fields ...object) *berg {
	b := &berg{lake: newLake(t), version: version, codec: func() ocf.Codec { return ocf.DeflateCodec(-1) }}
	b.location = "s3a://warehouse/db/t"
	b.meta = object{
		"format-version": version, "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1", "location": b.location, "last-sequence-number": 9,
		"last-updated-ms": 1, "last-column-id": 99, "current-schema-id": 0, "schemas": []object{{"type": "struct", "schema-id": 0, "fields": fields}},
		"default-spec-id": 0, "partition-specs": []object{{"spec-id": 0, "fields": partitions}}, "last-partition-id": 1999,
		"properties": object{}, "snapshots": []object{}, "snapshot-log": []object{}, "refs": object{},
	}
	return b
}

func bergField(id int, name string, typ any) object {
	return object{"id": id, "name": name, "required": false, "type": typ}
}

func part(source, id int, name, transform string) object {
	return object{"source-id": source, "field-id": id, "name": name, "transform": transform}
}

// Schemas of manifests and their lists, as the specification has them, with the ids of fields.
const (
	mapOf     = `{"name": "%s", "field-id": %d, "default": null, "type": ["null", {"type": "array", "logicalType": "map", "items": {"type": "record", "name": "k%d_v%d", "fields": [{"name": "key", "type": "int", "field-id": %d}, {"name": "value", "type": "%s", "field-id": %d}]}}]}`
	entryHead = `{"type": "record", "name": "manifest_entry", "fields": [{"name": "status", "type": "int", "field-id": 0}, {"name": "snapshot_id", "type": ["null", "long"], "default": null, "field-id": 1}`
	fileHead  = `{"name": "file_path", "type": "string", "field-id": 100}, {"name": "file_format", "type": "string", "field-id": 101}, {"name": "partition", "field-id": 102, "type": {"type": "record", "name": "r102", "fields": [%s]}},
		{"name": "record_count", "type": "long", "field-id": 103}, {"name": "file_size_in_bytes", "type": "long", "field-id": 104}`
	listHead = `{"type": "record", "name": "manifest_file", "fields": [{"name": "manifest_path", "type": "string", "field-id": 500}, {"name": "manifest_length", "type": "long", "field-id": 501}, {"name": "partition_spec_id", "type": "int", "field-id": 502}`
	listTail = `{"name": "partitions", "field-id": 507, "default": null, "type": ["null", {"type": "array", "element-id": 508, "items": {"type": "record", "name": "r508", "fields": [{"name": "contains_null", "type": "boolean", "field-id": 509},
		{"name": "contains_nan", "type": ["null", "boolean"], "default": null, "field-id": 518}, {"name": "lower_bound", "type": ["null", "bytes"], "default": null, "field-id": 510}, {"name": "upper_bound", "type": ["null", "bytes"], "default": null, "field-id": 511}]}}]},
		{"name": "key_metadata", "type": ["null", "bytes"], "default": null, "field-id": 519}]}`
)

func optional(name, typ string, id int) string {
	return fmt.Sprintf(`{"name": "%s", "type": ["null", %s], "default": null, "field-id": %d}`, name, typ, id)
}

func (b *berg) entrySchema(partitions []string) string {
	maps := []string{
		fmt.Sprintf(mapOf, "column_sizes", 108, 117, 118, 117, "long", 118), fmt.Sprintf(mapOf, "value_counts", 109, 119, 120, 119, "long", 120),
		fmt.Sprintf(mapOf, "null_value_counts", 110, 121, 122, 121, "long", 122), fmt.Sprintf(mapOf, "lower_bounds", 125, 126, 127, 126, "bytes", 127),
		fmt.Sprintf(mapOf, "upper_bounds", 128, 129, 130, 129, "bytes", 130), optional("key_metadata", `"bytes"`, 131),
	}
	file := fmt.Sprintf(fileHead, strings.Join(partitions, ","))
	if b.version == 1 {
		maps = append([]string{`{"name": "block_size_in_bytes", "type": "long", "field-id": 105}`}, maps...)
		return entryHead + `, {"name": "data_file", "field-id": 2, "type": {"type": "record", "name": "r2", "fields": [` + file + "," + strings.Join(maps, ",") + "]}}]}"
	}
	maps = append(maps, `{"name": "equality_ids", "field-id": 135, "default": null, "type": ["null", {"type": "array", "items": "int", "element-id": 136}]}`, optional("referenced_data_file", `"string"`, 143))
	return entryHead + "," + optional("sequence_number", `"long"`, 3) + "," + optional("file_sequence_number", `"long"`, 4) +
		`, {"name": "data_file", "field-id": 2, "type": {"type": "record", "name": "r2", "fields": [{"name": "content", "type": "int", "field-id": 134},` + file + "," + strings.Join(maps, ",") + "]}}]}"
}

func (b *berg) listSchema() string {
	if b.version == 1 {
		return listHead + "," + optional("added_snapshot_id", `"long"`, 503) + "," + optional("added_data_files_count", `"int"`, 504) + "," + listTail
	}
	more := ""
	for _, f := range []struct {
		name, typ string
		id        int
	}{
		{"content", "int", 517},
		{"sequence_number", "long", 515},
		{"min_sequence_number", "long", 516},
		{"added_snapshot_id", "long", 503},
		{"added_files_count", "int", 504},
		{"existing_files_count", "int", 505},
		{"deleted_files_count", "int", 506},
		{"added_rows_count", "long", 512},
		{"existing_rows_count", "long", 513},
		{"deleted_rows_count", "long", 514},
	} {
		more += fmt.Sprintf(`, {"name": "%s", "type": "%s", "field-id": %d}`, f.name, f.typ, f.id)
	}
	return listHead + more + "," + listTail
}

// avro writes a file of records, and returns its place within the location, and its size.
func (b *berg) avro(name, schema string, meta map[string][]byte, records []object) (path string, size int) {
	b.t.Helper()
	s, err := avro.Parse(schema)
	if err != nil {
		b.t.Fatal(err, schema)
	}
	var out bytes.Buffer
	w, err := ocf.NewWriter(&out, s, ocf.WithCodec(b.codec()), ocf.WithMetadata(meta))
	if err != nil {
		b.t.Fatal(err)
	}
	for _, r := range records {
		err = errors.Join(err, w.Encode(r))
	}
	if err = errors.Join(err, w.Close()); err != nil {
		b.t.Fatal(err)
	}
	b.files++
	path = fmt.Sprintf("metadata/%d-%s.avro", b.files, name)
	b.write(path, out.Bytes())
	return b.location + "/" + path, out.Len()
}

// bin is a value in the binary form of bounds.
func bin(v any) []byte {
	le := binary.LittleEndian
	switch v := v.(type) {
	case int32:
		return le.AppendUint32(nil, uint32(v))
	case int:
		return le.AppendUint64(nil, uint64(v))
	case float32:
		return le.AppendUint32(nil, math.Float32bits(v))
	case string:
		return []byte(v)
	}
	return v.([]byte)
}

// bounds is the least or the greatest values of columns, by their ids.
type bounds map[int]any

func (b bounds) list() any {
	if b == nil {
		return nil
	}
	list := []any{}
	for id, v := range b {
		list = append(list, object{"key": id, "value": bin(v)})
	}
	return list
}

// entry is an entry of a manifest: of a file that was added with it.
func (b *berg) entry(path string, size, rows int, partition object, lower, upper bounds) object {
	return object{"status": 1, "snapshot_id": nil, "sequence_number": nil, "file_sequence_number": nil, "data_file": object{
		"content": 0, "file_path": b.location + "/" + path, "file_format": "PARQUET", "partition": partition, "record_count": rows, "file_size_in_bytes": size,
		"block_size_in_bytes": 64 << 20, "column_sizes": nil, "value_counts": nil, "null_value_counts": nil, "lower_bounds": lower.list(), "upper_bounds": upper.list(),
		"key_metadata": nil, "equality_ids": nil, "referenced_data_file": nil,
	}}
}

// has is an entry with other values: of the entry, or of its file.
func has(entry, values object) object {
	out, file := object{}, object{}
	for k, v := range entry {
		out[k] = v
	}
	for k, v := range entry["data_file"].(object) {
		file[k] = v
	}
	for k, v := range values {
		if _, is := out[k]; is {
			out[k] = v
		} else {
			file[k] = v
		}
	}
	out["data_file"] = file
	return out
}

type gone struct {
	Path string `parquet:"file_path,id(2147483546)"`
	Row  int64  `parquet:"pos,id(2147483545)"`
}

// deletes is an entry of a file of position deletes.
func (b *berg) deletes(path string, partition object, rows ...gone) object {
	for i := range rows {
		rows[i].Path = b.location + "/" + rows[i].Path
	}
	return has(b.entry(path, put(b.lake, path, rows...), len(rows), partition, nil, nil), object{"content": 1})
}

// manifest writes a manifest, and returns its line in a list. fields are those of its partitions.
func (b *berg) manifest(spec, content, sequence int, fields []string, summaries []any, entries ...object) object {
	b.t.Helper()
	rows := 0
	for _, e := range entries {
		rows += e["data_file"].(object)["record_count"].(int)
	}
	path, size := b.avro("m", b.entrySchema(fields), map[string][]byte{"partition-spec-id": []byte(strconv.Itoa(spec)), "format-version": []byte(strconv.Itoa(b.version))}, entries)
	return object{
		"manifest_path": path, "manifest_length": size, "partition_spec_id": spec, "content": content, "sequence_number": sequence, "min_sequence_number": sequence,
		"added_snapshot_id": 1, "added_files_count": len(entries), "existing_files_count": 0, "deleted_files_count": 0, "added_rows_count": rows, "existing_rows_count": 0,
		"deleted_rows_count": 0, "added_data_files_count": len(entries), "partitions": summaries, "key_metadata": nil,
	}
}

// snapshot adds a snapshot, which is the current one from now on.
func (b *berg) snapshot(id int, at string, manifests ...object) {
	when, err := time.Parse(time.DateOnly, at)
	if err != nil {
		b.t.Fatal(err)
	}
	list, _ := b.avro("snap", b.listSchema(), nil, manifests)
	s := object{"snapshot-id": id, "timestamp-ms": when.UnixMilli(), "manifest-list": list, "summary": object{"operation": "append"}, "schema-id": b.meta["current-schema-id"]}
	b.meta["snapshots"] = append(b.meta["snapshots"].([]object), s)
	b.meta["snapshot-log"] = append(b.meta["snapshot-log"].([]object), object{"snapshot-id": id, "timestamp-ms": when.UnixMilli()})
	b.meta["current-snapshot-id"] = id
}

// commit writes the file of metadata.
func (b *berg) commit(name string) {
	b.t.Helper()
	data, err := json.Marshal(b.meta)
	if err != nil {
		b.t.Fatal(err)
	}
	if strings.Contains(name, ".gz") {
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		if _, err := w.Write(data); err != nil || w.Close() != nil {
			b.t.Fatal(err)
		}
		data = z.Bytes()
	}
	b.write("metadata/"+name, data)
}

type visit struct {
	ID    int64   `parquet:"id,id(1)"`
	Name  *string `parquet:"name,optional,id(2)"`
	Price int32   `parquet:"price,decimal(2:9),id(3)"`
	City  *string `parquet:"city,optional,id(4)"`
	At    *int64  `parquet:"at,optional,timestamp(microsecond),id(5)"`
}

var visitParts = []string{optional("city", `"string"`, 1000), optional("at_day", `{"type": "int", "logicalType": "date"}`, 1001), optional("b", `"int"`, 1002)}

func day(s string) time.Time {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err)
	}
	return t
}

func micros(s string) *int64 {
	n := day(s).UnixMicro() + 1
	return &n
}

// visits is a table of three snapshots: of b rows are deleted by the second, a by the third.
func visits(t *testing.T, version int) *berg {
	b := newBerg(t, version, []object{part(4, 1000, "city", "identity"), part(5, 1001, "at_day", "day"), part(1, 1002, "b", "bucket[4]")},
		bergField(1, "id", "long"), bergField(2, "name", "string"), bergField(3, "price", "decimal(9, 2)"), bergField(4, "city", "string"), bergField(5, "at", "timestamptz"),
		bergField(6, "tags", object{"type": "list", "element-id": 7, "element": "string", "element-required": false}))
	at, city := micros("2024-01-05"), text("Zürich")
	pa := object{"city": *city, "at_day": day("2024-01-05"), "b": 1}
	a := b.entry("data/city=Z%C3%BCrich/a.parquet", put(b.lake, "data/city=Z%C3%BCrich/a.parquet", visit{1, text("x"), 100, city, at}, visit{2, nil, 200, city, at}), 2, pa, bounds{1: 1, 4: "Zürich"}, bounds{1: 2, 4: "Zürich"})
	at, city = micros("2024-01-06"), text("Bern")
	pb := object{"city": "Bern", "at_day": day("2024-01-06"), "b": 2}
	var rows []visit
	for i, name := range "bcdef" {
		rows = append(rows, visit{10 + int64(i), text(string(name)), int32(i) * 100, city, at})
	}
	f := b.entry("data/b.parquet", put(b.lake, "data/b.parquet", rows...), 5, pb, bounds{1: 10, 2: "b", 3: []byte{0}}, bounds{1: 14, 2: "f", 3: []byte{1, 0x90}})
	none := object{"city": nil, "at_day": nil, "b": 0}
	c := b.entry("data/c.parquet", put(b.lake, "data/c.parquet", visit{30, text("z"), 700, nil, nil}), 1, none, nil, nil)
	span := func(from, to string, days ...int32) []any {
		return []any{
			object{"contains_null": false, "contains_nan": nil, "lower_bound": []byte(from), "upper_bound": []byte(to)},
			object{"contains_null": false, "contains_nan": nil, "lower_bound": bin(days[0]), "upper_bound": bin(days[1])},
			object{"contains_null": false, "contains_nan": nil, "lower_bound": bin(int32(1)), "upper_bound": bin(int32(2))},
		}
	}
	null := object{"contains_null": true, "contains_nan": nil, "lower_bound": nil, "upper_bound": nil}
	both := span("Bern", "Zürich", 19727, 19728)
	one := b.manifest(0, 0, 1, visitParts, both, a, f)
	b.snapshot(101, "2024-01-10", one)
	two := b.manifest(0, 0, 2, visitParts, []any{null, null, null}, c)
	if version == 1 {
		b.snapshot(102, "2024-02-10", one, two)
		b.snapshot(103, "2024-03-10", two)
		b.commit("v3.metadata.json")
		return b
	}
	del := b.manifest(0, 1, 2, visitParts, span("Bern", "Bern", 19728, 19728), b.deletes("data/d.parquet", pb, gone{"data/b.parquet", 0}, gone{"data/b.parquet", 2}, gone{"data/b.parquet", 3}, gone{"data/zz.parquet", 1}))
	b.snapshot(102, "2024-02-10", one, two, del)
	kept := b.manifest(0, 0, 3, visitParts, both, has(a, object{"status": 2, "sequence_number": 1}), has(f, object{"status": 0, "sequence_number": 1}))
	b.snapshot(103, "2024-03-10", kept, two, del)
	b.meta["refs"] = object{"main": object{"snapshot-id": 103, "type": "branch"}, "q1": object{"snapshot-id": 102, "type": "tag"}}
	b.commit("v3.metadata.json")
	return b
}

// A table has the files of its snapshot without deleted rows, whatever is asked of it. A snapshot
// is found by its id, by a time and by a name.
func TestIceberg(t *testing.T) {
	b := visits(t, 2)
	for _, test := range []struct {
		asOf string
		q    gagg.Query
		want []string
	}{
		{"", gagg.Query{}, []string{"3,55"}},
		{"103", gagg.Query{}, []string{"3,55"}},
		{"main", gagg.Query{}, []string{"3,55"}},
		{"q1", gagg.Query{}, []string{"5,58"}},
		{"102", gagg.Query{}, []string{"5,58"}},
		{"2024-02-10 00:00", gagg.Query{}, []string{"5,58"}},
		{"2024-02-10T01:00:00+01:00", gagg.Query{}, []string{"5,58"}},
		{"2024-02-09T23:59:59.999Z", gagg.Query{}, []string{"7,63"}},
		{"2024-01-31", gagg.Query{}, []string{"7,63"}},
		{"101", gagg.Query{Aggs: []gagg.Agg{gagg.CountAll()}}, []string{"7"}},
		{"q1", gagg.Query{Aggs: []gagg.Agg{gagg.Expr("min(id), max(id), sum(price), count(city), max(at)")}}, []string{"1,30,15,4,2024-01-06 00:00:00.000001Z"}},
		{"q1", gagg.Query{By: []string{"city"}, OrderBy: []string{"city"}}, []string{"Bern,2,25", "Zürich,2,3", "NULL,1,30"}},
		{"q1", gagg.Query{Where: "city = 'Bern'"}, []string{"2,25"}},
		{"q1", gagg.Query{Where: "city < 'C' and id > 11"}, []string{"1,14"}},
		{"q1", gagg.Query{Where: "city is null"}, []string{"1,30"}},
		{"q1", gagg.Query{Where: "at::date = date '2024-01-05'"}, []string{"2,3"}},
		{"q1", gagg.Query{Where: "at < '2024-01-06 00:00:00+00'"}, []string{"2,3"}},
		{"q1", gagg.Query{Where: "at >= '2024-01-06 00:00:00.000002+00'"}, []string{"0,NULL"}},
		{"q1", gagg.Query{Where: "price > 3.5"}, []string{"2,44"}},
		// 12 is deleted
		{"q1", gagg.Query{Where: "1 / (id - 12) < 9 and id > 9"}, []string{"3,55"}},
		{"q1", gagg.Query{Where: "name is null"}, []string{"1,2"}},
	} {
		for _, o := range []gagg.Options{{}, {NoPruning: true, BatchRows: 1}, {Threads: 3, BatchRows: 3}} {
			o.AsOf, o.Device = test.asOf, "cpu"
			got, _, err := b.ask(test.q, o)
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("%q, %+v: %q, %v; want %q", test.asOf, test.q, got, err, test.want)
			}
		}
	}
	d, err := gagg.Describe(t.Context(), gagg.Files(b.dir), gagg.Options{})
	if err != nil || d.Files != 2 || fmt.Sprint(d.Columns[:5]) != "[{id int64 } {name string } {price decimal(9,2) } {city string } {at timestamp[us, UTC] }]" {
		t.Errorf("%+v, %v", d, err)
	}
	old := visits(t, 1)
	old.meta["snapshots"] = append(old.meta["snapshots"].([]object), object{"snapshot-id": 104, "timestamp-ms": 1, "manifests": []string{old.location + "/metadata/1-m.avro"}})
	old.commit("v4.metadata.json")
	for asOf, want := range map[string]string{"101": "7,63", "2024-02-11": "8,93", "104": "7,63", "": "1,30"} {
		if got, _, err := old.ask(gagg.Query{}, gagg.Options{AsOf: asOf}); err != nil || !slices.Equal(got, []string{want}) {
			t.Errorf("version 1 at %q: %q, %v; want %s", asOf, got, err, want)
		}
	}
}

// Of what the filter rules out neither data files nor manifests are opened.
func TestIcebergSkipsFiles(t *testing.T) {
	b := visits(t, 2)
	// c's manifest
	for _, path := range []string{"data/city=Z%C3%BCrich/a.parquet", "metadata/3-m.avro"} {
		if err := os.Remove(filepath.Join(b.dir, path)); err != nil {
			t.Fatal(err)
		}
	}
	got, _, err := b.ask(gagg.Query{Where: "city = 'Bern'"}, gagg.Options{AsOf: "q1"})
	// nothing is known of NULL
	if !errors.Is(err, gagg.ErrInput) || !strings.Contains(err.Error(), "3-m.avro: no such file") {
		t.Errorf("%q, %v", got, err)
	}
	for where, want := range map[string]string{
		"city = 'Bern'": "5,60", "city = 'Bern' and id < 12": "2,21", "at >= '2024-01-06 00:00:00+00'": "5,60", "city = 'Chur'": "0,NULL", "id > 14": "0,NULL",
	} {
		got, s, err := b.ask(gagg.Query{Where: where}, gagg.Options{AsOf: "101"})
		if err != nil || !slices.Equal(got, []string{want}) || s.GroupsSkipped < 1 || s.RowsSkipped < 2 {
			t.Errorf("%s: %q, %v, %+v", where, got, err, s)
		}
	}
	got, _, err = b.ask(gagg.Query{Where: "name = 'c'"}, gagg.Options{AsOf: "101"})
	// nothing is known of its names
	if !errors.Is(err, gagg.ErrInput) || !strings.Contains(err.Error(), "a.parquet: no such file") {
		t.Errorf("%q, %v", got, err)
	}
	if err := os.Remove(filepath.Join(b.dir, "metadata/1-m.avro")); err != nil {
		t.Fatal(err)
	}
	for _, where := range []string{"city > 'a'", "at < '2024-01-05 00:00:00+00'"} {
		if got, s, err := b.ask(gagg.Query{Where: where}, gagg.Options{AsOf: "101"}); err != nil || !slices.Equal(got, []string{"0,NULL"}) || s.GroupsSkipped != 2 || s.RowsSkipped != 7 {
			t.Errorf("%s: %q, %v, %+v", where, got, err, s)
		}
	}
}

type early struct {
	ID    int32   `parquet:"id,id(1)"`
	Label string  `parquet:"label,id(2)"`
	Score float32 `parquet:"score,id(3)"`
	Price int32   `parquet:"price,decimal(2:5),id(4)"`
	S     struct {
		X int32 `parquet:"x,id(6)"`
	} `parquet:"s,id(5)"`
	Dropped string `parquet:"name,id(9)"`
}

type late struct {
	ID    int64   `parquet:"key,id(1)"`
	Name  string  `parquet:"name,id(2)"`
	Score float64 `parquet:"score,id(3)"`
	Price int64   `parquet:"price,decimal(2:18),id(4)"`
	S     struct {
		Y int64 `parquet:"y,id(6)"`
	} `parquet:"t,id(5)"`
	UID [16]byte `parquet:"uid,uuid,id(8)"`
}

type imported struct {
	Key  int64  `parquet:"KEY"`
	Name string `parquet:"title"`
	S    struct {
		X int64 `parquet:"x"`
	} `parquet:"old_s"`
	Other string `parquet:"other"`
}

// evolved is a table whose columns were renamed, widened, dropped and added, with a file from
// before that, one from after it, and one that was imported without ids. The values of region are
// those of partitions.
func evolved(t *testing.T) *berg {
	b := newBerg(t, 2, []object{part(7, 1000, "r%gion", "identity")})
	b.meta["schemas"] = []object{
		{"type": "struct", "schema-id": 0, "fields": []object{
			bergField(1, "id", "int"), bergField(2, "label", "string"), bergField(3, "score", "float"), bergField(4, "price", "decimal(5,2)"),
			bergField(5, "s", object{"type": "struct", "fields": []object{bergField(6, "x", "int")}}), bergField(9, "name", "string"), bergField(7, "region", "string"),
		}},
		{"type": "struct", "schema-id": 1, "fields": []object{
			bergField(1, "key", "long"), bergField(2, "name", "string"), bergField(3, "score", "double"), bergField(4, "price", "decimal(18,2)"),
			bergField(5, "t", object{"type": "struct", "fields": []object{bergField(6, "y", "long")}}), bergField(7, "region", "string"), bergField(8, "uid", "uuid"),
		}},
	}
	b.meta["properties"] = object{"schema.name-mapping.default": `[{"field-id":1,"names":["id","KEY"]},{"field-id":2,"names":["name","title"]},{"field-id":5,"names":["old_s"],"fields":[{"field-id":6,"names":["x"]}]},{"names":["other"]}]`}
	region := []string{strings.Replace(optional("r_x25gion", `"string"`, 1000), "{", `{"iceberg-field-name": "r%gion",`, 1)}
	one := early{ID: 1, Label: "one", Score: 0.5, Price: 150, Dropped: "gone"}
	one.S.X = -7
	a := b.entry("a.parquet", put(b.lake, "a.parquet", one), 1, object{"r_x25gion": "eu"}, bounds{1: int32(1), 3: float32(0.5), 4: []byte{0, 0x96}, 6: int32(-7), 9: "gone"}, bounds{1: int32(1), 3: float32(0.5), 4: []byte{0, 0x96}, 6: int32(-7), 9: "gone"})
	b.snapshot(1, "2024-01-01", b.manifest(0, 0, 1, region, nil, a))
	b.meta["current-schema-id"] = 1
	two := late{ID: 1 << 40, Name: "two", Score: 1e300, Price: 1e15, UID: [16]byte{0: 0xAB}}
	two.S.Y = 1 << 33
	z := b.entry("z.parquet", put(b.lake, "z.parquet", two), 1, object{"r_x25gion": nil}, nil, nil)
	three := imported{Key: 3, Name: "three", Other: "?"}
	three.S.X = 9
	m := b.entry("m.parquet", put(b.lake, "m.parquet", three), 1, object{"r_x25gion": "us"}, nil, nil)
	b.snapshot(2, "2024-02-01", b.manifest(0, 0, 2, region, nil, a, m, z))
	b.commit("00002-abc.gz.metadata.json")
	return b
}

// Columns are found by their ids, whatever they are called in files: a column that was dropped is
// not one that has its name now. A file without ids is read by the names that the table gives them.
func TestIcebergEvolution(t *testing.T) {
	b := evolved(t)
	for _, test := range []struct {
		asOf string
		q    gagg.Query
		want []string
	}{
		{"", gagg.Query{By: []string{"key", "name", "score", "price", "t.y", "region", "uid"}, Aggs: []gagg.Agg{gagg.CountAll()}, OrderBy: []string{"key"}}, []string{
			"1,one,0.5,1.5,-7,eu,NULL,1", "3,three,NULL,NULL,9,us,NULL,1", "1099511627776,two,1e+300,10000000000000,8589934592,NULL,qwAAAAAAAAAAAAAAAAAAAA==,1",
		}},
		{"1", gagg.Query{By: []string{"id", "label", "name", "region", "s.x"}, Aggs: []gagg.Agg{gagg.Sum("score")}}, []string{"1,one,gone,eu,-7,0.5"}},
		{"", gagg.Query{Where: "name = 'gone'", Aggs: []gagg.Agg{gagg.CountAll()}}, []string{"0"}},
		{"", gagg.Query{Where: "price = 1.5", Aggs: []gagg.Agg{gagg.Sum("key")}}, []string{"1"}},
		{"", gagg.Query{Where: "score <= 0.5 and key < 2", Aggs: []gagg.Agg{gagg.Sum("key")}}, []string{"1"}},
		{"", gagg.Query{Where: "region = 'us'", Aggs: []gagg.Agg{gagg.Sum("key")}}, []string{"3"}},
		{"", gagg.Query{Where: "t.y < 0", Aggs: []gagg.Agg{gagg.Sum("key")}}, []string{"1"}},
	} {
		for _, o := range []gagg.Options{{}, {NoPruning: true}} {
			o.AsOf = test.asOf
			if got, _, err := b.ask(test.q, o); err != nil || !slices.Equal(got, test.want) {
				t.Errorf("%+v: %q, %v; want %q", test.q, got, err, test.want)
			}
		}
	}
	if _, s, err := b.ask(gagg.Query{Where: "key > 5 and t.y > 0", Aggs: []gagg.Agg{gagg.CountAll()}}, gagg.Options{}); err != nil || s.GroupsSkipped < 1 {
		t.Errorf("%+v, %v", s, err)
	}
	if _, _, err := b.ask(gagg.Query{By: []string{"label"}}, gagg.Options{}); !errors.Is(err, gagg.ErrUsage) || !strings.Contains(err.Error(), `"label" does not exist`) {
		t.Error(err)
	}
	b.meta["properties"] = object{}
	b.commit("00003-abc.metadata.json")
	if _, _, err := b.ask(gagg.Query{Aggs: []gagg.Agg{gagg.CountAll()}}, gagg.Options{}); !errors.Is(err, gagg.ErrInput) || !strings.Contains(err.Error(), "m.parquet: its columns have no field ids") {
		t.Error(err)
	}
}

// A file of position deletes is for data files that are no newer, of its partition, and, if it
// says so, of one path; several add up.
func TestIcebergDeletes(t *testing.T) {
	p, q := object{"city": "p"}, object{"city": "q"}
	fields := []string{optional("city", `"string"`, 1000)}
	rows := func(b *berg, path string) int {
		return put(b.lake, path, visit{ID: 0}, visit{ID: 1}, visit{ID: 2}, visit{ID: 3}, visit{ID: 4})
	}
	type deleted struct {
		sequence  int
		partition object
		path      string // to which it refers; "": to none
		bounds    bool   // say the path
		rows      []int64
	}
	for name, test := range map[string]struct {
		all  []deleted
		want string
	}{
		"none":       {nil, "1,2,3,4"},
		"same":       {[]deleted{{5, p, "", false, []int64{0, 4}}}, "1,2,3"},
		"newer":      {[]deleted{{6, p, "", false, []int64{1, 4}}}, "2,3"},
		"older":      {[]deleted{{4, p, "", false, []int64{1}}}, "1,2,3,4"},
		"elsewhere":  {[]deleted{{6, q, "", false, []int64{1}}}, "1,2,3,4"},
		"several":    {[]deleted{{6, p, "", false, []int64{1}}, {7, p, "f.parquet", false, []int64{3}}, {7, p, "", true, []int64{4}}}, "2"},
		"referenced": {[]deleted{{6, p, "f.parquet", false, []int64{1}}}, "2,3,4"},
		"older path": {[]deleted{{4, p, "f.parquet", false, []int64{1}}}, "1,2,3,4"},
		"another":    {[]deleted{{6, p, "g.parquet", false, []int64{1}}}, "1,2,3,4"},
		"all":        {[]deleted{{6, p, "", false, []int64{0, 1, 2, 3, 4, 5, 1 << 40}}}, ""},
	} {
		b := newBerg(t, 2, []object{part(4, 1000, "city", "identity")}, bergField(1, "id", "long"))
		manifests := []object{b.manifest(0, 0, 5, fields, nil, b.entry("f.parquet", rows(b, "f.parquet"), 5, p, nil, nil))}
		for i, d := range test.all {
			var list []gone
			for _, r := range d.rows {
				list = append(list, gone{"f.parquet", r})
			}
			e := b.deletes(fmt.Sprintf("d%d.parquet", i), d.partition, list...)
			if d.path != "" {
				e = has(e, object{"referenced_data_file": b.location + "/" + d.path})
			}
			if d.bounds {
				path := bounds{2147483546: b.location + "/f.parquet"}
				e = has(e, object{"lower_bounds": path.list(), "upper_bounds": path.list()})
			}
			manifests = append(manifests, b.manifest(0, 1, d.sequence, fields, nil, e))
		}
		b.snapshot(1, "2024-01-01", manifests...)
		b.commit("v1.metadata.json")
		if got, err := b.ids(); err != nil || got != test.want {
			t.Errorf("%s: %q, %v; want %s", name, got, err, test.want)
		}
	}
}

// ids is the values of column id above 0.
func (b *berg) ids() (string, error) {
	got, _, err := b.ask(gagg.Query{By: []string{"id"}, Where: "id > 0", Aggs: []gagg.Agg{gagg.CountAll()}, OrderBy: []string{"id"}}, gagg.Options{})
	for i := range got {
		got[i], _, _ = strings.Cut(got[i], ",")
	}
	return strings.Join(got, ","), err
}

type goneID struct {
	ID int64 `parquet:"id,id(1)"`
}

type goneName struct {
	Score float64 `parquet:"score,id(9)"` // not of the equality
	Name  *string `parquet:"name,optional,id(2)"`
}

type goneBoth struct {
	Was   int32   `parquet:"was,id(1)"` // an int, before the column was widened
	Name  *string `parquet:"name,optional,id(2)"`
	Other *string `parquet:"other,optional,id(8)"`
	City  string  `parquet:"city,id(4)"`
}

type goneOld struct {
	Old float32 `parquet:"old,id(3)"`
}

// Equality deletes are for older data files, of their partition or, without one, of all: rows with
// the same values of their columns, NULL being the same as NULL, are deleted. A column may be none
// of a file, or of the table any more.
func TestIcebergEqualityDeletes(t *testing.T) {
	p, q := object{"city": "p"}, object{"city": "q"}
	fields := []string{optional("city", `"string"`, 1000)}
	type row struct { // city is that of the partition
		ID   int64   `parquet:"id,id(1)"`
		Name *string `parquet:"name,optional,id(2)"`
		Old  float32 `parquet:"old,id(3)"`
	}
	x, y := text("x"), text("y")
	nan := float32(math.NaN())
	for name, test := range map[string]struct {
		deletes func(b *berg) []object
		want    string
	}{
		"id": {func(b *berg) []object {
			return []object{equal(b, 6, 0, p, []int32{1}, goneID{2}, goneID{4}, goneID{99})}
		}, "1,3,5"},
		"same age":  {func(b *berg) []object { return []object{equal(b, 5, 0, p, []int32{1}, goneID{2})} }, "1,2,3,4,5"},
		"elsewhere": {func(b *berg) []object { return []object{equal(b, 6, 0, q, []int32{1}, goneID{2})} }, "1,2,3,4,5"},
		"all":       {func(b *berg) []object { return []object{equal(b, 6, 1, object{}, []int32{1}, goneID{2})} }, "1,3,4,5"},
		"null": {func(b *berg) []object {
			return []object{equal(b, 6, 0, p, []int32{2}, goneName{7, nil}, goneName{8, y})}
		}, "1,5"},
		"several": {func(b *berg) []object {
			return []object{equal(b, 6, 0, p, []int32{2}, goneName{0, y}), equal(b, 7, 0, p, []int32{2}, goneName{0, nil}), equal(b, 7, 1, object{}, []int32{1}, goneID{5})}
		}, "1"},
		"both": {func(b *berg) []object {
			return []object{equal(b, 6, 0, p, []int32{4, 1, 2, 8}, goneBoth{1, x, nil, "p"}, goneBoth{2, nil, nil, "q"}, goneBoth{3, y, nil, "p"}, goneBoth{5, x, x, "p"}, goneBoth{5, nil, x, "p"})}
		}, "2,4,5"},
		"positions": {func(b *berg) []object {
			return []object{equal(b, 6, 0, p, []int32{1}, goneID{2}), b.manifest(0, 1, 6, fields, nil, b.deletes("d.parquet", p, gone{"f.parquet", 0}, gone{"f.parquet", 4}))}
		}, "3,4"},
		"dropped": {func(b *berg) []object {
			return []object{equal(b, 6, 0, p, []int32{3}, goneOld{nan}, goneOld{0})}
		}, "1,4,5"},
		"unknown": {func(b *berg) []object { return []object{equal(b, 6, 0, p, []int32{77}, goneID{2})} }, "!rows are deleted by a column with id 77"},
		"none":    {func(b *berg) []object { return []object{equal(b, 6, 0, p, nil, goneID{2})} }, "!does not say by which columns"},
	} {
		b := newBerg(t, 2, []object{part(4, 1000, "city", "identity")}, bergField(1, "id", "int"), bergField(3, "old", "float"))
		b.meta["partition-specs"] = append(b.meta["partition-specs"].([]object), object{"spec-id": 1, "fields": []object{}})
		b.meta["schemas"] = append(b.meta["schemas"].([]object), object{"type": "struct", "schema-id": 1, "fields": []object{
			bergField(1, "id", "long"), bergField(2, "name", "string"), bergField(4, "city", "string"), bergField(8, "added", "string"),
		}})
		b.meta["current-schema-id"] = 1
		size := put(b.lake, "f.parquet", row{1, x, 1}, row{2, nil, nan}, row{3, y, float32(math.Copysign(0, -1))}, row{4, nil, 4}, row{5, x, 5})
		b.snapshot(1, "2024-01-01", append(test.deletes(b), b.manifest(0, 0, 5, fields, nil, b.entry("f.parquet", size, 5, p, nil, nil)))...)
		b.commit("v1.metadata.json")
		got, err := b.ids()
		want, fails := strings.CutPrefix(test.want, "!")
		if fails != (err != nil) || !fails && got != want || fails && (!errors.Is(err, gagg.ErrInput) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %q, %v; want %s", name, got, err, test.want)
		}
	}
}

// equal writes a file of equality deletes, and a manifest of it.
func equal[T any](b *berg, sequence, spec int, partition object, ids []int32, rows ...T) object {
	b.t.Helper()
	path := fmt.Sprintf("gone%d.parquet", b.files)
	fields := []string{optional("city", `"string"`, 1000)}
	if spec == 1 {
		fields = nil
	}
	e := has(b.entry(path, put(b.lake, path, rows...), len(rows), partition, nil, nil), object{"content": 2, "equality_ids": ids})
	return b.manifest(spec, 1, sequence, fields, nil, e)
}

// A table is found by its folder or by a file of metadata, in a folder, in a store and on a plain
// server, wherever it was made; versions 1 and 2 of the format, and each codec of Avro, are read.
func TestIcebergPlaces(t *testing.T) {
	zstd, err := ocf.ZstdCodec(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for codec, of := range map[string]func() ocf.Codec{"null": nil, "snappy": ocf.SnappyCodec, "zstandard": func() ocf.Codec { return ocf.NopCloser(zstd) }} {
		b := newBerg(t, 2, nil, bergField(1, "id", "long"))
		if b.codec = of; of == nil {
			b.codec = func() ocf.Codec { return nil }
		}
		b.location = "file:" + filepath.ToSlash(b.dir) + "/elsewhere/"
		b.meta["location"] = b.location
		b.location = strings.TrimSuffix(b.location, "/")
		b.snapshot(7, "2024-01-01", b.manifest(0, 0, 1, nil, nil, b.entry("f.parquet", put(b.lake, "f.parquet", visit{ID: 4}, visit{ID: 5}), 2, object{}, nil, nil)))
		b.commit("v12.metadata.json")
		b.write("metadata/v9.metadata.json", []byte("{}"))
		b.write("metadata/version-hint.text", []byte("11\n"))
		b.write("metadata/v11.metadata.json", []byte("{}"))
		s := b.serve()
		o := gagg.Options{Stores: map[string]gagg.Store{"s3": {Endpoint: s.URL}}}
		for _, path := range []string{b.dir, b.dir + "/", "file://" + b.dir, b.dir + "/metadata/v12.metadata.json", "s3://b/t", "s3://b/t/", "s3://b/t/metadata/v12.metadata.json", s.URL + "/plain/metadata/v12.metadata.json"} {
			if got, _, err := b.ask(gagg.Query{From: gagg.Files(path)}, o); err != nil || !slices.Equal(got, []string{"2,9"}) {
				t.Errorf("%s, %s: %q, %v", codec, path, got, err)
			}
		}
	}
	b := visits(t, 2)
	s := b.serve()
	o := gagg.Options{Stores: map[string]gagg.Store{"s3": {Endpoint: s.URL}}, AsOf: "q1"}
	// of c, and of deletes, nothing is known but names
	for where, asked := range map[string]int64{"id > 0": 4, "city = 'Bern'": 3, "city = 'Zürich'": 2} {
		s.asked.Store(0)
		if _, _, err := b.ask(gagg.Query{From: gagg.Files("s3://b/t"), Where: where}, o); err != nil || s.asked.Load() != asked {
			t.Errorf("%s: %v, %d requests for data", where, err, s.asked.Load())
		}
	}
	t.Chdir(filepath.Join(b.dir, "metadata"))
	if got, _, err := b.ask(gagg.Query{From: gagg.Files("v3.metadata.json")}, gagg.Options{}); err != nil || !slices.Equal(got, []string{"3,55"}) {
		t.Errorf("%q, %v", got, err)
	}
	empty := newBerg(t, 1, nil, bergField(1, "id", "long"))
	empty.commit("00000-x.metadata.json")
	if got, _, err := empty.ask(gagg.Query{}, gagg.Options{}); err != nil || !slices.Equal(got, []string{"0,NULL"}) {
		t.Errorf("%q, %v", got, err)
	}
}

// What cannot be read right is an error of one line.
func TestIcebergFaults(t *testing.T) {
	fields := visitParts
	for name, test := range map[string]struct {
		change func(b *berg)
		from   func(dir string) gagg.Source
		asOf   string
		kind   error
		want   string
	}{
		"missing":    {func(b *berg) { _ = os.Remove(filepath.Join(b.dir, "data/b.parquet")) }, nil, "", gagg.ErrInput, "b.parquet: no such file"},
		"short":      {func(b *berg) { _ = os.Truncate(filepath.Join(b.dir, "data/b.parquet"), 100) }, nil, "", gagg.ErrInput, "b.parquet: damaged: 100 bytes, where the table says"},
		"deletes":    {func(b *berg) { _ = os.Remove(filepath.Join(b.dir, "data/d.parquet")) }, nil, "", gagg.ErrInput, "d.parquet: no such file"},
		"damaged":    {func(b *berg) { b.write("data/d.parquet", []byte("PAR1")) }, nil, "", gagg.ErrInput, "delete file s3a://warehouse/db/t/data/d.parquet: "},
		"list":       {func(b *berg) { b.write("metadata/7-snap.avro", []byte("Obj\x01")) }, nil, "", gagg.ErrInput, "manifest list s3a://warehouse/db/t/metadata/7-snap.avro: damaged: "},
		"manifest":   {func(b *berg) { _ = os.Truncate(filepath.Join(b.dir, "metadata/6-m.avro"), 4000) }, nil, "", gagg.ErrInput, "metadata/6-m.avro: damaged: "},
		"snapshot":   {nil, nil, "9", gagg.ErrInput, "no snapshot 9: its current one is 103"},
		"before":     {nil, nil, "2023-12-31", gagg.ErrInput, "no snapshot of 2023-12-31 or before: its first is of 2024-01-10T00:00:00Z"},
		"tag":        {nil, nil, "q9", gagg.ErrInput, `no branch or tag "q9"`},
		"beside":     {nil, func(dir string) gagg.Source { return gagg.Files(dir, "testdata/orders.parquet") }, "", gagg.ErrUsage, "is an Iceberg table: name it alone"},
		"within":     {nil, func(dir string) gagg.Source { return gagg.Files(filepath.Dir(dir)) }, "", gagg.ErrInput, "an Iceberg table, or a folder with one"},
		"version":    {func(b *berg) { b.meta["format-version"] = 3; b.commit("v4.metadata.json") }, nil, "", gagg.ErrInput, "of format version 3; up to 2 are supported"},
		"json":       {func(b *berg) { b.write("metadata/v4.metadata.json", []byte("{")) }, nil, "", gagg.ErrInput, "metadata/v4.metadata.json: damaged: the metadata of the Iceberg table"},
		"schema":     {func(b *berg) { b.meta["current-schema-id"] = 5; b.commit("v4.metadata.json") }, nil, "", gagg.ErrInput, "has no schema 5"},
		"two":        {func(b *berg) { b.commit("00004-a.metadata.json"); b.commit("00004-b.metadata.json") }, nil, "", gagg.ErrInput, "version 4, 00004-a.metadata.json and 00004-b.metadata.json: name the one that its catalog has"},
		"hint":       {func(b *berg) { b.write("metadata/version-hint.text", []byte("8")) }, nil, "", gagg.ErrInput, `version-hint.text says "8", and there is no such file`},
		"no version": {func(b *berg) { b.write("metadata/v4.metadata.json", []byte("{}")) }, nil, "", gagg.ErrInput, "says no format version"},
		"orc": {func(b *berg) {
			e := b.entry("x.orc", 1, 1, object{"city": "Bern", "at_day": nil, "b": 2}, nil, nil)
			b.snapshot(104, "2024-04-01", b.manifest(0, 0, 4, fields, nil, has(e, object{"file_format": "ORC"})))
			b.commit("v4.metadata.json")
		}, nil, "", gagg.ErrInput, "x.orc is of format orc; of the files of Iceberg tables only Parquet is supported"},
		"encrypted": {func(b *berg) {
			e := b.entry("x.parquet", 1, 1, object{"city": "Bern", "at_day": nil, "b": 2}, nil, nil)
			b.snapshot(104, "2024-04-01", b.manifest(0, 0, 4, fields, nil, has(e, object{"key_metadata": []byte{1}})))
			b.commit("v4.metadata.json")
		}, nil, "", gagg.ErrInput, "is encrypted, which is not supported"},
		"type": {func(b *berg) {
			put(b.lake, "x.parquet", struct {
				ID string `parquet:"id,id(1)"`
			}{"1"})
			e := b.entry("x.parquet", 0, 1, object{"city": "Bern", "at_day": nil, "b": 2}, nil, nil)
			info, _ := os.Stat(filepath.Join(b.dir, "x.parquet"))
			b.snapshot(104, "2024-04-01", b.manifest(0, 0, 4, fields, nil, has(e, object{"file_size_in_bytes": info.Size()})))
			b.commit("v4.metadata.json")
		}, nil, "", gagg.ErrInput, `column "id": type`},
		"far": {func(b *berg) {
			e := b.entry("x.parquet", 1, 1, object{"city": "Bern", "at_day": nil, "b": 2}, nil, nil)
			b.snapshot(104, "2024-04-01", b.manifest(0, 0, 4, fields, nil, has(e, object{"file_path": "hdfs://n/x.parquet"})))
			b.commit("v4.metadata.json")
		}, nil, "", gagg.ErrUsage, "hdfs://n/x.parquet: a file of the Iceberg table is where nothing can be read from"},
	} {
		b := visits(t, 2)
		if test.change != nil {
			test.change(b)
		}
		q := gagg.Query{}
		if test.from != nil {
			q.From = test.from(b.dir)
		}
		if got, _, err := b.ask(q, gagg.Options{AsOf: test.asOf}); !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %q, %v; want %q", name, got, err, test.want)
		}
	}
}

// Tables of another writer, made elsewhere, give the rows that were put into them.
func TestIcebergOfAnotherWriter(t *testing.T) {
	const (
		all   = "id, title, price::text as p, city, at::text as t, f, u::text as v, note"
		first = "1,a,1.00,Zürich,2024-01-05 10:00:00+00,1.5,00000000-0000-0000-0000-000000000001,NULL"
	)
	want := []string{
		first, "2,b,2.00,Bern,2024-01-06 10:00:00+00,2.5,NULL,NULL", "3,c,3.00,Bern,2024-02-06 10:00:00+00,NULL,NULL,NULL", "4,NULL,NULL,NULL,NULL,4.5,NULL,NULL",
		"6,f,-6.00,a b/c,1969-12-31 23:00:00+00,6.5,NULL,NULL", "7,g,7.00,Bern,2024-02-07 11:00:00+00,7.5,NULL,NULL", "9,other,9.00,Basel,2024-03-05 10:00:00+00,9.5,NULL,n2",
		"10000000000,title one,123456789012.25,Bern,2024-03-05 10:00:00+00,0.1,NULL,n1",
	}
	for _, version := range []string{"v1", "v2"} {
		ask := func(q gagg.Query, o gagg.Options) ([]string, gagg.Stats) {
			t.Helper()
			q.From = gagg.Files("testdata/iceberg/" + version)
			got, s, err := newLake(t).ask(q, o)
			if err != nil {
				t.Fatalf("%s: %v", version, err)
			}
			return got, s
		}
		rows := gagg.Query{By: []string{all}, Aggs: []gagg.Agg{gagg.CountAll()}, OrderBy: []string{"id"}}
		got, _ := ask(rows, gagg.Options{})
		for i := range got {
			got[i] = strings.TrimSuffix(got[i], ",1")
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", version, got, want)
		}
		for where, left := range map[string]string{
			"city = 'Bern'": "4,10000000012", "at >= '2024-03-01 00:00:00+00'": "2,10000000009", "at < '1970-01-01 00:00:00+00'": "1,6", "id = 9": "1,9", "title >= 'p'": "1,10000000000",
			"price > 100": "1,10000000000", "f > 7 and f < 9": "1,7", "at between '2024-02-01 00:00:00+00' and '2024-02-07 00:00:00+00'": "1,3",
		} {
			for _, plain := range []bool{false, true} {
				got, s := ask(gagg.Query{Where: where}, gagg.Options{NoPruning: plain})
				if !slices.Equal(got, []string{left}) || !plain && s.GroupsSkipped < 1 {
					t.Errorf("%s, %s: %q, want %s; %d skipped", version, where, got, left, s.GroupsSkipped)
				}
			}
		}
		var meta struct {
			Snapshots []struct {
				ID int64 `json:"snapshot-id"`
			}
		}
		text, err := os.ReadFile("testdata/iceberg/" + version + "/metadata/v7.metadata.json")
		if err = errors.Join(err, json.Unmarshal(text, &meta)); err != nil || len(meta.Snapshots) != 4 {
			t.Fatal(err)
		}
		for i, want := range []string{"4,10,3", "7,28,6", "6,23,5"} {
			o := gagg.Options{AsOf: strconv.FormatInt(meta.Snapshots[i].ID, 10)}
			if got, _ := ask(gagg.Query{Aggs: []gagg.Agg{gagg.Expr("count(*), sum(id), count(old)")}}, o); !slices.Equal(got, []string{want}) {
				t.Errorf("%s, snapshot %d: %q, want %s", version, i, got, want)
			}
		}
	}
	got, _, err := newLake(t).ask(gagg.Query{From: gagg.Files("testdata/iceberg/streamed"), By: []string{"id", "name"}, Aggs: []gagg.Agg{gagg.CountAll()}, OrderBy: []string{"id"}}, gagg.Options{})
	if err != nil || !slices.Equal(got, []string{"1,a,1", "4,d,1", "5,b,1", "7,g,1"}) {
		t.Errorf("%q, %v", got, err)
	}
}
