package gagg_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/gagg-dev/gagg"
)

// lake is the folder of a Delta table.
type lake struct {
	t    *testing.T
	dir  string
	next int
}

func newLake(t *testing.T) *lake { return &lake{t: t, dir: t.TempDir()} }

type object = map[string]any

func (l *lake) write(path string, data []byte) {
	l.t.Helper()
	path = filepath.Join(l.dir, path)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, data, 0o666)); err != nil {
		l.t.Fatal(err)
	}
}

// commit writes the next version.
func (l *lake) commit(actions ...object) {
	l.t.Helper()
	var b bytes.Buffer
	for _, a := range actions {
		if err := json.NewEncoder(&b).Encode(a); err != nil {
			l.t.Fatal(err)
		}
	}
	l.write(fmt.Sprintf("_delta_log/%020d.json", l.next), b.Bytes())
	l.next++
}

func (l *lake) start(reader int, features []string, config object, partitions []string, fields ...object) {
	l.t.Helper()
	schema, err := json.Marshal(object{"type": "struct", "fields": fields})
	if err != nil {
		l.t.Fatal(err)
	}
	p := object{"minReaderVersion": reader, "minWriterVersion": 7}
	if features != nil {
		p["readerFeatures"] = features
	}
	l.commit(object{"commitInfo": object{"operation": "CREATE TABLE"}}, object{"protocol": p}, object{"metaData": object{
		"id": "1", "format": object{"provider": "parquet"}, "schemaString": string(schema), "partitionColumns": partitions, "configuration": config,
	}})
}

func field(name, typ string) object {
	return object{"name": name, "type": typ, "nullable": true, "metadata": object{}}
}

// put writes a file of rows, in row groups of two, and returns its size.
func put[T any](l *lake, path string, rows ...T) int {
	l.t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, parquet.MaxRowsPerRowGroup(2))
	if _, err := w.Write(rows); err != nil {
		l.t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		l.t.Fatal(err)
	}
	l.write(path, b.Bytes())
	return b.Len()
}

// add writes a file of rows, and returns the action.
func add[T any](l *lake, path string, parts object, stats string, rows ...T) object {
	l.t.Helper()
	size := put(l, path, rows...)
	a := object{"path": strings.ReplaceAll(path, "%", "%25"), "partitionValues": parts, "size": size, "modificationTime": 1, "dataChange": true}
	if stats != "" {
		a["stats"] = stats
	}
	return object{"add": a}
}

func remove(added object) object {
	a := added["add"].(object)
	return object{"remove": object{"path": a["path"], "dataChange": true, "deletionVector": a["deletionVector"]}}
}

// deleted is a deletion vector of a few rows.
func deleted(rows ...uint16) []byte {
	le := binary.LittleEndian
	data := le.AppendUint64(le.AppendUint32(nil, 1681511377), 1)
	data = le.AppendUint32(le.AppendUint32(le.AppendUint32(data, 0), 12346), 1)
	data = le.AppendUint32(le.AppendUint16(le.AppendUint16(data, 0), uint16(len(rows)-1)), 16)
	for _, r := range rows {
		data = le.AppendUint16(data, r)
	}
	return data
}

// with is a file that has a deletion vector.
func with(added object, vector object) object {
	a := object{}
	for k, v := range added["add"].(object) {
		a[k] = v
	}
	a["deletionVector"] = vector
	return object{"add": a}
}

// without is a file of which rows are deleted, said by a vector within the log.
func without(added object, rows ...uint16) object {
	data := deleted(rows...)
	size := len(data)
	for len(data)%4 != 0 {
		data = append(data, 0)
	}
	const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
	text := ""
	for i := 0; i < len(data); i += 4 {
		n, five := binary.BigEndian.Uint32(data[i:]), [5]byte{}
		for k := range five {
			five[4-k], n = digits[n%85], n/85
		}
		text += string(five[:])
	}
	return with(added, object{"storageType": "i", "pathOrInlineDv": text, "sizeInBytes": size, "cardinality": len(rows)})
}

