package corpus

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

const lines = `{"id": "one", "file": "valid/a.parquet", "keys": ["k\"1"], "aggs": ["count(*)", "sum(a (b))"], "where": "x",
 "where_parts": [{"col": "c", "op": "<", "value": 1e-07}, {"col": "d", "op": "=", "value": "it's"}, {"col": "e", "op": "IS NULL", "value": null}]}
{"id": "two", "file": "bad/b.parquet", "keys": [], "aggs": ["min(#3)"]}
`

// The names of a case are quoted for gagg, and numbers are as they are written.
func TestCases(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "cases.jsonl"), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := Cases(t, dir, "valid/")
	if len(cases) != 1 || cases[0].ID != "one" {
		t.Fatalf("%+v", cases)
	}
	c := &cases[0]
	if got, want := c.By(), []string{`"k""1"`}; !slices.Equal(got, want) {
		t.Errorf("keys %q, want %q", got, want)
	}
	if got, want := c.Calls(), []string{"count(*)", `sum("a (b)")`}; !slices.Equal(got, want) {
		t.Errorf("aggregates %q, want %q", got, want)
	}
	if got, want := c.Where(), `"c" < 1e-07 and "d" = 'it''s' and "e" IS NULL`; got != want {
		t.Errorf("condition %s, want %s", got, want)
	}
	if two := Cases(t, dir, "bad/")[0]; two.Where() != "" || len(two.By()) != 0 {
		t.Errorf("%+v", two)
	}
}

// Our own corpus is always there, in any package; another where $GAGG_CORPUS
// says, unless that is our own.
func TestFolders(t *testing.T) {
	t.Setenv("GAGG_CORPUS", "")
	own := Folders(t)
	if len(own) != 1 || !own[0].Own {
		t.Fatalf("%+v", own)
	}
	if cases := Cases(t, own[0].Dir, "bad/"); len(cases) < 15 {
		t.Errorf("%d queries on bad files", len(cases))
	}
	t.Setenv("GAGG_CORPUS", filepath.Join("..", "..", "testdata", "corpus"))
	if same := Folders(t); !slices.Equal(same, own) {
		t.Errorf("our own corpus twice: %+v", same)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "cases.jsonl"), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GAGG_CORPUS", dir)
	if both := Folders(t); !slices.Equal(both, append(own, Folder{Dir: dir})) {
		t.Errorf("%+v", both)
	}
	names := []string{}
	Each(t, func(t *testing.T, _ Folder) { names = append(names, t.Name()) })
	if want := []string{"TestFolders/own", "TestFolders/given"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}

// All files are found, in folders too, and nothing else.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"valid/b", "valid/a/x=1/c", "bad/d"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{filepath.FromSlash("valid/a/x=1/c"), filepath.FromSlash("valid/b")}
	if got := Files(t, dir, "valid"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
