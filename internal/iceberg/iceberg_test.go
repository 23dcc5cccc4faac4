package iceberg

import (
	"bytes"
	"context"
	"encoding/json"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/avro"
	"github.com/twmb/avro/ocf"

	"github.com/gagg-dev/gagg/internal/budget"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/lake"
	"github.com/gagg-dev/gagg/internal/parquetio"
)

// The file of metadata is that of the hint, or of a version behind it, or the latest, if one is.
func TestChoose(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		names, hint, want string
	}{
		{"v1.metadata.json v10.metadata.json v9.metadata.json", "", "v10.metadata.json"},
		{"v1.metadata.json v10.metadata.json v9.metadata.json", "1", "v1.metadata.json"},
		{"v1.metadata.json v2.metadata.json v4.metadata.json", "1", "v2.metadata.json"},
		{"v1.metadata.json v2.gz.metadata.json", "1", "v2.gz.metadata.json"},
		{"00001-a.metadata.json 00002-b.metadata.json.gz 3-snap.avro snap-99.avro x.metadata.json", "", "00002-b.metadata.json.gz"},
		{"00001-a.metadata.json 00002-b.metadata.json", "00001-a", "00001-a.metadata.json"},
		{"00001-a.metadata.json 00001-b.metadata.json", "00001-a", "00001-a.metadata.json"},
		{"00001-a.metadata.json 00001-b.metadata.json", "", "!several files of metadata of version 1"},
		{"v1.metadata.json", "7", `!says "7"`},
		{"v1.metadata.json", "x", `!says "x"`},
		{"latest.metadata.json", "", "!no file of metadata that is named like"},
	} {
		got, err := choose(strings.Fields(test.names), test.hint)
		want, fails := strings.CutPrefix(test.want, "!")
		if fails != (err != nil) || !fails && got != want || fails && !strings.Contains(err.Error(), want) {
			t.Errorf("%s, hint %q: %q, %v; want %s", test.names, test.hint, got, err, test.want)
		}
	}
}

// What is below the location is below the folder of the table; schemes are those of this program,
// and nothing in a path is unescaped.
func TestPlace(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ location, path, want string }{
		{"s3://b/t", "s3a://b/t/data/x%20y.parquet", "data/x%20y.parquet"},
		{"s3n://b/t/", "s3://b/t/data/x.parquet", "data/x.parquet"},
		{"s3://b/t", "s3a://b/tt/x.parquet", "s3://b/tt/x.parquet"},
		{"file:/w/t", "file:///w/t/x", "x"},
		{"/w/t", "file:/w/t//x", "x"},
		{"file:///w/t", "file:///other/%C3.parquet", "/other/%C3.parquet"},
		{"", "/x", "/x"},
		{"hdfs://n/t", "hdfs://n/u/x", "hdfs://n/u/x"},
	} {
		m := metadata{Location: test.location, moved: true}
		if got := m.place(test.path); got != test.want {
			t.Errorf("%s of a table at %s: %s, want %s", test.path, test.location, got, test.want)
		}
	}
}

func TestParseTime(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2024-01-31": "2024-01-31T00:00:00Z", "2024-01-31 12:30": "2024-01-31T12:30:00Z", "2024-01-31T12:30:01.5": "2024-01-31T12:30:01.5Z",
		"2024-01-31 12:30:00+02:00": "2024-01-31T10:30:00Z", "2024-01-31T12:30:00Z": "2024-01-31T12:30:00Z", "yesterday": "", "2024-02-30": "",
	} {
		got, ok := lake.ParseTime(text)
		if ok != (want != "") || ok && got.UTC().Format(time.RFC3339Nano) != want {
			t.Errorf("%s: %v, %t; want %s", text, got, ok, want)
		}
	}
}

// Bounds are read as the specification writes them, also of narrower types; what is of another
// length is none.
func TestBoundOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		typ  string
		data []byte
		want string
	}{
		{"int", []byte{0xFE, 0xFF, 0xFF, 0xFF}, "-2"},
		{"long", []byte{0xFE, 0xFF, 0xFF, 0xFF}, "-2"},
		{"long", []byte{0, 0, 0, 0, 1, 0, 0, 0}, "4294967296"},
		{"int", []byte{1}, "!"},
		{"int", []byte{0, 0, 0, 0, 1, 0, 0, 0}, "!"},
		{"double", []byte{0, 0, 0x20, 0x40}, "2.5"},
		{"float", []byte{0, 0, 0xC0, 0x7F}, "!"}, // NaN
		{"decimal(5,2)", []byte{0xFF, 0x6A}, "-150"},
		{"decimal(38, 2)", []byte{0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}, "2361183241434822606847"},
		{"decimal(5,2)", nil, "!"},
		{"date", []byte{1, 0, 0, 0}, "1"},
		{"timestamptz", []byte{1, 0, 0, 0, 0, 0, 0, 0}, "1"},
		{"timestamp", []byte{1, 0, 0, 0}, "!"},
		{"string", []byte("é"), "é"},
		{"uuid", make([]byte, 16), "!"},
		{"binary", []byte{1}, "!"},
	} {
		typ, err := typeOf(test.typ)
		if err != nil {
			t.Fatal(err)
		}
		got := "!"
		if v, ok := boundOf(test.data, typ); ok {
			got = shown(v)
		}
		if got != test.want {
			t.Errorf("%s % x: %s, want %s", test.typ, test.data, got, test.want)
		}
	}
	for _, name := range []string{"variant", "decimal(77,0)", "fixed[0]", "timestamp_ns"} {
		if typ, err := typeOf(name); err == nil {
			t.Errorf("%s is %v", name, typ)
		}
	}
}