// ask is the lines of a result, as CSV, and what was done.
func (l *lake) ask(q gagg.Query, o gagg.Options) ([]string, gagg.Stats, error) {
	l.t.Helper()
	if q.From == nil {
		q.From = gagg.Files(l.dir)
	}
	if len(q.Aggs) == 0 {
		q.Aggs = []gagg.Agg{gagg.Expr("count(*) as n, sum(id) as ids")}
	}
	rows, err := gagg.Run(l.t.Context(), q, o)
	if err != nil {
		return nil, gagg.Stats{}, err
	}
	defer rows.Release()
	var lines []string
	for rows.Next() {
		rec := rows.Record()
		for i := range int(rec.NumRows()) {
			var values []string
			for _, c := range rec.Columns() {
				values = append(values, strings.ReplaceAll(c.ValueStr(i), "(null)", "NULL"))
			}
			lines = append(lines, strings.Join(values, ","))
		}
	}
	return lines, rows.Stats(), rows.Err()
}

type sale struct {
	ID    int64   `parquet:"id"`
	Name  *string `parquet:"name,optional"`
	Price int32   `parquet:"price,decimal(2:9)"`
}

type oldSale struct {
	ID      int64  `parquet:"id"`
	Dropped string `parquet:"dropped"`
}

func text(s string) *string { return &s }

// sales is a table of four versions: a file is removed, one has no price, rows of one are deleted.
func sales(t *testing.T) *lake {
	l := newLake(t)
	l.start(3, []string{"deletionVectors"}, nil, []string{"year", "city"},
		field("id", "long"), field("name", "string"), field("price", "decimal(9,2)"), field("year", "integer"), field("city", "string"), field("tags", "string"))
	a := add(l, "year=2023/city=Z%C3%BCrich/a.parquet", object{"year": "2023", "city": "Zürich"}, `{"numRecords":2,"minValues":{"id":1},"maxValues":{"id":2}}`, oldSale{1, "x"}, oldSale{2, "y"})
	b := add(l, "year=2024/city=Bern/b.parquet", object{"year": "2024", "city": "Bern"}, `{"numRecords":5,"minValues":{"id":10,"name":"b"},"maxValues":{"id":14,"name":"f"}}`,
		sale{10, text("b"), 100}, sale{11, text("c"), 200}, sale{12, nil, 300}, sale{13, text("e"), 400}, sale{14, text("f"), 500})
	gone := add(l, "year=2024/city=Bern/gone.parquet", object{"year": "2024", "city": "Bern"}, "", sale{1000, text("no"), 1})
	l.commit(a, gone)
	l.commit(b, remove(gone))
	l.commit(remove(b), without(b, 0, 2, 3))
	none := add(l, "year=__HIVE_DEFAULT_PARTITION__/city=x/c.parquet", object{"year": nil, "city": ""}, "", sale{30, text("z"), 700})
	l.commit(none)
	return l
}

