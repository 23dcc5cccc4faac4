package parquetio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/gagg-dev/gagg/internal/bounded"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/filepool"
)

// writeRows writes a Parquet file below the current folder, groupRows rows a
// row group.
func writeRows[T any](t testing.TB, path string, groupRows int, rows []T, opts ...parquet.WriterOption) {
	t.Helper()
	var buf bytes.Buffer
	w := parquet.NewGenericWriter[T](&buf, opts...)
	for len(rows) > 0 {
		n := min(groupRows, len(rows))
		if _, err := w.Write(rows[:n]); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		rows = rows[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, buf.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

func openPaths(t testing.TB, opt Options, paths ...string) (*Dataset, error) {
	t.Helper()
	inputs := make([]Input, len(paths))
	for i, p := range paths {
		inputs[i].Path = p
	}
	d, err := Open(context.Background(), inputs, opt)
	if err == nil {
		t.Cleanup(func() { d.Close() })
	}
	return d, err
}

func mustOpen(t testing.TB, opt Options, paths ...string) *Dataset {
	t.Helper()
	d, err := openPaths(t, opt, paths...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// scanText reads columns by name and writes each row as row number and values.
func scanText(d *Dataset, o ScanOptions, names ...string) ([]string, error) {
	for _, n := range names {
		c, err := d.Find(n)
		if err != nil {
			return nil, err
		}
		o.Columns = append(o.Columns, c)
	}
	s, err := d.Scan(o)
	if err != nil {
		return nil, err
	}
	var rows []string
	err = eachBatch(s, func(b *column.Batch) {
		for i := range b.Rows {
			row := fmt.Sprint(b.First + int64(i))
			for c := range b.Cols {
				row += " " + valueText(b.Cols[c].At(i))
			}
			rows = append(rows, row)
		}
	})
	return rows, err
}

func eachBatch(s *Scan, do func(*column.Batch)) error {
	r := s.NewReader()
	defer r.Close()
	var b column.Batch
	for u := range s.Units() {
		if err := r.Open(u); err != nil {
			return err
		}
		for {
			ok, err := r.Next(&b)
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			do(&b)
		}
	}
	return nil
}

func valueText(v column.Value) string {
	if v.Null {
		return "NULL"
	}
	switch v.Type.Rep() {
	case column.RepFloat64:
		return fmt.Sprint(v.Float)
	case column.RepWide:
		return v.Wide.BigInt().String()
	case column.RepBytes:
		return v.Bytes
	}
	return fmt.Sprint(v.Int)
}

func wantRows(t *testing.T, got []string, err error, want ...string) {
	t.Helper()
	if err != nil || strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("got  %q, %v\nwant %q", got, err, want)
	}
}

type idName struct {
	ID   int64   `parquet:"id"`
	Name *string `parquet:"name,optional,dict"`
}

func str(s string) *string { return &s }

func TestDatasetManyFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	writeRows(t, "d/b.parquet", 2, []idName{{3, str("x")}, {4, nil}, {5, str("y")}})
	writeRows(t, "d/a.parquet", 10, []idName{{1, str("x")}, {2, str("z")}})
	writeRows(t, "d/c.parquet", 10, []idName{})
	d := mustOpen(t, Options{}, "d", "d/b.parquet")
	if d.Rows() != 5 {
		t.Error(d.Rows())
	}
	infos := d.Files()
	if len(infos) != 3 || infos[1].Name != "d/b.parquet" || infos[1].Rows != 3 || infos[1].RowGroups != 2 || infos[1].Bytes < 100 ||
		!strings.Contains(infos[1].CreatedBy, "parquet-go") {
		t.Errorf("%+v", infos)
	}
	want := []column.Field{{Name: "id", Type: column.Type{Kind: column.Int64}}, {Name: "name", Type: column.Type{Kind: column.String}}}
	if f := d.Schema().Fields; len(f) != 2 || f[0] != want[0] || f[1] != want[1] {
		t.Errorf("%v", f)
	}
	rows, err := scanText(d, ScanOptions{}, "name", "id")
	wantRows(t, rows, err, "0 x 1", "1 z 2", "2 x 3", "3 NULL 4", "4 y 5")
	rows, err = scanText(d, ScanOptions{BatchRows: 1}, "ID")
	wantRows(t, rows, err, "0 1", "1 2", "2 3", "3 4", "4 5")
	rows, err = scanText(d, ScanOptions{})
	wantRows(t, rows, err, "0", "1", "2", "3", "4")
}

func TestDatasetNamedTwice(t *testing.T) {
	t.Chdir(t.TempDir())
	writeRows(t, "a.parquet", 10, []idName{{1, nil}})
	rows, err := scanText(mustOpen(t, Options{}, "a.parquet", "a.parquet"), ScanOptions{}, "id")
	wantRows(t, rows, err, "0 1", "1 1")
}

func TestDatasetReader(t *testing.T) {
	t.Chdir(t.TempDir())
	writeRows(t, "a.parquet", 10, []idName{{1, str("x")}})
	data, err := os.ReadFile("a.parquet")
	if err != nil {
		t.Fatal(err)
	}
	in := []Input{{Name: "stdin", Reader: bytes.NewReader(data), Size: int64(len(data))}, {Path: "a.parquet"}}
	d, err := Open(context.Background(), in, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	rows, err := scanText(d, ScanOptions{}, "id", "name")
	wantRows(t, rows, err, "0 1 x", "1 1 x")
	if d.Files()[0].Name != "stdin" {
		t.Error(d.Files())
	}
	_, err = Open(context.Background(), []Input{{Name: "stdin", Reader: strings.NewReader("PAR1"), Size: 4}}, Options{})
	var fault *Error
	if !errors.As(err, &fault) || fault.File != "stdin" {
		t.Error(err)
	}
}

// F29, F30: all bad inputs and all bad files are named at once.
func TestDatasetOpenErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	writeRows(t, "ok.parquet", 10, []idName{{1, nil}})
	for name, data := range map[string]string{"zero.parquet": "", "text.parquet": "id,name\n1,2\n3,4\n", "magic.parquet": "PAR1"} {
		if err := os.WriteFile(name, []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	_, err := openPaths(t, Options{}, "ok.parquet", "zero.parquet", "text.parquet", "magic.parquet")
	var all errorList
	if !errors.As(err, &all) || len(all) != 3 || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
	for i, name := range []string{"zero.parquet", "text.parquet", "magic.parquet"} {
		if !strings.HasPrefix(all[i].Error(), name+": ") {
			t.Errorf("%v", all[i])
		}
	}
	if _, err := openPaths(t, Options{}, "ok.parquet", "gone", "missing"); !strings.Contains(err.Error(), "gone") || !strings.Contains(err.Error(), "missing") {
		t.Error(err)
	}
	var usage *UsageError
	if _, err := openPaths(t, Options{}); !errors.As(err, &usage) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Open(ctx, []Input{{Path: "ok.parquet"}}, Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// F31: a file that is rewritten, replaced, cut or removed is noticed.
func TestDatasetUnchanged(t *testing.T) {
	t.Chdir(t.TempDir())
	changes := map[string]func(string) error{
		"nothing":   func(string) error { return nil },
		"truncated": func(p string) error { return os.Truncate(p, 50) },
		"touched":   func(p string) error { return os.Chtimes(p, time.Now(), time.Now().Add(time.Second)) },
		"replaced": func(p string) error {
			data, err := os.ReadFile(p)
			return errors.Join(err, os.WriteFile("new", data, 0o666), os.Rename("new", p))
		},
		"removed": os.Remove,
	}
	for name, change := range changes {
		writeRows(t, name, 10, []idName{{1, nil}, {2, nil}})
		d := mustOpen(t, Options{}, name)
		s, err := d.Scan(ScanOptions{Columns: []int{0}})
		if err != nil {
			t.Fatal(err)
		}
		if err := change(name); err != nil {
			t.Fatal(err)
		}
		var fault *Error
		if err := s.Unchanged(); name == "nothing" != (err == nil) || err != nil && (!errors.As(err, &fault) || fault.File != name) {
			t.Errorf("%s: %v", name, err)
		}
		if err := eachBatch(s, func(*column.Batch) {}); name == "truncated" && !errors.As(err, &fault) {
			t.Errorf("reading a truncated file: %v", err)
		}
	}
}

// F31: so is one that was handed over open, as stdin is.
func TestReaderUnchanged(t *testing.T) {
	t.Chdir(t.TempDir())
	writeRows(t, "f.parquet", 10, []idName{{1, nil}, {2, nil}})
	f, err := os.Open("f.parquet")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	d, err := Open(context.Background(), []Input{{Name: "stdin", Reader: f, Size: info.Size()}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.unchanged(); err != nil {
		t.Error(err)
	}
	if err := os.Truncate("f.parquet", 50); err != nil {
		t.Fatal(err)
	}
	if err := d.unchanged(); !errors.Is(err, filepool.ErrChanged) || !strings.HasPrefix(err.Error(), "stdin: ") {
		t.Error(err)
	}
}

// Many files need few descriptors, and a file that was closed meanwhile and
// replaced is noticed when it is opened again.
func TestDatasetManyDescriptors(t *testing.T) {
	t.Chdir(t.TempDir())
	const files = filepool.MostOpen + 50
	for i := range files {
		writeRows(t, fmt.Sprintf("d/%03d.parquet", i), 10, []idName{{int64(i), nil}})
	}
	d := mustOpen(t, Options{}, "d")
	s, err := d.Scan(ScanOptions{Columns: []int{0}})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		sum := int64(0)
		if err := eachBatch(s, func(b *column.Batch) { sum += b.Cols[0].At(0).Int }); err != nil || sum != files*(files-1)/2 {
			t.Fatal(sum, err)
		}
		if n := openDescriptors(t); n > filepool.MostOpen+maxOpening+20 {
			t.Errorf("%d descriptors are open", n)
		}
	}
	for i := range files {
		writeRows(t, fmt.Sprintf("d/%03d.parquet", i), 10, []idName{{int64(i), nil}, {7, nil}})
	}
	if err := eachBatch(s, func(*column.Batch) {}); err == nil {
		t.Error("files that changed were read")
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if n := openDescriptors(t); n > 20 {
		t.Errorf("%d descriptors are open after Close", n)
	}
	if err := eachBatch(s, func(*column.Batch) {}); !errors.Is(err, filepool.ErrClosed) {
		t.Error(err)
	}
}

// Workers that share a scan read each unit whole, while the pool closes and
// opens the files under them.
func TestReadersInParallel(t *testing.T) {
	t.Chdir(t.TempDir())
	for i := range 40 {
		writeRows(t, fmt.Sprintf("d/%03d.parquet", i), 2, []idName{{int64(i), str("x")}, {int64(i), nil}, {int64(i), str("y")}})
	}
	d := mustOpen(t, Options{}, "d")
	d.pool.Most = 3
	s, err := d.Scan(ScanOptions{Columns: []int{0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	var next, sum atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			r := s.NewReader()
			defer r.Close()
			var b column.Batch
			for u := next.Add(1) - 1; u < int64(len(s.Units())); u = next.Add(1) - 1 {
				if err := r.Open(int(u)); err != nil {
					t.Error(err)
					return
				}
				for ok, err := r.Next(&b); ok || err != nil; ok, err = r.Next(&b) {
					if err != nil {
						t.Error(err)
						return
					}
					for i := range b.Rows {
						sum.Add(b.Cols[0].At(i).Int)
					}
				}
			}
		})
	}
	bounded.Wait(t, "the goroutines of the test", wg.Wait)
	if sum.Load() != 3*39*40/2 {
		t.Error(sum.Load())
	}
}

// F38: row groups without rows are no units, but count in the numbering of
// row groups.
func TestEmptyRowGroups(t *testing.T) {
	groups := []rowGroup{{}, {rows: 2}, {first: 2}, {rows: 1, first: 2}}
	f := &dataFile{file: &file{name: "f", size: verifyBytes + 1, groups: groups, meta: new(format.FileMetaData)}, src: new(filepool.Pool).Reader(strings.NewReader(""))}
	d := &Dataset{files: []*dataFile{f}, table: newTable(), opt: Options{BatchRows: 10}}
	if err := d.unify(); err != nil {
		t.Fatal(err)
	}
	s, err := d.Scan(ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if u := s.Units(); len(u) != 2 || u[0].Group != 1 || u[1].Group != 3 || u[1].First != 2 {
		t.Errorf("%+v", u)
	}
	rows, err := countRows(t, d, ScanOptions{})
	if err != nil || rows != 3 {
		t.Error(rows, err)
	}
}

// F33: a column that gives fewer or more rows than its row group has is an
// error whichever of the columns it is.
func TestReaderRowCounts(t *testing.T) {
	t.Chdir(t.TempDir())
	writeRows(t, "f.parquet", 10, []idName{{1, str("x")}, {2, str("y")}})
	for _, rows := range []int64{1, 3} {
		d := mustOpen(t, Options{}, "f.parquet")
		d.files[0].groups[0].rows = rows
		_, err := countRows(t, d, ScanOptions{Columns: []int{0, 1}})
		var fault *Error
		if !errors.As(err, &fault) || fault.RowGroup != 0 || fault.Column == "" {
			t.Errorf("%d rows: %v", rows, err)
		}
	}
}

func openDescriptors(t *testing.T) int {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(fds)
}
