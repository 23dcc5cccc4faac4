package parquetio

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/corpus"
)

// corpusCase is a query whose columns are read.
type corpusCase struct{ corpus.Case }

// columns finds the columns that a case names.
func (c *corpusCase) columns(d *Dataset) (cols []int, err error) {
	names := slices.Clone(c.Keys)
	for _, a := range c.Aggs {
		if _, arg := corpus.Argument(a); arg != "*" {
			names = append(names, arg)
		}
	}
	for _, n := range names {
		i, err := d.Find(n)
		if err != nil {
			return nil, err
		}
		cols = append(cols, i)
	}
	return cols, nil
}

// Every case on valid files finds its columns and reads all of its rows, at
// several batch sizes.
func TestCorpusRows(t *testing.T) { corpus.Each(t, corpusRows) }

func corpusRows(t *testing.T, folder corpus.Folder) {
	folders := 0
	for _, read := range corpus.Cases(t, folder.Dir, "") {
		c := corpusCase{read}
		if c.Expect != "exact" && c.Expect != "error_or_exact" || c.RowsIn == 0 {
			continue
		}
		d, err := openPaths(t, Options{UnionByName: c.UnionByName}, filepath.Join(folder.Dir, c.File))
		if err != nil {
			c.fail(t, err)
			continue
		}
		cols, err := c.columns(d)
		if err != nil {
			c.fail(t, err)
			continue
		}
		if c.Multi {
			folders++
		}
		for _, size := range []int{0, 7} {
			if size == 7 && c.RowsIn > 1e5 {
				continue
			}
			rows, err := countRows(t, d, ScanOptions{Columns: cols, BatchRows: size})
			if err != nil {
				c.fail(t, err)
			} else if rows != c.RowsIn {
				t.Errorf("%s: %d rows, want %d", c.ID, rows, c.RowsIn)
			}
		}
		if c.Hive {
			c.checkHive(t, d)
		}
	}
	least := 10
	if folder.Own {
		least = 7
	}
	if folders < least {
		t.Errorf("only %d cases on folders were read", folders)
	}
}

// fail reports an error where the case wants an answer.
func (c *corpusCase) fail(t *testing.T, err error) {
	t.Helper()
	if c.Expect == "exact" {
		t.Errorf("%s: %v", c.ID, err)
		return
	}
	t.Logf("%s: %v", c.ID, err)
}

// checkHive compares the types of the keys with those of the case.
func (c *corpusCase) checkHive(t *testing.T, d *Dataset) {
	t.Helper()
	names := map[string]string{"VARCHAR": "string", "BIGINT": "int64", "DATE": "date"}
	for i, k := range c.Keys {
		n, err := d.Find(k)
		if err != nil {
			t.Errorf("%s: %v", c.ID, err)
			continue
		}
		if got := d.Schema().Fields[n].Type.String(); got != names[c.KeyTypes[i]] {
			t.Errorf("%s: %s is %s, want %s", c.ID, k, got, c.KeyTypes[i])
		}
	}
}

// countRows reads everything and checks the numbering and shape of batches.
func countRows(t *testing.T, d *Dataset, o ScanOptions) (rows int64, err error) {
	t.Helper()
	s, err := d.Scan(o)
	if err != nil {
		return 0, err
	}
	err = eachBatch(s, func(b *column.Batch) {
		if b.First != rows {
			t.Errorf("a batch begins at row %d, want %d", b.First, rows)
		}
		for i := range b.Cols {
			if b.Cols[i].Len != b.Rows {
				t.Errorf("column %d has %d rows in a batch of %d", i, b.Cols[i].Len, b.Rows)
			}
		}
		rows += int64(b.Rows)
	})
	if err == nil {
		err = s.Unchanged()
	}
	return rows, err
}

// F46: in all good files, statistics and bloom filters that count are true.
func TestCorpusBounds(t *testing.T) { corpus.Each(t, corpusBounds) }

func corpusBounds(t *testing.T, folder corpus.Folder) {
	paths, err := filepath.Glob(filepath.Join(folder.Dir, "valid", "*.par*"))
	if err != nil {
		t.Fatal(err)
	}
	var total boundsSeen
	for _, p := range paths {
		d, err := openPaths(t, Options{}, p)
		if err != nil {
			t.Logf("%v", err)
			continue
		}
		seen := checkBounds(t, d)
		total.bounds += seen.bounds
		total.blooms += seen.blooms
		total.denied += seen.denied
	}
	if total.bounds < 100 || total.blooms < 2 || total.denied == 0 {
		t.Errorf("hardly anything was checked: %+v", total)
	}
}