// A table has the files of its version, with values of partition columns by their types, NULL where
// a file lacks a column or the log has no value, and without deleted rows, whatever is asked of it.
func TestDelta(t *testing.T) {
	l := sales(t)
	for _, test := range []struct {
		asOf string
		q    gagg.Query
		want []string
	}{
		{"", gagg.Query{}, []string{"5,58"}},
		{"4", gagg.Query{}, []string{"5,58"}},
		{"3", gagg.Query{}, []string{"4,28"}},
		{"2", gagg.Query{}, []string{"7,63"}},
		{"1", gagg.Query{}, []string{"3,1003"}},
		{"0", gagg.Query{}, []string{"0,NULL"}},
		{"", gagg.Query{Aggs: []gagg.Agg{gagg.CountAll()}}, []string{"5"}},
		{"", gagg.Query{Aggs: []gagg.Agg{gagg.Expr("min(id), max(id), sum(price), count(tags), max(year + 1), count(name)")}}, []string{"1,30,14,0,2025,3"}},
		{"3", gagg.Query{Aggs: []gagg.Agg{gagg.Min("id")}, Where: "year = 2024"}, []string{"11"}},
		{"3", gagg.Query{Aggs: []gagg.Agg{gagg.Expr("max(id)")}}, []string{"14"}},
		{"", gagg.Query{By: []string{"year", "city"}, OrderBy: []string{"year"}}, []string{"2023,Zürich,2,3", "2024,Bern,2,25", "NULL,NULL,1,30"}},
		{"", gagg.Query{Where: "id between 10 and 13"}, []string{"1,11"}},
		// 12 is deleted
		{"", gagg.Query{Where: "1 / (id - 12) < 9 and name is null and id > 9"}, []string{"0,NULL"}},
		{"", gagg.Query{Where: "city = 'Zürich'"}, []string{"2,3"}},
		{"", gagg.Query{Where: "year is null"}, []string{"1,30"}},
		{"", gagg.Query{Where: "year = 1999"}, []string{"0,NULL"}},
		{"", gagg.Query{By: []string{"name"}, OrderBy: []string{"name"}, Aggs: []gagg.Agg{gagg.Expr("list(id)")}, Where: "id > 2"}, []string{"c,[11]", "f,[14]", "z,[30]"}},
	} {
		for _, o := range []gagg.Options{{}, {NoPruning: true, BatchRows: 1}, {Threads: 3, BatchRows: 3}} {
			o.AsOf, o.Device = test.asOf, "cpu"
			got, _, err := l.ask(test.q, o)
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("version %q, %+v: %q, %v; want %q", test.asOf, test.q, got, err, test.want)
			}
		}
	}
	d, err := gagg.Describe(t.Context(), gagg.Files(l.dir), gagg.Options{})
	if err != nil || d.Files != 3 || fmt.Sprint(d.Columns) != "[{id int64 } {name string } {price decimal(9,2) } {year int32 } {city string } {tags string }]" {
		t.Errorf("%+v, %v", d, err)
	}
	half, _, err := l.ask(gagg.Query{Sample: gagg.Sample{Percent: 60, Seed: 2}, Aggs: []gagg.Agg{gagg.Expr("count_if(id in (10, 12, 13))")}}, gagg.Options{})
	if err != nil || !slices.Equal(half, []string{"0"}) {
		t.Errorf("a sample has deleted rows: %q, %v", half, err)
	}
}

// Vectors in a file are found by its UUID, or by its path, at their offset; a byte that is not what
// was written, or another number of rows, is an error.
func TestDeltaVectorFiles(t *testing.T) {
	be := binary.BigEndian
	one, two := deleted(1), deleted(0, 2, 4)
	file := []byte{1}
	places := [2]int{}
	for i, data := range [][]byte{one, two} {
		places[i] = len(file)
		file = append(be.AppendUint32(file, uint32(len(data))), data...)
		file = be.AppendUint32(file, crc32.ChecksumIEEE(data))
	}
	for _, test := range []struct {
		kind string
		rows int
		bad  bool // a byte is changed
		want string
	}{{"u", 3, false, "2,4"}, {"p", 3, false, "2,4"}, {"u", 2, false, "3 rows are deleted, where the log says 2"}, {"u", 3, true, "size or checksum"}, {"x", 3, false, "storage of type"}} {
		l := newLake(t)
		l.start(3, []string{"deletionVectors"}, nil, nil, field("id", "long"))
		path, name := "ab00000000000000000000", "ab/deletion_vector_00000000-0000-0000-0000-000000000000.bin"
		if test.kind == "p" {
			path = "file://" + filepath.Join(l.dir, name)
		}
		content := bytes.Clone(file)
		if test.bad {
			content[places[1]+20] ^= 1
		}
		l.write(name, content)
		all := add(l, "f.parquet", nil, "", sale{0, nil, 0}, sale{1, nil, 0}, sale{2, nil, 0}, sale{3, nil, 0}, sale{4, nil, 0})
		l.commit(with(all, object{"storageType": test.kind, "pathOrInlineDv": path, "offset": places[1], "sizeInBytes": len(two), "cardinality": test.rows}))
		got, _, err := l.ask(gagg.Query{}, gagg.Options{})
		if err != nil {
			got = []string{err.Error()}
		}
		if len(got) != 1 || !strings.Contains(got[0], test.want) || err != nil && !errors.Is(err, gagg.ErrInput) {
			t.Errorf("%+v: %q", test, got)
		}
	}
}

