package parquetio

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/gagg-dev/gagg/internal/column"
)

type onlyID struct {
	ID int64 `parquet:"id"`
}

// F43: a column that a file lacks is an error that names both files, or NULL.
func TestUnionByName(t *testing.T) {
	t.Chdir(t.TempDir())
	writeRows(t, "a.parquet", 10, []onlyID{{1}})
	writeRows(t, "b.parquet", 10, []idName{{2, str("x")}})
	d := mustOpen(t, Options{}, "a.parquet", "b.parquet")
	rows, err := scanText(d, ScanOptions{}, "id")
	wantRows(t, rows, err, "0 1", "1 2")
	_, err = scanText(d, ScanOptions{}, "name")
	var fault *Error
	if !errors.As(err, &fault) || fault.File != "a.parquet" || !strings.Contains(err.Error(), "b.parquet") {
		t.Error(err)
	}
	d = mustOpen(t, Options{UnionByName: true}, "a.parquet", "b.parquet", "a.parquet")
	rows, err = scanText(d, ScanOptions{}, "name", "id")
	wantRows(t, rows, err, "0 NULL 1", "1 x 2", "2 NULL 1")
}

// F43: safe widening, by name and whatever the order of the columns.
func TestCommonTypes(t *testing.T) {
	type narrow struct {
		A int32    `parquet:"a"`
		B *float32 `parquet:"b,optional"`
		C int32    `parquet:"c,decimal(2:9)"`
	}
	type broad struct {
		C int64   `parquet:"c,decimal(2:18)"`
		B float64 `parquet:"b"`
		A int64   `parquet:"a"`
	}
	t.Chdir(t.TempDir())
	half := float32(0.5)
	writeRows(t, "n.parquet", 10, []narrow{{-1, &half, 150}, {2, nil, 7}})
	writeRows(t, "w.parquet", 10, []broad{{1 << 50, 0.25, 1 << 40}})
	for _, order := range [][]string{{"n.parquet", "w.parquet"}, {"w.parquet", "n.parquet"}} {
		d := mustOpen(t, Options{}, order...)
		for _, f := range d.Schema().Fields {
			if s := f.Type.String(); s != map[string]string{"a": "int64", "b": "double", "c": "decimal(18,2)"}[f.Name] {
				t.Errorf("%s: %s", f.Name, s)
			}
		}
		rows, err := scanText(d, ScanOptions{}, "a", "b", "c")
		if order[0] == "n.parquet" {
			wantRows(t, rows, err, "0 -1 0.5 150", "1 2 NULL 7", "2 1099511627776 0.25 1125899906842624")
		} else {
			wantRows(t, rows, err, "0 1099511627776 0.25 1125899906842624", "1 -1 0.5 150", "2 2 NULL 7")
		}
	}
}

// F43: other types are an error that names both files and types, for whoever
// asks for the column, and only then.
func TestTypesDisagree(t *testing.T) {
	type text struct {
		ID string `parquet:"id"`
		N  int64  `parquet:"n"`
	}
	type number struct {
		ID int64 `parquet:"id"`
		N  int64 `parquet:"n"`
	}
	t.Chdir(t.TempDir())
	writeRows(t, "a.parquet", 10, []number{{1, 1}})
	writeRows(t, "b.parquet", 10, []text{{"x", 2}})
	d := mustOpen(t, Options{}, "a.parquet", "b.parquet")
	rows, err := scanText(d, ScanOptions{}, "n")
	wantRows(t, rows, err, "0 1", "1 2")
	_, err = scanText(d, ScanOptions{}, "id")
	var fault *Error
	if !errors.As(err, &fault) {
		t.Fatal(err)
	}
	for _, part := range []string{"a.parquet", "b.parquet", "int64", "string", `"id"`} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in %q", part, err)
		}
	}
}

