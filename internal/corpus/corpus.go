// Package corpus finds the corpora for tests: folders of Parquet files, of
// queries on them, and of what correct engines answer. Our own is
// testdata/corpus, which bench/corpus makes; it is always there. Another, of
// files by others, is where $GAGG_CORPUS says, if it is set. Tests run over both.
//
//	valid/, bad/    the files; bad ones are malformed or hostile
//	cases.jsonl     one [Case] a line
//	expected/       the answers, in CSV
//	MANIFEST.tsv    where each file comes from, and what other readers made of it
//
// The folder's README explains the fields.
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

// Folder is a corpus.
type Folder struct {
	Dir string
	Own bool // testdata/corpus, which is small
}

// Each runs a test over every corpus.
func Each(t *testing.T, run func(t *testing.T, c Folder)) {
	t.Helper()
	for _, c := range Folders(t) {
		name := "given"
		if c.Own {
			name = "own"
		}
		t.Run(name, func(t *testing.T) { run(t, c) })
	}
}

// Folders returns our own corpus and the one that $GAGG_CORPUS names.
func Folders(tb testing.TB) []Folder {
	tb.Helper()
	own := filepath.Join(root(tb), "testdata", "corpus")
	folders := []Folder{{Dir: own, Own: true}}
	if given := os.Getenv("GAGG_CORPUS"); given != "" && !same(tb, own, given) {
		folders = append(folders, Folder{Dir: given})
	}
	return folders
}

// root is the module's: the next folder above with a go.mod.
func root(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		above := filepath.Dir(dir)
		if above == dir {
			tb.Fatal("no go.mod above this folder, and so no testdata/corpus")
		}
		dir = above
	}
}

// same reports whether two paths are one folder. Both have to be there.
func same(tb testing.TB, a, b string) bool {
	tb.Helper()
	var info [2]os.FileInfo
	for i, path := range []string{a, b} {
		var err error
		if info[i], err = os.Stat(filepath.Join(path, "cases.jsonl")); err != nil {
			tb.Fatalf("no corpus in %s: %v", path, err)
		}
	}
	return os.SameFile(info[0], info[1])
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