// Files that the log rules out are not opened, nor counted as read.
func TestDeltaSkipsFiles(t *testing.T) {
	l := sales(t)
	for _, path := range []string{"year=2023/city=Z%C3%BCrich/a.parquet", "year=__HIVE_DEFAULT_PARTITION__/city=x/c.parquet"} {
		if err := os.Remove(filepath.Join(l.dir, path)); err != nil {
			t.Fatal(err)
		}
	}
	got, s, err := l.ask(gagg.Query{Where: "year = 2024 and id < 12"}, gagg.Options{AsOf: "3"})
	if err != nil || !slices.Equal(got, []string{"1,11"}) || s.GroupsSkipped < 1 || s.RowsSkipped < 2 {
		t.Errorf("%q, %v, %+v", got, err, s)
	}
	got, _, err = l.ask(gagg.Query{Where: "name = 'g'"}, gagg.Options{AsOf: "3"})
	// nothing is known of its names
	if !errors.Is(err, gagg.ErrInput) || !strings.Contains(err.Error(), "a.parquet: no such file") {
		t.Errorf("%q, %v", got, err)
	}
}

type mapped struct {
	A int64 `parquet:"col-1"`
	S struct {
		X string `parquet:"col-3"`
	} `parquet:"col-2"`
	Name string `parquet:"name"`
}

// With column mapping the files have physical names, also within structs: a column that is called
// like one of the table is another.
func TestDeltaColumnMapping(t *testing.T) {
	physical := func(f object, name string) object {
		f["metadata"] = object{"delta.columnMapping.id": 1, "delta.columnMapping.physicalName": name}
		return f
	}
	l := newLake(t)
	l.start(2, nil, object{"delta.columnMapping.mode": "name"}, []string{"p q"},
		physical(field("id", "long"), "col-1"),
		physical(object{"name": "s", "type": object{"type": "struct", "fields": []object{physical(field("x", "string"), "col-3")}}}, "col-2"),
		physical(field("name", "string"), "col-9"), physical(field("p q", "date"), "col-p"),
		physical(object{"name": "l", "type": object{"type": "array", "elementType": "long"}}, "col-l"))
	row := mapped{A: 7, Name: "old"}
	row.S.X = "deep"
	l.commit(add(l, "f.parquet", object{"col-p": "2024-02-29"}, `{"numRecords":1,"minValues":{"col-1":7,"col-2":{"col-3":"deep"}},"maxValues":{"col-1":7,"col-2":{"col-3":"deep"}}}`, row))
	got, _, err := l.ask(gagg.Query{Aggs: []gagg.Agg{gagg.Expr(`sum(id), max(s.x), count(name), max("p q")`)}, Where: "s.x >= 'de'"}, gagg.Options{})
	if err != nil || !slices.Equal(got, []string{"7,deep,0,2024-02-29"}) {
		t.Errorf("%q, %v", got, err)
	}
	if _, s, err := l.ask(gagg.Query{Where: "s.x > 'deep'"}, gagg.Options{}); err != nil || s.GroupsSkipped != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	if _, _, err := l.ask(gagg.Query{By: []string{"l"}}, gagg.Options{}); !errors.Is(err, gagg.ErrUsage) || !strings.Contains(err.Error(), "is a list") {
		t.Error(err)
	}
}

type checkAdd struct {
	Path            string            `parquet:"path"`
	PartitionValues map[string]string `parquet:"partitionValues"`
	Size            int64             `parquet:"size"`
	Stats           *string           `parquet:"stats,optional"`
}

type checkMeta struct {
	SchemaString     string            `parquet:"schemaString"`
	PartitionColumns []string          `parquet:"partitionColumns,list"`
	Configuration    map[string]string `parquet:"configuration"`
}

type checkProtocol struct {
	MinReaderVersion int32    `parquet:"minReaderVersion"`
	ReaderFeatures   []string `parquet:"readerFeatures,list"`
}

type checkSidecar struct {
	Path string `parquet:"path"`
}

type checkRow struct {
	Add      *checkAdd      `parquet:"add,optional"`
	MetaData *checkMeta     `parquet:"metaData,optional"`
	Protocol *checkProtocol `parquet:"protocol,optional"`
	Sidecar  *checkSidecar  `parquet:"sidecar,optional"`
}

