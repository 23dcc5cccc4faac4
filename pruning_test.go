package gagg_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/gagg-dev/gagg"
)

// tree is a folder of Parquet files of one row each, by path, whose column id numbers them.
type tree struct {
	t   *testing.T
	dir string
	n   int64
}

func (tr *tree) add(paths ...string) {
	tr.t.Helper()
	type row struct {
		ID   int64  `parquet:"id"`
		Year int64  `parquet:"year"` // another one than the folder's
		Text string `parquet:"text"`
	}
	for _, p := range paths {
		at := filepath.Join(tr.dir, p)
		tr.n++
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			tr.t.Fatal(err)
		}
		if err := parquet.WriteFile(at, []row{{tr.n, 1000 + tr.n, "x"}}); err != nil {
			tr.t.Fatal(err)
		}
	}
}

// ask counts and sums the rows of paths below the folder, with statistics.
func (tr *tree) ask(o gagg.Options, where string, paths ...string) (string, gagg.Stats) {
	tr.t.Helper()
	for i, p := range paths {
		paths[i] = filepath.Join(tr.dir, p)
	}
	rows, err := gagg.Run(tr.t.Context(), gagg.Query{From: gagg.Files(paths...), Aggs: exprs("count(*), list(id), min(typeof(year))"), Where: where}, o)
	if err != nil {
		return err.Error(), gagg.Stats{}
	}
	defer rows.Release()
	var lines []string
	for rows.Next() {
		for _, c := range rows.Record().Columns() {
			lines = append(lines, strings.Clone(c.ValueStr(0))) // which refers to the record
		}
	}
	if err := rows.Err(); err != nil {
		return err.Error(), gagg.Stats{}
	}
	return strings.Join(lines, " "), rows.Stats()
}

// Folders and files whose names the filter rules out are not looked into and not opened, and the
// answer is that of all files, whatever the types of the names.
func TestPruning(t *testing.T) {
	tr := &tree{t: t, dir: t.TempDir()}
	for _, year := range []string{"2022", "2023", "2024"} {
		for _, month := range []string{"1", "2", "11"} {
			tr.add(fmt.Sprintf("t/year=%s/month=%s/a.parquet", year, month), fmt.Sprintf("t/year=%s/month=%s/b.parquet", year, month))
		}
	}
	tr.add("t/year=__HIVE_DEFAULT_PARTITION__/month=1/a.parquet")
	tr.add("text/year=2023/a.parquet", "text/year=2024/a.parquet", "text/year=later/a.parquet")
	tr.add("deep/year=2023/month=x/a.parquet", "deep/year=2024/month=1/a.parquet")
	tr.add("some/year=2023/a.parquet", "some/year=2024/a.parquet", "some/a.parquet")
	tr.add("some2/year=2023/k=1/a.parquet", "some2/year=2024/k=2/a.parquet", "some2/year=2024/a.parquet")
	tr.add("dates/year=2024-01-01/a.parquet", "dates/year=2024-01-02/a.parquet")
	if err := os.Symlink(filepath.Join(tr.dir, "t/year=2023"), filepath.Join(tr.dir, "dates/year=2020-01-01")); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		where          string
		paths          []string
		folders, files int
	}{
		{"year = 2024", []string{"t"}, 3, 0},
		{"year = 2024 and month = 11", []string{"t"}, 5, 0},
		{"month = 11 and id > 0 and length(text) = 1", []string{"t"}, 7, 0},
		{"year = 2024 or id = 1", []string{"t"}, 0, 0},
		{"year % 2 = 1 and year || '-' || month in ('2023-1', '2022-2')", []string{"t"}, 5, 0},
		{"year is null", []string{"t"}, 3, 0},
		{"1 / (month - 1) > 0", []string{"t"}, 4, 0}, // NULL at 1
		{"month % 9 = 2 and cast(month || '00000000000000000' as int64) > 0 and month < 9", []string{"t"}, 7, 0},
		// an overflow
		{"cast(month || '000000000000000000' as int64) > 0 or month = 11", []string{"t"}, 0, 0},
		{"year = 1999", []string{"t"}, 0, 18},
		{"year = 2024", []string{"t/year=2022", "t/year=2023", "t/year=2024"}, 0, 12},
		{"year = 2024", []string{"t/year=*/month=1"}, 3, 0},
		{"year = 2024", []string{"t/*/*/a.parquet"}, 3, 0},
		{"year = 2024", []string{"t/**"}, 3, 0},
		{"year = 2024", []string{"t/year=2022/month=1/a.parquet", "t/year=2024/month=1/a.parquet"}, 0, 1},
		{"Year = 2024", []string{"t"}, 0, 0}, // another name, that may be a column of the files
		{"year = '2024'", []string{"text"}, 2, 0},
		{"year = 2024", []string{"text"}, 0, 0}, // an error
		{"year = '2024'", []string{"text/year=2024", "text/year=2023", "text/year=later"}, 0, 2},
		{"year >= '2024'", []string{"text/year=2023", "text/year=2024", "text"}, 1, 1},
		{"year = 1018", []string{"some"}, 0, 0}, // of the files: one has no folder
		{"year = 2024", []string{"some"}, 0, 0},
		{"year = 2024", []string{"some2"}, 1, 0},
		{"year = '2024-01-01'", []string{"dates"}, 2, 0},
		{"year > current_date", []string{"dates"}, 0, 0},
		{"year = 2024 and now() > '2020-01-01'", []string{"t"}, 3, 0},
	} {
		want, _ := tr.ask(gagg.Options{NoPruning: true, Threads: 1}, test.where, slices.Clone(test.paths)...)
		got, stats := tr.ask(gagg.Options{Threads: 1}, test.where, slices.Clone(test.paths)...)
		if got != want || stats.FoldersSkipped != test.folders || stats.FilesSkipped != test.files {
			t.Errorf("%s of %v: %s, %d folders and %d files skipped; want %s, %d and %d",
				test.where, test.paths, got, stats.FoldersSkipped, stats.FilesSkipped, want, test.folders, test.files)
		}
	}
	if got, _ := tr.ask(gagg.Options{Threads: 1}, "year = 2024 and month < 2", "deep"); got != "1 [26] int64" && got != "1 [24] int64" {
		t.Errorf("what is not looked into has no say in the types: %s", got)
	}
	if _, stats := tr.ask(gagg.Options{UnionByName: true}, "year = 2024", "t"); stats.FoldersSkipped+stats.FilesSkipped != 0 {
		t.Errorf("a union asks all files: %+v", stats)
	}
}
