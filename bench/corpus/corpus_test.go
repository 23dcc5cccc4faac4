package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/corpus"
	"github.com/gagg-dev/gagg/internal/datagen"
)

// own is the corpus that this program makes.
const own = "../../" + folder

// made is the stems of all files that the tables here and internal/datagen name.
func made(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{"valid/duckdb_hive/": true}
	for _, w := range append(append([]written{}, byDuckDB...), byClickHouse...) {
		names["valid/"+w.name] = true
	}
	for _, w := range byNPM {
		names["valid/"+w.name] = true
	}
	for _, d := range drawn {
		names["valid/"+d.name] = true
	}
	odd, err := datagen.Odd()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range odd {
		names["valid/odd_"+f.Name] = true
	}
	bad, err := datagen.Damaged()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range bad {
		names["bad/"+f.Name] = true
	}
	return names
}

// testdata/corpus has the files that are named here, each with a query, and no others, and is
// small.
func TestCorpusIsMade(t *testing.T) {
	const most = 500_000 // bytes, of all
	names := made(t)
	missing := map[string]bool{}
	for n := range names {
		missing[n] = true
	}
	for _, sub := range []string{"valid", "bad"} {
		for _, name := range corpus.Files(t, own, sub) {
			stem := strings.TrimSuffix(filepath.ToSlash(name), ".parquet")
			if strings.HasPrefix(stem, "valid/duckdb_hive/") {
				stem = "valid/duckdb_hive/"
			}
			if !names[stem] {
				t.Errorf("%s is not made by bench/corpus", name)
			}
			delete(missing, stem)
		}
	}
	for n := range missing {
		t.Errorf("%s is missing: make corpus", n)
	}
	size := int64(0)
	for _, name := range corpus.Files(t, own, ".") {
		info, err := os.Stat(filepath.Join(own, name))
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if size > most {
		t.Errorf("the files have %d bytes, want %d at most", size, most)
	}
}

// Every file is asked something, every query of the tables is there, and every answer is used.
func TestCorpusIsAsked(t *testing.T) {
	cases := corpus.Cases(t, own, "")
	files, answers, ids := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, c := range cases {
		if ids[c.ID] {
			t.Errorf("two queries are called %s", c.ID)
		}
		files[c.File], answers[c.ExpectedCSV], ids[c.ID] = true, true, true
	}
	for n := range made(t) {
		inFolder := files[strings.SplitAfterN(n, "/", 3)[0]+strings.SplitAfterN(n, "/", 3)[1]]
		if !files[n+".parquet"] && !inFolder {
			t.Errorf("no query on %s", n)
		}
	}
	for stem, list := range asked {
		for i := range list {
			if id := (file{name: "valid/" + stem}).id(i); !ids[id] {
				t.Errorf("query %s is missing: make corpus", id)
			}
		}
	}
	for _, name := range corpus.Files(t, own, "expected") {
		if !answers[filepath.ToSlash(name)] {
			t.Errorf("%s is no query's", name)
		}
	}
}