func checkpoint(t *testing.T, rows ...checkRow) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[checkRow](&b, parquet.MaxRowsPerRowGroup(300))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Checkpoints of one file, of several and with sidecars stand for the commits before, which are
// not there.
func TestDeltaCheckpoints(t *testing.T) {
	const files = 1000
	schema := `{"type":"struct","fields":[{"name":"id","type":"long","nullable":true,"metadata":{}},{"name":"p","type":"long","nullable":true,"metadata":{}},{"name":"q","type":"string","nullable":true,"metadata":{}}]}`
	for _, form := range []string{"one", "three", "sidecars"} {
		l := newLake(t)
		one := add(l, "f.parquet", nil, "", struct {
			ID int64 `parquet:"id"`
		}{1})["add"].(object)
		data, err := os.ReadFile(filepath.Join(l.dir, "f.parquet"))
		if err != nil {
			t.Fatal(err)
		}
		head := []checkRow{
			{Protocol: &checkProtocol{3, []string{"v2Checkpoint", "timestampNtz"}}},
			{MetaData: &checkMeta{schema, []string{"p", "q"}, map[string]string{"a": "b", "c": "d"}}},
		}
		var adds []checkRow
		for i := range files {
			path := fmt.Sprintf("p=%d/f.parquet", i)
			if i%100 == 0 {
				l.write(path, data)
			}
			adds = append(adds, checkRow{Add: &checkAdd{Path: path, PartitionValues: map[string]string{"p": fmt.Sprint(i), "q": "x"}, Size: int64(one["size"].(int))}})
		}
		switch form {
		case "one":
			l.write("_delta_log/00000000000000000009.checkpoint.parquet", checkpoint(t, append(head, adds...)...))
		case "three":
			for i, rows := range [][]checkRow{head, adds[:500], adds[500:]} {
				l.write(fmt.Sprintf("_delta_log/00000000000000000009.checkpoint.%010d.0000000003.parquet", i+1), checkpoint(t, rows...))
			}
		case "sidecars":
			l.write("_delta_log/00000000000000000009.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.parquet", checkpoint(t, append(head, checkRow{Sidecar: &checkSidecar{"a.parquet"}}, checkRow{Sidecar: &checkSidecar{"b.parquet"}})...))
			l.write("_delta_log/_sidecars/a.parquet", checkpoint(t, adds[:700]...))
			l.write("_delta_log/_sidecars/b.parquet", checkpoint(t, adds[700:]...))
		}
		l.next = 10
		l.commit(object{"remove": object{"path": "p=500/f.parquet"}})
		got, s, err := l.ask(gagg.Query{Aggs: []gagg.Agg{gagg.Expr("sum(id), sum(p), max(q)")}, Where: "p % 2 = 0 and (p = 100 or p = 300 or p = 500)"}, gagg.Options{})
		if err != nil || !slices.Equal(got, []string{"2,400,x"}) || s.GroupsSkipped != files-3 {
			t.Errorf("%s: %q, %v, %d files skipped", form, got, err, s.GroupsSkipped)
		}
		if _, _, err := l.ask(gagg.Query{}, gagg.Options{AsOf: "8"}); !errors.Is(err, gagg.ErrInput) || !strings.Contains(err.Error(), "version 8 of the Delta table cannot be read") {
			t.Errorf("%s: %v", form, err)
		}
	}
}