func shown(v column.Value) string {
	switch {
	case v.Type.Rep() == column.RepBytes:
		return v.Bytes
	case v.Type.Rep() == column.RepWide:
		return v.Wide.BigInt().String()
	case v.Type.IsFloat():
		return big.NewFloat(v.Float).String()
	}
	return big.NewInt(v.Int).String()
}

// Each value lies within the bounds that the value of its partition gives, as the specification
// makes it, and as writers made it that rounded times before 1970 towards it.
func TestTransforms(t *testing.T) {
	t.Parallel()
	table := func(typ string) *reading {
		of, err := typeOf(typ)
		if err != nil {
			t.Fatal(err)
		}
		return &reading{fields: []parquetio.TableField{{Path: []string{"c"}, IDs: []int32{3}, Type: of}}, byID: map[int]int{3: 0}}
	}
	within := func(r *reading, transform string, part any, v column.Value) {
		t.Helper()
		s := &spec{Fields: []specField{{SourceID: 3, FieldID: 1000, Name: "p", Transform: transform}}}
		i, p, ok := r.partField(s, 0)
		if !ok || i != 0 {
			t.Fatalf("%s of %v bounds nothing", transform, r.fields[0].Type)
		}
		value, ok := p.valueOf(part)
		b := p.span(value)
		low, high := b.Min.Int <= v.Int, b.Max.Int >= v.Int
		if v.Type.Kind == column.String {
			low, high = b.Min.Bytes <= v.Bytes, b.Max.Bytes >= v.Bytes
		}
		if !ok || !b.HasMin || !low || b.HasMax && !high || v.Type.Kind != column.String && !b.HasMax {
			t.Fatalf("%s of %s is %v: not within %+v", transform, shown(v), part, b)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	stamps, dates, longs, texts := table("timestamptz"), table("date"), table("long"), table("string")
	edges := []int64{0, -1, 1, -86400e6, 86400e6, -86400e6 - 1, 86400e6 - 1, -31536000e6, -3600e6}
	for n := range 3000 {
		us := r.Int64N(8e15) - 4e15
		if n < len(edges) {
			us = edges[n]
		}
		at := time.UnixMicro(us).UTC()
		v := column.Value{Type: stamps.fields[0].Type, Int: us}
		hour, day := floorDiv(us, 3600e6), floorDiv(us, 86400e6)
		year, month := at.Year()-1970, (at.Year()-1970)*12+int(at.Month())-1
		within(stamps, "hour", int32(hour), v)
		within(stamps, "day", int32(day), v)
		within(stamps, "day", time.Unix(day*86400, 0), v)
		within(stamps, "month", int32(month), v)
		within(stamps, "year", int32(year), v)
		within(stamps, "identity", at, v)
		within(stamps, "hour", int32(us/3600e6), v) // towards 1970
		within(stamps, "day", int32(us/86400e6), v)
		d := column.Value{Type: dates.fields[0].Type, Int: day}
		within(dates, "day", int32(day), d)
		within(dates, "month", int32(month), d)
		within(dates, "year", int32(year), d)
		x := r.Int64N(2000) - 1000
		within(longs, "truncate[10]", x-((x%10)+10)%10, column.Value{Type: longs.fields[0].Type, Int: x})
		text := strings.Repeat("zü", r.IntN(4)) + string(rune('a'+r.IntN(3)))
		within(texts, "truncate[3]", string([]rune(text)[:min(3, len([]rune(text)))]), column.Value{Type: texts.fields[0].Type, Bytes: text})
	}
	for _, transform := range []string{"bucket[4]", "void", "truncate[0]", "zorder"} {
		if _, _, ok := longs.partField(&spec{Fields: []specField{{SourceID: 3, Transform: transform}}}, 0); ok {
			t.Errorf("%s bounds a column", transform)
		}
	}
	if b := periodOf(1<<40, periods["year"], stamps.fields[0].Type); b.HasMin || b.HasMax {
		t.Errorf("a year that is none gives %+v", b)
	}
}

type file []byte

func (f file) Open(context.Context, string) (parquetio.Input, func(), error) {
	return parquetio.Input{Name: "m", Reader: bytes.NewReader(f), Size: int64(len(f))}, func() {}, nil
}

// A manifest that is cut off anywhere is an error, and one with a byte changed an error or other
// files, never a panic; what was drawn for blocks is given back.
func TestDamagedManifest(t *testing.T) {
	t.Parallel()
	schema := avro.MustParse(`{"type": "record", "name": "manifest_entry", "fields": [{"name": "status", "type": "int", "field-id": 0}, {"name": "data_file", "type": {"type": "record", "name": "r2", "fields": [
		{"name": "file_path", "type": "string"}, {"name": "file_format", "type": "string"}, {"name": "partition", "type": {"type": "record", "name": "r102", "fields": [{"name": "d", "type": ["null", {"type": "int", "logicalType": "date"}], "field-id": 1000}]}},
		{"name": "record_count", "type": "long"}, {"name": "file_size_in_bytes", "type": "long"},
		{"name": "lower_bounds", "type": ["null", {"type": "array", "items": {"type": "record", "name": "kv", "fields": [{"name": "key", "type": "int"}, {"name": "value", "type": "bytes"}]}}]}]}}]}`)
	var out bytes.Buffer
	w, err := ocf.NewWriter(&out, schema)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := w.Encode(record{"status": 1, "data_file": record{
			"file_path": "x", "file_format": "PARQUET", "partition": record{"d": 5}, "record_count": 1, "file_size_in_bytes": 9, "lower_bounds": []any{record{"key": 1, "value": []byte{1}}},
		}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	size := int64(out.Len())
	read := func(data []byte) (int, error) {
		memory := budget.New(budget.Memory, 0)
		fields := []parquetio.TableField{{IDs: []int32{1}, Type: column.Type{Kind: column.Date}}}
		excludes := lake.Excludes(func([]parquetio.TableField) func(func(int) column.Bounds) bool {
			return func(func(int) column.Bounds) bool { return false }
		})
		r := &reading{ctx: t.Context(), store: file(data), mem: memory, meta: &metadata{}, fields: fields, byID: map[int]int{1: 0}, filter: excludes.Filter(fields)}
		files, _, err := r.manifest(&manifest{path: "m", size: size, spec: &spec{Fields: []specField{{SourceID: 1, FieldID: 1000, Transform: "identity"}}}})
		if memory.Reserved() > int64(len(files)+1)*(entryBytes+1024) {
			t.Fatalf("%d bytes are held for %d files", memory.Reserved(), len(files))
		}
		for _, f := range files {
			f.bounds(r)(0)
			f.values(r)
		}
		return len(files), err
	}
	data := out.Bytes()
	if n, err := read(data); n != 3 || err != nil {
		t.Fatal(n, err)
	}
	for n := range data {
		if _, err := read(data[:n]); err == nil {
			t.Fatalf("%d bytes of %d are taken", n, len(data))
		}
		for _, flip := range []byte{1, 0x55, 0xFF} {
			other := slices.Clone(data)
			other[n] ^= flip
			_, _ = read(other)
		}
	}
	tight := &reading{ctx: t.Context(), store: file(data), mem: budget.New(budget.Memory, 500), meta: &metadata{}, filter: lake.Excludes(nil).Filter(nil)}
	if _, _, err := tight.manifest(&manifest{spec: &spec{}}); budget.Refusal(err, budget.Memory) == nil {
		t.Errorf("%v where memory is short", err)
	}
}

// Metadata of version 1 has one schema and one spec, whose fields may have no ids.
func TestOldMetadata(t *testing.T) {
	t.Parallel()
	r := &reading{ctx: t.Context(), mem: budget.Or(nil), store: file(`{"format-version": 1, "location": "/t", "schema": {"type": "struct", "fields": [{"id": 1, "name": "x", "required": true, "type": "long"}]},
		"partition-spec": [{"name": "x", "transform": "identity", "source-id": 1}, {"name": "y", "transform": "void", "source-id": 1}], "current-snapshot-id": -1, "snapshots": []}`)}
	m, err := r.readMetadata("")
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.choose("")
	if s != nil || err != nil {
		t.Error(s, err)
	}
	columns, err := m.tableSchema(nil, false)
	if err != nil || len(columns.Fields) != 1 || !columns.ByID {
		t.Errorf("%+v, %v", columns, err)
	}
	if f := m.Specs[0].Fields; f[0].FieldID != 1000 || f[1].FieldID != 1001 {
		t.Errorf("%+v", f)
	}
}

func TestNameMapping(t *testing.T) {
	t.Parallel()
	var names nameMapping
	if err := json.Unmarshal([]byte(`[{"field-id": 1, "names": ["a", "b"]}, {"field-id": 2, "names": ["s"], "fields": [{"field-id": 3, "names": ["x", "a"]}]}, {"names": ["none"]}]`), &names); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][]int32{"a": {1}, "b": {1}, "s.x": {2, 3}, "s.a": {2, 3}, "s.b": nil, "x": nil, "a.x": nil} {
		if got := names.ids(strings.Split(path, ".")); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}
