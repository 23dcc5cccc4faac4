package parquetio

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/corpus"
)

// readColumn reads a whole column in steps of at most batch rows and returns
// the number of its rows.
func readColumn(f *file, leaf, batch int, see func(*column.Vector)) (rows int64, err error) {
	work := newWorkspace(f.limits.Budget, batch)
	defer work.close()
	c, err := newColumnReader(f, leaf, f.leaves[leaf].typ, work)
	if err != nil {
		return 0, err
	}
	defer c.close()
	var v column.Vector
	for g := range f.groups {
		if err := c.open(g); err != nil {
			return rows, err
		}
		for {
			n, err := c.available()
			if err != nil {
				return rows, err
			}
			if n == 0 {
				break
			}
			n = min(n, batch)
			if err := c.read(&v, n); err != nil {
				return rows, err
			}
			rows += int64(n)
			if see != nil {
				see(&v)
			}
		}
	}
	return rows, nil
}

// readAll reads all columns of a file that can be read.
func readAll(name string, data []byte, batch int, see func(leaf int, v *column.Vector)) (rows int64, err error) {
	f, err := openFile(name, bytes.NewReader(data), int64(len(data)), Limits{})
	if err != nil {
		return 0, err
	}
	for i := range f.leaves {
		if f.leaves[i].err != nil {
			continue
		}
		n, err := readColumn(f, i, batch, func(v *column.Vector) { see(i, v) })
		if err != nil {
			return 0, err
		}
		if n != f.rows {
			return n, fileError(name, "column %d has %d of %d rows", i, n, f.rows)
		}
	}
	return f.rows, nil
}

// manifestRows maps file names to the number of rows that DuckDB reads.
func manifestRows(t *testing.T, dir string) map[string]int64 {
	data, err := os.ReadFile(filepath.Join(dir, "MANIFEST.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	const duckdb = 9 // column
	rows := map[string]int64{}
	for _, line := range strings.Split(string(data), "\n")[1:] {
		f := strings.Split(line, "\t")
		if len(f) <= duckdb {
			continue
		}
		text := strings.TrimSuffix(strings.TrimPrefix(f[duckdb], "reads "), " rows")
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			rows[f[0]] = n
		}
	}
	return rows
}

func eachFile(t *testing.T, dir, sub string, do func(t *testing.T, name string, data []byte)) {
	for _, name := range corpus.Files(t, dir, sub) {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) { do(t, name, data) })
	}
}

// TestFileCorpusValid: every column outside lists of every good file can be read,
// gives as many rows as others found, and the same values whatever the steps.
func TestFileCorpusValid(t *testing.T) { corpus.Each(t, fileCorpusValid) }

func fileCorpusValid(t *testing.T, folder corpus.Folder) {
	rows := manifestRows(t, folder.Dir)
	eachFile(t, folder.Dir, "valid", func(t *testing.T, name string, data []byte) {
		var sums []uint64
		for _, batch := range []int{4096, 1 << 30, 1000} {
			if batch == 1000 && len(data) < 100_000 {
				batch = 7
			}
			digest := newDigest()
			n, err := readAll(name, data, batch, digest.add)
			if err != nil {
				t.Fatal(err)
			}
			if want, ok := rows[name]; ok && n != want {
				t.Fatalf("%d rows, want %d", n, want)
			}
			sums = append(sums, digest.sum())
		}
		if sums[0] != sums[1] || sums[0] != sums[2] {
			t.Errorf("other values in other steps: %x", sums)
		}
	})
}

// TestFileCorpusBad: a bad file gives an error, or data where others read it too,
// in bounded time and memory.
func TestFileCorpusBad(t *testing.T) { corpus.Each(t, fileCorpusBad) }

func fileCorpusBad(t *testing.T, folder corpus.Folder) {
	expect := map[string]string{}
	data, err := os.ReadFile(filepath.Join(folder.Dir, "cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		var c struct{ File, Expect string }
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		expect[c.File] = c.Expect
	}
	eachFile(t, folder.Dir, "bad", func(t *testing.T, name string, data []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := spent()
		_, err := readAll(name, data, 4096, func(int, *column.Vector) {})
		runtime.ReadMemStats(&after)
		if d := spent() - start; d > 10*time.Second {
			t.Errorf("took %v", d)
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<30 {
			t.Errorf("allocated %d bytes", grown)
		}
		if err == nil {
			if expect[name] == "error" {
				t.Error("no error")
			}
			t.Logf("%s: read", expect[name])
			return
		}
		var typed *Error
		if !errors.As(err, &typed) || typed.File != name || strings.Contains(err.Error(), "\n") {
			t.Errorf("not an error as promised: %v", err)
		}
		t.Logf("%s: %v", expect[name], err)
	})
}