// What cannot be read right is an error: a file that is not there or has another size, a damaged
// log, a feature that is not understood, a table beside other inputs or within a folder.
func TestDeltaFaults(t *testing.T) {
	for name, test := range map[string]struct {
		change func(l *lake)
		from   func(dir string) gagg.Source
		asOf   string
		kind   error
		want   string
	}{
		"missing": {func(l *lake) { _ = os.RemoveAll(filepath.Join(l.dir, "year=2024")) }, nil, "", gagg.ErrInput, "b.parquet: no such file"},
		"short":   {func(l *lake) { _ = os.Truncate(filepath.Join(l.dir, "year=2024/city=Bern/b.parquet"), 100) }, nil, "", gagg.ErrInput, "b.parquet: damaged: 100 bytes, where the table says"},
		"json":    {func(l *lake) { l.write("_delta_log/00000000000000000005.json", []byte("{\"add\":\n")) }, nil, "", gagg.ErrInput, "_delta_log/00000000000000000005.json: damaged: line 1 is no action"},
		"feature": {func(l *lake) {
			l.commit(object{"protocol": object{"minReaderVersion": 3, "readerFeatures": []string{"typeWidening"}}})
		}, nil, "", gagg.ErrInput, "needs a reader with typeWidening, which is not supported"},
		"gap":       {func(l *lake) { _ = os.Remove(filepath.Join(l.dir, "_delta_log/00000000000000000002.json")) }, nil, "", gagg.ErrInput, "commit 2 is not in its log"},
		"version":   {nil, nil, "9", gagg.ErrInput, "no version 9: its latest is 4"},
		"as-of":     {nil, nil, "yesterday", gagg.ErrUsage, "is no version"},
		"no table":  {nil, func(string) gagg.Source { return gagg.Files("testdata/orders.parquet") }, "1", gagg.ErrUsage, "is no table of Delta Lake or Iceberg"},
		"beside":    {nil, func(dir string) gagg.Source { return gagg.Files(dir, "testdata/orders.parquet") }, "", gagg.ErrUsage, "name it alone"},
		"within":    {nil, func(dir string) gagg.Source { return gagg.Files(filepath.Dir(dir)) }, "", gagg.ErrInput, "a Delta table, or a folder with one"},
		"partition": {func(l *lake) { l.commit(add(l, "d.parquet", object{"year": "MMXX", "city": "x"}, "", sale{1, nil, 1})) }, nil, "", gagg.ErrInput, `d.parquet: partition column "year": damaged`},
	} {
		l := sales(t)
		if test.change != nil {
			test.change(l)
		}
		q := gagg.Query{}
		if test.from != nil {
			q.From = test.from(l.dir)
		}
		if got, _, err := l.ask(q, gagg.Options{AsOf: test.asOf}); !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %q, %v; want %q", name, got, err, test.want)
		}
	}
}

// served is the folder of a table: s3://b/t in a store, and below /plain, where nothing is listed.
type served struct {
	*httptest.Server
	asked atomic.Int64 // requests for Parquet files
}

func (l *lake) serve() *served {
	s := &served{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if prefix := r.URL.Query().Get("prefix"); prefix != "" {
			type key struct{ Key string }
			page := struct {
				XMLName  xml.Name `xml:"ListBucketResult"`
				Contents []key
			}{}
			_ = fs.WalkDir(os.DirFS(l.dir), ".", func(path string, e fs.DirEntry, err error) error {
				if err == nil && !e.IsDir() && strings.HasPrefix("t/"+path, prefix) {
					page.Contents = append(page.Contents, key{"t/" + path})
				}
				return err
			})
			_ = xml.NewEncoder(w).Encode(page)
			return
		}
		path, ok := strings.CutPrefix(r.URL.Path, "/b/t/")
		if !ok {
			path, ok = strings.CutPrefix(r.URL.Path, "/plain/")
		}
		body, err := os.ReadFile(filepath.Join(l.dir, path))
		if !ok || err != nil {
			http.NotFound(w, r)
			return
		}
		if strings.HasSuffix(path, ".parquet") {
			s.asked.Add(1)
		}
		w.Header().Set("ETag", fmt.Sprintf(`"%d"`, len(body)))
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
	}))
	l.t.Cleanup(s.Close)
	return s
}

