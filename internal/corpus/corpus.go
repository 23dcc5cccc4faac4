// Package corpus finds the corpus for tests: a folder, named by $GAGG_CORPUS,
// of Parquet files that nobody on this project wrote, of queries on them, and
// of what correct engines answer.
//
//	valid/, bad/    the files; bad ones are malformed or hostile
//	cases.jsonl     one [Case] a line
//	expected/       the answers, in CSV
//	MANIFEST.tsv    where each file comes from, and what other readers made of it
//
// Without the folder a test skips. The folder's README explains the fields.
package corpus

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Dir returns the folder, or skips the test.
func Dir(tb testing.TB) string {
	tb.Helper()
	dir := os.Getenv("GAGG_CORPUS")
	if dir == "" {
		tb.Skip("GAGG_CORPUS does not name the corpus folder")
	}
	return dir
}

// Cases returns the queries on files whose names begin with prefix, of which
// there has to be one.
func Cases(tb testing.TB, dir, prefix string) (cases []Case) {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "cases.jsonl"))
	if err != nil {
		tb.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // as it is written, in Where
	for d.More() {
		var c Case
		if err := d.Decode(&c); err != nil {
			tb.Fatalf("cases.jsonl: %v", err)
		}
		if strings.HasPrefix(c.File, prefix) {
			cases = append(cases, c)
		}
	}
	if len(cases) == 0 {
		tb.Fatalf("cases.jsonl has no query on %s*", prefix)
	}
	return cases
}

// Files returns the names of the files below a folder of the corpus, in order
// and as paths from dir.
func Files(tb testing.TB, dir, sub string) (names []string) {
	tb.Helper()
	err := filepath.WalkDir(filepath.Join(dir, sub), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		names = append(names, name)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return names
}