// F40: names that differ by case only, and a nested column beside a dotted
// name.
func TestNames(t *testing.T) {
	type inner struct {
		B int64 `parquet:"b"`
		L []int64
	}
	type row struct {
		X  int64 `parquet:"x"`
		X2 int64 `parquet:"X"`
		AB int64 `parquet:"a.b"`
		A  inner `parquet:"a"`
	}
	t.Chdir(t.TempDir())
	writeRows(t, "f.parquet", 10, []row{{1, 2, 3, inner{4, []int64{5}}}})
	d := mustOpen(t, Options{}, "f.parquet")
	rows, err := scanText(d, ScanOptions{}, "x", "X", "a.b", "#4")
	wantRows(t, rows, err, "0 1 2 3 4")
	positions := map[string]int{}
	for i, f := range d.Schema().Fields {
		positions[f.Name+"/"+strings.Join(d.table.cols[i].path, "/")] = i + 1
	}
	rows, err = scanText(d, ScanOptions{}, fmt.Sprintf("#%d", positions["a.b/a/b"]))
	wantRows(t, rows, err, "0 4")
	var e *ColumnError
	if _, err := d.Find("a.L"); !errors.As(err, &e) || e.Kind != UnsupportedColumn {
		t.Error(err)
	}
	if _, err := d.Scan(ScanOptions{Columns: []int{positions["a.L/a/L"] - 1}}); !errors.As(err, &e) || e.Kind != UnsupportedColumn {
		t.Error(err)
	}
}

// F42: 10,000 columns in many files cost time linear in their number, and the
// files share one layout.
func TestManyColumns(t *testing.T) {
	group := parquet.Group{}
	for i := range 10000 {
		group[fmt.Sprintf("c%05d", i)] = parquet.Optional(parquet.Int(64))
	}
	t.Chdir(t.TempDir())
	schema := parquet.NewSchema("wide", group)
	var paths []string
	for i := range 5 {
		p := fmt.Sprintf("%d.parquet", i)
		writeRows(t, p, 10, []map[string]any{{"c00042": int64(i + 1)}}, schema)
		paths = append(paths, p)
	}
	start := spent()
	d := mustOpen(t, Options{}, paths...)
	rows, err := scanText(d, ScanOptions{}, "c00042", "c09999")
	wantRows(t, rows, err, "0 1 NULL", "1 2 NULL", "2 3 NULL", "3 4 NULL", "4 5 NULL")
	if len(d.table.layouts) != 1 {
		t.Errorf("%d layouts", len(d.table.layouts))
	}
	if took := spent() - start; took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}

// Hive keys are columns, replace columns of the files, and share their
// dictionary between files of one folder.
func TestHiveScan(t *testing.T) {
	t.Chdir(t.TempDir())
	writeRows(t, "d/id=7/day=2024-01-02/a.parquet", 10, []idName{{1, str("x")}, {2, nil}})
	writeRows(t, "d/id=7/day=2024-01-02/b.parquet", 10, []idName{{3, str("y")}})
	writeRows(t, "d/id=__HIVE_DEFAULT_PARTITION__/day=2024-01-01/c.parquet", 10, []idName{{4, str("z")}})
	d := mustOpen(t, Options{}, "d")
	types := ""
	for _, f := range d.Schema().Fields {
		types += f.Name + ":" + f.Type.String() + " "
	}
	if types != "id:int64 name:string day:date " {
		t.Error(types)
	}
	rows, err := scanText(d, ScanOptions{BatchRows: 1}, "id", "day", "name")
	wantRows(t, rows, err, "0 7 19724 x", "1 7 19724 NULL", "2 7 19724 y", "3 NULL 19723 z")

	s, err := d.Scan(ScanOptions{Columns: []int{0}})
	if err != nil {
		t.Fatal(err)
	}
	dicts := map[*column.Dict]bool{}
	if err := eachBatch(s, func(b *column.Batch) { dicts[b.Cols[0].Dict] = true }); err != nil {
		t.Fatal(err)
	}
	if len(dicts) != 2 || !dicts[nil] { // 7, and the flat vector of NULLs
		t.Errorf("%d dictionaries", len(dicts))
	}
	if !s.DictAll(0) || s.DictEntries(0) != 1 {
		t.Error(s.DictAll(0), s.DictEntries(0))
	}
}

func TestHiveKeyTwiceIsUsage(t *testing.T) {
	t.Chdir(t.TempDir())
	writeRows(t, "k=1/k=2/a.parquet", 10, []onlyID{{1}})
	var usage *UsageError
	if _, err := openPaths(t, Options{}, "."); !errors.As(err, &usage) {
		t.Error(err)
	}
}