// A table in a bucket is read as in a folder; what the filter excludes is not asked for.
func TestDeltaInStore(t *testing.T) {
	l := sales(t)
	s := l.serve()
	o := gagg.Options{Stores: map[string]gagg.Store{"s3": {Endpoint: s.URL}}}
	for _, root := range []string{"s3://b/t", "s3://b/t/"} {
		s.asked.Store(0)
		got, _, err := l.ask(gagg.Query{From: gagg.Files(root), By: []string{"year", "city"}, OrderBy: []string{"year"}}, o)
		if err != nil || !slices.Equal(got, []string{"2023,Zürich,2,3", "2024,Bern,2,25", "NULL,NULL,1,30"}) || s.asked.Load() != 3 {
			t.Errorf("%s: %q, %v, %d requests for data", root, got, err, s.asked.Load())
		}
		s.asked.Store(0)
		// a NULL is ruled out by no bounds
		if got, _, err := l.ask(gagg.Query{From: gagg.Files(root), Where: "year = 2023"}, o); err != nil || !slices.Equal(got, []string{"2,3"}) || s.asked.Load() != 2 {
			t.Errorf("%s: %q, %v, %d requests for data", root, got, err, s.asked.Load())
		}
	}
	here := add(l, "here.parquet", object{"year": "2024", "city": "Bern"}, "", sale{1, nil, 1})
	here["add"].(object)["path"] = "file://" + l.dir + "/here.parquet"
	l.commit(here)
	if got, _, err := l.ask(gagg.Query{From: gagg.Files("s3://b/t")}, o); !errors.Is(err, gagg.ErrUsage) || !strings.Contains(err.Error(), "where nothing can be read from") {
		t.Errorf("a file of this machine: %q, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := gagg.Run(ctx, gagg.Query{From: gagg.Files("s3://b/t"), Aggs: []gagg.Agg{gagg.CountAll()}}, o); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// An object that has no name of Parquet is read by who may not list the bucket.
func TestObjectWithoutListing(t *testing.T) {
	file, err := os.ReadFile("testdata/orders.parquet")
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("list-type") {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		w.Header().Set("ETag", `"1"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(file))
	}))
	defer s.Close()
	o := gagg.Options{Stores: map[string]gagg.Store{"s3": {Endpoint: s.URL}}}
	got, _, err := newLake(t).ask(gagg.Query{From: gagg.Files("s3://b/orders"), Aggs: []gagg.Agg{gagg.CountAll()}}, o)
	if err != nil || !slices.Equal(got, []string{"12000"}) {
		t.Errorf("%q, %v", got, err)
	}
}

// A time stands for the version that the table had then, by what commits say of themselves.
func TestDeltaAsOfTime(t *testing.T) {
	type row struct{ X int64 }
	l := newLake(t)
	at := func(millis int64, key string) object {
		return object{"commitInfo": object{key: millis, "timestamp": millis + 7}}
	}
	l.start(1, nil, nil, nil, field("X", "long"))
	const day = 24 * 60 * 60 * 1000
	for i := range int64(9) {
		key := "timestamp"
		if i > 4 {
			key = "inCommitTimestamp"
		}
		info := at(i*day, key)
		if key == "timestamp" {
			info = object{"commitInfo": object{"timestamp": i * day}}
		}
		l.commit(info, add(l, fmt.Sprintf("%d.parquet", i), nil, "", row{i}))
	}
	count := func(asOf string) string {
		rows, _, err := l.ask(gagg.Query{Aggs: exprs("count(*)")}, gagg.Options{AsOf: asOf})
		if err != nil {
			if !errors.Is(err, gagg.ErrInput) && !errors.Is(err, gagg.ErrUsage) {
				t.Error(err)
			}
			return err.Error()
		}
		return rows[0]
	}
	first := fmt.Sprintf("_delta_log/%020d.json", 0)
	b, err := os.ReadFile(filepath.Join(l.dir, first))
	if err != nil {
		t.Fatal(err)
	}
	l.write(first, bytes.Replace(b, []byte(`"operation"`), []byte(`"timestamp":-3600000,"operation"`), 1))
	for asOf, want := range map[string]string{
		"1970-01-01": "1", "1970-01-01 23:59:59.999": "1", "1970-01-02": "2", "1970-01-05T12:00": "5", "1970-01-06 00:00:00": "6", "1970-01-06 01:00+02:00": "5",
		"1970-01-09": "9", "2024-01-31": "9", "3": "3",
		"1969-12-31 22:59": "no version of 1969-12-31T22:59:00Z or before: its log begins with version 0, of 1969-12-31T23:00:00Z",
		"1969-12-31 23:59": "0",
		"yesterday":        "is no version of a Delta table, which is a whole number, nor a time",
	} {
		if got := count(asOf); got != want && !(len(want) > 2 && strings.Contains(got, want)) {
			t.Errorf("%s: %s, want %s", asOf, got, want)
		}
	}
	l.commit(add(l, "9.parquet", nil, "", row{9}))
	if got := count("2024-01-31"); !strings.Contains(got, "00010.json: the commit does not say when it was made: name a version in place of a time") {
		t.Error(got)
	}
}
