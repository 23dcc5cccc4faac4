package parquetio

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// corpusCase is what these tests need of a line of cases.jsonl.
type corpusCase struct {
	ID      string   `json:"id"`
	File    string   `json:"file"`
	Keys    []string `json:"keys"`
	Aggs    []string `json:"aggs"`
	Multi   bool     `json:"multi_file"`
	Hive    bool     `json:"hive"`
	Union   bool     `json:"union_by_name"`
	Expect  string   `json:"expect"`
	RowsIn  int64    `json:"rows_in"`
	KeyType []string `json:"key_types"`
}

// corpusCases returns the cases of the developer corpus.
func corpusCases(t *testing.T, dir string) (cases []corpusCase) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c corpusCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	return cases
}

var argument = regexp.MustCompile(`^\w+\((.*)\)$`)

// columns finds the columns that a case names.
func (c *corpusCase) columns(d *Dataset) (cols []int, err error) {
	names := c.Keys
	for _, a := range c.Aggs {
		if arg := argument.FindStringSubmatch(a)[1]; arg != "*" {
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
func TestCorpusRows(t *testing.T) {
	dir := corpus(t)
	folders := 0
	for _, c := range corpusCases(t, dir) {
		if c.Expect != "exact" && c.Expect != "error_or_exact" || c.RowsIn == 0 {
			continue
		}
		d, err := openPaths(t, Options{UnionByName: c.Union}, filepath.Join(dir, c.File))
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
	if folders < 10 {
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
		if got := d.Schema().Fields[n].Type.String(); got != names[c.KeyType[i]] {
			t.Errorf("%s: %s is %s, want %s", c.ID, k, got, c.KeyType[i])
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

// F46: in all real files, statistics and bloom filters that count are true.
func TestCorpusBounds(t *testing.T) {
	dir := corpus(t)
	paths, err := filepath.Glob(filepath.Join(dir, "valid", "*.par*"))
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
